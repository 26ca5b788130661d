// Pages: text stays text, data decode to what they were, names are told apart, nothing appears half done.
#include "io/page.h"
#include "support/check.h"

#include <unistd.h>

static char folder[64];
static FloError error;

static const char *in_folder(const char *name) {
  static char path[2][128];
  static int turn;
  turn ^= 1;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/flotsam-page-XXXXXX");
  assert_non_null(mkdtemp(folder));
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  remove(in_folder("page.html"));
  remove(in_folder("data"));
  return rmdir(folder);
}

static void begin(FloPage *page) {
  assert_ok(flo_page_begin(page, in_folder("page.html"), "gallery", "a <title> & more", &error), &error);
}

// The page's body, to be freed.
static char *end(FloPage *page) {
  char *text, *body;
  size_t size;
  assert_false(flo_file_exists(in_folder("page.html")));
  assert_ok(flo_page_end(page, &error), &error);
  assert_ok(flo_file_read(in_folder("page.html"), &text, &size, &error), &error);
  remove(in_folder("page.html"));
  assert_non_null(strstr(text, "<title>a &lt;title&gt; &amp; more</title>"));
  assert_non_null(body = strstr(text, "<body>\n"));
  body += strlen("<body>\n");
  memmove(text, body, strlen(body) + 1);
  assert_non_null(body = strstr(text, "</body>\n</html>\n"));
  *body = 0;
  return text;
}

static void check_text(const char *text, const char *expected) {
  FloPage page;
  begin(&page);
  flo_page_text(&page, text);
  char *body = end(&page);
  assert_string_equal(body, expected);
  free(body);
}

static void test_text(void **state) {
  (void)state;
  check_text("", "");
  check_text("a < b && c > \"d\" 'e'", "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;");
  check_text("</script><b onload=x>", "&lt;/script&gt;&lt;b onload=x&gt;");
  check_text("&lt;", "&amp;lt;");
  check_text("déjà — 水 🌊", "déjà — 水 🌊");
  check_text("two\nlines\n", "two\nlines\n");
  // What is no text is seen as what it is: an escape, broken UTF-8, a turn of the direction of writing.
  check_text("a\033[31mb", "a\\x1b[31mb");
  check_text("\xff<\xc3", "\\xff&lt;\\xc3");
  check_text("\xe2\x80\xae", "\\xe2\\x80\\xae");
  check_text("100 %s %n", "100 %s %n");
}

static void test_long_text(void **state) {
  (void)state;
  enum { N = 200000 };
  char *text = malloc(N + 1), *expected = malloc(5 * N + 1);
  for (size_t k = 0; k < N; k++) text[k] = '&', memcpy(expected + 5 * k, "&amp;", 5);
  text[N] = expected[5 * N] = 0;
  check_text(text, expected);
  free(text);
  free(expected);
}

static void test_elements(void **state) {
  (void)state;
  static const char *const titles[] = {"Name", "#Value <m>"};
  FloPage page;
  begin(&page);
  flo_page_element(&page, "p", "note", "1 < 2");
  flo_page_element(&page, "h2", NULL, "x");
  flo_page_table_begin(&page, titles, 2);
  flo_page_markup(&page, "<tr>");
  flo_page_cell(&page, NULL, "a&b");
  flo_page_cell(&page, "n", "3");
  flo_page_markup(&page, "</tr>");
  flo_page_table_end(&page);
  char *body = end(&page);
  assert_string_equal(body, "<p class=\"note\">1 &lt; 2</p><h2>x</h2><div class=\"wide\"><table>\n"
                            "<tr><th>Name</th><th class=\"n\">Value &lt;m&gt;</th></tr>\n"
                            "<tr><td>a&amp;b</td><td class=\"n\">3</td></tr></table></div>\n");
  free(body);
}

static void check_id(const char *name, const char *expected) {
  char id[64];
  flo_page_id(name, id, sizeof id);
  assert_string_equal(id, expected);
}

static void test_ids(void **state) {
  (void)state;
  check_id("dam-break-2d", "s-dam-break-2d");
  check_id("", "s-");
  check_id("a b", "s-a_20b");
  check_id("a_20b", "s-a_5f20b"); // not the same as before
  check_id("\"><ü", "s-_22_3e_3c_c3_bc");
  char name[300], id[16];
  memset(name, '"', sizeof name - 1);
  name[sizeof name - 1] = 0;
  flo_page_id(name, id, sizeof id);
  assert_true(strlen(id) < sizeof id);
}

