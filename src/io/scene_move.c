// Moves an entry of a scene as a whole. The tables say which of its values are points, directions and
// rotations, so this works for entries of any kind.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "base/pose.h"
#include "base/vecmath.h"
#include "io/csv.h"
#include "io/scene_steps.h"

enum { MAX_FIELD = 10000 }; // longest expression [characters]

typedef struct Move {
  const FloPose *pose;
  bool is_turned, moves_fields; // expressions and axes are moved with groups only
} Move;

// ---- Words in expressions ----

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static size_t number_length(const char *text) {
  size_t k = strspn(text, "0123456789.");
  if (text[k] != 'e' && text[k] != 'E') return k;
  size_t sign = text[k + 1] == '+' || text[k + 1] == '-';
  return is_digit(text[k + 1 + sign]) ? k + 1 + sign + strspn(text + k + 1 + sign, "0123456789") : k;
}

// The length of the word, number or character at the beginning of the text.
static size_t token_length(const char *text) {
  if (is_digit(*text) || *text == '.') return number_length(text);
  size_t k = 0;
  while (is_letter(text[k]) || (k > 0 && is_digit(text[k]))) k++;
  return k ? k : 1;
}

// Text that is written in pieces. The struct must not move in memory while its stream is open.
typedef struct Text {
  FILE *stream;
  char *bytes;
  size_t size;
} Text;

// Returns false if memory runs out; `finish_text` is not needed then.
static bool begin_text(Text *text) {
  *text = (Text){0};
  text->stream = open_memstream(&text->bytes, &text->size);
  return text->stream != NULL;
}

// Makes a JSON text and frees the buffer; NULL if anything failed.
static json_t *finish_text(Text *text) {
  bool has_failed = ferror(text->stream);
  has_failed |= fclose(text->stream) != 0;
  json_t *result = has_failed ? NULL : json_stringn_nocheck(text->bytes, text->size);
  free(text->bytes);
  return result;
}

json_t *flo_scene_substitute(const char *text, size_t n, const char *const names[],
                             const char *const values[]) {
  Text made;
  if (!begin_text(&made)) return NULL;
  for (size_t length; *text; text += length) {
    length = token_length(text);
    size_t k = 0;
    while (k < n && (strlen(names[k]) != length || strncmp(names[k], text, length) != 0)) k++;
    if (k < n)
      fputs(values[k], made.stream);
    else
      fwrite(text, 1, length, made.stream);
  }
  return finish_text(&made);
}

// ---- Vectors ----

// Writes as many components as `list` has, so that 2D vectors stay 2D. Adding zero turns -0 into 0.
static FloStatus write_vector(FloSceneContext *context, json_t *list, const double vector[3]) {
  for (size_t k = 0; k < json_array_size(list); k++)
    if (json_array_set_new(list, k, json_real(vector[k] + 0.0))) return flo_scene_no_memory(context);
  return FLO_OK;
}

static FloStatus put_vector(FloSceneContext *context, json_t *object, const char *key, int n,
                            const double vector[3]) {
  json_t *list = json_array();
  for (int k = 0; k < n; k++) json_array_append_new(list, json_real(vector[k] + 0.0));
  return json_object_set_new(object, key, list) ? flo_scene_no_memory(context) : FLO_OK;
}

static FloStatus move_point(FloSceneContext *context, json_t *object, const char *key, const Move *move) {
  double point[3];
  flo_json_vector(object, key, point);
  pose_to_world(move->pose, point, point);
  return write_vector(context, json_object_get(object, key), point);
}

static FloStatus turn_direction(FloSceneContext *context, json_t *object, const char *key, const Move *move) {
  double direction[3];
  if (!move->is_turned) return FLO_OK;
  flo_json_vector(object, key, direction);
  quat_rotate(move->pose->rotation, direction, direction);
  return write_vector(context, json_object_get(object, key), direction);
}

// To rotate the height of an opening, its direction before the rotation is needed. The direction of the
// stream is rotated already, so that is undone here.
static FloStatus turn_upright(FloSceneContext *context, json_t *object, const char *key, const Move *move) {
  double direction[3], upright[3];
  if (!move->is_turned || context->dim == 2) return FLO_OK;
  if (!json_object_get(object, key)) {
    flo_json_vector(object, "direction", direction);
    quat_rotate_back(move->pose->rotation, direction, direction);
    flo_scene_default_upright(direction, context->up, upright);
    FLO_TRY(put_vector(context, object, key, 3, upright));
  }
  return turn_direction(context, object, key, move);
}

