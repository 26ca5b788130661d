// Every glyph is a path of the centre lines of its strokes, written like an SVG path: M moves, L draws a
// line, Q a quadratic curve (control point, end). Capitals are 10 units high, the x-height is 7, the baseline
// is y = 0, and y points up. A quadratic curve around a corner is a little squarer than a circle, which gives
// the letters a technical look.
#include "render/font.h"

typedef struct Glyph {
  float width; // between the outermost centre lines
  const char *path;
} Glyph;

static const Glyph ascii[] = {
    {1.6f, ""},                                                       // space
    {0, "M0 10L0 3M0 0L0 0.1"},                                       // !
    {2, "M0 10L0 7.4M2 10L2 7.4"},                                    // "
    {6.4f, "M2.2 10L1 0M5.4 10L4.2 0M0.2 6.8L6.4 6.8M0 3.2L6.2 3.2"}, // #
    {5.6f,
     "M5.3 7.5Q5 9 2.8 9Q0.3 9 0.3 7.1Q0.3 5.4 2.8 5Q5.6 4.6 5.6 2.8Q5.6 1 2.8 1Q0.4 1 0 2.7M2.8 10.6L2.8 "
     "-0.6"}, // $
    {8.4f,
     "M7.4 10L1 0M1.8 10Q0 10 0 7.8Q0 5.6 1.8 5.6Q3.6 5.6 3.6 7.8Q3.6 10 1.8 10M6.6 4.4Q4.8 4.4 4.8 2.2Q4.8 "
     "0 6.6 0Q8.4 0 8.4 2.2Q8.4 4.4 6.6 4.4"}, // %
    {6.8f, "M6.8 0L1.6 6.6Q0.6 7.8 0.9 8.8Q1.3 10 2.8 10Q4.6 10 4.6 8.2Q4.6 6.9 2.4 5.5Q0 4.1 0 2.5Q0 0 2.7 "
           "0Q5.6 0 "
           "6.4 4.6"},                                                                // &
    {0, "M0 10L0 7.4"},                                                               // '
    {2.2f, "M2.2 11Q0 8.4 0 4.5Q0 0.6 2.2 -2"},                                       // (
    {2.2f, "M0 11Q2.2 8.4 2.2 4.5Q2.2 0.6 0 -2"},                                     // )
    {4.4f, "M2.2 10L2.2 5.2M0.1 8.8L4.3 6.4M4.3 8.8L0.1 6.4"},                        // *
    {5.4f, "M0 4.2L5.4 4.2M2.7 6.9L2.7 1.5"},                                         // +
    {0.8f, "M0.8 0.1L0 -1.9"},                                                        // ,
    {3.4f, "M0 4L3.4 4"},                                                             // -
    {0, "M0 0L0 0.1"},                                                                // .
    {4.4f, "M4.4 10.8L0 -1"},                                                         // /
    {5.6f, "M2.8 10Q0 10 0 6.6L0 3.4Q0 0 2.8 0Q5.6 0 5.6 3.4L5.6 6.6Q5.6 10 2.8 10"}, // 0
    {5.6f, "M1 8L3.4 10L3.4 0"},                                                      // 1
    {5.6f, "M0.2 7.5Q0.3 10 2.8 10Q5.4 10 5.4 7.4Q5.4 5.8 3.8 4.1L0 0L5.6 0"},        // 2
    {5.6f, "M0.3 8Q0.7 10 2.8 10Q5.2 10 5.2 7.7Q5.2 5.4 2.6 5.4L1.9 5.4M2.6 5.4Q5.6 5.4 5.6 2.8Q5.6 0 2.8 "
           "0Q0.3 0 0 "
           "2.2"},                                                                          // 3
    {5.8f, "M4.3 0L4.3 10L0 2.8L5.8 2.8"},                                                  // 4
    {5.6f, "M5.1 10L0.8 10L0.4 5.2Q1.3 6.3 2.9 6.3Q5.6 6.3 5.6 3.2Q5.6 0 2.8 0Q0.4 0 0 2"}, // 5
    {5.6f,
     "M5 8.4Q4.5 10 2.9 10Q0 10 0 5.6L0 3.2Q0 0 2.8 0Q5.6 0 5.6 3.1Q5.6 6.1 2.9 6.1Q0.6 6.1 0 3.8"}, // 6
    {5.6f, "M0 10L5.6 10L2 0"},                                                                      // 7
    {5.6f,
     "M2.8 5.4Q0.3 5.4 0.3 7.7Q0.3 10 2.8 10Q5.3 10 5.3 7.7Q5.3 5.4 2.8 5.4Q0 5.4 0 2.7Q0 0 2.8 0Q5.6 0 5.6 "
     "2.7Q5.6 5.4 2.8 5.4"}, // 8
    {5.6f,
     "M0.6 1.6Q1.1 0 2.7 0Q5.6 0 5.6 4.4L5.6 6.8Q5.6 10 2.8 10Q0 10 0 6.9Q0 3.9 2.7 3.9Q5 3.9 5.6 6.2"}, // 9
    {0, "M0 0L0 0.1M0 5.8L0 5.9"},                                                                       // :
    {0.8f, "M0.8 0.1L0 -1.9M0.8 5.8L0.8 5.9"},                                                           // ;
    {5.2f, "M5.2 7L0 4.2L5.2 1.4"},                                                                      // <
    {5.4f, "M0 5.6L5.4 5.6M0 2.8L5.4 2.8"},                                                              // =
    {5.2f, "M0 7L5.2 4.2L0 1.4"},                                                                        // >
    {5, "M0 7.8Q0.3 10 2.6 10Q5 10 5 7.8Q5 6.4 3.6 5.4Q2.4 4.5 2.4 3M2.4 0L2.4 0.1"},                    // ?
    {8.4f,
     "M5.8 6.2Q5.4 7 4.2 7Q2.2 7 2.2 4.4Q2.2 2 4.1 2Q5.4 2 5.9 3.4M5.9 7L5.9 3.2Q5.9 2 7 2Q8.4 2 8.4 4.8Q8.4 "
     "9.4 4.3 9.4Q0 9.4 0 4.4Q0 -0.8 4.5 -0.8Q6 -0.8 7.2 -0.1"},                                       // @
    {7, "M0 0L3.5 10L7 0M1.2 3.3L5.8 3.3"},                                                            // A
    {6, "M0 0L0 10L3.2 10Q5.6 10 5.6 7.7Q5.6 5.4 3.2 5.4L0 5.4M3.2 5.4Q6 5.4 6 2.7Q6 0 3.2 0L0 0"},    // B
    {6.4f, "M6.4 7.4Q6 10 3.4 10Q0 10 0 6.2L0 3.8Q0 0 3.4 0Q6 0 6.4 2.6"},                             // C
    {6.4f, "M0 0L0 10L2.8 10Q6.4 10 6.4 6.2L6.4 3.8Q6.4 0 2.8 0L0 0"},                                 // D
    {5.2f, "M5.2 10L0 10L0 0L5.2 0M0 5.2L4.5 5.2"},                                                    // E
    {5, "M5 10L0 10L0 0M0 5L4.3 5"},                                                                   // F
    {6.6f, "M6.2 7.7Q5.8 10 3.3 10Q0 10 0 6.2L0 3.8Q0 0 3.3 0Q6.6 0 6.6 3.4L6.6 4.7L3.7 4.7"},         // G
    {6.2f, "M0 0L0 10M6.2 0L6.2 10M0 5.2L6.2 5.2"},                                                    // H
    {0, "M0 0L0 10"},                                                                                  // I
    {4.2f, "M4.2 10L4.2 2.8Q4.2 0 2.1 0Q0 0 0 2.4"},                                                   // J
    {6, "M0 0L0 10M5.8 10L0 4M1.9 6L6 0"},                                                             // K
    {4.8f, "M0 10L0 0L4.8 0"},                                                                         // L
    {7.6f, "M0 0L0 10L3.8 3.2L7.6 10L7.6 0"},                                                          // M
    {6.2f, "M0 0L0 10L6.2 0L6.2 10"},                                                                  // N
    {6.8f, "M3.4 10Q0 10 0 6.2L0 3.8Q0 0 3.4 0Q6.8 0 6.8 3.8L6.8 6.2Q6.8 10 3.4 10"},                  // O
    {6, "M0 0L0 10L3.2 10Q6 10 6 7.2Q6 4.4 3.2 4.4L0 4.4"},                                            // P
    {6.8f, "M3.4 10Q0 10 0 6.2L0 3.8Q0 0 3.4 0Q6.8 0 6.8 3.8L6.8 6.2Q6.8 10 3.4 10M4.4 2.4L6.8 -0.8"}, // Q
    {6.2f, "M0 0L0 10L3.2 10Q6 10 6 7.3Q6 4.6 3.2 4.6L0 4.6M3.3 4.6L6.2 0"},                           // R
    {6, "M5.7 7.8Q5.3 10 3 10Q0.3 10 0.3 7.6Q0.3 5.7 3 5.2Q6 4.7 6 2.6Q6 0 3 0Q0.3 0 0 2.3"},          // S
    {6.4f, "M0 10L6.4 10M3.2 10L3.2 0"},                                                               // T
    {6.2f, "M0 10L0 3.2Q0 0 3.1 0Q6.2 0 6.2 3.2L6.2 10"},                                              // U
    {6.8f, "M0 10L3.4 0L6.8 10"},                                                                      // V
    {9.6f, "M0 10L2.4 0L4.8 8.8L7.2 0L9.6 10"},                                                        // W
    {6.2f, "M0 10L6.2 0M6.2 10L0 0"},                                                                  // X
    {6.4f, "M0 10L3.2 4.8L6.4 10M3.2 4.8L3.2 0"},                                                      // Y
    {6, "M0 10L6 10L0 0L6 0"},                                                                         // Z
    {2, "M2 11L0 11L0 -2L2 -2"},                                                                       // [
    {4.4f, "M0 10.8L4.4 -1"},    // backslash
    {2, "M0 11L2 11L2 -2L0 -2"}, // ]
    {4.4f, "M0 7L2.2 10L4.4 7"}, // ^
    {5.4f, "M0 -1.6L5.4 -1.6"},  // _
    {1.6f, "M0 10.4L1.6 8.6"},   // `
    {4.8f, "M0.4 5.7Q0.9 7 2.6 7Q4.8 7 4.8 4.9L4.8 0M4.8 4.1L2.3 4.1Q0 4.1 0 2.1Q0 0 2 0Q4 0 4.8 1.8"}, // a
    {5.2f, "M0 0L0 10.4M0 5Q0.6 7 2.6 7Q5.2 7 5.2 4.2L5.2 2.8Q5.2 0 2.6 0Q0.6 0 0 2"},                  // b
    {4.6f, "M4.6 5.3Q4.2 7 2.5 7Q0 7 0 4.2L0 2.8Q0 0 2.5 0Q4.2 0 4.6 1.7"},                             // c
    {5.2f, "M5.2 0L5.2 10.4M5.2 5Q4.6 7 2.6 7Q0 7 0 4.2L0 2.8Q0 0 2.6 0Q4.6 0 5.2 2"},                  // d
    {5, "M0 3.6L5 3.6L5 4.3Q5 7 2.5 7Q0 7 0 4.2L0 2.8Q0 0 2.6 0Q4.3 0 4.8 1.5"},                        // e
    {3.4f, "M3.4 10.4Q1.3 10.5 1.3 8.2L1.3 0M0 6.8L3 6.8"},                                             // f
    {5.2f,
     "M5.2 7L5.2 -0.4Q5.2 -3 2.7 -3Q1 -3 0.4 -1.8M5.2 5Q4.6 7 2.6 7Q0 7 0 4.3L0 3Q0 0.2 2.6 0.2Q4.6 0.2 5.2 "
     "2.2"},                                                                                            // g
    {5, "M0 0L0 10.4M0 4.6Q0.7 7 2.7 7Q5 7 5 4.4L5 0"},                                                 // h
    {0, "M0 0L0 7M0 9.6L0 9.7"},                                                                        // i
    {1.6f, "M1.6 7L1.6 -1.2Q1.6 -3 0 -3M1.6 9.6L1.6 9.7"},                                              // j
    {4.8f, "M0 0L0 10.4M4.6 7L0 2.6M1.7 4.2L4.8 0"},                                                    // k
    {1.4f, "M0 10.4L0 1.7Q0 0 1.4 0"},                                                                  // l
    {8.4f, "M0 0L0 7M0 4.8Q0.6 7 2.3 7Q4.2 7 4.2 4.6L4.2 0M4.2 4.8Q4.8 7 6.5 7Q8.4 7 8.4 4.6L8.4 0"},   // m
    {5, "M0 0L0 7M0 4.6Q0.7 7 2.7 7Q5 7 5 4.4L5 0"},                                                    // n
    {5.2f, "M2.6 7Q0 7 0 4.2L0 2.8Q0 0 2.6 0Q5.2 0 5.2 2.8L5.2 4.2Q5.2 7 2.6 7"},                       // o
    {5.2f, "M0 -3L0 7M0 5Q0.6 7 2.6 7Q5.2 7 5.2 4.2L5.2 2.8Q5.2 0 2.6 0Q0.6 0 0 2"},                    // p
    {5.2f, "M5.2 -3L5.2 7M5.2 5Q4.6 7 2.6 7Q0 7 0 4.2L0 2.8Q0 0 2.6 0Q4.6 0 5.2 2"},                    // q
    {3, "M0 0L0 7M0 4.4Q0.6 7 3 6.9"},                                                                  // r
    {4.4f, "M4.2 5.5Q3.9 7 2.2 7Q0.2 7 0.2 5.3Q0.2 4 2.2 3.6Q4.4 3.2 4.4 1.8Q4.4 0 2.2 0Q0.3 0 0 1.6"}, // s
    {3.2f, "M1.2 9.2L1.2 1.9Q1.2 0 3.2 0.1M0 6.8L3 6.8"},                                               // t
    {5, "M0 7L0 2.6Q0 0 2.3 0Q4.3 0 5 2.4M5 7L5 0"},                                                    // u
    {5.2f, "M0 7L2.6 0L5.2 7"},                                                                         // v
    {7.6f, "M0 7L1.9 0L3.8 6.2L5.7 0L7.6 7"},                                                           // w
    {4.8f, "M0 7L4.8 0M4.8 7L0 0"},                                                                     // x
    {5.2f, "M0 7L2.6 0M5.2 7L2.6 0L1.9 -1.8Q1.4 -3 0.2 -3"},                                            // y
    {4.6f, "M0 7L4.6 7L0 0L4.6 0"},                                                                     // z
    {2.6f, "M2.6 11Q1.3 11 1.3 9.4L1.3 6.2Q1.3 4.6 0 4.5Q1.3 4.4 1.3 2.8L1.3 -0.4Q1.3 -2 2.6 -2"},      // {
    {0, "M0 11L0 -2"},                                                                                  // |
    {2.6f, "M0 11Q1.3 11 1.3 9.4L1.3 6.2Q1.3 4.6 2.6 4.5Q1.3 4.4 1.3 2.8L1.3 -0.4Q1.3 -2 0 -2"},        // }
    {5.6f, "M0 3.6Q0.6 5.2 1.7 5.2Q2.4 5.2 2.9 4.6Q3.4 3.9 4 3.9Q5 3.9 5.6 5.4"},                       // ~
};

