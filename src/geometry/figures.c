#include "geometry/figures.h"

#include "base/vecmath.h"
#include "geometry/polygonise.h"
#include "geometry/solid_meshes.h"

// ---- Parts ----

#define BALL FLO_PRIMITIVE_SPHERE
#define LIMB FLO_PRIMITIVE_ROUND_CONE
#define EGG  FLO_PRIMITIVE_ELLIPSOID
#define HOOP FLO_PRIMITIVE_TORUS

static const FloPrimitive duck_parts[] = {
    // Body, breast and the tail that points up.
    {EGG, .a = {-0.05, 0, 0}, .radii = {0.92, 0.68, 0.5}},
    {EGG, .a = {0.35, 0, 0.08}, .radii = {0.55, 0.56, 0.5}, .blend = 0.25},
    {LIMB, .a = {-0.68, 0, 0.15}, .b = {-1.1, 0, 0.62}, .radii = {0.32, 0.1}, .blend = 0.3},
    // Neck and head.
    {LIMB, .a = {0.42, 0, 0.35}, .b = {0.5, 0, 0.8}, .radii = {0.36, 0.32}, .blend = 0.2},
    {BALL, .a = {0.52, 0, 0.98}, .radii = {0.46}, .blend = 0.12},
    // Wings, their tips lifted off the body.
    {EGG, .a = {-0.12, 0.63, 0.14}, .radii = {0.5, 0.13, 0.27}, .turn = {0.1, 0.3, 0.15}, .blend = 0.06,
     .is_mirrored = true},
    // Bill: two flat halves; the upper one turned up at its tip.
    {EGG, .a = {1.02, 0, 0.94}, .radii = {0.3, 0.26, 0.1}, .turn = {0, -0.2, 0}, .blend = 0.06},
    {EGG, .a = {0.96, 0, 0.81}, .radii = {0.24, 0.2, 0.08}, .turn = {0, 0.05, 0}, .blend = 0.03},
    // Eyes.
    {BALL, .a = {0.82, 0.24, 1.15}, .radii = {0.08}, .blend = 0.02, .is_mirrored = true},
};

static const FloPrimitive rabbit_parts[] = {
    // Trunk and breast.
    {EGG, .a = {-0.15, 0, 0.58}, .radii = {0.62, 0.46, 0.56}, .turn = {0, -0.25, 0}},
    {EGG, .a = {0.26, 0, 0.72}, .radii = {0.34, 0.36, 0.44}, .blend = 0.2},
    // Haunches and hind feet.
    {EGG, .a = {-0.2, 0.36, 0.4}, .radii = {0.46, 0.2, 0.37}, .turn = {0, -0.3, 0}, .blend = 0.05,
     .is_mirrored = true},
    {LIMB, .a = {-0.2, 0.42, 0.1}, .b = {0.42, 0.42, 0.1}, .radii = {0.12, 0.11}, .blend = 0.06,
     .is_mirrored = true},
    // Fore legs and paws.
    {LIMB, .a = {0.38, 0.17, 0.55}, .b = {0.56, 0.17, 0.12}, .radii = {0.15, 0.1}, .blend = 0.08,
     .is_mirrored = true},
    {LIMB, .a = {0.56, 0.17, 0.1}, .b = {0.7, 0.17, 0.09}, .radii = {0.11, 0.09}, .blend = 0.06,
     .is_mirrored = true},
    // Neck, head, cheeks and muzzle.
    {LIMB, .a = {0.25, 0, 0.95}, .b = {0.42, 0, 1.25}, .radii = {0.3, 0.26}, .blend = 0.15},
    {EGG, .a = {0.52, 0, 1.4}, .radii = {0.38, 0.29, 0.3}, .turn = {0, 0.35, 0}, .blend = 0.1},
    {BALL, .a = {0.62, 0.16, 1.27}, .radii = {0.17}, .blend = 0.1, .is_mirrored = true},
    {EGG, .a = {0.84, 0, 1.28}, .radii = {0.15, 0.15, 0.13}, .blend = 0.08},
    // Ears, a tuft of a tail, eyes and nose.
    {EGG, .a = {0.24, 0.19, 2.02}, .radii = {0.11, 0.16, 0.52}, .turn = {-0.2, -0.3, 0}, .blend = 0.1,
     .is_mirrored = true},
    {BALL, .a = {-0.76, 0, 0.34}, .radii = {0.2}, .blend = 0.04},
    {BALL, .a = {0.7, 0.225, 1.45}, .radii = {0.065}, .blend = 0.02, .is_mirrored = true},
    {BALL, .a = {0.985, 0, 1.32}, .radii = {0.05}, .blend = 0.03},
};

