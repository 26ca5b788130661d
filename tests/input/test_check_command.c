// `flotsam check` as a program: exit codes, what reaches the terminal, progress, and the time it tells.
#include "base/timer.h"
#include "input/scene_texts.h"

#include <jansson.h>
#include <sys/wait.h>

enum { SKIPPED = 77 };

static char program[512];

// Beside the folder of the tests: BUILD/test/... and BUILD/bin/flotsam.
static bool find_program(void) {
  char path[256];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = 0;
  for (int k = 0; k < 2; k++) {
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    *slash = 0;
  }
  snprintf(program, sizeof program, "%s/bin/flotsam", path);
  return access(program, X_OK) == 0;
}

typedef struct Answer {
  int exit_code;
  double seconds;
  char out[16384], err[4096];
} Answer;

static void read_stream(FILE *stream, char *text, size_t size) {
  size_t length = fread(text, 1, size - 1, stream);
  text[length] = 0;
}

static Answer run_check(const char *path, const char *options) {
  static Answer answer;
  char command[1400], errors[sizeof folder + 16];
  snprintf(errors, sizeof errors, "%s/errors", folder);
  snprintf(command, sizeof command, "'%s' check '%s' %s 2>'%s'", program, path, options, errors);
  double since = flo_seconds();
  FILE *stream = popen(command, "r");
  assert_non_null(stream);
  read_stream(stream, answer.out, sizeof answer.out);
  int status = pclose(stream);
  answer.seconds = flo_seconds() - since;
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  stream = fopen(errors, "r");
  assert_non_null(stream);
  read_stream(stream, answer.err, sizeof answer.err);
  fclose(stream);
  remove(errors);
  return answer;
}

static void expect_text(const char *text, const char *words) {
  if (!strstr(text, words)) print_error("no '%s' in: %s\n", words, text);
  assert_non_null(strstr(text, words));
}

#define TANK "{'name':'tank','shape':{'tank':1}}"
#define POOL(more)                                                                                           \
  SCENE("'title':'pool'," more "'boundaries':[" TANK                                                         \
        "],'fluids':[{'material':{},'shape':{'box':0.4},'corner':[0,0,0]}]")

static void test_time_includes_set_up(void **state) {
  (void)state;
  write_text(file, POOL(""));
  Answer text = run_check(file, "");
  assert_int_equal(text.exit_code, 0);
  expect_text(text.out, "\n  set-up     about ");
  expect_text(text.out, "on this machine, set-up included");
  Answer answer = run_check(file, "--json");
  json_t *root = json_loads(answer.out, 0, NULL);
  assert_non_null(root);
  double set_up = json_number_value(json_object_get(root, "set_up_seconds"));
  double all = json_number_value(json_object_get(root, "estimated_seconds"));
  assert_true(set_up > 0 && set_up < answer.seconds && all > set_up);
  json_decref(root);
}

// The picture at the end of a run takes time, which is told.
static void test_time_includes_the_picture(void **state) {
  (void)state;
  write_text(file, POOL(""));
  Answer answer = run_check(file, "--json");
  json_t *root = json_loads(answer.out, 0, NULL);
  assert_non_null(root);
  double drawing = json_number_value(json_object_get(root, "picture_seconds"));
  double set_up = json_number_value(json_object_get(root, "set_up_seconds"));
  double all = json_number_value(json_object_get(root, "estimated_seconds"));
  assert_true(drawing > 0 && all > set_up + drawing);
  json_decref(root);
  expect_text(run_check(file, "").out, "\n  picture    about ");
  answer = run_check(file, "--json --no-picture --frames 3");
  root = json_loads(answer.out, 0, NULL);
  assert_true(json_number_value(json_object_get(root, "picture_seconds")) == 0);
  json_decref(root);
}

