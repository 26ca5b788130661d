// Scenes that are broken in ways nobody plans for: habits from other languages, odd characters, circles, and
// numbers of things that no world can hold.
#include "base/timer.h"
#include "input/scene_texts.h"

// ---- Habits from other languages ----

static const BadScene habits[] = {
    {"// a scene\n{}", "line 1, column 1: '[' or '{' expected near '/'; JSON has no comments"},
    {"{ /* a scene */ }", "string or '}' expected near '/'; JSON has no comments"},
    {"{\n# a scene\n}", "line 2, column 1: string or '}' expected near '#'; JSON has no comments"},
    {"{'spacing':True}", "invalid token near 'True'; write true in lower case"},
    {"{'spacing':None}", "invalid token near 'None'; leave out a key that has no value"},
    {"{'spacing':NaN}", "invalid token near 'NaN'; a number must be finite"},
    {"{'spacing':1,\n}",
     "line 2, column 1: string or '}' expected near '}'; remove the comma after the last"},
    {"{'fluids':[{},]}", "unexpected token near ']'; remove the comma after the last entry"},
    {"{'fluids':[{}}", "']' expected near '}'"},
    {"{} {}", "end of file expected near '{'"},
    {WET("'gravity':'0x10'"), "/gravity: \"0x10\", column 2: expected an operator or the end, got 'x'"},
    {WATER("{'box':'1,1,1'}"), "/fluids/0/shape/box: \"1,1,1\", column 2: expected an operator or the end"},
    {WATER("{'box':1},'at':'0,0,0'"), "/fluids/0/at: must be a list of 3 numbers, got text"},
    {SCENE("'fluids':[{'material':['water'],'shape':{'box':1}}]"), "must be text or an object, got a list"},
};

// ---- Characters ----

static const BadScene characters[] = {
    {"\xef\xbb\xbf", "is empty; a scene is a JSON object"},
    {"\xef\xbb\xbf{'spacing':0.1}", "needs 'schema_version'"},
    {"\xff\xfe{", "is UTF-16 text; save it as UTF-8"},
    {WET("'title':'\\ud800'"), "invalid Unicode '\\uD800'"},
    {WET("'title':'a\\nb'"),
     "/title: text must not have control characters, such as line breaks and terminal "
     "escapes, got 'a\\x0ab'"},
    {WET("'title':'a\\u001b[2Jb'"), "got 'a\\x1b[2Jb'"},
    {WET("'title':'a\\u009b2Jb'"), "got 'a\\xc2\\x9b2Jb'"},
    {WET("'shows':'a\\u202eb'"), "/shows: text must not have control characters"},
    {WET("'shows':'a\\u2028b'"), "/shows: text must not have control characters"},
    {BOUNDARIES("{'name':'a\\u007f','shape':{'box':1}}"), "/boundaries/0/name: text must not have control"},
    {WET("'materials':{'a\\u001bb':{}}"), "/materials: a name must not have control characters"},
    {WET("'\\u001b[2J':1"),
     "a name must not have control characters, such as line breaks and terminal escapes, "
     "got '\\x1b[2J'"},
    {WET("'gravity':'9\xe2\x88\x92"
         "2'"),
     "/gravity: \"9\xe2\x88\x92"
     "2\", column 2: expected an operator or the end, got '\xe2\x88\x92'; write -"},
    {WET("'constants':{'\xce\xb1':1}"), "/constants: '\xce\xb1' cannot name a constant"},
    {WET("'gr\xc3\xb6\xc3\x9f"
         "e':1"),
     "unknown key 'gr\xc3\xb6\xc3\x9f"
     "e'; known keys: "},
    {WATER("{'letters':'Stra\xc3\x9f"
           "e'}"),
     "/fluids/0: letters: there is no '\xc3\x9f' (code 195); there are A to Z"},
    {WATER("{'letters':'   '}"), "letters: the text is empty"},
    {WET("'':1"), "unknown key ''"},
};

// ---- Numbers and expressions ----

