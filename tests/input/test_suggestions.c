// What is suggested to whoever mistypes a word, abbreviates it or calls it as others do; and remedies that
// name what to write instead. Where nothing is near, nothing is suggested.
#include "input/scene_texts.h"
#include "io/suggest.h"

#define SOLID(shape) BOUNDARIES("{'shape':" shape "}")

static const BadScene near_words[] = {
    {SOLID("{'bx':1}"), "/boundaries/0/shape: unknown key 'bx', did you mean 'box'?"},
    {SOLID("{'shpere':1}"), "did you mean 'sphere'?"},
    {SOLID("{'sylinder':1}"), "did you mean 'cylinder'?"},
    {SOLID("{'hight':1}"), "unknown key 'hight', did you mean 'height'?"},
    {SOLID("{'cube':1}"), "unknown key 'cube', did you mean 'box'?"},
    {SOLID("{'ball':1}"), "unknown key 'ball', did you mean 'sphere'?"},
    {WET("'spcing':1"), "unknown key 'spcing', did you mean 'spacing'?"},
    {WET("'gravty':0"), "did you mean 'gravity'?"},
    {WET("'dt':0"), "did you mean 'time_step'?"},
    {WET("'body':[]"), "unknown key 'body', did you mean 'bodies'?"},
    {WET("'fps':10"), "did you mean 'frames_per_second'?"},
    {WET("'kernel':'cubic'"), "/kernel: unknown kernel 'cubic', did you mean 'cubic-spline'?"},
    {WET("'method':'wcshp'"), "unknown method 'wcshp', did you mean 'wcsph'?"},
    {WET("'method':'mono'"), "unknown method 'mono', did you mean 'monolithic'?"},
    {WET("'materials':{'m':{'visc':1}}"), "/materials/m: unknown key 'visc', did you mean 'viscosity'?"},
    {WET("'materials':{'m':{'Density':1}}"), "unknown key 'Density', did you mean 'density'?"},
};
TRY(near_words)

// The list of what there is helps more than a guess.
static const BadScene far_words[] = {
    {SOLID("{'potato':1}"), "unknown key 'potato'; known keys: "},
    {SOLID("{'bo':1,'x':1}"), "unknown key "},
    {WET("'foo':1"), "unknown key 'foo'; known keys: "},
    {WET("'g':1"), "unknown key 'g'; known keys: "},
    {WET("'method':'dfsph'"), "unknown method 'dfsph' (there is "},
    {WET("'kernel':'k'"), "unknown kernel 'k' (there are "},
};
TRY(far_words)

static const char *suggestion_for(const char *word, const char *const *candidates, char text[128]) {
  FloSuggestion suggestion = flo_suggest_start(word);
  for (; *candidates; candidates++) flo_suggest_offer(&suggestion, *candidates);
  return flo_suggest_text(&suggestion, text);
}

static void test_beginnings_of_words(void **state) {
  (void)state;
  static const char *const options[] = {"--frames", "--force", "--no-picture", "--threads", NULL};
  static const char *const scenes[] = {"dam-break", "dam-break-2d", "honey", NULL};
  char text[128];
  assert_string_equal(suggestion_for("--no-pic", options, text), ", did you mean '--no-picture'?");
  assert_string_equal(suggestion_for("--f", options, text), "");
  assert_string_equal(suggestion_for("--fo", options, text), "");
  assert_string_equal(suggestion_for("--for", options, text), ", did you mean '--force'?");
  assert_string_equal(suggestion_for("dam", scenes, text), ", did you mean 'dam-break'?");
  assert_string_equal(suggestion_for("HON", scenes, text), ", did you mean 'honey'?");
  assert_string_equal(suggestion_for("", scenes, text), "");
  assert_string_equal(suggestion_for("zzz", scenes, text), "");
  // Of several that are as near, the shortest.
  static const char *const twins[] = {"sphere-cloud", "sphere", NULL};
  assert_string_equal(suggestion_for("spher", twins, text), ", did you mean 'sphere'?");
}

// ---- Remedies ----

static const BadScene fractions[] = {
    {WET("'method':{'name':'monolithic','max_iterations':2.5}"),
     "/method/max_iterations: must be a whole number, got 2.5"},
    {WET("'method':{'name':'monolithic','min_iterations':'1/2'}"), "/method/min_iterations: must be a whole"},
    {WET("'method':{'name':'wcsph','viscosity_iterations':1.5}"),
     "/method/viscosity_iterations: must be a whole"},
    {WET("'method':{'name':'monolithic','anchors':0.5}"), "/method/anchors: must be 0 or 1, got 0.5"},
};
TRY(fractions)

#define DENSITY(text) WET("'materials':{'m':{'density':'" text "'}}")
#define NO_UNITS      "; numbers are in SI units and the unit is not written, such as 0.04 for 4 cm"

