#include "io/expression.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core.h"
#include "io/suggest.h"

static FloStatus find(void *context, const char *name, bool *found, double *value, FloError *error) {
  (void)context;
  (void)error;
  *found = !strcmp(name, "edge") || !strcmp(name, "s_2");
  *value = name[0] == 'e' ? 0.5 : 7;
  return FLO_OK;
}

static const char *name_at(void *context, size_t k) {
  (void)context;
  static const char *const names[] = {"edge", "s_2", NULL};
  return names[k];
}

static const char *const variables[] = {"x", "y", "z", "t"};
static const FloExpressionScope scope = {find, name_at, NULL, variables, 4};

static double value_at(const char *text, const double *values, bool *is_constant) {
  FloError error;
  FloExpression *expression;
  if (flo_expression_compile(text, &scope, &expression, &error)) {
    print_error("%s: %s\n", text, error.text);
    fail();
  }
  double value = flo_expression_evaluate(expression, values);
  *is_constant = flo_expression_is_constant(expression);
  flo_expression_destroy(expression);
  return value;
}

static void test_constants(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"1", 1},
      {" 1.5e-3 ", 1.5e-3},
      {".5", 0.5},
      {"2.", 2},
      {"1E3", 1000},
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"8/4/2", 1},
      {"5-3-1", 1},
      {"2^3^2", 512},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^-1", 0.5},
      {"2*-3", -6},
      {"--3", 3},
      {"+3", 3},
      {"1 - -1", 2},
      {"pi", FLO_PI},
      {"edge", 0.5},
      {"s_2*edge", 3.5},
      {"2*edge^2", 0.5},
      {"sqrt(16)", 4},
      {"abs(-3)", 3},
      {"exp(0)", 1},
      {"log(exp(2))", 2},
      {"min(3, 1, 2)", 1},
      {"max(3, 1, 5, 2)", 5},
      {"floor(2.7)", 2},
      {"ceil(2.1)", 3},
      {"round(2.5)", 3},
      {"hypot(3, 4)", 5},
      {"atan2(1, 1)*4", FLO_PI},
      {"sin(pi/2)", 1},
      {"cos(0)", 1},
      {"tan(0)", 0},
      {"min(max(1,2), 3)", 2},
      {"\t1\n+\r1", 2},
  };
  for (size_t k = 0; k < FLO_COUNT_OF(cases); k++) {
    bool is_constant;
    double value = value_at(cases[k].text, NULL, &is_constant);
    if (fabs(value - cases[k].value) > 1e-12) print_error("%s gave %g\n", cases[k].text, value);
    assert_true(fabs(value - cases[k].value) <= 1e-12);
    assert_true(is_constant);
  }
}

static void test_variables(void **state) {
  (void)state;
  const double p[4] = {0.1, 0.2, 0.3, 4};
  bool is_constant;
  double value = value_at("sin(2*pi*x)*cos(2*pi*y) - z/t", p, &is_constant);
  assert_false(is_constant);
  assert_true(fabs(value - (sin(2 * FLO_PI * 0.1) * cos(2 * FLO_PI * 0.2) - 0.3 / 4)) < 1e-15);
  value = value_at("x - (y - (z - t))", p, &is_constant);
  assert_true(fabs(value - (0.1 - (0.2 - (0.3 - 4)))) < 1e-15);
  value = value_at("2 ^ x ^ (1 + 1)", p, &is_constant);
  assert_true(fabs(value - pow(2, 0.01)) < 1e-15);
  value = value_at("min(x, y, edge, -t)", p, &is_constant);
  assert_true(value == -4);
}

// Not finite is an answer, too: who asks decides whether it is an error.
static void test_not_finite(void **state) {
  (void)state;
  bool is_constant;
  assert_true(isinf(value_at("1/0", NULL, &is_constant)));
  assert_true(isnan(value_at("sqrt(-1)", NULL, &is_constant)));
  assert_true(isinf(value_at("1e999", NULL, &is_constant)));
}