static const struct {
  unsigned code;
  Glyph glyph;
} signs[] = {
    {0x00b0, {2.6f, "M1.3 10Q0 10 0 8.7Q0 7.4 1.3 7.4Q2.6 7.4 2.6 8.7Q2.6 10 1.3 10"}}, // degree
    {0x00b2, {3, "M0.1 9Q0.2 10.4 1.5 10.4Q2.9 10.4 2.9 9.1Q2.9 8.3 2.1 7.4L0 5.2L3 5.2"}},
    {0x00b3,
     {3, "M0.1 9.3Q0.3 10.4 1.5 10.4Q2.8 10.4 2.8 9.2Q2.8 8 1.3 8Q3 8 3 6.6Q3 5.2 1.5 5.2Q0.2 5.2 0 6.3"}},
    {0x00b5, {5, "M0 7L0 -2.6M0 2.6Q0 0 2.3 0Q4.3 0 5 2.4M5 7L5 0"}}, // micro
    {0x00b7, {0, "M0 4.2L0 4.3"}},                                    // middle dot
    {0x00d7, {4.6f, "M0 6.5L4.6 1.9M4.6 6.5L0 1.9"}},                 // times
    {0x2013, {5.4f, "M0 4L5.4 4"}},                                   // en dash
    {0x2014, {8.4f, "M0 4L8.4 4"}},                                   // em dash
    {0x2212, {5.4f, "M0 4.2L5.4 4.2"}},                               // minus
    {0x2026, {5.2f, "M0 0L0 0.1M2.6 0L2.6 0.1M5.2 0L5.2 0.1"}},       // ellipsis
};

