// The tables, the schema and the reference tell the same story.
#include "io/scene_schema.h"

#include "io/scene_steps.h"
#include "support/check.h"

static bool ends_table(const char *const names[], size_t k) {
  return k == FLO_SCENE_MAX_ALTERNATIVES || !names[k];
}

static void assert_keys_exist(const FloSceneTable *table, const char *const names[]) {
  for (size_t k = 0; !ends_table(names, k); k++) {
    if (!flo_scene_find_key(table, names[k])) print_error("%s: no key '%s'\n", table->name, names[k]);
    assert_non_null(flo_scene_find_key(table, names[k]));
  }
}

// Nothing is said twice, nothing is left unsaid, and what tables say of keys is said of keys they have.
static void test_tables(void **state) {
  (void)state;
  const FloSceneTable *tables[FLO_SCENE_MAX_TABLES];
  size_t n_tables = flo_scene_list_tables(tables);
  assert_true(n_tables > 15);
  for (size_t t = 0; t < n_tables; t++) {
    const FloSceneTable *table = tables[t];
    char slug[64], other[64];
    flo_scene_table_slug(table, slug);
    for (size_t u = 0; u < t; u++) {
      flo_scene_table_slug(tables[u], other);
      assert_string_not_equal(slug, other);
    }
    for (size_t k = 0; k < table->n_keys; k++) {
      const FloSceneKey *key = &table->keys[k];
      assert_ptr_equal(flo_scene_find_key(table, key->name), key);
      assert_true(key->types != 0 && key->help && key->help[0]);
      assert_true(key->range.low <= key->range.high);
      bool needs_table = key->types & (FLO_SCENE_OBJECT | FLO_SCENE_LIST);
      assert_true(!needs_table || key->table);
    }
    assert_keys_exist(table, table->exactly_one);
    assert_keys_exist(table, table->also_exactly_one);
    assert_keys_exist(table, table->at_most_one);
    assert_keys_exist(table, table->also_at_most_one);
    assert_keys_exist(table, table->at_least_one);
  }
}

static void assert_default_is_fine(const FloSceneKey *key) {
  json_t *value = key->library ? key->library() : json_loads(key->fallback, JSON_DECODE_ANY, NULL);
  assert_non_null(value);
  if (json_is_number(value)) {
    double number = json_number_value(value);
    bool is_zero = key->range.includes_zero && number == 0;
    assert_true(is_zero || (number >= key->range.low && number <= key->range.high));
    assert_true(key->types & (FLO_SCENE_NUMBER | FLO_SCENE_INTEGER));
  }
  bool is_word = !key->choices;
  for (size_t k = 0; key->choices && key->choices[k]; k++)
    is_word |= !strcmp(key->choices[k], json_string_value(value));
  assert_true(is_word);
  json_decref(value);
}

static void test_defaults(void **state) {
  (void)state;
  const FloSceneTable *tables[FLO_SCENE_MAX_TABLES];
  size_t n_tables = flo_scene_list_tables(tables), n_defaults = 0;
  for (size_t t = 0; t < n_tables; t++)
    for (size_t k = 0; k < tables[t]->n_keys; k++) {
      const FloSceneKey *key = &tables[t]->keys[k];
      assert_false(key->is_required && (key->fallback || key->library));
      if (!key->fallback && !key->library) continue;
      assert_default_is_fine(key);
      n_defaults++;
    }
  assert_true(n_defaults > 20);
}

// ---- The schema ----

// Every reference leads somewhere; returns how many there are.
static size_t check_references(const json_t *root, json_t *value) {
  size_t n = 0, index;
  const char *key;
  json_t *inner;
  const char *reference = json_string_value(json_object_get(value, "$ref"));
  if (reference) {
    assert_memory_equal(reference, "#/definitions/", 14);
    assert_non_null(json_object_get(json_object_get(root, "definitions"), reference + 14));
    n++;
  }
  if (json_is_array(value)) {
    json_array_foreach(value, index, inner) n += check_references(root, inner);
  } else {
    json_object_foreach(value, key, inner) n += check_references(root, inner);
  }
  return n;
}