// The message of a step that fails names the file and the key to change.
static void test_steps_that_fail(void **state) {
  (void)state;
  write_text(file, POOL("'time_step':1,"));
  Answer answer = run_check(file, "--no-picture");
  assert_int_equal(answer.exit_code, 1);
  expect_text(answer.err, "bad.json: /time_step: 1 s is fixed");
}

// One line of message, with the file, the path and exit code 2.
static void expect_refused(const char *text, const char *options, const char *message) {
  write_text(file, text);
  Answer answer = run_check(file, options);
  assert_int_equal(answer.exit_code, 2);
  assert_string_equal(answer.out, "");
  expect_text(answer.err, message);
  expect_text(answer.err, "flotsam: ");
  expect_text(answer.err, file);
}

static void test_refusals(void **state) {
  (void)state;
  expect_refused(POOL("'method':'wcsph','min_time_step':1e-6,'constants':{'a':1},") "",
                 "--set 'boundaries=[{\"name\":\"fan\",\"shape\":{\"box\":0.2},\"at\":[3,3,3],\"motions\":["
                 "{\"rotate\":{\"rate\":1e5}}]}]'",
                 ": /boundaries/0/motions: 'fan' moves at up to ");
  expect_refused(
      "{'schema_version':1,'spacing':'s','duration':1,'constants':{'s':0.1},'sizes':{'fine':{'s':-1}},"
      "'fluids':[{'material':{},'shape':{'box':0.4}}]}",
      "", ": /spacing: must be > 0, got -1 (with --size fine)");
  expect_refused(POOL("'shows':'a\\u001b[31m',"), "", ": /shows: text must not have control characters");
}

// What is set from outside was meant for the size at hand.
static void test_other_sizes_do_not_matter_with_set(void **state) {
  (void)state;
  write_text(
      file,
      "{'schema_version':1,'spacing':'s','duration':1,'constants':{'s':0.1},'sizes':{'fine':{'s':0.05}},"
      "'fluids':[{'material':{},'shape':{'box':0.4}}]}");
  assert_int_equal(run_check(file, "--no-picture").exit_code, 0);
  assert_int_equal(run_check(file, "--no-picture --set 'spacing=s-0.05'").exit_code, 0);
}

static void test_names_of_files_are_escaped(void **state) {
  (void)state;
  char path[sizeof file + 16];
  snprintf(path, sizeof path, "%s/a\033[31m.json", folder);
  write_text(
      path, SCENE("'boundaries':[" TANK "],'fluids':[{'material':{},'shape':{'box':0.4},'corner':[0,0,0]}]"));
  Answer answer = run_check(path, "");
  assert_int_equal(answer.exit_code, 0);
  assert_null(strchr(answer.out, '\033'));
  assert_null(strchr(answer.err, '\033'));
  expect_text(answer.out, "a\\x1b[31m");
  answer = run_check(path, "--json");
  assert_null(strchr(answer.out, '\033'));
  write_text(path, "{");
  answer = run_check(path, "");
  assert_int_equal(answer.exit_code, 2);
  assert_null(strchr(answer.err, '\033'));
  remove(path);
}

// Whether it took long is the machine's business; that it is said is ours.
static void test_progress(void **state) {
  (void)state;
  write_text(file, "{'schema_version':1,'spacing':0.015,'duration':1,'boundaries':[{'name':'a','shape':{"
                   "'armadillo':0.7}},{'name':'b','shape':{'duck':0.7},'at':[3,0,0]}],'gravity':0,"
                   "'fluids':[{'material':{},'shape':{'box':0.1},'at':[9,0,0]}]}");
  Answer answer = run_check(file, "--no-picture");
  assert_int_equal(answer.exit_code, 0);
  if (answer.seconds > 3) expect_text(answer.err, "flotsam: check: ");
  if (answer.seconds > 3) expect_text(answer.err, " s so far\n");
  if (answer.seconds < 2) assert_string_equal(answer.err, "");
  write_text(file, POOL(""));
  answer = run_check(file, "--no-picture");
  if (answer.seconds < 2) assert_string_equal(answer.err, "");
}