// RFC 4648, section 10.
static void check_base64(const char *data, size_t size, const char *expected) {
  char wanted[256];
  FloPage page;
  assert_ok(flo_file_write(in_folder("data"), data, size, &error), &error);
  begin(&page);
  flo_page_movie(&page, in_folder("data"), NULL);
  char *body = end(&page);
  snprintf(wanted, sizeof wanted, " src=\"data:video/mp4;base64,%s\"></video></figure>\n", expected);
  const char *found = strstr(body, " src=");
  assert_non_null(found);
  assert_string_equal(found, wanted);
  free(body);
}

static void test_base64(void **state) {
  (void)state;
  check_base64("", 0, "");
  check_base64("f", 1, "Zg==");
  check_base64("fo", 2, "Zm8=");
  check_base64("foo", 3, "Zm9v");
  check_base64("foob", 4, "Zm9vYg==");
  check_base64("fooba", 5, "Zm9vYmE=");
  check_base64("foobar", 6, "Zm9vYmFy");
  check_base64("\0\xff\xfe\x3e\xbf", 5, "AP/+Pr8=");
}

static void test_pictures(void **state) {
  (void)state;
  // A PNG begins with its signature and the sizes: 960 x 540.
  static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x03\xc0\0\0\x02\x1c";
  FloPage page;
  assert_ok(flo_file_write(in_folder("data"), png, sizeof png - 1, &error), &error);
  begin(&page);
  flo_page_picture(&page, in_folder("data"), "at \"2 s\"");
  char *body = end(&page);
  assert_non_null(strstr(body, "<figure><img width=\"960\" height=\"540\" alt=\"at &quot;2 s&quot;\" "
                               "src=\"data:image/png;base64,iVBORw0KGgo"));
  assert_non_null(strstr(body, "<figcaption>at &quot;2 s&quot;</figcaption></figure>\n"));
  free(body);

  // One that is not there is told, and one that is too short has no size.
  begin(&page);
  flo_page_picture(&page, in_folder("no <picture>"), "x");
  assert_ok(flo_file_write(in_folder("data"), png, 5, &error), &error);
  flo_page_picture(&page, in_folder("data"), NULL);
  body = end(&page);
  assert_non_null(strstr(body, "no &lt;picture&gt;: cannot read"));
  assert_non_null(strstr(body, "<img alt=\"\" src="));
  free(body);
}

static void test_plot(void **state) {
  (void)state;
  FloPage page;
  begin(&page);
  flo_page_plot(&page, "<svg></svg>", "a \"b\"");
  char *body = end(&page);
  assert_string_equal(body,
                      "<div class=\"plot\" role=\"img\" aria-label=\"a &quot;b&quot;\"><svg></svg></div>\n");
  free(body);
}

static void test_places(void **state) {
  (void)state;
  FloPage page;
  assert_fails(flo_page_begin(&page, in_folder("nowhere/page.html"), "gallery", "x", &error), FLO_IO_FAILED,
               &error, "nowhere/page.html: cannot write");
  assert_fails(flo_page_begin(&page, folder, "gallery", "x", &error), FLO_IO_FAILED, &error, "cannot write");
  assert_ok(flo_page_check(in_folder("none.html"), "gallery", &error), &error);
  assert_ok(flo_page_begin(&page, in_folder("own.html"), "gallery", "x", &error), &error);
  assert_ok(flo_page_end(&page, &error), &error);
  assert_ok(flo_page_check(in_folder("own.html"), "gallery", &error), &error);
  assert_fails(flo_page_check(in_folder("own.html"), "compare", &error), FLO_BAD_INPUT, &error,
               "own.html: exists, and is not a page that 'flotsam compare' wrote");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text), cmocka_unit_test(test_long_text), cmocka_unit_test(test_elements),
      cmocka_unit_test(test_ids),  cmocka_unit_test(test_base64),    cmocka_unit_test(test_pictures),
      cmocka_unit_test(test_plot), cmocka_unit_test(test_places),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