static const BadScene units[] = {
    {DENSITY("1000 kg"),
     "/density: \"1000 kg\", column 6: expected an operator or the end, got 'k'" NO_UNITS},
    {DENSITY("1000 kg/m^3"), "column 6: expected an operator or the end, got 'k'" NO_UNITS},
    {DENSITY("1e3kg"), "column 4: expected an operator or the end, got 'k'" NO_UNITS},
    {DENSITY("1.  g"), "column 5: expected an operator or the end, got 'g'" NO_UNITS},
    {DENSITY("(2 kg)"), "column 4: expected an operator or ')', got 'k'" NO_UNITS},
    {DENSITY("max(1 kg, 2)"), "column 7: expected ',' or ')', got 'k'" NO_UNITS},
    {DENSITY("20 %"), "column 4: expected an operator or the end, got '%'" NO_UNITS},
    {DENSITY("90\u00b0"), "got '\u00b0'" NO_UNITS},
    {DENSITY("5 \u00b5m"), "got '\u00b5'" NO_UNITS},
    {DENSITY("5 \u03bcm"), "got '\u03bc'" NO_UNITS},
    // What has a meaning is no unit.
    {DENSITY("2 pi"), "column 3: expected an operator or the end, got 'p'; write * to multiply"},
    {DENSITY("2sqrt(2)"), "column 2: expected an operator or the end, got 's'; write * to multiply"},
    {WET("'constants':{'m':2,'a':'3 m'}"), "column 3: expected an operator or the end, got 'm'; write * to"},
    {WATER("{'box':1},'velocity':['2 x',0,0]"), "got 'x'; write * to multiply"},
};
TRY(units)

// Neither a number before nor a word behind: nothing is known of units.
static void test_no_units(void **state) {
  (void)state;
  static const char *const texts[] = {DENSITY("1 2"),    DENSITY("1 \u00e4"), DENSITY("kg"),
                                      DENSITY("(2) kg"), DENSITY("% 2"),      DENSITY("2*")};
  for (size_t k = 0; k < FLO_COUNT_OF(texts); k++) {
    FloError error = {0};
    FloScene *scene;
    write_text(file, texts[k]);
    assert_int_equal(flo_scene_load(file, NULL, &scene, &error), FLO_BAD_INPUT);
    if (strstr(error.text, "SI units")) print_error("unwanted: %s\n", error.text);
    assert_null(strstr(error.text, "SI units"));
  }
}

static void test_expressions_stay(void **state) {
  (void)state;
  static const char *const texts[] = {DENSITY("1000"), DENSITY(" 2 * 5e2 "), DENSITY("10^3"), DENSITY("1e3"),
                                      WET("'constants':{'kg':2},'materials':{'m':{'density':'500 * kg'}}")};
  for (size_t k = 0; k < FLO_COUNT_OF(texts); k++) {
    FloError error = {0};
    FloScene *scene;
    write_text(file, texts[k]);
    assert_ok(flo_scene_load(file, NULL, &scene, &error), &error);
    assert_non_null(strstr(scene->resolved, "1000"));
    flo_scene_destroy(scene);
  }
}

static void test_materials_by_name(void **state) {
  (void)state;
  const char *set = "fluids.0.material.density=3", *other = "fluids.1.material.density=3";
  write_text(file, SCENE("'materials':{'water':{}},'fluids':[{'material':'water','shape':{'box':1}},"
                         "{'material':{'density':900},'shape':{'box':1},'at':[3,0,0]}]"));
  expect_failure(&(FloSceneOptions){.sets = &set, .n_sets = 1}, FLO_BAD_INPUT,
                 "--set fluids.0.material.density=3: the material is given by its name, 'water'; set "
                 "materials.water.density");
  FloScene *scene;
  FloError error;
  assert_ok(flo_scene_load(file, &(FloSceneOptions){.sets = &other, .n_sets = 1}, &scene, &error), &error);
  flo_scene_destroy(scene);
}

static void expect_no_world(const char *text, const char *message) {
  FloScene *scene;
  FloWorld *world;
  FloError error = {0};
  write_text(file, text);
  assert_ok(flo_scene_load(file, NULL, &scene, &error), &error);
  assert_refused(flo_scene_build(scene, &world, &error), &error, message);
  assert_non_null(strstr(error.text, "bad.json: /fluids/0: no particle fits in, because "));
  flo_scene_destroy(scene);
}

// Fluid that has no room names the solid that takes it.
static void test_swallowed_fluid(void **state) {
  (void)state;
  expect_no_world(BOUNDARIES("{'name':'floor','shape':{'box':[9,9,1]},'at':[0,0,-5]},{'name':'huge','shape':"
                             "{'box':4}}"),
                  "'huge' fills the place; move one of them, or make 'huge' smaller");
  expect_no_world(SCENE("'method':'monolithic'," FLUID ",'bodies':[{'name':'whale','material':{},'shape':"
                        "{'sphere':3}}]"),
                  "'whale' fills the place");
  expect_no_world(SCENE("'fluids':[{'material':{},'shape':{'box':0.01}}]"), "the spacing is 0.1 m");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_near_words),
      cmocka_unit_test(test_far_words),
      cmocka_unit_test(test_beginnings_of_words),
      cmocka_unit_test(test_fractions),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_no_units),
      cmocka_unit_test(test_expressions_stay),
      cmocka_unit_test(test_materials_by_name),
      cmocka_unit_test(test_swallowed_fluid),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