// Rather a message than a machine that is brought down.
static void test_memory(void **state) {
  (void)state;
  double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (!(memory > 0) || memory > 1e11) skip();
  write_text(file, SCENE("'fluids':[{'material':{},'shape':{'box':[57,57,57]}}]"));
  Answer answer = run_check(file, "");
  assert_int_equal(answer.exit_code, 2);
  expect_text(answer.err, "about 1.85e+08 particles would need 148 GB of memory, but this machine has ");
  assert_true(answer.seconds < 30);
}

// The number behind `word` in bytes, by the unit behind it.
static double read_size(const char *text, const char *word) {
  static const struct {
    const char *name;
    double bytes;
  } known[] = {{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
  double number = 0;
  char unit[8] = "";
  const char *place = strstr(text, word);
  assert_non_null(place);
  assert_int_equal(sscanf(place + strlen(word), "%lf %7s", &number, unit), 2);
  for (size_t k = 0; k < FLO_COUNT_OF(known); k++)
    if (strcmp(unit, known[k].name) == 0) {
      assert_true(number >= 1 && number < 1000);
      return number * known[k].bytes;
    }
  print_error("no unit: %s\n", unit);
  return 0;
}

// Sizes that are read back from what is printed, each in a unit that suits it, are those of the JSON.
static void test_sizes_have_units_that_suit(void **state) {
  (void)state;
  static const struct {
    const char *more, *options, *unit;
  } cases[] = {{"", "--no-picture --frames 1", "disk       about 1.0 MB\n"},
               {"", "--no-picture --frames 2000", " MB\n"},
               {"'frames_per_second':60000,", "--no-picture", " GB\n"}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); k++) {
    char options[64], text[600];
    snprintf(text, sizeof text,
             "{" HEAD "%s'boundaries':[" TANK "],'fluids':[{'material':{},'shape':{'box':0.4}"
             ",'corner':[0,0,0]}]}",
             cases[k].more);
    write_text(file, text);
    Answer answer = run_check(file, cases[k].options);
    assert_int_equal(answer.exit_code, 0);
    expect_text(answer.out, cases[k].unit);
    double memory = read_size(answer.out, "  memory "), disk = read_size(answer.out, "  disk       about ");
    snprintf(options, sizeof options, "%s --json", cases[k].options);
    json_t *root = json_loads(run_check(file, options).out, 0, NULL);
    assert_non_null(root);
    double bytes = json_number_value(json_object_get(root, "estimated_disk_bytes"));
    assert_true(fabs(disk / fmax(bytes, 1e6) - 1) < 0.05);
    assert_true(fabs(memory / json_number_value(json_object_get(root, "memory_bytes")) - 1) < 0.05);
    json_decref(root);
  }
}

// A file for each frame: so many of them are a burden even if they are small.
static void test_very_many_frames(void **state) {
  (void)state;
  write_text(file, POOL("'frames_per_second':200000,"));
  Answer answer = run_check(file, "--no-picture");
  assert_int_equal(answer.exit_code, 0);
  expect_text(answer.out, "  note       2e+05 frames would fill about ");
  expect_text(answer.out, " of the disk, one file each; set frames_per_second lower than 200000");
  // As many frames as are asked for count, not those of the scene.
  assert_null(strstr(run_check(file, "--no-picture --frames 10").out, "frames would fill"));
  write_text(file, POOL("'frames_per_second':90000,"));
  assert_null(strstr(run_check(file, "--no-picture").out, "frames would fill"));
}

int main(void) {
  if (!find_program()) return SKIPPED;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_time_includes_set_up),
      cmocka_unit_test(test_time_includes_the_picture),
      cmocka_unit_test(test_steps_that_fail),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_other_sizes_do_not_matter_with_set),
      cmocka_unit_test(test_names_of_files_are_escaped),
      cmocka_unit_test(test_progress),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_sizes_have_units_that_suit),
      cmocka_unit_test(test_very_many_frames),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
