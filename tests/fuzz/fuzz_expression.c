// Any bytes as an expression: it compiles or is refused with a column, and constant ones evaluate the same
// with and without variables.
//
//   clang -fsanitize=fuzzer,address,undefined ... fuzz_expression.c; ./fuzz_expression -dict=expression.dict
//   corpus/expression
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *text) {
  fprintf(stderr, "%s\n%s\n", what, text);
  abort();
}

static FloStatus find(void *context, const char *name, bool *found, double *value, FloError *error) {
  (void)context, (void)error;
  *found = strcmp(name, "edge") == 0;
  *value = 0.5;
  return FLO_OK;
}

static const char *name_at(void *context, size_t k) {
  (void)context;
  return k == 0 ? "edge" : NULL;
}

static void evaluate(const FloExpression *expression, const char *text) {
  const double here[3] = {0.25, -3, 1e6}, there[3] = {7, 0, -1};
  double a = flo_expression_evaluate(expression, here), b = flo_expression_evaluate(expression, there);
  if (flo_expression_is_constant(expression) && !(a == b || (isnan(a) && isnan(b))))
    fail("a constant that varies", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const variables[] = {"x", "y", "z"};
  FloExpressionScope scope = {find, name_at, NULL, variables, 3};
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  FloExpression *expression;
  FloError error = {0};
  if (flo_expression_compile(text, &scope, &expression, &error) == FLO_OK) {
    evaluate(expression, text);
    flo_expression_destroy(expression);
  } else if (!error.text[0] || expression) {
    fail("a failure without a message", text);
  }
  free(text);
  return 0;
}