// ---- Letters of axes ----

// The world axis that the entry's axis k becomes, in either direction; 3: none.
static int turned_axis(const double q[4], int k) {
  double axis[3] = {k == 0, k == 1, k == 2};
  quat_rotate(q, axis, axis);
  for (int to = 0; to < 3; to++)
    if (fabs(axis[(to + 1) % 3]) < 1e-6 && fabs(axis[(to + 2) % 3]) < 1e-6) return to;
  return 3;
}

// If one axis is named, or one is not named, the rotation of this single axis is enough. All axes, or none,
// do not change when they are rotated.
static bool turn_letters(const double q[4], bool is_meant[3]) {
  int n = is_meant[0] + is_meant[1] + is_meant[2], odd = 0;
  if (n == 0 || n == 3) return true;
  while (is_meant[odd] != (n == 1)) odd++;
  int turned = turned_axis(q, odd);
  for (int k = 0; k < 3; k++) is_meant[k] = (k == turned) == (n == 1);
  return turned < 3;
}

// Rotates locked axes with a group. Invalid letters are reported later. Instances of one entry, each rotated
// about its own position, keep the axes of the entry.
static FloStatus turn_axes(FloSceneContext *context, json_t *object, const char *key, const Move *move) {
  const char *letters = flo_json_text(object, key);
  bool is_meant[3] = {false};
  char turned[4];
  size_t n = 0;
  if (!move->is_turned || !move->moves_fields || !letters) return FLO_OK;
  if (strspn(letters, "xyz") != strlen(letters)) return FLO_OK;
  for (int k = 0; k < 3; k++) is_meant[k] = strchr(letters, 'x' + k) != NULL;
  if (!turn_letters(move->pose->rotation, is_meant)) {
    flo_scene_enter(context, key);
    return flo_scene_fail(context,
                          "'%s' cannot be rotated with its group, because the group is not aligned with x, y "
                          "and z; rotate the group by 90, 180 or 270 degrees, or take the body out of it",
                          letters);
  }
  for (int k = 0; k < 3; k++)
    if (is_meant[k]) turned[n++] = (char)('x' + k);
  turned[n] = 0;
  return json_object_set_new(object, key, json_string(turned)) ? flo_scene_no_memory(context) : FLO_OK;
}

// ---- Boxes ----

static bool is_turned_squarely(const double q[4]) {
  return turned_axis(q, 0) < 3 && turned_axis(q, 1) < 3 && turned_axis(q, 2) < 3;
}

static FloStatus move_box(FloSceneContext *context, json_t *object, const char *key, const Move *move) {
  json_t *corners = json_object_get(object, key), *holder = json_object();
  if (move->is_turned && !is_turned_squarely(move->pose->rotation)) {
    json_decref(holder);
    flo_scene_enter(context, key);
    return flo_scene_fail(context, "a box cannot be rotated by this angle, because its sides are along x, y "
                                   "and z; rotate by 90, 180 or 270 degrees, or name points");
  }
  FloStatus status = FLO_OK;
  for (size_t k = 0; status == FLO_OK && k < 2; k++) {
    json_object_set(holder, key, json_array_get(corners, k));
    status = move_point(context, holder, key, move);
  }
  json_decref(holder);
  return status;
}

// ---- Rotations ----

// Writes "rotate" for a unit quaternion; removes it if there is no rotation.
static FloStatus write_rotation(FloSceneContext *context, json_t *object, const char *key,
                                const double q[4]) {
  double sine = vec_length(q), axis[3];
  json_object_del(object, key);
  if (sine == 0) return FLO_OK;
  vec_scale(q, 1 / sine, axis);
  double angle = 2 * atan2(sine, q[3]) * 180 / FLO_PI;
  json_t *rotation = json_pack("{s:[f,f,f], s:f}", "axis", axis[0], axis[1], axis[2], "angle", angle);
  return json_object_set_new(object, key, rotation) ? flo_scene_no_memory(context) : FLO_OK;
}