static void assert_describes(const json_t *object, const FloSceneTable *table) {
  const json_t *properties = json_object_get(object, "properties");
  assert_int_equal(json_object_size(properties), table->n_keys);
  assert_true(json_is_false(json_object_get(object, "additionalProperties")));
  for (size_t k = 0; k < table->n_keys; k++) {
    const json_t *property = json_object_get(properties, table->keys[k].name);
    const char *text = json_string_value(json_object_get(property, "description"));
    assert_non_null(text);
    assert_ptr_equal(strstr(text, table->keys[k].help), text);
    json_t *fallback = json_object_get(property, "default");
    assert_int_equal(fallback != NULL, table->keys[k].fallback || table->keys[k].library);
  }
}

// A choice: a word, or its number.
static void assert_words(const json_t *property, const char *const *words, const FloParam *param) {
  const json_t *either = json_object_get(property, "anyOf"),
               *list = json_object_get(json_array_get(either, 0), "enum");
  for (size_t k = 0; words[k]; k++) assert_string_equal(json_string_value(json_array_get(list, k)), words[k]);
  assert_close(json_number_value(json_object_get(json_array_get(either, 1), "maximum")), param->high, 0);
  assert_string_equal(json_string_value(json_object_get(property, "default")), words[(int)param->value]);
}

static void test_schema(void **state) {
  (void)state;
  json_t *schema = flo_scene_schema();
  assert_non_null(schema);
  assert_true(check_references(schema, schema) > 30);
  const FloSceneTable *tables[FLO_SCENE_MAX_TABLES];
  size_t n_tables = flo_scene_list_tables(tables);
  const json_t *definitions = json_object_get(schema, "definitions");
  assert_int_equal(json_object_size(definitions), n_tables - 1);
  assert_describes(schema, &flo_scene_table);
  for (size_t t = 1; t < n_tables; t++) {
    char slug[64];
    flo_scene_table_slug(tables[t], slug);
    if (!tables[t]->has_parameters) assert_describes(json_object_get(definitions, slug), tables[t]);
  }
  // Each method has an entry of its own with all its parameters, behind the one for a bare name.
  const json_t *methods = json_object_get(json_object_get(definitions, "method"), "anyOf");
  assert_int_equal(json_array_size(methods), 1 + flo_method_count());
  for (size_t m = 0; m < flo_method_count(); m++) {
    size_t n_params;
    const FloParam *params = flo_method_params(flo_method_name(m), &n_params);
    const json_t *properties = json_object_get(json_array_get(methods, m + 1), "properties");
    assert_int_equal(json_object_size(properties), n_params + 1);
    for (size_t k = 0; k < n_params; k++) {
      const json_t *property = json_object_get(properties, params[k].name);
      const char *const *words = flo_method_words(flo_method_name(m), params[k].name);
      if (words) {
        assert_words(property, words, &params[k]);
        continue;
      }
      assert_close(json_number_value(json_object_get(property, "minimum")), params[k].low, 0);
      assert_close(json_number_value(json_object_get(property, "maximum")), params[k].high, 0);
      assert_close(json_number_value(json_object_get(property, "default")), params[k].value, 0);
    }
  }
  json_decref(schema);
}

// ---- The reference ----

static void test_reference(void **state) {
  (void)state;
  char *page = flo_scene_reference();
  json_t *described = flo_scene_describe();
  assert_non_null(page);
  const FloSceneTable *tables[FLO_SCENE_MAX_TABLES];
  size_t n_tables = flo_scene_list_tables(tables);
  assert_int_equal(json_array_size(described), n_tables);
  const char *at = page;
  for (size_t t = 0; t < n_tables; t++) {
    char slug[64], text[256];
    flo_scene_table_slug(tables[t], slug);
    snprintf(text, sizeof text, "\n## %s\n", slug);
    at = strstr(at, text);
    assert_non_null(at);
    const json_t *table = json_array_get(described, t), *keys = json_object_get(table, "keys");
    assert_string_equal(json_string_value(json_object_get(table, "name")), slug);
    assert_int_equal(json_array_size(keys), tables[t]->n_keys);
    for (size_t k = 0; k < tables[t]->n_keys; k++) {
      snprintf(text, sizeof text, "\n| `%s` | ", tables[t]->keys[k].name);
      assert_non_null(strstr(at, text));
      assert_non_null(strstr(at, tables[t]->keys[k].help));
    }
  }
  json_decref(described);
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tables),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_schema),
      cmocka_unit_test(test_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