static const FloPrimitive armadillo_parts[] = {
    // Belly, and the shell on the back with its bands.
    {EGG, .a = {0.04, 0, 1.02}, .radii = {0.36, 0.4, 0.52}},
    {EGG, .a = {-0.16, 0, 1.08}, .radii = {0.44, 0.5, 0.62}, .turn = {0, 0.15, 0}, .blend = 0.03},
    {HOOP, .a = {-0.2, 0, 0.72}, .radii = {0.37, 0.055}, .turn = {0, 0.15, 0}, .blend = 0.02},
    {HOOP, .a = {-0.18, 0, 0.9}, .radii = {0.44, 0.055}, .turn = {0, 0.15, 0}, .blend = 0.02},
    {HOOP, .a = {-0.16, 0, 1.08}, .radii = {0.46, 0.055}, .turn = {0, 0.15, 0}, .blend = 0.02},
    {HOOP, .a = {-0.14, 0, 1.26}, .radii = {0.44, 0.055}, .turn = {0, 0.15, 0}, .blend = 0.02},
    {HOOP, .a = {-0.13, 0, 1.43}, .radii = {0.36, 0.055}, .turn = {0, 0.15, 0}, .blend = 0.02},
    // Legs.
    {LIMB, .a = {0, 0.24, 0.66}, .b = {0.12, 0.36, 0.42}, .radii = {0.24, 0.18}, .blend = 0.08,
     .is_mirrored = true},
    {LIMB, .a = {0.12, 0.36, 0.42}, .b = {0.02, 0.38, 0.12}, .radii = {0.17, 0.12}, .blend = 0.05,
     .is_mirrored = true},
    {LIMB, .a = {0, 0.38, 0.09}, .b = {0.3, 0.44, 0.08}, .radii = {0.11, 0.1}, .blend = 0.05,
     .is_mirrored = true},
    // Arms.
    {LIMB, .a = {0.02, 0.36, 1.36}, .b = {0.1, 0.72, 1.4}, .radii = {0.17, 0.13}, .blend = 0.08,
     .is_mirrored = true},
    {LIMB, .a = {0.1, 0.72, 1.4}, .b = {0.3, 0.8, 1.78}, .radii = {0.13, 0.1}, .blend = 0.05,
     .is_mirrored = true},
    {BALL, .a = {0.33, 0.81, 1.85}, .radii = {0.13}, .blend = 0.05, .is_mirrored = true},
    // Neck, head and snout.
    {LIMB, .a = {0.05, 0, 1.45}, .b = {0.16, 0, 1.75}, .radii = {0.24, 0.22}, .blend = 0.1},
    {EGG, .a = {0.22, 0, 1.84}, .radii = {0.29, 0.24, 0.24}, .turn = {0, 0.2, 0}, .blend = 0.06},
    {LIMB, .a = {0.34, 0, 1.82}, .b = {0.84, 0, 1.66}, .radii = {0.17, 0.085}, .blend = 0.1},
    // Ears and tail.
    {EGG, .a = {0.04, 0.2, 2.12}, .radii = {0.085, 0.14, 0.23}, .turn = {-0.35, -0.2, 0}, .blend = 0.05,
     .is_mirrored = true},
    {LIMB, .a = {-0.3, 0, 0.6}, .b = {-0.72, 0, 0.26}, .radii = {0.22, 0.15}, .blend = 0.1},
    {LIMB, .a = {-0.72, 0, 0.26}, .b = {-1.15, 0, 0.12}, .radii = {0.15, 0.08}, .blend = 0.08},
};

