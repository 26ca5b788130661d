// flotsam bench: measures the machine and the library, and prints ratios that can be compared between
// machines.
#include "app.h"
#include "base/core.h"
#include "base/parallel.h"
#include "bench/suite.h"
#include "bench/table.h"
#include "io/suggest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const AppUsage usage = {
    .command = "bench",
    .arguments = "",
    .about =
        "Measures what this machine can do (memory, arithmetic, sweeps over pairs of particles) and what\n"
        "share of that the library uses, stage by stage. Prints one JSON object per line;\n"
        "docs/performance.md explains each key. Takes a few minutes; run nothing else meanwhile.\n"
        "Parts: stream, fma, probe, box, pool, peer-dam, coupling, memory, sampling, surface, joints,\n"
        "sheets, cloth. The parts five-million and tower need about 6 GB each and run only when --only "
        "names\n"
        "them.\n"
        "Exit codes: 0 done, 1 a measurement failed, 2 bad input.",
    .examples = "  flotsam bench > bench.jsonl\n"
                "  flotsam bench --table\n"
                "  flotsam bench --only probe,box --particles 100k --threads 1,2\n"
                "  flotsam bench --only five-million --table\n"
                "  flotsam bench --only tower --table\n",
    .min_words = 0,
    .max_words = 0,
};

enum { LEAST_PARTICLES = 1000, MOST_PARTICLES = 100000000, MOST_THREADS = 1024 };

typedef struct Arguments {
  AppList only, particles, threads;
  bool is_quick, has_json, has_table;
} Arguments;

// ---- Lists such as 100k,1m ----

typedef bool (*ItemFn)(const char *item, FloBenchSpec *spec);

// Reads the items, separated by commas, of all uses of an option. An empty item is an error.
static bool take_items(const AppList *list, ItemFn take, FloBenchSpec *spec) {
  for (size_t k = 0; k < list->count; k++) {
    const char *at = list->items[k];
    for (;;) {
      char item[64];
      size_t length = strcspn(at, ",");
      snprintf(item, sizeof item, "%.*s", (int)flo_min_size(length, 60), at);
      if (!take(item, spec)) return false;
      if (!at[length]) break;
      at += length + 1;
    }
  }
  return true;
}

__attribute__((format(printf, 1, 2))) static bool complain(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  app_fail(APP_BAD_INPUT, "bench: %s (see 'flotsam bench --help')", text);
  return false;
}

// A whole number, with an optional k for thousands or m for millions; NAN if the text is no such number.
static double read_count(const char *text) {
  char *end;
  if (text[0] < '0' || text[0] > '9') return NAN; // strtod would accept spaces, signs and "inf" too
  double value = strtod(text, &end);
  if (*end == 'k' || *end == 'K')
    value *= 1e3, end++;
  else if (*end == 'm' || *end == 'M')
    value *= 1e6, end++;
  return *end == 0 && value == floor(value) ? value : NAN;
}

static bool take_particles(const char *item, FloBenchSpec *spec) {
  double value = read_count(item);
  if (isnan(value)) return complain("--particles needs numbers such as 100k,1m, not '%s'", item);
  if (value < LEAST_PARTICLES || value > MOST_PARTICLES)
    return complain("--particles must lie between 1k and 100m, got %s", item);
  if (spec->n_particles == FLO_BENCH_MAX_VALUES)
    return complain("--particles takes at most %d numbers", FLO_BENCH_MAX_VALUES);
  spec->particles[spec->n_particles++] = (size_t)value;
  return true;
}

static bool take_threads(const char *item, FloBenchSpec *spec) {
  double value = read_count(item);
  if (isnan(value)) return complain("--threads needs whole numbers such as 1,2, not '%s'", item);
  if (value < 1 || value > MOST_THREADS)
    return complain("--threads must lie between 1 and %d, got %s", MOST_THREADS, item);
  if (spec->n_threads == FLO_BENCH_MAX_VALUES)
    return complain("--threads takes at most %d numbers", FLO_BENCH_MAX_VALUES);
  spec->threads[spec->n_threads++] = (int)value;
  return true;
}

static bool take_part(const char *item, FloBenchSpec *spec) {
  char buffer[128];
  FloSuggestion suggestion = flo_suggest_start(item);
  for (size_t part = 0; part < FLO_BENCH_PART_COUNT; part++) {
    if (strcmp(flo_bench_part_name(part), item) == 0) {
      spec->parts |= 1u << part;
      return true;
    }
    flo_suggest_offer(&suggestion, flo_bench_part_name(part));
  }
  return complain("--only: there is no part '%s'%s", item, flo_suggest_text(&suggestion, buffer));
}