static const BadScene expressions[] = {
    {WET("'gravity':'NaN'"), "/gravity: must be a finite number, got \"NaN\""},
    {WET("'gravity':[0,0,'-inf']"), "/gravity/2: must be a finite number, got \"-inf\""},
    {WET("'gravity':'0/0'"), "/gravity: \"0/0\" is not a number"},
    {WET("'gravity':'10^10^10'"), "/gravity: \"10^10^10\" gives inf, not a finite number"},
    {WET("'gravity':''"), "/gravity: \"\", column 1: expected a number, a name or '(', but the text ends"},
    {WET("'constants':{'a':null}"), "/constants/a: must be a number or an expression, got null"},
    {WET("'constants':3"), "/constants: must be an object of names and numbers, got a number, 3"},
    {WATER("{'box':1},'scatter':{'count':3,'within':[1,1,1],'seed':-1}"),
     "/fluids/0/scatter/seed: must be >= 0, got -1"},
    {WATER("{'box':1},'scatter':{'count':3,'within':[1,1,1],'seed':1.5}"),
     "/fluids/0/scatter/seed: must be a whole number, got 1.5"},
    {WATER("{'cone':[0,1,1]}"), "/shape/cone: the first number, the radius at the bottom, must be > 0, got "
                                "0; to put a cone on its point, rotate it with 'rotate'"},
    {WATER("{'cone':[1,0,0]}"), "/shape/cone: the third number, the length, must be > 0, got 0"},
    {WATER("{'cone':[-1,0,1]}"), "/shape/cone/0: must be >= 0, got -1"},
    {WATER("{'heightfield':3}"), "/shape/heightfield: must be an object, got a number"},
};

static void test_deep_expressions(void **state) {
  (void)state;
  char *text = malloc(40000);
  assert_non_null(text);
  static const char signs[] = "(-";
  for (size_t k = 0; k < 2; k++) {
    int n = snprintf(text, 40000, "{'schema_version':1,'spacing':'");
    memset(text + n, signs[k], 9000);
    snprintf(text + n + 9000, 100, "1','duration':1}");
    write_text(file, text);
    expect_failure(NULL, FLO_BAD_INPUT, "nested too deeply");
  }
  free(text);
}

// ---- Sizes: mistakes in those that nobody has chosen ----

static const BadScene sizes[] = {
    {WET("'constants':{'a':1},'sizes':{'fine':{'a':'1/'}}"),
     "/sizes/fine/a: \"1/\", column 3: expected a number, a name or '('"},
    {WET("'constants':{'a':1},'sizes':{'fine':{'a':'1/0'}}"), "/sizes/fine/a: \"1/0\" gives inf"},
    {WET("'constants':{'a':1},'sizes':{'fine':{'a':'b'}}"),
     "/sizes/fine/a: \"b\", column 1: unknown name 'b'"},
    {WET("'constants':{'a':1,'b':'a'},'sizes':{'fine':{'a':'b'}}"),
     "/constants/b: constants refer to each other in a circle: a -> b -> a (with --size fine)"},
    {WET("'constants':{'a':1},'sizes':{'fine':{'a':null}}"),
     "/sizes/fine/a: must be a number or an expression, "
     "got null"},
    {WET("'constants':{'a':1},'sizes':{'fine':3}"),
     "/sizes/fine: must be an object of constants, got a number, 3"},
    {WET("'sizes':3"), "/sizes: must be an object of named sizes, got a number, 3"},
    {WET("'sizes':{'fine':{'a':1}}"), "/sizes/fine: unknown constant 'a'; this scene has none"},
};

// Trying one size leaves nothing behind for the others, nor for the scene.
static void test_sizes_do_not_mix(void **state) {
  (void)state;
  static const struct {
    const char *size;
    double spacing;
  } cases[] = {{NULL, 0.1}, {"draft", 0.2}, {"fine", 0.05}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); k++) {
    FloError error = {0};
    FloScene *scene;
    write_text(file, "{'schema_version':1,'spacing':'2*s','duration':1,'constants':{'s':'h','h':0.05},"
                     "'sizes':{'draft':{'h':0.1},'fine':{'s':'h/2'}}," FLUID "}");
    FloSceneOptions options = {.size = cases[k].size};
    assert_ok(flo_scene_load(file, &options, &scene, &error), &error);
    assert_close(scene->world.spacing, cases[k].spacing, 1e-12);
    flo_scene_destroy(scene);
  }
  // A value of the chosen size is blamed where it stands.
  write_text(
      file,
      "{'schema_version':1,'spacing':'1/s','duration':1,'constants':{'s':1},'sizes':{'no':{'s':0}}," FLUID
      "}");
  expect_failure(&(FloSceneOptions){.size = "no"}, FLO_BAD_INPUT, "/spacing: \"1/s\" gives inf");
}

