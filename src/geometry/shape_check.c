// Whether the numbers of a shape make sense, and what it can be used for.
#include "geometry/outline.h"
#include "geometry/shapes.h"

#include <math.h>

static bool is_flat_outline(const FloShape *shape) {
  return shape->kind == FLO_SHAPE_OUTLINE && shape->size[0] == 0;
}

// What each kind of shape needs: how many sizes, and whether the radii must be positive.
typedef enum Need { NOTHING, OPTIONAL, POSITIVE } Need;

static const struct {
  const char *name;
  int n_sizes;
  Need radius, radius2;
} needs[FLO_SHAPE_COUNT] = {
    [FLO_SHAPE_BOX] = {"box", 3, OPTIONAL, NOTHING},
    [FLO_SHAPE_SPHERE] = {"sphere", 0, POSITIVE, NOTHING},
    [FLO_SHAPE_CYLINDER] = {"cylinder", 1, POSITIVE, NOTHING},
    [FLO_SHAPE_TANK] = {"tank", 3, NOTHING, NOTHING},
    [FLO_SHAPE_CAPSULE] = {"capsule", 1, POSITIVE, NOTHING},
    [FLO_SHAPE_CONE] = {"cone", 1, POSITIVE, OPTIONAL},
    [FLO_SHAPE_TORUS] = {"torus", 0, POSITIVE, POSITIVE},
    [FLO_SHAPE_TUBE] = {"tube", 1, POSITIVE, POSITIVE},
    [FLO_SHAPE_PLANE] = {"plane", 3, NOTHING, NOTHING},
    [FLO_SHAPE_RAMP] = {"ramp", 3, NOTHING, NOTHING},
    [FLO_SHAPE_WEDGE] = {"wedge", 3, NOTHING, NOTHING},
    [FLO_SHAPE_LINK] = {"link", 2, POSITIVE, NOTHING},
    [FLO_SHAPE_CARD] = {"card", 3, OPTIONAL, NOTHING},
    [FLO_SHAPE_LETTERS] = {"letters", 3, NOTHING, NOTHING},
    [FLO_SHAPE_HEIGHTFIELD] = {"heightfield", 3, NOTHING, NOTHING},
    [FLO_SHAPE_DUCK] = {"duck", 1, NOTHING, NOTHING},
    [FLO_SHAPE_RABBIT] = {"rabbit", 1, NOTHING, NOTHING},
    [FLO_SHAPE_ARMADILLO] = {"armadillo", 1, NOTHING, NOTHING},
    [FLO_SHAPE_MESH] = {"mesh", 0, NOTHING, NOTHING},
    [FLO_SHAPE_OUTLINE] = {"outline", 1, NOTHING, NOTHING},
    [FLO_SHAPE_SHEET] = {"sheet", 2, NOTHING, NOTHING},
    [FLO_SHAPE_DISC] = {"disc", 0, POSITIVE, NOTHING},
    [FLO_SHAPE_HOSE] = {"hose", 1, POSITIVE, NOTHING},
    [FLO_SHAPE_BAG] = {"bag", 0, POSITIVE, NOTHING},
};

bool flo_shape_has_formula(const FloShape *shape) {
  return shape->kind == FLO_SHAPE_SPHERE || shape->kind == FLO_SHAPE_CYLINDER ||
         shape->kind == FLO_SHAPE_TANK || (shape->kind == FLO_SHAPE_BOX && shape->radius == 0) ||
         is_flat_outline(shape);
}

static FloStatus check_radius(double radius, Need need, FloError *error) {
  if (need == NOTHING || (need == OPTIONAL && radius == 0)) return FLO_OK;
  if (radius > 0 && isfinite(radius)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "shape: the radius must be positive, got %g", radius);
}

bool flo_shape_is_thin(const FloShape *shape) {
  return shape->kind == FLO_SHAPE_SHEET || shape->kind == FLO_SHAPE_DISC || shape->kind == FLO_SHAPE_HOSE ||
         shape->kind == FLO_SHAPE_BAG;
}

