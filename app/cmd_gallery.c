// flotsam gallery: runs all scenes, draws them, and shows the results on one page.
#include "base/core.h"
#include "exhibit.h"
#include "io/suggest.h"
#include "plots.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppUsage usage = {
    .command = "gallery",
    .arguments = "",
    .about =
        "Runs every scene that comes with flotsam, or every scene of a folder, and draws a picture and a\n"
        "short movie of each. Writes one page, DIR/index.html, that needs no other file: pictures, movies,\n"
        "plots, expectations, times and the commands that repeat each run. The page exists from the\n"
        "beginning and grows with each scene. A scene that fails is shown as failed, and the others\n"
        "continue.\n"
        "If a gallery was interrupted, give the same command again to continue it. Results that exist and\n"
        "were made from the same scene are kept.\n"
        "Exit codes: 0 all expectations were met, 1 a scene failed or the command was interrupted, 2 bad "
        "input, 3 all\n"
        "scenes finished, but an expectation was missed.",
    .examples = "  flotsam gallery\n"
                "  flotsam gallery --only dam-break,tower --quality good\n"
                "  flotsam gallery --size draft --out /tmp/drafts\n"
                "  flotsam gallery --scenes my/scenes --set duration=0.5\n",
    .min_words = 0,
    .max_words = 0,
};

typedef struct Arguments {
  const char *out, *scenes;
  AppList only;
  AppSceneArguments scene;
  AppLook look;
  bool is_fresh, is_quiet;
} Arguments;

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  *a = (Arguments){.out = "runs/gallery"};
  AppOption options[] = {
      {"--out", "DIR", APP_TEXT, &a->out, "the folder to write (default: runs/gallery)", 0, 0},
      {"--scenes", "DIR", APP_TEXT, &a->scenes, "run the scene files of this folder instead of flotsam's own",
       0, 0},
      {"--only", "SCENE,...", APP_LIST, &a->only, "run only these scenes, by name (default: all)", 0, 0},
      {"--size", "SIZE", APP_TEXT, &a->scene.size,
       "use this size of each scene that has it; others use their normal size", 0, 0},
      {"--set", "PATH=VALUE", APP_LIST, &a->scene.sets,
       "set a value in all scenes, e.g. duration=0.5; may be repeated", 0, 0},
      APP_LOOK_OPTIONS(&a->look),
      APP_TOUR_OPTIONS(a),
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  *exit_code = APP_BAD_INPUT;
  return app_check_look("gallery", &a->look);
}

// ---- Which scenes ----

typedef struct Gallery {
  const Arguments *arguments;
  AppTexts names, paths;
  AppTour tour;
  char page[FLO_PATH_SIZE];
} Gallery;

static void take_name(const char *name, void *context) {
  Gallery *gallery = context;
  app_texts_add(&gallery->names, name);
}