// ---- Groups and instances ----

#define WALL "{'name':'wall','shape':{'box':0.1}}"

static const BadScene groups[] = {
    {WET("'groups':{'a':{'place':[{'group':'b'}]},'b':{'place':[{'group':'a'}]}},'place':[{'group':'a'}]"),
     "/groups/b/place/0: groups place each other in a circle: a -> b -> a"},
    {WET("'groups':{'a':{'place':[{'group':'a'}]}}"), "groups place each other in a circle: a -> a"},
    {WET("'groups':{'a':3}"), "/groups/a: must be an object, got a number, 3"},
    {WET("'groups':[]"), "/groups: must be an object of named groups, got a list of 0"},
    {WET("'place':['a']"), "/place/0: must be an object, got text, \"a\""},
    {WET("'groups':{'a':{}},'place':{}"), "/place: must be a list of objects, got an object"},
    {WET("'groups':{'a':{'boundaries':[" WALL "," WALL "]}},'place':[{'group':'a'}]"),
     "/groups/a/boundaries/1 (placed by /place/0): there are two boundaries with the name 'a: wall'"},
    {WET("'boundaries':[{'name':'a: wall','shape':{'box':0.1}}],'groups':{'a':{'boundaries':[" WALL
         "]}},'place':[{'group':'a'}]"),
     "there are two boundaries with the name 'a: wall'"},
    {WET("'boundaries':[{'shape':{'box':0.1},'grid':{'count':[1000,1000,1000],'step':[1,1,1]}}]"),
     "/boundaries/0/grid: makes 1e+09 instances, at most 100000 are allowed in a scene"},
    {WET("'boundaries':[{'shape':{'box':0.1},'grid':{'count':[70000,1,1],'step':[1,1,1]}}]"),
     "/boundaries/0: makes 70000 boundaries, at most 65535 are allowed in a scene"},
    {WET("'boundaries':[{'shape':{'box':0.1}},{'shape':{'box':0.1},'grid':{'count':[65535,1,1]}}]"),
     "/boundaries/1: makes 65535 boundaries (65536 with those before), at most 65535 are allowed in a scene"},
    {WET("'boundaries':[{'shape':{'box':0.1},'grid':{'count':[0,1,1]}}]"),
     "/boundaries/0/grid/count/0: must be >= 1, got 0"},
};

// ---- Includes ----

static void test_odd_includes(void **state) {
  (void)state;
  char part[sizeof file + 8];
  snprintf(part, sizeof part, "%s/part.json", folder);
  static const BadScene of_scene[] = {
      {WET("'include':['.']"), "/include/0: '.' is a folder, not a file; name a .json file in it"},
      {WET("'include':[3]"), "/include/0: must be the path of a file, got a number, 3"},
      {WET("'include':{}"), "/include: must be the path of a file, got an object"},
      {WET("'include':'bad.json'"), "/include: files include each other in a circle"},
  };
  try_all(of_scene, FLO_COUNT_OF(of_scene));
  static const BadScene of_part[] = {
      {"", ": is empty; a scene is a JSON object"},
      {"[]", ": a scene must be a JSON object: { ... }, got a list of 0"},
      {"{'boundaries':3}", ": /boundaries: must be a list of objects, got a number, 3"},
      {"{'materials':[]}", ": /materials: must be an object of names, got a list of 0"},
      {"{'schema_version':'one'}", ": /schema_version: must be 1, got text, \"one\""},
      {"{'title':'a\\nb'}", ": /title: text must not have control characters"},
      {"{'constants':{'a':1},'sizes':{'fine':{'a':'2*'}}}", ": /sizes/fine/a: \"2*\", column 3"},
  };
  for (size_t k = 0; k < FLO_COUNT_OF(of_part); k++) {
    write_text(file, WET("'include':['part.json']"));
    write_text(part, of_part[k].text);
    expect_failure_of(part, NULL, FLO_BAD_INPUT, of_part[k].message);
  }
  remove(part);
}

