#include "io/shown.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// ---- Characters ----

// The character at `text` and its length; 0 if it is not valid UTF-8 (RFC 3629, section 4).
static size_t read_character(const char *text, uint32_t *code) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *bytes = (const unsigned char *)text;
  size_t n = bytes[0] < 0x80             ? 1
             : (bytes[0] & 0xe0) == 0xc0 ? 2
             : (bytes[0] & 0xf0) == 0xe0 ? 3
             : (bytes[0] & 0xf8) == 0xf0 ? 4
                                         : 0;
  if (n == 0) return 0;
  *code = n == 1 ? bytes[0] : bytes[0] & (0xffu >> (n + 1));
  // The zero at the end of a cut text is not a continuation byte, so this never reads beyond it.
  for (size_t k = 1; k < n; ++k) {
    if ((bytes[k] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (bytes[k] & 0x3f);
  }
  bool is_valid = *code >= least[n] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
  return is_valid ? n : 0;
}

static bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

// The length of the character at `text` if it is plain; otherwise 0, and *n_bad is the number of bytes to
// skip.
static size_t plain_length(const char *text, size_t *n_bad) {
  uint32_t code;
  size_t n = read_character(text, &code);
  *n_bad = n ? n : 1;
  return n && !is_control(code) ? n : 0;
}

// ---- Text ----

bool flo_shown_is_plain(const char *text) {
  for (size_t n, n_bad; *text; text += n)
    if (!(n = plain_length(text, &n_bad))) return false;
  return true;
}

void flo_shown_mask(char *text) {
  for (size_t n, n_bad; *text; text += n) {
    if ((n = plain_length(text, &n_bad))) continue;
    memset(text, '?', n_bad);
    n = n_bad;
  }
}

const char *flo_shown_escape(const char *text, char *out, size_t size) {
  size_t used = 0;
  for (size_t n, n_bad; *text; text += n) {
    n = plain_length(text, &n_bad);
    size_t n_needed = n ? n : 4 * n_bad;
    if (used + n_needed >= size) break;
    if (n) memcpy(out + used, text, n);
    for (size_t k = 0; !n && k < n_bad; ++k)
      snprintf(out + used + 4 * k, 5, "\\x%02x", (unsigned char)text[k]);
    used += n_needed;
    if (!n) n = n_bad;
  }
  out[used] = 0;
  return out;
}

// ---- Values ----

const char *flo_shown_value(const json_t *value, char out[96]) {
  enum { SIZE = 96 };
  char text[64];
  if (json_is_string(value)) {
    const char *whole = json_string_value(value);
    flo_shown_escape(whole, text, sizeof text);
    snprintf(out, SIZE, "text, \"%s\"%s", text, strlen(whole) < sizeof text ? "" : "...");
  } else if (json_is_number(value)) {
    snprintf(out, SIZE, "a number, %.9g", json_number_value(value));
  } else if (json_is_array(value)) {
    snprintf(out, SIZE, "a list of %zu", json_array_size(value));
  } else {
    snprintf(out, SIZE, "%s",
             json_is_object(value)  ? "an object"
             : json_is_true(value)  ? "true"
             : json_is_false(value) ? "false"
                                    : "null");
  }
  return out;
}