static void test_numbers_do_not_depend_on_the_language(void **state) {
  (void)state;
  static const char *const languages[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF", "ps_AF.UTF-8"};
  bool is_constant;
  for (size_t k = 0; k < FLO_COUNT_OF(languages); ++k) {
    setlocale(LC_ALL, languages[k]); // those that are not installed change nothing
    double quick = value_at("2.5 + .5", NULL, &is_constant);
    double slow = value_at("0.12345678901234567890e-30", NULL, &is_constant);
    setlocale(LC_ALL, "C");
    assert_true(quick == 3 && slow == 0.12345678901234567890e-30);
  }
}

static void expect_failure(const char *text, const char *fragment) {
  FloError error = {0};
  FloExpression *expression;
  FloStatus status = flo_expression_compile(text, &scope, &expression, &error);
  if (status != FLO_BAD_INPUT || !strstr(error.text, fragment))
    print_error("'%.60s' gave '%s' instead of '%s'\n", text, error.text, fragment);
  assert_int_equal(status, FLO_BAD_INPUT);
  assert_null(expression);
  assert_non_null(strstr(error.text, fragment));
}

static void test_failures(void **state) {
  (void)state;
  expect_failure("", "column 1: expected a number, a name or '(', but the text ends");
  expect_failure("1 +", "column 4: expected a number");
  expect_failure("(1", "column 3: expected an operator or ')'");
  expect_failure("1)", "column 2: expected an operator or the end, got ')'");
  expect_failure("1 2", "column 3: expected an operator or the end, got '2'");
  expect_failure("4cm", "column 2: expected an operator or the end, got 'c'; numbers are in SI units");
  expect_failure("2x", "column 2: expected an operator");
  expect_failure("2 * edeg", "column 5: unknown name 'edeg', did you mean 'edge'?");
  expect_failure("Edge", "unknown name 'Edge', did you mean 'edge'?");
  expect_failure("sinn(1)", "did you mean 'sin'?");
  expect_failure("elephant", "column 1: unknown name 'elephant'");
  expect_failure("sin", "'(' after the name of a function");
  expect_failure("sin()", "column 5: expected a number");
  expect_failure("sin(1, 2)", "sin takes 1 value, got at least 2");
  expect_failure("hypot(1)", "hypot takes 2 values, got 1");
  expect_failure("hypot(1, 2, 3)", "hypot takes 2 values, got at least 3");
  expect_failure("min(1)", "min takes at least 2 values, got 1");
  expect_failure("1..2", "column 3: expected an operator");
  expect_failure(".", "column 1: expected a number");
  expect_failure("1 $ 2", "got '$'");
  expect_failure("1 \xc3\xa4", "column 3: expected an operator or the end, got '\xc3\xa4'");
  expect_failure("1 \xc3", "got '\\xc3'");
  expect_failure("9\u22122", "column 2: expected an operator or the end, got '\u2212'; write -");
  expect_failure("2\u00b7\u03c0", "got '\u00b7'; write *");
  expect_failure("\uff19.81", "column 1: expected a number, a name or '(', got '\uff19'");
  expect_failure("1\xc2\x9b", "got '\\xc2\\x9b'");
  expect_failure("0x10", "column 2: expected an operator");
  expect_failure("inf", "unknown name 'inf'");
  expect_failure("1e", "column 2: expected an operator");
}

static void test_limits(void **state) {
  (void)state;
  char text[20001];
  memset(text, '(', 20000);
  text[20000] = 0;
  expect_failure(text, "too long: 20000 characters");
  text[9000] = 0;
  expect_failure(text, "nested too deeply");
  memset(text, '-', 9000);
  expect_failure(text, "nested too deeply");
  for (size_t k = 0; k + 1 < 9000; k += 2) memcpy(text + k, "2^", 2);
  expect_failure(text, "nested too deeply");
  memset(text, 'a', 100);
  text[100] = 0;
  expect_failure(text, "name is too long");
  memset(text, '1', 100);
  expect_failure(text, "number is too long");
}

// A long sum needs no depth: the program runs on a stack of two.
static void test_long_sum(void **state) {
  (void)state;
  char text[8002] = "x";
  for (size_t k = 1; k < 8001; k += 2) memcpy(text + k, "+x", 3);
  const double p[4] = {1, 0, 0, 0};
  bool is_constant;
  assert_true(value_at(text, p, &is_constant) == 4001);
}

// Where nesting is at its allowed deepest, the stack must still hold.
static void test_deep_stack(void **state) {
  (void)state;
  char text[4000] = "";
  for (int k = 0; k < 60; k++) strcat(text, "x+x*hypot(x,");
  strcat(text, "x");
  for (int k = 0; k < 60; k++) strcat(text, ")");
  const double p[4] = {1, 0, 0, 0};
  bool is_constant;
  assert_true(value_at(text, p, &is_constant) > 1);
}

static void test_reserved(void **state) {
  (void)state;
  assert_true(flo_expression_is_reserved("pi"));
  assert_true(flo_expression_is_reserved("hypot"));
  assert_false(flo_expression_is_reserved("edge"));
}

static void test_distance(void **state) {
  (void)state;
  assert_int_equal(flo_word_distance("edge", "edge"), 0);
  assert_int_equal(flo_word_distance("edge", "EDGE"), 0);
  assert_int_equal(flo_word_distance("edeg", "edge"), 1);
  assert_int_equal(flo_word_distance("", "edge"), 4);
  assert_int_equal(flo_word_distance("edge", ""), 4);
  assert_int_equal(flo_word_distance("kitten", "sitting"), 3);
}

static void test_suggestion(void **state) {
  (void)state;
  char text[128];
  FloSuggestion suggestion = flo_suggest_start("spaceing");
  flo_suggest_offer(&suggestion, NULL);
  flo_suggest_offer(&suggestion, "support");
  flo_suggest_offer(&suggestion, "spacing");
  flo_suggest_offer(&suggestion, "spicing");
  assert_string_equal(flo_suggest_text(&suggestion, text), ", did you mean 'spacing'?");
  suggestion = flo_suggest_start("banana");
  flo_suggest_offer(&suggestion, "spacing");
  assert_string_equal(flo_suggest_text(&suggestion, text), "");
  // One letter is not a slip away from another.
  suggestion = flo_suggest_start("q");
  flo_suggest_offer(&suggestion, "x");
  assert_string_equal(flo_suggest_text(&suggestion, text), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_constants),
      cmocka_unit_test(test_variables),
      cmocka_unit_test(test_numbers_do_not_depend_on_the_language),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_long_sum),
      cmocka_unit_test(test_deep_stack),
      cmocka_unit_test(test_reserved),
      cmocka_unit_test(test_distance),
      cmocka_unit_test(test_suggestion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
