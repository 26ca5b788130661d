// flotsam resampling: how the rules by which samples come and go cover two triangles that are deformed.
#include "app.h"
#include "base/core.h"
#include "bench/rules.h"
#include "render/font.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppUsage usage = {
    .command = "resampling",
    .arguments = "",
    .about =
        "Shows how the samples of a soft body follow its surface. Two triangles are deformed in small "
        "steps.\n"
        "Four rules place their samples: static samples, the seven-point rule, and the two rules of "
        "Flotsam,\n"
        "by number density and by geometry (Akinci and others 2013, figures 3 and 4). Prints the number\n"
        "density of samples over the triangles: its mean, standard deviation, least and largest value, at\n"
        "rest and deformed. Below 3.6 fluid may leak, above 10 there are more samples than needed. Writes a\n"
        "picture with the number density as colour; circles are samples, half a support in diameter.\n"
        "Exit codes: 0 done, 1 the picture could not be written, 2 bad input.",
    .examples = "  flotsam resampling\n"
                "  flotsam resampling --out rules.png --width 1600\n",
    .min_words = 0,
    .max_words = 0,
};

typedef struct Arguments {
  const char *out;
  int width;
  bool is_forced;
} Arguments;

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  *a = (Arguments){.out = "resampling.png", .width = 1280};
  AppOption options[] = {
      {"--out", "FILE", APP_TEXT, &a->out, "the picture to write (default: resampling.png)", 0, 0},
      {"--width", "PIXELS", APP_INTEGER, &a->width, "width of the picture (default: 1280)", 320, 8192},
      {"--force", NULL, APP_FLAG, &a->is_forced, "replace the picture if it exists", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  if (a->is_forced || !flo_file_exists(a->out)) return true;
  *exit_code =
      app_fail(APP_BAD_INPUT,
               "resampling: %s: exists; replace it with --force, or name another file with --out", a->out);
  return false;
}

// ---- Table ----

static void print_state(const char *name, const char *pose, const FloRuleState *state) {
  printf("%-12s %-9s %8zu %8.2f %10.2f %8.2f %8.2f\n", name, pose, state->n_samples, state->mean,
         state->deviation, state->least, state->most);
}

static void print_table(const FloRuleResult *results) {
  printf("number density of samples, times the cube of the support; wanted: %.1f to %.0f\n\n", FLO_RULE_LEAST,
         FLO_RULE_MOST);
  printf("%-12s %-9s %8s %8s %10s %8s %8s\n", "rule", "pose", "samples", "mean", "deviation", "least",
         "largest");
  for (size_t k = 0; k < FLO_RULE_COUNT; k++) {
    print_state(results[k].name, "at rest", &results[k].states[0]);
    print_state("", "deformed", &results[k].states[1]);
  }
}

// ---- Picture ----

static const FloRgb8 ink = {36, 44, 56}, page = {248, 249, 250};
#define HIGHEST      14.0f // number density at the end of the colours
#define PANEL_WIDTH  6.7   // part of the plane in a panel
#define PANEL_HEIGHT 4.6
#define FOOT         0.36 // below the triangles

typedef struct Panel {
  const FloRuleState *state;
  float x, y, scale; // its top left corner, and pixels per unit
} Panel;

static void set_pixel(FloCanvas *canvas, int x, int y, FloRgb8 colour) {
  uint8_t *at = canvas->rgb + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
  at[0] = colour.r, at[1] = colour.g, at[2] = colour.b;
}

static FloRgb8 colour_of(float density) {
  return flo_rgb8_from_linear(flo_colour_map(FLO_MAP_FIELD, density / HIGHEST));
}

static void paint_densities(FloCanvas *canvas, const Panel *p) {
  for (int j = 0; j < (int)(PANEL_HEIGHT * (double)p->scale); j++)
    for (int i = 0; i < (int)(PANEL_WIDTH * (double)p->scale); i++) {
      const double x = (i + 0.5) / (double)p->scale - 0.25,
                   y = PANEL_HEIGHT - FOOT - (j + 0.5) / (double)p->scale;
      if (!flo_rule_is_inside(p->state, x, y)) continue;
      set_pixel(canvas, (int)p->x + i, (int)p->y + j, colour_of((float)flo_rule_density(p->state, x, y)));
    }
}

static void add_circle(FloCanvas *canvas, float x, float y, float radius, float width) {
  enum { SIDES = 20 };
  for (int k = 0; k < SIDES; k++) {
    const float a = (float)(2 * FLO_PI * k / SIDES), b = (float)(2 * FLO_PI * (k + 1) / SIDES);
    flo_canvas_add_stroke(canvas, x + radius * cosf(a), y + radius * sinf(a), x + radius * cosf(b),
                          y + radius * sinf(b), width);
  }
}

static void paint_samples(FloCanvas *canvas, const Panel *p) {
  for (size_t k = 0; k < p->state->n_samples; k++) {
    const double *sample = p->state->samples[k];
    add_circle(canvas, p->x + p->scale * (float)(sample[0] + 0.25),
               p->y + p->scale * (float)(PANEL_HEIGHT - FOOT - sample[1]), 0.25f * p->scale,
               0.025f * p->scale);
  }
  flo_canvas_paint(canvas, (FloRgb8){255, 255, 255}, 0.75f);
}

static void paint_words(FloCanvas *canvas, const Panel *p, const char *name) {
  char text[96];
  const FloTextStyle style = {.size = 0.2f * p->scale};
  snprintf(text, sizeof text, "mean %.1f, deviation %.1f", p->state->mean, p->state->deviation);
  flo_canvas_add_text(canvas, p->x + 0.25f * p->scale, p->y + 0.34f * p->scale, style, name);
  flo_canvas_add_text(canvas, p->x + 0.25f * p->scale, p->y + (float)(PANEL_HEIGHT - 0.06) * p->scale, style,
                      text);
  flo_canvas_paint(canvas, ink, 1);
}

// Marks at the ends of the window.
static void paint_legend(FloCanvas *canvas, float x, float y, float width, float scale) {
  static const float marks[] = {0, (float)FLO_RULE_LEAST, (float)FLO_RULE_MOST, HIGHEST};
  const float height = 0.18f * scale;
  for (int i = 0; i < (int)width; i++)
    for (int j = 0; j < (int)height; j++)
      set_pixel(canvas, (int)x + i, (int)y + j, colour_of(HIGHEST * (float)i / width));
  for (size_t k = 0; k < FLO_COUNT_OF(marks); k++) {
    char text[16];
    const float at = x + width * marks[k] / HIGHEST;
    snprintf(text, sizeof text, "%g", (double)marks[k]);
    flo_canvas_add_rect(canvas, (FloRect){at - 0.5f, y, 1, 1.5f * height});
    flo_canvas_add_text(canvas, at, y + 0.58f * scale,
                        (FloTextStyle){.size = 0.2f * scale, .anchor = FLO_ANCHOR_MIDDLE}, text);
  }
  flo_canvas_add_text(canvas, x - 0.3f * scale, y + 0.2f * scale,
                      (FloTextStyle){.size = 0.2f * scale, .anchor = FLO_ANCHOR_RIGHT}, "number density");
  flo_canvas_paint(canvas, ink, 1);
}

static void paint(FloCanvas *canvas, const FloRuleResult *results) {
  const float scale = (float)canvas->width / (float)(FLO_RULE_COUNT * PANEL_WIDTH);
  for (size_t k = 0; k < FLO_RULE_COUNT; k++)
    for (int s = 0; s < 2; s++) {
      const Panel panel = {&results[k].states[s], (float)(k * PANEL_WIDTH) * scale,
                           (float)(s * PANEL_HEIGHT) * scale, scale};
      paint_densities(canvas, &panel);
      paint_samples(canvas, &panel);
      paint_words(canvas, &panel, s == 0 ? results[k].name : "");
    }
  paint_legend(canvas, 0.38f * (float)canvas->width, (float)(2 * PANEL_HEIGHT + 0.25) * scale,
               0.3f * (float)canvas->width, scale);
}

static FloStatus draw(const Arguments *a, const FloRuleResult *results, FloError *error) {
  const int height = (int)(a->width * (2 * PANEL_HEIGHT + 1) / (FLO_RULE_COUNT * PANEL_WIDTH));
  const size_t n = (size_t)a->width * (size_t)height;
  uint8_t *rgb = malloc(3 * n);
  FloCanvas canvas;
  if (!rgb) return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture");
  for (size_t k = 0; k < n; k++) memcpy(rgb + 3 * k, &page, 3);
  FloStatus status = flo_canvas_create(&canvas, rgb, a->width, height, error);
  if (status == FLO_OK) {
    paint(&canvas, results);
    flo_canvas_destroy(&canvas);
    status = flo_write_png(a->out, rgb, a->width, height, error);
  }
  free(rgb);
  return status;
}

int cmd_resampling(int argc, char **argv) {
  Arguments a;
  FloRuleResult results[FLO_RULE_COUNT] = {0};
  FloError error;
  FloStatus status = FLO_OK;
  int exit_code;
  if (!parse(argc, argv, &a, &exit_code)) return exit_code;
  for (size_t k = 0; status == FLO_OK && k < FLO_RULE_COUNT; k++)
    status = flo_rule_measure(k, &results[k], &error);
  if (status == FLO_OK) print_table(results);
  if (status == FLO_OK) status = draw(&a, results, &error);
  for (size_t k = 0; k < FLO_RULE_COUNT; k++) flo_rule_free(&results[k]);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "%s", error.text);
  printf("\n%-8s %s\n", "picture", a.out);
  return APP_OK;
}
