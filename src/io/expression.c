// A recursive-descent parser that emits a program for a stack machine, folding constants as it goes.
#include "io/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "geometry/mesh_io.h"
#include "io/shown.h"
#include "io/suggest.h"

enum {
  MAX_TEXT = 10000, // bytes
  MAX_NESTING = 64, // nesting of brackets, signs and powers
  MAX_STACK = 256,  // depth of the stack of values
  MAX_NAME = 63,
  MAX_NUMBER = 63, // characters
};

// ---- What can be called ----

typedef double (*Function1)(double);
typedef double (*Function2)(double, double);

static double lesser(double a, double b) { return a < b ? a : b; }
static double greater(double a, double b) { return a > b ? a : b; }

typedef struct Function {
  const char *name;
  Function1 of_one;
  Function2 of_two;
  bool takes_more; // f(a, b, c) means f(f(a, b), c)
} Function;

static const Function functions[] = {
    {"sin", .of_one = sin},
    {"cos", .of_one = cos},
    {"tan", .of_one = tan},
    {"sqrt", .of_one = sqrt},
    {"abs", .of_one = fabs},
    {"exp", .of_one = exp},
    {"log", .of_one = log},
    {"floor", .of_one = floor},
    {"ceil", .of_one = ceil},
    {"round", .of_one = round},
    {"hypot", .of_two = hypot},
    {"atan2", .of_two = atan2},
    {"min", .of_two = lesser, .takes_more = true},
    {"max", .of_two = greater, .takes_more = true},
};

static const Function *function_named(const char *name) {
  for (size_t k = 0; k < FLO_COUNT_OF(functions); k++)
    if (!strcmp(functions[k].name, name)) return &functions[k];
  return NULL;
}

bool flo_expression_is_reserved(const char *name) { return !strcmp(name, "pi") || function_named(name); }

// ---- The program ----

typedef enum Operation { PUSH, LOAD, ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, NEGATE, CALL1, CALL2 } Operation;

typedef struct Instruction {
  Operation operation;
  union {
    double value;    // PUSH
    size_t variable; // LOAD
    Function1 of_one;
    Function2 of_two;
  };
} Instruction;

struct FloExpression {
  Instruction *code;
  size_t n_code, capacity;
  bool has_variables;
};

static double apply_one(const Instruction *instruction, double a) {
  return instruction->operation == NEGATE ? -a : instruction->of_one(a);
}

static double apply_two(const Instruction *instruction, double a, double b) {
  switch (instruction->operation) {
  case ADD:
    return a + b;
  case SUBTRACT:
    return a - b;
  case MULTIPLY:
    return a * b;
  case DIVIDE:
    return a / b;
  case POWER:
    return pow(a, b);
  default:
    return instruction->of_two(a, b);
  }
}

static bool takes_one(Operation operation) { return operation == NEGATE || operation == CALL1; }

double flo_expression_evaluate(const FloExpression *expression, const double *variables) {
  double stack[MAX_STACK];
  size_t depth = 0;
  for (size_t k = 0; k < expression->n_code; k++) {
    const Instruction *instruction = &expression->code[k];
    if (instruction->operation == PUSH) {
      stack[depth++] = instruction->value;
    } else if (instruction->operation == LOAD) {
      stack[depth++] = variables[instruction->variable];
    } else if (takes_one(instruction->operation)) {
      stack[depth - 1] = apply_one(instruction, stack[depth - 1]);
    } else {
      depth--;
      stack[depth - 1] = apply_two(instruction, stack[depth - 1], stack[depth]);
    }
  }
  return stack[0];
}

bool flo_expression_is_constant(const FloExpression *expression) { return !expression->has_variables; }

void flo_expression_destroy(FloExpression *expression) {
  if (!expression) return;
  free(expression->code);
  free(expression);
}

// ---- The parser ----

typedef struct Parser {
  const char *text, *at;
  const FloExpressionScope *scope;
  FloExpression *out;
  size_t nesting, depth; // depth: current depth of the stack
  FloError *error;
} Parser;

// Columns count from one, as editors do.
static int column_of(const Parser *parser, const char *place) { return (int)(place - parser->text) + 1; }