FloStatus flo_shape_check_solid(const FloShape *shape, FloError *error) {
  if (!flo_shape_is_thin(shape)) return FLO_OK;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "shape: a %s can only be a cloth; use a solid shape, for instance a box, a cylinder or a tube",
      needs[shape->kind].name);
}

static bool is_known_in_plane(const FloShape *shape) {
  return shape->kind == FLO_SHAPE_SHEET ||
         (flo_shape_has_formula(shape) && shape->kind != FLO_SHAPE_CYLINDER);
}

static FloStatus check_dimension(const FloShape *shape, int dim, FloError *error) {
  if (dim == 3 || is_known_in_plane(shape)) return FLO_OK;
  if (shape->kind == FLO_SHAPE_CYLINDER)
    return flo_fail(error, FLO_BAD_INPUT,
                    "shape: a cylinder needs three dimensions; use a sphere for a disc");
  if (shape->kind == FLO_SHAPE_OUTLINE)
    return flo_fail(error, FLO_BAD_INPUT, "shape: in two dimensions an outline has no depth, got %g m",
                    shape->size[0]);
  if (flo_shape_is_thin(shape))
    return flo_fail(
        error, FLO_BAD_INPUT,
        "shape: a %s needs three dimensions; a cloth in two is a sheet, a box, a sphere or an outline",
        needs[shape->kind].name);
  return flo_fail(error, FLO_BAD_INPUT,
                  "shape: a %s needs three dimensions; in two there are box, sphere, outline and tank",
                  shape->kind == FLO_SHAPE_BOX ? "rounded box" : needs[shape->kind].name);
}

static FloStatus check_cell(const FloShape *shape, FloError *error) {
  if (shape->cell >= 0 && isfinite(shape->cell)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "shape: the cell must be a positive length, or 0 for the usual one, got %g m", shape->cell);
}

// How many of the sizes count.
static int count_sizes(const FloShape *shape, int dim) {
  if (shape->kind == FLO_SHAPE_BOX || shape->kind == FLO_SHAPE_TANK) return dim;
  if (dim == 2 && shape->kind == FLO_SHAPE_OUTLINE) return 0;
  return dim == 2 && shape->kind == FLO_SHAPE_SHEET ? 1 : needs[shape->kind].n_sizes;
}

static FloStatus check_sizes(const FloShape *shape, int dim, FloError *error) {
  for (int k = 0; k < count_sizes(shape, dim); ++k)
    if (!(shape->size[k] > 0) || !isfinite(shape->size[k]))
      return flo_fail(error, FLO_BAD_INPUT, "shape: every size must be positive, got %g", shape->size[k]);
  if (shape->kind == FLO_SHAPE_BAG && !(shape->size[0] >= 0 && isfinite(shape->size[0])))
    return flo_fail(error, FLO_BAD_INPUT, "shape: the length of a bag's tube must not be negative, got %g m",
                    shape->size[0]);
  return FLO_OK;
}

FloStatus flo_shape_check(const FloShape *shape, int dim, FloError *error) {
  if ((unsigned)shape->kind >= FLO_SHAPE_COUNT)
    return flo_fail(error, FLO_BAD_INPUT, "shape: unknown kind %d", (int)shape->kind);
  FLO_TRY(check_sizes(shape, dim, error));
  FLO_TRY(check_radius(shape->radius, needs[shape->kind].radius, error));
  FLO_TRY(check_radius(shape->radius2, needs[shape->kind].radius2, error));
  FLO_TRY(check_cell(shape, error));
  FLO_TRY(check_dimension(shape, dim, error));
  if (shape->kind == FLO_SHAPE_TANK && (shape->up < 0 || shape->up >= dim))
    return flo_fail(error, FLO_BAD_INPUT, "shape: a tank's open axis must be one of the %d axes, got %d", dim,
                    shape->up);
  return shape->kind == FLO_SHAPE_OUTLINE ? flo_outline_check(shape->points, shape->n_points, error) : FLO_OK;
}
