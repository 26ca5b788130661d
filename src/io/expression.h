// Arithmetic over doubles, compiled once and evaluated many times: "2 * edge", "sin(2*pi*x) *
// cos(2*pi*y)".
//
//   sum     = product { ("+" | "-") product }
//   product = sign { ("*" | "/") sign }
//   sign    = { "-" | "+" } power
//   power   = atom [ "^" sign ]                      (so -2^2 is -4, 2^-1 is 0.5 and 2^3^2 is 2^9)
//   atom    = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
//
// Functions: sin cos tan sqrt abs exp log floor ceil round of one value, hypot atan2 of two, min max of two
// or more.
#ifndef FLO_IO_EXPRESSION_H
#define FLO_IO_EXPRESSION_H

#include "flotsam/types.h"

// The names an expression may use besides pi and the functions.
typedef struct FloExpressionScope {
  // Constants. `find` returns whether the name exists, and its value; it fails if the value cannot be
  // computed. `name_at` lists the names for suggestions; NULL past the last. Both may be NULL.
  FloStatus (*find)(void *context, const char *name, bool *found, double *value, FloError *error);
  const char *(*name_at)(void *context, size_t k);
  void *context;
  // Variables: their values are given for each evaluation, in this order.
  const char *const *variables;
  size_t n_variables;
} FloExpressionScope;

typedef struct FloExpression FloExpression;

// Fails with FLO_BAD_INPUT and a text such as "column 3: unknown name 'edeg', did you mean 'edge'?".
FloStatus flo_expression_compile(const char *text, const FloExpressionScope *scope,
                                 FloExpression **expression, FloError *error);
void flo_expression_destroy(FloExpression *expression); // NULL is fine
// True if the expression has no variable, so that its value never changes.
bool flo_expression_is_constant(const FloExpression *expression);
// `variables` may be NULL if the expression is constant. The result may be infinite or not a number.
double flo_expression_evaluate(const FloExpression *expression, const double *variables);

// True for pi and the names of functions, which cannot be used for anything else.
bool flo_expression_is_reserved(const char *name);

#endif