static const Glyph unknown = {5, "M0 0L5 0L5 10L0 10L0 0"};

// Space on each side of a glyph's centre lines, in font units.
static const float bearing = 1.25f;

// Reads one character of UTF-8 text. A malformed byte counts as one character.
static unsigned next_character(const char **text) {
  const unsigned char *s = (const unsigned char *)*text;
  int more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
  unsigned code = more ? s[0] & (0x3fu >> more) : s[0];
  for (int k = 1; k <= more; k++) {
    if ((s[k] & 0xc0) != 0x80) {
      *text += 1;
      return 0xfffd;
    }
    code = code << 6 | (s[k] & 0x3fu);
  }
  *text += 1 + more;
  return code;
}

static const Glyph *glyph_of(unsigned code) {
  if (code >= 32 && code < 127) return &ascii[code - 32];
  for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++)
    if (signs[k].code == code) return &signs[k].glyph;
  return code < 32 ? &ascii[0] : &unknown;
}

float flo_text_width(const char *text, float size) {
  float width = 0;
  while (*text) width += glyph_of(next_character(&text))->width + 2 * bearing;
  return width * size / 10;
}

// Maps font units to the canvas: position = origin + x * across + y * up.
typedef struct Placing {
  float origin[2], across[2], up[2];
  float stroke_width;
} Placing;