// ---- Probes ----

#define PUSHED                                                                                               \
  "'boundaries':[" WALL "],'probes':[{'name':'push','force':'wall'},{'name':'twist','torque':'wall'}],"

static const BadScene probes[] = {
    {WET("'probes':[{'name':'a.max','front':'x'}]"),
     "/probes/0: a probe cannot be called 'a.max': after a name, .max means the extreme or last value of a "
     "run; call "
     "it 'a-max'"},
    {WET("'probes':[{'name':'a.last','front':'x'}]"), "call it 'a-last'"},
    {WET("'probes':[{'name':'.min','front':'x'}]"), "a probe cannot be called '.min'"},
    {WET(PUSHED "'expect':[{'measurement':'push','max':1}]"),
     "/expect/0/measurement: 'push' is a force, which has three components; name one, such as 'push.x'"},
    {WET(PUSHED "'expect':[{'measurement':'max_speed','max':1},{'figure':'twist.max','max':1}]"),
     "/expect/1/figure: 'twist' is a torque, which has three components; name one, such as 'twist.x.max'"},
};

// ---- Trying them ----

TRY(habits)
TRY(characters)
TRY(expressions)
TRY(sizes)
TRY(groups)
TRY(probes)

// Text with zeros in it, which C strings cannot hold.
static void test_utf16_without_a_mark(void **state) {
  (void)state;
  static const char little[] = "{\0\"\0a\0", big[] = "\0{\0\"\0a";
  FloError error = {0};
  FloScene *scene;
  assert_refused(flo_scene_load_text("memory", little, sizeof little - 1, NULL, &scene, &error), &error,
                 "is UTF-16 text");
  assert_refused(flo_scene_load_text("memory", big, sizeof big - 1, NULL, &scene, &error), &error,
                 "is UTF-16 text");
}

static void test_components_of_forces_are_measurements(void **state) {
  (void)state;
  FloError error = {0};
  FloScene *scene;
  write_text(file,
             WET(PUSHED "'expect':[{'measurement':'push.x','max':1},{'figure':'twist.z.max','max':1}]"));
  assert_ok(flo_scene_load(file, NULL, &scene, &error), &error);
  assert_string_equal(scene->expects[0].measurement, "push.x");
  assert_string_equal(scene->expects[1].measurement, "twist.z.max");
  flo_scene_destroy(scene);
}

// ---- Files that take long only if something is done for every pair ----

static FILE *start_file(const char *text) {
  FILE *stream = fopen(file, "wb");
  assert_non_null(stream);
  fprintf(stream,
          "{\"schema_version\":1,\"spacing\":0.1,\"duration\":1,"
          "\"fluids\":[{\"material\":{},\"shape\":{\"box\":1}}],%s",
          text);
  return stream;
}

// Seconds for a scene with n entries of one kind.
static double time_entries(const char *head, const char *entry, int n, const char *message) {
  FILE *stream = start_file(head);
  for (int k = 0; k < n; k++) fprintf(stream, "%s%s", k ? "," : "", entry);
  fprintf(stream, "]}");
  fclose(stream);
  FloError error = {0};
  FloScene *scene;
  double since = flo_seconds();
  FloStatus status = flo_scene_load(file, NULL, &scene, &error);
  double seconds = flo_seconds() - since;
  flo_scene_destroy(scene);
  if (message)
    assert_non_null(strstr(error.text, message));
  else
    assert_ok(status, &error);
  return seconds;
}

static void test_time_is_linear_in_the_number_of_entries(void **state) {
  (void)state;
  const char *head = "\"groups\":{\"g\":{}},\"place\":[", *entry = "{\"group\":\"g\"}";
  double few = time_entries(head, entry, 4000, NULL), many = time_entries(head, entry, 64000, NULL);
  // 16 times as many: 256 times as long if every one looked at all others.
  if (!(many < 80 * few + 1)) print_error("%g s for 4000, %g s for 64000\n", few, many);
  assert_true(many < 80 * few + 1);
  time_entries(head, entry, 70000, "/place: has 70000 entries, at most 65535");
}

