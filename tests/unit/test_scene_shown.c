// Text and values from outside, as they are shown: nothing of it may steer a terminal.
#include "io/shown.h"
#include "support/check.h"

static void test_plain_text(void **state) {
  (void)state;
  static const char *const plain[] = {"", "abc", "Stra\u00dfe", "\u6c34", "\U0001f986", " ~", "a\u00a0b"};
  static const char *const odd[] = {"\n",
                                    "a\tb",
                                    "\x1b[31m",
                                    "\x7f",
                                    "\xc2\x80",
                                    "\xc2\x9f",
                                    "\u2028",
                                    "\u202e",
                                    "\u2066",
                                    "\u200f",
                                    "\ufeff",
                                    "\xff",
                                    "\xc3",
                                    "\xc3(",
                                    "\xe2\x82",
                                    "\xf0\x9f\x92",
                                    "\x80",
                                    "\xc0\x80",
                                    "\xe0\x80\x80",
                                    "\xed\xa0\x80",
                                    "\xf4\x90\x80\x80",
                                    "\xf8\x88\x80\x80\x80"};
  for (size_t k = 0; k < FLO_COUNT_OF(plain); k++) assert_true(flo_shown_is_plain(plain[k]));
  for (size_t k = 0; k < FLO_COUNT_OF(odd); k++) {
    if (flo_shown_is_plain(odd[k])) print_error("case %zu\n", k);
    assert_false(flo_shown_is_plain(odd[k]));
  }
}

static void test_masking(void **state) {
  (void)state;
  char text[] = "a\x1b[31m\u00e4\xc2\x9b\xff\u202e.";
  flo_shown_mask(text);
  assert_string_equal(text, "a?[31m\u00e4??????.");
}

// Whatever the bytes, what comes out is plain and of the same length.
static void test_masking_anything(void **state) {
  (void)state;
  uint32_t seed = 1;
  for (int round = 0; round < 20000; round++) {
    char text[17], shown[80];
    for (int k = 0; k < 16; k++) {
      seed = seed * 1664525u + 1013904223u;
      text[k] = (char)(seed >> 24 ? seed >> 24 : 1);
    }
    text[16] = 0;
    flo_shown_escape(text, shown, sizeof shown);
    assert_true(flo_shown_is_plain(shown));
    flo_shown_mask(text);
    assert_true(flo_shown_is_plain(text));
    assert_int_equal(strlen(text), 16);
  }
}

static void test_escaping(void **state) {
  (void)state;
  char out[16];
  assert_string_equal(flo_shown_escape("a\nb", out, sizeof out), "a\\x0ab");
  assert_string_equal(flo_shown_escape("\xc2\x9b", out, sizeof out), "\\xc2\\x9b");
  // Never half an escape, nor half a character.
  assert_string_equal(flo_shown_escape("0123456789ab\n", out, sizeof out), "0123456789ab");
  assert_string_equal(flo_shown_escape("0123456789abcd\u00e4", out, sizeof out), "0123456789abcd");
  assert_string_equal(flo_shown_escape("0123456789abcdef", out, sizeof out), "0123456789abcde");
  assert_string_equal(flo_shown_escape("x", out, 1), "");
}

static void expect_shown(const char *json, const char *wanted) {
  char out[96];
  json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
  assert_non_null(value);
  assert_string_equal(flo_shown_value(value, out), wanted);
  json_decref(value);
}

static void test_values(void **state) {
  (void)state;
  expect_shown("3", "a number, 3");
  expect_shown("-0.25", "a number, -0.25");
  expect_shown("\"ab\"", "text, \"ab\"");
  expect_shown("\"a\\nb\"", "text, \"a\\x0ab\"");
  expect_shown("[1, 2]", "a list of 2");
  expect_shown("{}", "an object");
  expect_shown("true", "true");
  expect_shown("false", "false");
  expect_shown("null", "null");
  char out[96], text[200];
  memset(text, 'a', sizeof text - 1);
  text[sizeof text - 1] = 0;
  json_t *value = json_string(text);
  assert_non_null(strstr(flo_shown_value(value, out), "aaa\"..."));
  json_decref(value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_text),       cmocka_unit_test(test_masking),
      cmocka_unit_test(test_masking_anything), cmocka_unit_test(test_escaping),
      cmocka_unit_test(test_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