static FloStatus read_turn(FloSceneContext *context, json_t *object, const char *key, double rotation[4]) {
  quat_copy(flo_pose_identity().rotation, rotation);
  json_t *given = json_object_get(object, key);
  if (!given) return FLO_OK;
  size_t mark = flo_scene_enter(context, key);
  FLO_TRY(flo_scene_read_rotation(context, given, rotation));
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus turn_rotation(FloSceneContext *context, json_t *object, const char *key, const Move *move) {
  double rotation[4];
  if (!move->is_turned) return FLO_OK;
  FLO_TRY(read_turn(context, object, key, rotation));
  quat_multiply(move->pose->rotation, rotation, rotation);
  return write_rotation(context, object, key, rotation);
}

// ---- Places of shapes ----

FloStatus flo_scene_read_pose(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                              FloShape *shape, FloPose *pose) {
  if (flo_scene_find_key(table, "shape"))
    return flo_scene_read_shape(context, entry, context->up, shape, pose);
  flo_json_vector(entry, "at", pose->position);
  return read_turn(context, entry, "rotate", pose->rotation);
}

// Corner and base refer to the shape before its rotation, so a rotated shape is placed by its centre.
static FloStatus move_place(FloSceneContext *context, json_t *object, const Move *move) {
  FloShape shape;
  FloPose pose;
  FLO_TRY(flo_scene_read_shape(context, object, context->up, &shape, &pose));
  pose_to_world(move->pose, pose.position, pose.position);
  json_object_del(object, "corner");
  json_object_del(object, "base");
  FLO_TRY(put_vector(context, object, "at", context->dim, pose.position));
  return turn_rotation(context, object, "rotate", move);
}

// ---- Velocities that depend on the position ----

static bool is_field(const json_t *list) {
  for (size_t k = 0; k < json_array_size(list); k++)
    if (json_is_string(json_array_get(list, k))) return true;
  return false;
}

// The k-th column of the rotation, or with `is_row` the k-th row.
static void rotation_part(const double q[4], int k, bool is_row, double out[3]) {
  double unit[3] = {k == 0, k == 1, k == 2};
  if (is_row)
    quat_rotate_back(q, unit, out);
  else
    quat_rotate(q, unit, out);
}

static void print_number(FILE *stream, double value) {
  char digits[32];
  flo_format_number(value, digits);
  fprintf(stream, "(%s)", digits);
}

static void print_factor(FILE *stream, double value) {
  print_number(stream, value);
  fputc('*', stream);
}

// The k-th coordinate in the entry's frame, as an expression of the world's x, y and z.
static json_t *own_coordinate(int k, int dim, const Move *move) {
  static const char *const names[] = {"x", "y", "z"};
  double column[3];
  Text text;
  rotation_part(move->pose->rotation, k, false, column);
  if (!begin_text(&text)) return NULL;
  for (int j = 0; j < dim; j++) {
    if (!move->is_turned && j != k) continue;
    if (move->is_turned) {
      fputs(j ? "+" : "(", text.stream);
      print_factor(text.stream, column[j]);
    }
    fprintf(text.stream, "(%s-", names[j]);
    print_number(text.stream, move->pose->position[j]);
    fputc(')', text.stream);
  }
  if (move->is_turned) fputc(')', text.stream);
  return finish_text(&text);
}

// Component k of the rotated field; `own` holds its components in the entry's frame.
static json_t *turned_component(const json_t *own, int k, const Move *move) {
  double row[3];
  Text text;
  rotation_part(move->pose->rotation, k, true, row);
  if (!begin_text(&text)) return NULL;
  for (size_t j = 0; j < json_array_size(own); j++) {
    const json_t *component = json_array_get(own, j);
    fputs(j ? "+" : "", text.stream);
    print_factor(text.stream, row[j]);
    if (json_is_string(component))
      fprintf(text.stream, "(%s)", json_string_value(component));
    else
      print_number(text.stream, json_number_value(component));
  }
  return finish_text(&text);
}

static FloStatus replace_coordinates(FloSceneContext *context, json_t *list, const Move *move) {
  json_t *coordinates[3] = {0};
  const char *values[3] = {"", "", "z"};
  FloStatus status = FLO_OK;
  for (int k = 0; k < context->dim; k++) {
    coordinates[k] = own_coordinate(k, context->dim, move);
    values[k] = json_string_value(coordinates[k]);
    if (!values[k]) status = flo_scene_no_memory(context);
  }
  for (size_t k = 0; status == FLO_OK && k < json_array_size(list); k++) {
    const json_t *component = json_array_get(list, k);
    if (!json_is_string(component)) continue;
    json_t *moved =
        flo_scene_substitute(json_string_value(component), 3, (const char *const[]){"x", "y", "z"}, values);
    if (json_array_set_new(list, k, moved)) status = flo_scene_no_memory(context);
  }
  for (int k = 0; k < 3; k++) json_decref(coordinates[k]);
  return status;
}

static FloStatus check_length(FloSceneContext *context, const json_t *list) {
  for (size_t k = 0; k < json_array_size(list); k++)
    if (json_string_length(json_array_get(list, k)) > MAX_FIELD)
      return flo_scene_fail(context, "the expression becomes too long in groups this deep; use fewer levels "
                                     "of groups, or a shorter expression");
  return FLO_OK;
}

// v'(x) = R v(R^-1 (x - t)), written out.
static FloStatus move_field(FloSceneContext *context, json_t *object, const char *key, const Move *move) {
  size_t mark = flo_scene_enter(context, key);
  json_t *list = json_object_get(object, key), *turned = json_array();
  FloStatus status = turned ? replace_coordinates(context, list, move) : flo_scene_no_memory(context);
  if (status == FLO_OK) status = check_length(context, list);
  for (int k = 0; status == FLO_OK && move->is_turned && k < context->dim; k++)
    if (json_array_append_new(turned, turned_component(list, k, move))) status = flo_scene_no_memory(context);
  if (status == FLO_OK && move->is_turned) {
    status = check_length(context, turned);
    if (json_object_set(object, key, turned)) status = flo_scene_no_memory(context);
  }
  json_decref(turned);
  if (status == FLO_OK) flo_scene_leave(context, mark);
  return status;
}

// ---- The walk ----

static FloStatus move_object(FloSceneContext *context, json_t *object, const FloSceneTable *table,
                             const Move *move);

static FloStatus move_inner(FloSceneContext *context, json_t *value, const FloSceneTable *table,
                            const Move *move) {
  if (json_is_object(value)) return move_object(context, value, table, move);
  size_t index;
  json_t *entry;
  json_array_foreach(value, index, entry) FLO_TRY(move_object(context, entry, table, move));
  return FLO_OK;
}

static FloStatus move_value(FloSceneContext *context, json_t *object, const FloSceneKey *key,
                            const Move *move) {
  json_t *value = json_object_get(object, key->name);
  if (key->frame == FLO_FRAME_TURN) return turn_rotation(context, object, key->name, move);
  if (key->frame == FLO_FRAME_UPRIGHT) return turn_upright(context, object, key->name, move);
  if (!value) return FLO_OK;
  if (key->frame == FLO_FRAME_PLACE) return move_place(context, object, move);
  if (key->frame == FLO_FRAME_AXES) return turn_axes(context, object, key->name, move);
  if (key->frame == FLO_FRAME_BOX) return move_box(context, object, key->name, move);
  if (key->frame == FLO_FRAME_POINT) return move_point(context, object, key->name, move);
  if (key->frame == FLO_FRAME_DIRECTION && is_field(value))
    return move->moves_fields ? move_field(context, object, key->name, move) : FLO_OK;
  if (key->frame == FLO_FRAME_DIRECTION) return turn_direction(context, object, key->name, move);
  return key->table && key->types & (FLO_SCENE_OBJECT | FLO_SCENE_LIST)
             ? move_inner(context, value, key->table, move)
             : FLO_OK;
}

static FloStatus move_object(FloSceneContext *context, json_t *object, const FloSceneTable *table,
                             const Move *move) {
  for (size_t k = 0; k < table->n_keys; k++) FLO_TRY(move_value(context, object, &table->keys[k], move));
  return FLO_OK;
}

FloStatus flo_scene_move(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                         const FloPose *pose, bool moves_fields) {
  const double *q = pose->rotation;
  Move move = {pose, q[0] != 0 || q[1] != 0 || q[2] != 0, moves_fields};
  return move_object(context, entry, table, &move);
}
