#include "io/summary.h"
#include "io/scene_steps.h"

#include "base/core.h"
#include "base/parallel.h"
#include "io/suggest.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

// JSON has no infinity and no NaN: null means that there is no such bound or value. Whole numbers, such as
// counts, are written as integers.
static json_t *number(double value) {
  if (!isfinite(value)) return json_null();
  return value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *integer(uint64_t value) { return json_integer((json_int_t)value); }

static void set(json_t *object, const char *key, json_t *value) {
  json_object_set_new_nocheck(object, key, value);
}

// Text from files may be invalid UTF-8, which JSON cannot hold.
static json_t *text_value(const char *text) {
  json_t *value = json_string(text ? text : "");
  return value ? value : json_null();
}

// ---- What ran ----

// Parameters as scenes write them: some have words as values.
static json_t *make_parameters(const FloScene *scene, const FloWorld *world) {
  json_t *used = json_object();
  size_t count = 0;
  const FloParam *params = flo_method_params(scene->world.method, &count);
  for (size_t k = 0; k < count; k++) {
    double value;
    if (flo_world_get_param(world, params[k].name, &value, NULL) != FLO_OK) continue;
    const char *const *words = flo_method_words(scene->world.method, params[k].name);
    set(used, params[k].name, words ? text_value(words[(size_t)value]) : number(value));
  }
  return used;
}

static json_t *make_settings(const FloScene *scene) {
  const FloWorldDef *def = &scene->world;
  json_t *settings = json_object();
  set(settings, "dim", json_integer(def->dim));
  set(settings, "spacing", number(def->spacing));
  set(settings, "gravity",
      json_pack("[o,o,o]", number(def->gravity[0]), number(def->gravity[1]), number(def->gravity[2])));
  set(settings, "kernel", text_value(flo_kernel_name(def->kernel)));
  set(settings, "support", number(def->support));
  set(settings, "time_step", number(def->time_step));
  set(settings, "cfl", number(def->cfl));
  set(settings, "duration", number(scene->duration));
  set(settings, "frames_per_second", number(scene->frames_per_second));
  return settings;
}

// The name of the processor if the system provides it, else "".
static void find_processor(char *name, size_t size) {
  char line[256];
  name[0] = 0;
  FILE *stream = fopen("/proc/cpuinfo", "r");
  if (!stream) return;
  while (fgets(line, sizeof line, stream)) {
    if (strncmp(line, "model name", 10) != 0) continue;
    const char *value = strchr(line, ':');
    if (value) snprintf(name, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    break;
  }
  fclose(stream);
}

static json_t *make_machine(void) {
  struct utsname system;
  char text[512] = "", processor[256];
  if (uname(&system) >= 0)
    snprintf(text, sizeof text, "%.100s %.100s %.100s", system.sysname, system.release, system.machine);
  find_processor(processor, sizeof processor);
  json_t *machine = json_object();
  set(machine, "system", text_value(text));
  set(machine, "processor", text_value(processor));
  set(machine, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
  set(machine, "compiler", text_value(__VERSION__));
  return machine;
}

// ---- What came out ----

static json_t *make_timings(const FloWorld *world, const FloRunReport *report) {
  json_t *timings = json_object();
  double seconds;
  const char *stage;
  for (size_t k = 0; (stage = flo_world_stage(world, k, &seconds)); k++) set(timings, stage, number(seconds));
  set(timings, "output", number(report->output_seconds));
  set(timings, "pictures", number(report->picture_seconds));
  return timings;
}

static json_t *make_particles(const FloWorld *world) {
  json_t *particles = json_object();
  size_t fluid = flo_world_count(world, FLO_SET_FLUID), boundary = flo_world_count(world, FLO_SET_BOUNDARY),
         rigid = flo_world_count(world, FLO_SET_RIGID);
  set(particles, "fluid", integer(fluid));
  set(particles, "boundary", integer(boundary));
  set(particles, "rigid", integer(rigid));
  set(particles, "total", integer(fluid + boundary + rigid));
  return particles;
}

static json_t *make_measurements(const FloSeries *series) {
  json_t *measurements = json_object();
  for (size_t c = 0; c < series->n_columns && series->n_rows > 0; c++) {
    char name[128];
    set(measurements, series->names[c], number(series->last[c]));
    if (!flo_series_has_extremes(series, c)) continue;
    snprintf(name, sizeof name, "%s.min", series->names[c]);
    set(measurements, name, number(series->low[c]));
    snprintf(name, sizeof name, "%s.max", series->names[c]);
    set(measurements, name, number(series->high[c]));
  }
  return measurements;
}

bool flo_expect_is_judged(const FloExpect *expect) { return isfinite(expect->low) || isfinite(expect->high); }

bool flo_expect_is_missed(const FloExpect *expect, double value) {
  return flo_expect_is_judged(expect) && !(value >= expect->low && value <= expect->high);
}

static json_t *make_expects(const FloScene *scene, const FloSeries *series, bool is_whole, size_t *n_failed) {
  json_t *expects = json_array();
  *n_failed = 0;
  for (size_t k = 0; k < scene->n_expects; k++) {
    const FloExpect *expect = &scene->expects[k];
    double value = NAN;
    flo_series_value(series, expect->measurement, &value);
    bool is_judged = is_whole && flo_expect_is_judged(expect),
         is_missed = flo_expect_is_missed(expect, value);
    if (is_judged && is_missed) (*n_failed)++;
    json_t *entry = json_object();
    set(entry, "name", text_value(expect->measurement));
    set(entry, "value", number(value));
    set(entry, "low", number(expect->low));
    set(entry, "high", number(expect->high));
    set(entry, "paper", expect->paper[0] ? text_value(expect->paper) : json_null());
    set(entry, "pass", is_judged ? json_boolean(!is_missed) : json_null());
    json_array_append_new(expects, entry);
  }
  return expects;
}

static void set_end(json_t *summary, const FloRunReport *report) {
  static const char *const ends[] = {"finished", "interrupted", "diverged", "failed"};
  set(summary, "end", json_string(ends[report->end]));
  set(summary, "interrupted", json_boolean(report->end == FLO_RUN_INTERRUPTED));
  set(summary, "diverged", json_boolean(report->end == FLO_RUN_DIVERGED));
  set(summary, "message", report->message ? text_value(report->message) : json_null());
}

static void set_origin(json_t *summary, const FloScene *scene, const FloWorld *world,
                       const FloRunReport *report) {
  int threads = scene->world.threads;
  set(summary, "title", text_value(scene->title));
  set(summary, "scene", text_value(scene->path));
  set(summary, "name", text_value(scene->name));
  set(summary, "size", report->size ? text_value(report->size) : json_null());
  set(summary, "method", text_value(scene->world.method));
  set(summary, "paper", text_value(flo_method_paper(scene->world.method)));
  set(summary, "parameters", make_parameters(scene, world));
  set(summary, "settings", make_settings(scene));
  set(summary, "version", text_value(flo_version()));
  set(summary, "machine", make_machine());
  set(summary, "threads", json_integer(threads > 0 ? threads : flo_parallel_default_threads()));
  set(summary, "simd", text_value(flo_simd_name()));
}

static void set_totals(json_t *summary, FloWorld *world, const FloSeries *series,
                       const FloRunReport *report) {
  FloMeasurements measurements = flo_world_measure(world);
  char hash[32];
  snprintf(hash, sizeof hash, "%016" PRIx64, flo_world_hash(world));
  set(summary, "time", number(measurements.time));
  set(summary, "steps", integer(measurements.step));
  set(summary, "frames", integer(report->n_frames));
  set(summary, "wall_seconds", number(report->wall_seconds));
  set(summary, "particles", make_particles(world));
  set(summary, "memory_bytes", integer(flo_world_memory(world)));
  set(summary, "timings", make_timings(world, report));
  set(summary, "measurements", make_measurements(series));
  set(summary, "state_hash", json_string(hash));
}

FloStatus flo_summary_make(const FloScene *scene, FloWorld *world, const FloSeries *series,
                           const FloRunReport *report, char **text, size_t *n_failed, FloError *error) {
  json_t *summary = json_object();
  set_origin(summary, scene, world, report);
  set_end(summary, report);
  set_totals(summary, world, series, report);
  set(summary, "expect", make_expects(scene, series, report->is_whole, n_failed));
  *text = flo_scene_write(summary); // the fewest digits that give the same number, as in the series
  json_decref(summary);
  return *text ? FLO_OK : flo_fail(error, FLO_NO_MEMORY, "no memory for the summary");
}

// Suggests a measurement's name with or without the part after its last dot. "fornt.max" is similar to
// "front.max", which is not a column, so the two parts are corrected separately.
static void suggest_measurement(const FloSeries *series, const char *measurement, char hint[192]) {
  static const char *const parts[] = {"max", "min", "mean", "last"};
  const char *dot = strrchr(measurement, '.');
  char base[96], name[128], text[128];
  snprintf(base, sizeof base, "%.*s", (int)(dot ? dot - measurement : 90), measurement);
  FloSuggestion whole = flo_suggest_start(measurement), stem = flo_suggest_start(base),
                part = flo_suggest_start(dot ? dot + 1 : "");
  for (size_t c = 0; c < series->n_columns; c++) {
    flo_suggest_offer(&whole, series->names[c]);
    flo_suggest_offer(&stem, series->names[c]);
  }
  for (size_t k = 0; k < FLO_COUNT_OF(parts); k++) flo_suggest_offer(&part, parts[k]);
  if (dot && stem.best && part.best) {
    snprintf(name, sizeof name, "%.80s.%s", stem.best, part.best);
    whole = (FloSuggestion){.best = name};
  }
  snprintf(hint, 192, "%s",
           whole.best ? flo_suggest_text(&whole, text)
                      : "; use the name of a probe or a column of series.csv, optionally with .max, .min, "
                        ".mean or .last");
}

FloStatus flo_summary_check_expects(const FloScene *scene, const FloSeries *series, FloError *error) {
  for (size_t k = 0; k < scene->n_expects; k++) {
    double value;
    const char *measurement = scene->expects[k].measurement;
    if (flo_series_value(series, measurement, &value)) continue;
    char hint[192];
    suggest_measurement(series, measurement, hint);
    return flo_fail(error, FLO_BAD_INPUT, "%s: /expect/%zu: no measurement '%s'%s", scene->path, k,
                    measurement, hint);
  }
  return FLO_OK;
}