static void add_line(FloCanvas *c, const Placing *p, const float a[2], const float b[2]) {
  flo_canvas_add_stroke(c, p->origin[0] + a[0] * p->across[0] + a[1] * p->up[0],
                        p->origin[1] + a[0] * p->across[1] + a[1] * p->up[1],
                        p->origin[0] + b[0] * p->across[0] + b[1] * p->up[0],
                        p->origin[1] + b[0] * p->across[1] + b[1] * p->up[1], p->stroke_width);
}

static void add_curve(FloCanvas *c, const Placing *p, const float a[2], const float control[2],
                      const float b[2]) {
  enum { pieces = 8 };
  float from[2] = {a[0], a[1]};
  for (int k = 1; k <= pieces; k++) {
    float t = (float)k / pieces, s = 1 - t, to[2];
    for (int i = 0; i < 2; i++) to[i] = s * s * a[i] + 2 * s * t * control[i] + t * t * b[i];
    add_line(c, p, from, to);
    from[0] = to[0], from[1] = to[1];
  }
}

// strtof is not used, because it expects the decimal point of the user's locale.
static float read_number(const char **path) {
  const char *s = *path;
  while (*s == ' ') s++;
  float sign = *s == '-' ? -1 : 1, value = 0, digit = 1;
  s += *s == '-';
  for (; *s >= '0' && *s <= '9'; s++) value = 10 * value + (float)(*s - '0');
  if (*s == '.')
    for (s++; *s >= '0' && *s <= '9'; s++) value += (digit *= 0.1f) * (float)(*s - '0');
  *path = s;
  return sign * value;
}