static FloStatus emit(Parser *parser, Instruction instruction) {
  FloExpression *out = parser->out;
  if (out->n_code == out->capacity) {
    size_t capacity = out->capacity ? 2 * out->capacity : 16;
    Instruction *code = realloc(out->code, capacity * sizeof *code);
    if (!code) return flo_fail(parser->error, FLO_NO_MEMORY, "out of memory");
    out->code = code;
    out->capacity = capacity;
  }
  out->code[out->n_code++] = instruction;
  return FLO_OK;
}

static FloStatus emit_operand(Parser *parser, Instruction instruction) {
  if (++parser->depth > MAX_STACK)
    return flo_fail(parser->error, FLO_BAD_INPUT,
                    "column %d: the expression is too complicated; split it with constants",
                    column_of(parser, parser->at));
  return emit(parser, instruction);
}

static FloStatus emit_value(Parser *parser, double value) {
  return emit_operand(parser, (Instruction){PUSH, .value = value});
}

static FloStatus emit_one(Parser *parser, Instruction instruction) {
  Instruction *last = &parser->out->code[parser->out->n_code - 1];
  if (last->operation != PUSH) return emit(parser, instruction);
  last->value = apply_one(&instruction, last->value);
  return FLO_OK;
}

static FloStatus emit_two(Parser *parser, Instruction instruction) {
  FloExpression *out = parser->out;
  parser->depth--;
  Instruction *b = &out->code[out->n_code - 1];
  // If the last two instructions push constants, the operation is computed now.
  if (b->operation != PUSH || b[-1].operation != PUSH) return emit(parser, instruction);
  b[-1].value = apply_two(&instruction, b[-1].value, b->value);
  out->n_code--;
  return FLO_OK;
}

static void skip_spaces(Parser *parser) {
  while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n' || *parser->at == '\r')
    parser->at++;
}

static bool accept(Parser *parser, char c) {
  skip_spaces(parser);
  if (*parser->at != c) return false;
  parser->at++;
  return true;
}