FloImplicit flo_figure_implicit(FloFigure figure) {
  static const FloImplicit implicits[FLO_FIGURE_COUNT] = {
      [FLO_FIGURE_DUCK] = {.primitives = duck_parts, .n_primitives = FLO_COUNT_OF(duck_parts)},
      [FLO_FIGURE_RABBIT] = {.primitives = rabbit_parts, .n_primitives = FLO_COUNT_OF(rabbit_parts)},
      [FLO_FIGURE_ARMADILLO] = {.primitives = armadillo_parts, .n_primitives = FLO_COUNT_OF(armadillo_parts)},
  };
  FLO_ASSERT((unsigned)figure < FLO_FIGURE_COUNT);
  return implicits[figure];
}

// ---- Meshes ----

enum { MAX_PARTS = 32 }; // of a figure

static double value_of_implicit(const void *context, const double point[3]) {
  return flo_implicit_value(context, point);
}

typedef struct FigureDef {
  FloFigure figure;
  const char *name, *measure;
  int axis;               // along which it is measured
  double coarsest;        // largest cell that still finds all parts, as a share of the extent
  double low[3], high[3]; // corners of the box around the parts, in their units
} FigureDef;

static double own_extent(const FigureDef *def) { return def->high[def->axis] - def->low[def->axis]; }

// Scales and moves the vertices from `first` on. The body then extends over `extent` along its axis, and the
// origin is the middle of its box. The scale comes from the body and not from the net, which cuts tips off.
// Figures of any fineness therefore have the same proportions.
static void fit(FloMesh *mesh, size_t first, const FigureDef *def, double extent) {
  double scale = extent / own_extent(def);
  for (size_t k = first; k < mesh->n_vertices; ++k)
    for (int c = 0; c < 3; ++c) {
      double *x = &flo_mesh_vertex(mesh, k)[c];
      *x = (*x - (def->low[c] + def->high[c]) / 2) * scale;
    }
}

static FloStatus add_figure(const FigureDef *def, double extent, double fineness, FloMesh *mesh,
                            FloError *error) {
  FLO_TRY(flo_lengths_check(def->name, &(const FloNamedLength){def->measure, extent}, 1, error));
  FLO_TRY(flo_fineness_check(def->name, fineness, error));
  FloImplicit implicit = flo_figure_implicit(def->figure);
  FloPrimitiveFrame frames[MAX_PARTS];
  FLO_ASSERT(implicit.n_primitives <= MAX_PARTS);
  flo_implicit_prepare(&implicit, frames);
  // A net has edges of about 0.8 cells.
  double cell = fmin(fmax(1.05 * fineness / extent, 1.0 / 136), def->coarsest) * own_extent(def);
  double low[3], high[3];
  size_t first = mesh->n_vertices;
  flo_implicit_bounds(&implicit, low, high);
  FLO_TRY(
      flo_polygonise(&(const FloSignedField){value_of_implicit, &implicit}, low, high, cell, mesh, error));
  fit(mesh, first, def, extent);
  return FLO_OK;
}

FloStatus flo_mesh_duck(double length, double fineness, FloMesh *mesh, FloError *error) {
  static const FigureDef def = {FLO_FIGURE_DUCK,
                                "duck",
                                "length",
                                0,
                                1.0 / 18,
                                {-1.2, -0.7827205, -0.5118199},
                                {1.3146904, 0.7827205, 1.44}};
  return add_figure(&def, length, fineness, mesh, error);
}

FloStatus flo_mesh_rabbit(double height, double fineness, FloMesh *mesh, FloError *error) {
  static const FigureDef def = {
      FLO_FIGURE_RABBIT,      "rabbit", "height", 2, 1.0 / 24, {-0.96, -0.56, -0.0201519},
      {1.035, 0.56, 2.508639}};
  return add_figure(&def, height, fineness, mesh, error);
}

FloStatus flo_mesh_armadillo(double height, double fineness, FloMesh *mesh, FloError *error) {
  static const FigureDef def = {
      FLO_FIGURE_ARMADILLO,    "armadillo", "height", 2, 1.0 / 26, {-1.23, -0.94, -0.0244881},
      {0.925, 0.94, 2.3375013}};
  return add_figure(&def, height, fineness, mesh, error);
}
