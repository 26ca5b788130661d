#include "bench/table.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static double number(const json_t *line, const char *key) {
  const json_t *value = json_object_get(line, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text(const json_t *line, const char *key) {
  const char *value = json_string_value(json_object_get(line, key));
  return value ? value : "";
}

static void print_machine(const json_t *line, FILE *stream) {
  fprintf(stream, "%s, %.0f cores, flotsam %s with %s%s\n", text(line, "cpu"), number(line, "cores"),
          text(line, "version"), text(line, "simd"),
          json_is_true(json_object_get(line, "quick")) ? "; quick run: times are not meaningful" : "");
  fprintf(stream, "%-13s %10s %7s  %s\n", "case", "particles", "threads", "");
}

static void print_stream(const json_t *line, FILE *stream) {
  fprintf(stream, "%.1f GB/s", number(line, "bytes_per_second") / 1e9);
}

static void print_fma(const json_t *line, FILE *stream) {
  fprintf(stream, "%.1f GFLOP/s", number(line, "flops_per_second") / 1e9);
}

static void print_probe(const json_t *line, FILE *stream) {
  fprintf(stream, "%.2f M particle iterations/s, %.0f M pairs/s, %.1f neighbours",
          number(line, "particle_iterations_per_second") / 1e6, number(line, "pairs_per_second") / 1e6,
          number(line, "neighbours"));
}

// A share in percent, or nothing if it is not known.
static void print_share(FILE *stream, const char *label, double share) {
  if (isfinite(share)) fprintf(stream, "%s %.0f %%", label, 100 * share);
}

static void print_stages(const json_t *stages, FILE *stream) {
  const char *name;
  json_t *stage;
  fprintf(stream, "\n%33s", "");
  json_object_foreach((json_t *)stages, name, stage) {
    fprintf(stream, " %s", name);
    print_share(stream, "", number(stage, "share_of_step"));
  }
}

static void print_case(const json_t *line, FILE *stream) {
  double speedup = number(line, "speedup");
  fprintf(stream, "%.1f ms/step, %.2f M particle steps/s/core, %.1f neighbours, %.0f bytes/particle",
          1e3 * number(line, "seconds_per_step"), number(line, "particle_steps_per_second_core") / 1e6,
          number(line, "neighbours"), number(line, "bytes_per_particle"));
  if (isfinite(speedup) && speedup != 1) fprintf(stream, ", speed-up %.2f", speedup);
  print_share(stream, ", force sweep", number(line, "force_share_of_probe"));
  if (isfinite(number(line, "force_share_of_probe"))) fputs(" of the probe", stream);
  if (isfinite(number(line, "iterations_per_step")))
    fprintf(stream, ", %.1f iterations a step, %.2f M particle iterations/s/core",
            number(line, "iterations_per_step"), number(line, "particle_iterations_per_second_core") / 1e6);
  print_stages(json_object_get(line, "stages"), stream);
  const json_t *peer = json_object_get(line, "reference"), *range = json_object_get(peer, "seconds_per_step");
  if (!peer) return;
  fprintf(stream, "\n%33s %s: %.0f-%.0f ms/step (%s)", "", text(peer, "program"),
          1e3 * json_number_value(json_array_get(range, 0)),
          1e3 * json_number_value(json_array_get(range, 1)), text(peer, "note"));
}

static void print_coupling_peer(const json_t *peer, FILE *stream) {
  const json_t *range = json_object_get(peer, "seconds_per_simulated_second");
  fprintf(stream, "\n%33s %s: %.0f-%.0f s per simulated second (%s)", "", text(peer, "program"),
          json_number_value(json_array_get(range, 0)), json_number_value(json_array_get(range, 1)),
          text(peer, "note"));
}

static void print_coupling(const json_t *line, FILE *stream) {
  const json_t *peer = json_object_get(line, "reference");
  fprintf(stream, "%s with %s: %.3g s in %.1f s, %.0f steps of %.1f ms", text(line, "scene"),
          text(line, "method"), number(line, "simulated_seconds"),
          number(line, "seconds_per_simulated_second") * number(line, "simulated_seconds"),
          number(line, "steps"), 1e3 * number(line, "seconds_per_step"));
  if (isfinite(number(line, "iterations_per_step")))
    fprintf(stream, ", %.1f iterations a step, %.2f M particle iterations/s/core",
            number(line, "iterations_per_step"), number(line, "particle_iterations_per_second_core") / 1e6);
  fprintf(stream, ", %.2f M particle steps/s/core, mean density error %.2g",
          number(line, "particle_steps_per_second_core") / 1e6, number(line, "density_error_mean"));
  if (isfinite(number(line, "particles_at_ten_steps_per_second")))
    fprintf(stream, ", %.0f particles at 10 steps/s", number(line, "particles_at_ten_steps_per_second"));
  if (isfinite(number(line, "response_share")))
    fprintf(stream, ", response %.2f %%", 100 * number(line, "response_share"));
  if (json_is_object(peer)) print_coupling_peer(peer, stream);
}

static void print_memory(const json_t *line, FILE *stream) {
  fprintf(stream, "%.0f bytes/particle, %.0f at the peak", number(line, "bytes_per_particle"),
          number(line, "peak_bytes_per_particle"));
}

static void print_sampling(const json_t *line, FILE *stream) {
  fprintf(stream, "%s of %.0f triangles, spacing %.2f mean edges, %s: %.2f ms, %.2f at best",
          text(line, "mesh"), number(line, "triangles"), number(line, "spacing_in_mean_edges"),
          text(line, "task"), 1e3 * number(line, "seconds"), 1e3 * number(line, "seconds_best"));
}

static void print_surface(const json_t *line, FILE *stream) {
  const char *name;
  json_t *stage;
  fprintf(stream, "%.0f triangles: %.2f s, %.2f at best\n%33s", number(line, "triangles"),
          number(line, "seconds"), number(line, "seconds_best"), "");
  json_object_foreach(json_object_get(line, "stages"), name, stage)
      fprintf(stream, " %s %.2f s", name, number(stage, "seconds"));
}

static void print_joints(const json_t *line, FILE *stream) {
  fprintf(stream, "%.0f hinges, %s: %.2f ms to solve, %.2f at best; %.2f ms to factorise",
          number(line, "joints"), text(line, "shape"), 1e3 * number(line, "seconds"),
          1e3 * number(line, "seconds_best"), 1e3 * number(line, "factorise_seconds"));
}

static void print_sheet(const json_t *line, FILE *stream) {
  fprintf(stream, "%.0f vertices: %.1f ms to factorise; %.2f ms to solve, %.2f in single precision",
          number(line, "vertices"), 1e3 * number(line, "factorise_seconds"), 1e3 * number(line, "seconds"),
          1e3 * number(line, "single_seconds"));
}

static void print_cloth(const json_t *line, FILE *stream) {
  fprintf(stream, "%s, %s, %.0f triangles: %.3f frames of 1/60 s a second, %.1f iterations, %.0f contacts",
          text(line, "scene"), text(line, "method"), number(line, "triangles"),
          number(line, "frames_per_second"), number(line, "iterations_per_step"), number(line, "contacts"));
  if (isfinite(number(line, "skin_share")))
    fprintf(stream, ", samples %.2f %%", 100 * number(line, "skin_share"));
}

static void print_tower(const json_t *line, FILE *stream) {
  double times_better = number(line, "times_better");
  fprintf(stream,
          "size %s, %.0f samples of bodies and %.0f of walls: %.2f s/step, %.1f iterations, %.1f core s",
          text(line, "size"), number(line, "rigid_particles"), number(line, "boundary_particles"),
          number(line, "seconds_per_step"), number(line, "iterations_per_step"),
          number(line, "core_seconds_per_step"));
  if (isfinite(times_better)) fprintf(stream, ", %.1f times fewer than in the paper", times_better);
}

static void print_target(const json_t *line, FILE *stream) {
  bool is_less_better = json_is_true(json_object_get(line, "less_is_better"));
  double aim = number(line, "aim");
  fputs(text(line, "target"), stream);
  if (isfinite(number(line, "measured")))
    fprintf(stream, " %.4g %s", number(line, "measured"), text(line, "unit"));
  fprintf(stream, " (%s %.4g", is_less_better ? "at most" : "at least", number(line, "at_least"));
  if (isfinite(aim)) fprintf(stream, ", aim %.4g", aim);
  fprintf(stream, "): %s", json_is_string(json_object_get(line, "met")) ? text(line, "met") : "not measured");
}

typedef struct Row {
  const char *name;
  void (*print)(const json_t *line, FILE *stream);
} Row;

static const Row rows[] = {{"stream", print_stream},
                           {"fma", print_fma},
                           {"probe", print_probe},
                           {"memory", print_memory},
                           {"target", print_target},
                           {"sampling", print_sampling},
                           {"coupling", print_coupling},
                           {"surface", print_surface},
                           {"tower", print_tower},
                           {"joints", print_joints},
                           {"sheets", print_sheet},
                           {"cloth", print_cloth},
                           {NULL, print_case}};

void flo_table_print(const json_t *line, FILE *stream) {
  const char *name = text(line, "case");
  char particles[32] = "-", threads[32] = "-";
  if (strcmp(name, "machine") == 0) {
    print_machine(line, stream);
    return;
  }
  if (isfinite(number(line, "particles")))
    snprintf(particles, sizeof particles, "%.0f", number(line, "particles"));
  if (isfinite(number(line, "threads"))) snprintf(threads, sizeof threads, "%.0f", number(line, "threads"));
  fprintf(stream, "%-13s %10s %7s  ", name, particles, threads);
  const Row *row = rows;
  while (row->name && strcmp(row->name, name) != 0) ++row;
  row->print(line, stream);
  fputc('\n', stream);
}