// Characters that look like arithmetic but are others; text from word processors and web pages has them.
static const char *find_plain(const char *text) {
  static const struct {
    const char *foreign, *plain;
  } signs[] = {{"\u2212", "; write -"},      {"\u2013", "; write -"},
               {"\u00b7", "; write *"},      {"\u00d7", "; write *"},
               {"\u00f7", "; write /"},      {"\u00b2", "; write ^2"},
               {"\u00b3", "; write ^3"},     {"\u03c0", "; write pi"},
               {"\u221a", "; write sqrt()"}, {"\u00a0", "; write a plain space"}};
  for (size_t k = 0; k < FLO_COUNT_OF(signs); k++)
    if (!strncmp(text, signs[k].foreign, strlen(signs[k].foreign))) return signs[k].plain;
  return "";
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_known(const FloExpressionScope *scope, const char *name) {
  const char *constant;
  for (size_t k = 0; k < scope->n_variables; k++)
    if (!strcmp(scope->variables[k], name)) return true;
  for (size_t k = 0; scope->name_at && (constant = scope->name_at(scope->context, k)); k++)
    if (!strcmp(constant, name)) return true;
  return flo_expression_is_reserved(name);
}

// A word or sign after a number, as in 4cm, 1000 kg and 20 %, is probably a unit. After a known name, as in 2
// pi, an operator is missing.
static const char *find_remedy(const Parser *parser) {
  const char *before = parser->at, *end = parser->at;
  while (before > parser->text && before[-1] == ' ') before--;
  if (before == parser->text || !(is_digit(before[-1]) || before[-1] == '.')) return "";
  while (is_letter(*end) || (end > parser->at && is_digit(*end))) end++;
  char name[MAX_NAME + 1];
  snprintf(name, sizeof name, "%.*s", (int)flo_min_size((size_t)(end - parser->at), MAX_NAME), parser->at);
  if (name[0] && is_known(parser->scope, name)) return "; write * to multiply";
  bool is_sign = *parser->at == '%' || !strncmp(parser->at, "\u00b0", 2) ||
                 !strncmp(parser->at, "\u00b5", 2) || !strncmp(parser->at, "\u03bc", 2);
  if (!name[0] && !is_sign) return "";
  return "; numbers are in SI units and the unit is not written, such as 0.04 for 4 cm";
}

// Found a character beyond ASCII, or a part of one.
static FloStatus fail_foreign(Parser *parser, int column, const char *what) {
  char character[5] = {*parser->at}, shown[32];
  const char *plain = find_plain(parser->at);
  for (size_t k = 1; k < 4 && ((unsigned char)parser->at[k] & 0xc0) == 0x80; k++)
    character[k] = parser->at[k];
  return flo_fail(parser->error, FLO_BAD_INPUT, "column %d: expected %s, got '%s'%s", column, what,
                  flo_shown_escape(character, shown, sizeof shown), *plain ? plain : find_remedy(parser));
}

static FloStatus expected(Parser *parser, const char *what) {
  skip_spaces(parser);
  int column = column_of(parser, parser->at);
  unsigned char found = (unsigned char)*parser->at;
  if (!found)
    return flo_fail(parser->error, FLO_BAD_INPUT, "column %d: expected %s, but the text ends", column, what);
  if (found < ' ' || found > '~') return fail_foreign(parser, column, what);
  return flo_fail(parser->error, FLO_BAD_INPUT, "column %d: expected %s, got '%c'%s", column, what, found,
                  find_remedy(parser));
}

static const char *after_digits(const char *at) {
  while (is_digit(*at)) at++;
  return at;
}

// The end of the number.
static const char *after_number(const char *at) {
  at = after_digits(at);
  if (*at == '.') at = after_digits(at + 1);
  if (*at == 'e' || *at == 'E') {
    const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
    if (is_digit(*exponent)) at = after_digits(exponent);
  }
  return at;
}

static FloStatus parse_number(Parser *parser) {
  const char *start = parser->at;
  size_t length = (size_t)(after_number(start) - start);
  if (length > MAX_NUMBER)
    return flo_fail(parser->error, FLO_BAD_INPUT, "column %d: the number is too long",
                    column_of(parser, start));
  parser->at += length;
  // The decimal point does not depend on the user's language.
  FloText text;
  double value = 0;
  FLO_TRY(flo_text_begin(&text, "expression", (const unsigned char *)start, length, parser->error));
  FloStatus status = flo_text_number(&text, "a number", &value);
  flo_text_end(&text);
  return status == FLO_OK ? emit_value(parser, value) : status;
}

static FloStatus parse_sum(Parser *parser);

static FloStatus emit_call(Parser *parser, const Function *function) {
  if (function->of_one) return emit_one(parser, (Instruction){CALL1, .of_one = function->of_one});
  return emit_two(parser, (Instruction){CALL2, .of_two = function->of_two});
}

static FloStatus parse_call(Parser *parser, const Function *function, const char *start) {
  if (!accept(parser, '(')) return expected(parser, "'(' after the name of a function");
  int n_wanted = function->of_one ? 1 : 2, n_given = 0;
  do {
    FLO_TRY(parse_sum(parser));
    n_given++;
    if (n_given > n_wanted && !function->takes_more) break;
    if (n_given >= n_wanted) FLO_TRY(emit_call(parser, function));
  } while (accept(parser, ','));
  skip_spaces(parser);
  // If values are missing because of another character, as in max(1 m, 2), the message names that character.
  if (n_given < n_wanted && *parser->at && *parser->at != ')') return expected(parser, "',' or ')'");
  if (n_given != n_wanted && !(n_given > n_wanted && function->takes_more))
    return flo_fail(parser->error, FLO_BAD_INPUT, "column %d: %s takes %s%d value%s, got %s%d",
                    column_of(parser, start), function->name, function->takes_more ? "at least " : "",
                    n_wanted, n_wanted == 1 ? "" : "s", n_given > n_wanted ? "at least " : "", n_given);
  return accept(parser, ')') ? FLO_OK : expected(parser, "',' or ')'");
}

static FloStatus unknown_name(const Parser *parser, const char *name, const char *start) {
  const FloExpressionScope *scope = parser->scope;
  FloSuggestion suggestion = flo_suggest_start(name);
  for (size_t k = 0; k < scope->n_variables; k++) flo_suggest_offer(&suggestion, scope->variables[k]);
  const char *candidate;
  for (size_t k = 0; scope->name_at && (candidate = scope->name_at(scope->context, k)); k++)
    flo_suggest_offer(&suggestion, candidate);
  flo_suggest_offer(&suggestion, "pi");
  for (size_t k = 0; k < FLO_COUNT_OF(functions); k++) flo_suggest_offer(&suggestion, functions[k].name);
  char hint[128];
  return flo_fail(parser->error, FLO_BAD_INPUT, "column %d: unknown name '%s'%s", column_of(parser, start),
                  name, flo_suggest_text(&suggestion, hint));
}

static FloStatus parse_name(Parser *parser) {
  const char *start = parser->at;
  while (is_letter(*parser->at) || is_digit(*parser->at)) parser->at++;
  size_t length = (size_t)(parser->at - start);
  char name[MAX_NAME + 1];
  if (length > MAX_NAME)
    return flo_fail(parser->error, FLO_BAD_INPUT, "column %d: the name is too long",
                    column_of(parser, start));
  memcpy(name, start, length);
  name[length] = 0;

  const Function *function = function_named(name);
  if (function) return parse_call(parser, function, start);
  if (!strcmp(name, "pi")) return emit_value(parser, FLO_PI);
  const FloExpressionScope *scope = parser->scope;
  for (size_t k = 0; k < scope->n_variables; k++) {
    if (strcmp(scope->variables[k], name)) continue;
    parser->out->has_variables = true;
    return emit_operand(parser, (Instruction){LOAD, .variable = k});
  }
  bool found = false;
  double value = 0;
  if (scope->find) FLO_TRY(scope->find(scope->context, name, &found, &value, parser->error));
  return found ? emit_value(parser, value) : unknown_name(parser, name, start);
}

static FloStatus parse_atom(Parser *parser) {
  skip_spaces(parser);
  char c = *parser->at;
  if (is_digit(c) || (c == '.' && is_digit(parser->at[1]))) return parse_number(parser);
  if (is_letter(c)) return parse_name(parser);
  if (!accept(parser, '(')) return expected(parser, "a number, a name or '('");
  FLO_TRY(parse_sum(parser));
  return accept(parser, ')') ? FLO_OK : expected(parser, "an operator or ')'");
}

// All nesting goes through this function, so the depth is limited here.
static FloStatus parse_sign(Parser *parser) {
  if (++parser->nesting > MAX_NESTING)
    return flo_fail(parser->error, FLO_BAD_INPUT,
                    "column %d: nested too deeply; split the expression with constants",
                    column_of(parser, parser->at));
  if (accept(parser, '-')) {
    FLO_TRY(parse_sign(parser));
    FLO_TRY(emit_one(parser, (Instruction){.operation = NEGATE}));
  } else if (accept(parser, '+')) {
    FLO_TRY(parse_sign(parser));
  } else {
    FLO_TRY(parse_atom(parser));
    if (accept(parser, '^')) {
      FLO_TRY(parse_sign(parser));
      FLO_TRY(emit_two(parser, (Instruction){.operation = POWER}));
    }
  }
  parser->nesting--;
  return FLO_OK;
}

static FloStatus parse_product(Parser *parser) {
  FLO_TRY(parse_sign(parser));
  for (;;) {
    Operation operation = accept(parser, '*') ? MULTIPLY : accept(parser, '/') ? DIVIDE : PUSH;
    if (operation == PUSH) return FLO_OK;
    FLO_TRY(parse_sign(parser));
    FLO_TRY(emit_two(parser, (Instruction){.operation = operation}));
  }
}

static FloStatus parse_sum(Parser *parser) {
  FLO_TRY(parse_product(parser));
  for (;;) {
    Operation operation = accept(parser, '+') ? ADD : accept(parser, '-') ? SUBTRACT : PUSH;
    if (operation == PUSH) return FLO_OK;
    FLO_TRY(parse_product(parser));
    FLO_TRY(emit_two(parser, (Instruction){.operation = operation}));
  }
}

static FloStatus parse(Parser *parser) {
  size_t length = strlen(parser->text);
  if (length > MAX_TEXT)
    return flo_fail(parser->error, FLO_BAD_INPUT, "too long: %zu characters, at most %d", length, MAX_TEXT);
  FLO_TRY(parse_sum(parser));
  skip_spaces(parser);
  return *parser->at ? expected(parser, "an operator or the end") : FLO_OK;
}

FloStatus flo_expression_compile(const char *text, const FloExpressionScope *scope,
                                 FloExpression **expression, FloError *error) {
  *expression = NULL;
  FloExpression *out = calloc(1, sizeof *out);
  if (!out) return flo_fail(error, FLO_NO_MEMORY, "out of memory");
  Parser parser = {.text = text, .at = text, .scope = scope, .out = out, .error = error};
  FloStatus status = parse(&parser);
  if (status == FLO_OK)
    *expression = out;
  else
    flo_expression_destroy(out);
  return status;
}