// ---- Arguments ----

static void add_threads(FloBenchSpec *spec, int threads) { spec->threads[spec->n_threads++] = threads; }

// One thread, two threads (for the speed-up), and all cores.
static void choose_threads(FloBenchSpec *spec) {
  int cores = flo_parallel_cores();
  add_threads(spec, 1);
  if (cores > 1) add_threads(spec, 2);
  if (cores > 2) add_threads(spec, cores);
}

static void choose_particles(FloBenchSpec *spec) {
  static const size_t quick[] = {20000}, full[] = {100000, 1000000};
  spec->n_particles = spec->is_quick ? FLO_COUNT_OF(quick) : FLO_COUNT_OF(full);
  memcpy(spec->particles, spec->is_quick ? quick : full, spec->n_particles * sizeof *spec->particles);
}

static bool describe(const Arguments *a, FloBenchSpec *spec) {
  spec->is_quick = a->is_quick;
  if (!take_items(&a->only, take_part, spec) || !take_items(&a->particles, take_particles, spec) ||
      !take_items(&a->threads, take_threads, spec))
    return false;
  if (!spec->parts) spec->parts = flo_bench_default_parts();
  if (!spec->n_threads) choose_threads(spec);
  if (!spec->n_particles) choose_particles(spec);
  return true;
}

// Finds the file of the scene that the part 'tower' runs.
static bool find_tower(FloBenchSpec *spec, char path[FLO_PATH_SIZE]) {
  if (!(spec->parts >> FLO_BENCH_TOWER & 1)) return true;
  if (!app_find_scene("tower", path))
    return complain(
        "--only tower: the scene 'tower' is missing, which comes with flotsam; install flotsam again");
  spec->tower = path;
  return true;
}

// ---- Output ----

typedef struct Output {
  bool has_json, has_table, has_progress;
  bool has_failed; // a line could not be written
} Output;

static void show_progress(void *context, const char *text) {
  const Output *output = context;
  if (output->has_progress) fprintf(stderr, "\r\033[Kmeasuring %s ...", text);
}

// Each line is flushed, so that an interrupted run keeps what it measured.
static void print_line(void *context, const json_t *line) {
  Output *output = context;
  if (output->has_progress) fputs("\r\033[K", stderr);
  if (output->has_json) {
    char *text = json_dumps(line, JSON_REAL_PRECISION(6));
    if (!text || puts(text) < 0 || fflush(stdout) != 0) output->has_failed = true;
    free(text);
  }
  if (output->has_table) flo_table_print(line, stderr);
}

int cmd_bench(int argc, char **argv) {
  Arguments a = {0};
  AppList words = {0};
  int exit_code;
  AppOption options[] = {
      {"--quick", NULL, APP_FLAG, &a.is_quick, "small and short cases, only to test that everything works", 0,
       0},
      {"--only", "PARTS", APP_LIST, &a.only, "measure only these parts, separated by commas, e.g. probe,box",
       0, 0},
      {"--particles", "LIST", APP_LIST, &a.particles,
       "numbers of particles, separated by commas (default: 100k,1m)", 0, 0},
      {"--threads", "LIST", APP_LIST, &a.threads,
       "numbers of worker threads, separated by commas (default: 1, 2 and all cores)", 0, 0},
      {"--json", NULL, APP_FLAG, &a.has_json, "print JSON lines on stdout (the default)", 0, 0},
      {"--table", NULL, APP_FLAG, &a.has_table, "also print a table for people on stderr", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  // In a terminal, --table prints the table only: JSON lines between its rows would be hard to read.
  Output output = {.has_json = a.has_json || !a.has_table || !isatty(STDOUT_FILENO),
                   .has_table = a.has_table,
                   .has_progress = isatty(STDERR_FILENO)};
  FloBenchSpec spec = {.announce = show_progress, .emit = print_line, .context = &output};
  FloError error;
  char tower[FLO_PATH_SIZE];
  if (!describe(&a, &spec) || !find_tower(&spec, tower)) return APP_BAD_INPUT;
  FloStatus status = flo_bench_check(&spec, &error);
  if (status == FLO_OK) status = flo_bench_run(&spec, &error);
  if (output.has_progress) fputs("\r\033[K", stderr);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "bench: %s", error.text);
  return output.has_failed ? app_fail(APP_RUN_FAILED, "bench: cannot write to standard output") : APP_OK;
}