static void read_point(const char **path, float point[2]) {
  point[0] = read_number(path);
  point[1] = read_number(path);
}

static void add_glyph(FloCanvas *c, const Placing *p, const Glyph *glyph) {
  float pen[2] = {0, 0}, control[2], to[2];
  for (const char *path = glyph->path; *path;) {
    char command = *path++;
    if (command == 'Q') read_point(&path, control);
    read_point(&path, to);
    if (command == 'L') add_line(c, p, pen, to);
    if (command == 'Q') add_curve(c, p, pen, control, to);
    pen[0] = to[0], pen[1] = to[1];
  }
}

void flo_canvas_add_text(FloCanvas *c, float x, float y, FloTextStyle style, const char *text) {
  const float unit = style.size / 10, shares[] = {0, 0.5f, 1};
  const float start = -shares[style.anchor] * flo_text_width(text, style.size);
  Placing p = {.stroke_width = style.width > 0 ? style.width : fmaxf(1.15f, 0.125f * style.size)};
  if (style.is_upright)
    p.across[1] = -unit, p.up[0] = -unit;
  else
    p.across[0] = unit, p.up[1] = -unit;
  p.origin[0] = x + (style.is_upright ? 0 : start);
  p.origin[1] = y - (style.is_upright ? start : 0);
  while (*text) {
    const Glyph *glyph = glyph_of(next_character(&text));
    for (int i = 0; i < 2; i++) p.origin[i] += bearing * p.across[i];
    add_glyph(c, &p, glyph);
    for (int i = 0; i < 2; i++) p.origin[i] += (glyph->width + bearing) * p.across[i];
  }
}