static void test_too_many_names(void **state) {
  (void)state;
  FILE *stream = start_file("\"groups\":{");
  for (int k = 0; k < 10001; k++) fprintf(stream, "%s\"g%d\":{}", k ? "," : "", k);
  fprintf(stream, "}}");
  fclose(stream);
  expect_failure(NULL, FLO_BAD_INPUT, "/groups: has 10001 groups, at most 10000");
  stream = start_file("\"constants\":{\"a\":1},\"sizes\":{");
  for (int k = 0; k < 101; k++) fprintf(stream, "%s\"s%d\":{}", k ? "," : "", k);
  fprintf(stream, "}}");
  fclose(stream);
  expect_failure(NULL, FLO_BAD_INPUT, "/sizes: has 101 sizes, at most 100");
  stream = start_file("\"title\":\"");
  for (int k = 0; k < 300; k++) fputc('a', stream);
  fprintf(stream, "\"}");
  fclose(stream);
  expect_failure(NULL, FLO_BAD_INPUT, "/title: has 300 bytes, at most 200");
}

// ---- Values set from outside in place of others ----

static FloScene *load_with(const char *set) {
  FloError error = {0};
  FloScene *scene;
  FloSceneOptions options = {.sets = &set, .n_sets = 1};
  assert_ok(flo_scene_load(file, &options, &scene, &error), &error);
  return scene;
}

static void test_a_set_key_takes_the_place_of_its_rivals(void **state) {
  (void)state;
  write_text(file, BOUNDARIES("{'name':'a','shape':{'box':0.2},'corner':[1,1,1]},"
                              "{'name':'b','shape':{'sphere':0.2},'at':[3,3,3]}"));
  FloScene *scene = load_with("boundaries.a.at=[2,2,2]");
  assert_close_3(scene->bodies[0].def.pose.position, ((const double[3]){2, 2, 2}), 1e-12);
  flo_scene_destroy(scene);
  scene = load_with("boundaries.1.base=[0,0,0]");
  assert_close_3(scene->bodies[1].def.pose.position, ((const double[3]){0, 0, 0.2}), 1e-12);
  flo_scene_destroy(scene);
  scene = load_with("boundaries.b.shape.box=0.4");
  assert_int_equal(scene->bodies[1].def.shape.kind, FLO_SHAPE_BOX);
  flo_scene_destroy(scene);
  // What excludes nothing leaves everything as it is.
  scene = load_with("boundaries.a.rotate={\"angle\":90}");
  assert_close_3(scene->bodies[0].def.pose.position, ((const double[3]){1.1, 1.1, 1.1}), 1e-12);
  flo_scene_destroy(scene);
}

// A mesh that is so large that its samples are beyond all numbers was hardly drawn in metres.
static void test_a_mesh_in_millimetres(void **state) {
  (void)state;
  char mesh[sizeof file + 8];
  snprintf(mesh, sizeof mesh, "%s/tetra.obj", folder);
  write_text(mesh, "v 0 0 0\nv 2000 0 0\nv 0 2000 0\nv 0 0 2000\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  write_text(file, BOUNDARIES("{'name':'part','shape':{'mesh':'tetra.obj'}}"));
  expect_failure(NULL, FLO_BAD_INPUT,
                 "is 2000 m large: if it was drawn in millimetres, give it \"scale\": 0.001");
  write_text(file, BOUNDARIES("{'name':'part','shape':{'mesh':'tetra.obj','scale':0.001}}"));
  FloScene *scene = load_with("title=fine");
  flo_scene_destroy(scene);
  remove(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_habits),
      cmocka_unit_test(test_characters),
      cmocka_unit_test(test_expressions),
      cmocka_unit_test(test_deep_expressions),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_sizes_do_not_mix),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_odd_includes),
      cmocka_unit_test(test_probes),
      cmocka_unit_test(test_utf16_without_a_mark),
      cmocka_unit_test(test_components_of_forces_are_measurements),
      cmocka_unit_test(test_time_is_linear_in_the_number_of_entries),
      cmocka_unit_test(test_too_many_names),
      cmocka_unit_test(test_a_set_key_takes_the_place_of_its_rivals),
      cmocka_unit_test(test_a_mesh_in_millimetres),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