static FloStatus take_file(const char *file, void *context, FloError *error) {
  (void)error;
  char name[256];
  size_t length = strlen(file);
  if (file[0] == '.' || length < 6 || length >= sizeof name || strcmp(file + length - 5, ".json") != 0)
    return FLO_OK;
  snprintf(name, sizeof name, "%.*s", (int)(length - 5), file);
  take_name(name, context);
  return FLO_OK;
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static FloStatus list_names(Gallery *gallery, FloError *error) {
  const char *folder = gallery->arguments->scenes;
  if (!folder) return app_list_scenes(take_name, gallery), FLO_OK;
  FLO_TRY(flo_folder_visit(folder, take_file, gallery, error));
  if (gallery->names.count == 0)
    return flo_fail(error, FLO_BAD_INPUT,
                    "gallery: %s: the folder has no scene file NAME.json; name another folder with --scenes",
                    folder);
  qsort(gallery->names.items, gallery->names.count, sizeof *gallery->names.items, compare_texts);
  return FLO_OK;
}

static bool has_name(const AppTexts *names, const char *name) {
  for (size_t k = 0; k < names->count; k++)
    if (strcmp(names->items[k], name) == 0) return true;
  return false;
}

// If no name is similar, the message lists the scenes of the folder. Scenes that come with flotsam are too
// many to list.
static FloStatus fail_name(const AppTexts *all, const char *folder, const char *name, FloError *error) {
  char buffer[128], list[600] = " ('flotsam info scenes' lists them)";
  FloSuggestion suggestion = flo_suggest_start(name);
  size_t used = folder ? (size_t)snprintf(list, sizeof list, " in %.200s; its scenes are:", folder) : 0;
  for (size_t k = 0; k < all->count; k++) {
    flo_suggest_offer(&suggestion, all->items[k]);
    if (folder && used + 80 < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s %.60s", k ? "," : "", all->items[k]);
  }
  return flo_fail(error, FLO_BAD_INPUT, "gallery: no scene '%s'%s", name,
                  suggestion.best ? flo_suggest_text(&suggestion, buffer) : list);
}

static FloStatus choose_name(const AppTexts *all, const char *folder, const char *name, AppTexts *chosen,
                             FloError *error) {
  if (!has_name(all, name)) return fail_name(all, folder, name, error);
  if (!has_name(chosen, name)) app_texts_add(chosen, name);
  return FLO_OK;
}

// In the order of the command line.
static FloStatus choose_names(const Gallery *gallery, const char *list, AppTexts *chosen, FloError *error) {
  AppTexts names = {0};
  FloStatus status = FLO_OK;
  app_texts_split(&names, list);
  for (size_t k = 0; k < names.count && status == FLO_OK; k++)
    status = choose_name(&gallery->names, gallery->arguments->scenes, names.items[k], chosen, error);
  app_texts_free(&names);
  return status;
}

static FloStatus choose(Gallery *gallery, FloError *error) {
  const AppList *only = &gallery->arguments->only;
  AppTexts chosen = {0};
  FloStatus status = FLO_OK;
  for (size_t k = 0; k < only->count && status == FLO_OK; k++)
    status = choose_names(gallery, only->items[k], &chosen, error);
  if (only->count == 0) return status;
  app_texts_free(&gallery->names);
  gallery->names = chosen;
  return status;
}

static FloStatus find_paths(Gallery *gallery, FloError *error) {
  for (size_t k = 0; k < gallery->names.count; k++) {
    char path[FLO_PATH_SIZE], file[300];
    const char *name = gallery->names.items[k];
    snprintf(file, sizeof file, "%.255s.json", name);
    if (gallery->arguments->scenes)
      FLO_TRY(flo_path_join(gallery->arguments->scenes, file, path, error));
    else if (!app_find_scene(name, path))
      return flo_fail(error, FLO_BAD_INPUT,
                      "gallery: the file of the scene '%s' was removed; put it back, or leave the scene out",
                      name);
    app_texts_add(&gallery->paths, path);
  }
  return FLO_OK;
}

// ---- Opening ----

static FloStatus open_exhibit(Gallery *gallery, size_t k, FloError *error) {
  const Arguments *a = gallery->arguments;
  AppExhibit *e = &gallery->tour.items[k];
  char runs[FLO_PATH_SIZE], place[FLO_PATH_SIZE];
  e->name = gallery->names.items[k];
  e->arguments = a->scene;
  e->arguments.scene = gallery->paths.items[k];
  FLO_TRY(flo_path_join(a->out, "runs", runs, error));
  FLO_TRY(flo_path_join(runs, e->name, place, error));
  if (a->is_fresh) FLO_TRY(app_exhibit_forget(place, error));
  return app_exhibit_open(e, place, error);
}

// A size that no scene has is an error.
static FloStatus check_size(const Gallery *gallery, FloError *error) {
  const char *size = gallery->arguments->scene.size;
  bool has_one = !size;
  for (size_t k = 0; k < gallery->tour.count; k++)
    has_one = has_one || gallery->tour.items[k].arguments.size == size;
  return has_one ? FLO_OK
                 : flo_fail(error, FLO_BAD_INPUT,
                            "gallery: no scene has a size '%s'; leave out --size, or name one of the sizes "
                            "in the scene files",
                            size);
}

static FloStatus open_all(Gallery *gallery, FloError *error) {
  size_t n = gallery->names.count;
  FLO_TRY(flo_path_join(gallery->arguments->out, "index.html", gallery->page, error));
  FLO_TRY(flo_page_check(gallery->page, "gallery", error));
  FLO_TRY(flo_folder_make(gallery->arguments->out, error));
  gallery->tour.items = calloc(n + 1, sizeof *gallery->tour.items);
  if (!gallery->tour.items || gallery->paths.count < n)
    return flo_fail(error, FLO_NO_MEMORY, "gallery: no memory");
  for (; gallery->tour.count < n; gallery->tour.count++)
    FLO_TRY(open_exhibit(gallery, gallery->tour.count, error));
  return check_size(gallery, error);
}

// ---- The page ----

static const char *title_of(const AppExhibit *e) {
  return e->scene && e->scene->title && e->scene->title[0] ? e->scene->title : e->name;
}

static double particle_steps(const AppExhibit *e) {
  double wall = app_exhibit_number(e, "wall_seconds", NULL);
  return app_exhibit_number(e, "particles", "total") * app_exhibit_number(e, "steps", NULL) / wall;
}

static void add_summary_row(FloPage *page, const AppExhibit *e) {
  char text[48];
  flo_page_markup(page, "<tr><td class=\"name\">");
  if (e->state == APP_EXHIBIT_WAITING)
    flo_page_text(page, e->name);
  else
    flo_page_link(page, e->name, e->name);
  flo_page_markup(page, "</td><td>");
  app_page_badge(page, e);
  flo_page_markup(page, "</td>");
  flo_page_cell(page, NULL, e->scene ? e->scene->world.method : "–");
  flo_page_cell(page, "n", app_show_count(app_exhibit_number(e, "particles", "total"), text));
  flo_page_cell(page, "n", app_show_count(app_exhibit_number(e, "steps", NULL), text));
  flo_page_cell(page, "n", app_show_seconds(app_exhibit_number(e, "wall_seconds", NULL), text));
  flo_page_markup(page, "</tr>\n");
}

static void add_lead(FloPage *page, const AppTour *tour) {
  size_t n_shown = 0, n_failed = 0, n_met = 0, n_expects = 0;
  char text[256];
  for (size_t k = 0; k < tour->count; k++) {
    const AppExhibit *e = &tour->items[k];
    if (e->state == APP_EXHIBIT_WAITING) continue;
    n_shown++;
    n_failed += e->state == APP_EXHIBIT_FAILED;
    n_met += e->n_met, n_expects += e->n_expects;
  }
  int used = snprintf(text, sizeof text, "%zu scene%s: %zu of %zu expectations met", tour->count,
                      tour->count == 1 ? "" : "s", n_met, n_expects);
  if (n_failed > 0) used += snprintf(text + used, sizeof text - (size_t)used, ", %zu failed", n_failed);
  if (n_shown < tour->count)
    snprintf(text + used, sizeof text - (size_t)used, "; %zu still to come", tour->count - n_shown);
  flo_page_element(page, "p", "lead", text);
}

static void add_overview(FloPage *page, const AppTour *tour) {
  static const char *const titles[] = {"Scene",      "Expectations", "Method",
                                       "#Particles", "#Steps",       "#Wall time"};
  flo_page_markup(page, "<h1 id=\"top\">Flotsam gallery</h1>\n");
  add_lead(page, tour);
  app_page_machine(page, tour->items, tour->count);
  flo_page_markup(page, "<div class=\"card\">");
  flo_page_table_begin(page, titles, FLO_COUNT_OF(titles));
  for (size_t k = 0; k < tour->count; k++) add_summary_row(page, &tour->items[k]);
  flo_page_table_end(page);
  flo_page_markup(page, "</div>\n");
}

// ---- One scene on it ----

static void add_fact(FloPage *page, const char *name, const char *value) {
  flo_page_markup(page, "<div>");
  flo_page_element(page, "dt", NULL, name);
  flo_page_element(page, "dd", NULL, value);
  flo_page_markup(page, "</div>");
}

// Finds a reference like "figure 12 of Probst & Teschner 2023" in the scene's description; it ends at the
// year.
static bool find_reference(const char *shows, char text[160]) {
  const char *start = shows ? strstr(shows, "figure") : NULL;
  if (!start) return false;
  for (const char *at = start; *at; at++) {
    if (strspn(at, "0123456789") != 4) continue;
    snprintf(text, 160, "%.*s", (int)flo_min_size((size_t)(at + 4 - start), 159), start);
    text[0] = (char)toupper((unsigned char)text[0]);
    return true;
  }
  return false;
}

static void add_particle_fact(FloPage *page, const AppExhibit *e) {
  char total[48], fluid[48], text[128];
  app_show_count(app_exhibit_number(e, "particles", "total"), total);
  app_show_count(app_exhibit_number(e, "particles", "fluid"), fluid);
  snprintf(text, sizeof text, "%s (%s fluid)", total, fluid);
  add_fact(page, "Particles", text);
}

static void add_time_facts(FloPage *page, const AppExhibit *e) {
  char text[128], first[48], second[48];
  double time = app_exhibit_number(e, "time", NULL), steps = app_exhibit_number(e, "steps", NULL);
  app_show_seconds(time, first), app_show_count(app_exhibit_number(e, "frames", NULL), second);
  snprintf(text, sizeof text, "%s in %s frames", first, second);
  add_fact(page, "Simulated time", text);
  app_show_count(steps, first), snprintf(second, sizeof second, "%.3g", 1e3 * time / steps);
  snprintf(text, sizeof text, "%s, each %s ms", first, second);
  add_fact(page, "Steps", text);
  add_fact(page, "Wall time", app_show_seconds(app_exhibit_number(e, "wall_seconds", NULL), first));
  snprintf(text, sizeof text, "%.3g million a second", 1e-6 * particle_steps(e));
  add_fact(page, "Particle steps", text);
}

static void add_facts(FloPage *page, const AppExhibit *e) {
  char text[160];
  flo_page_markup(page, "<dl>");
  add_fact(page, "Method", e->scene->world.method);
  if (find_reference(e->scene->shows, text)) add_fact(page, "In the paper", text);
  if (e->summary) {
    add_particle_fact(page, e);
    snprintf(text, sizeof text, "%.4g m, %s", e->scene->world.spacing,
             e->scene->world.dim == 2 ? "in the plane" : "in space");
    add_fact(page, "Spacing", text);
    add_time_facts(page, e);
  }
  flo_page_markup(page, "</dl>\n");
}

static void add_media(FloPage *page, const AppTour *tour, const AppExhibit *e) {
  char path[FLO_PATH_SIZE], caption[96];
  size_t frame = app_exhibit_best_frame(e), column = flo_series_table_find(&e->series, "time");
  if (column == e->series.n_columns || frame >= e->series.n_rows) return;
  double time = flo_series_table_column(&e->series, column)[frame];
  flo_page_markup(page, "<div class=\"media\">\n");
  snprintf(caption, sizeof caption, "At %.4g s", time);
  if (app_exhibit_picture_path(e, frame, path, NULL) == FLO_OK && app_exhibit_is_drawn(tour, e, path))
    flo_page_picture(page, path, caption);
  snprintf(caption, sizeof caption, "From the start to %.4g s", app_exhibit_number(e, "time", NULL));
  if (app_exhibit_movie_path(e, path, NULL) == FLO_OK && app_exhibit_is_drawn(tour, e, path))
    flo_page_movie(page, path, caption);
  flo_page_markup(page, "</div>\n");
}

// Plots without information are left out: iterations of a method without a solver, fluid in a scene without
// fluid.
static bool is_flat_zero(const FloSeriesTable *table, const char *name) {
  size_t column = flo_series_table_find(table, name);
  for (size_t k = 0; column < table->n_columns && k < table->n_rows; k++)
    if (flo_series_table_column(table, column)[k] != 0) return false;
  return true;
}

static void choose_columns(const AppExhibit *e, AppColumns *choice) {
  static const char *const names[] = {"iterations", "density_error_mean", "density_error_max",
                                      "kinetic_energy", "potential_energy"};
  for (size_t k = 0; k < FLO_COUNT_OF(names); k++)
    if (!is_flat_zero(&e->series, names[k])) app_columns_add_names(choice, &names[k], 1);
  app_columns_add_probes(choice);
}

static void add_plots(FloPage *page, const AppExhibit *e) {
  AppColumns choice = {.table = &e->series, .scene = e->scene};
  AppPlots plots;
  choice.x = flo_series_table_find(&e->series, "time");
  choice.columns = calloc(e->series.n_columns + 1, sizeof *choice.columns);
  if (!choice.columns || e->series.n_rows < 2 || choice.x == e->series.n_columns) {
    free(choice.columns);
    return;
  }
  choose_columns(e, &choice);
  flo_page_element(page, "h3", NULL, "Series");
  flo_page_markup(page, "<div class=\"plots\">\n");
  if (app_plots_make(&choice, false, &plots))
    for (size_t k = 0; k < plots.count; k++) app_page_plot(page, &plots.inputs[k]);
  flo_page_markup(page, "</div>\n");
  app_plots_free(&plots);
  free(choice.columns);
}

static void add_scene(FloPage *page, const Gallery *gallery, const AppExhibit *e) {
  char id[256];
  flo_page_id(e->name, id, sizeof id);
  flo_page_markup(page, "<article class=\"card\" id=\"%s\">\n<div class=\"head\">", id);
  flo_page_element(page, "h2", NULL, title_of(e));
  app_page_badge(page, e);
  flo_page_markup(page, "<a class=\"up\" href=\"#top\">↑ all scenes</a></div>\n");
  if (e->scene && e->scene->shows) flo_page_element(page, "p", "shows", e->scene->shows);
  app_page_troubles(page, e);
  add_media(page, &gallery->tour, e);
  if (e->scene) add_facts(page, e);
  app_page_expectations(page, (const AppExhibit *const[]){e}, 1);
  if (e->scene) add_plots(page, e);
  flo_page_element(page, "h3", NULL, "Run it");
  app_page_command(page, e, gallery->arguments->scenes ? e->arguments.scene : e->name, NULL);
  flo_page_markup(page, "</article>\n");
}

static FloStatus write_page(AppTour *tour, void *context, FloError *error) {
  const Gallery *gallery = context;
  FloPage page;
  FLO_TRY(flo_page_begin(&page, gallery->page, "gallery", "Flotsam gallery", error));
  add_overview(&page, tour);
  for (size_t k = 0; k < tour->count; k++)
    if (tour->items[k].state != APP_EXHIBIT_WAITING) add_scene(&page, gallery, &tour->items[k]);
  return flo_page_end(&page, error);
}

// ---- All of it ----

static FloStatus draw(AppTour *tour, AppExhibit *e, FloError *error) {
  if (!e->scene || e->series.n_rows == 0) return FLO_OK;
  FLO_TRY(app_exhibit_draw_picture(tour, e, app_exhibit_best_frame(e), error));
  return app_exhibit_draw_movie(tour, e, error);
}

static FloStatus prepare(Gallery *gallery, FloError *error) {
  FLO_TRY(list_names(gallery, error));
  FLO_TRY(choose(gallery, error));
  FLO_TRY(find_paths(gallery, error));
  return open_all(gallery, error);
}

// A folder that cannot be written is bad input if this is found before any work is done.
static int show(Gallery *gallery) {
  FloError error;
  FloStatus status = prepare(gallery, &error);
  if (status == FLO_OK) status = write_page(&gallery->tour, gallery, &error);
  if (status != FLO_OK)
    return app_fail(status == FLO_NO_MEMORY ? APP_RUN_FAILED : APP_BAD_INPUT, "%s", error.text);
  status = app_tour_go(&gallery->tour, &error);
  if (status != FLO_OK) {
    app_fail(0, "gallery: %s", error.text);
    return app_fail(APP_RUN_FAILED, "run the same command again to continue; results so far: %s",
                    gallery->page);
  }
  if (!gallery->arguments->is_quiet) printf("page     %s\n", gallery->page);
  return app_tour_exit_code(&gallery->tour);
}

int cmd_gallery(int argc, char **argv) {
  Arguments arguments;
  int exit_code;
  if (!parse(argc, argv, &arguments, &exit_code)) return exit_code;
  Gallery gallery = {.arguments = &arguments};
  gallery.tour = (AppTour){.look = arguments.look,
                           .is_quiet = arguments.is_quiet,
                           .has_movies = true,
                           .write = write_page,
                           .draw = draw,
                           .context = &gallery};
  exit_code = show(&gallery);
  for (size_t k = 0; k < gallery.tour.count; k++) app_exhibit_close(&gallery.tour.items[k]);
  free(gallery.tour.items);
  app_texts_free(&gallery.names);
  app_texts_free(&gallery.paths);
  return exit_code;
}
