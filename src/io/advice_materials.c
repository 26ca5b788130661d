// Notes about materials and gravity: materials without use, and values that seem to be in another unit.
#include "base/core.h"
#include "base/vecmath.h"
#include "io/advice_parts.h"
#include "io/scene_steps.h"

#include <stdio.h>

// ---- Use ----

static bool is_of_body(const FloScene *scene, size_t material) {
  for (size_t k = 0; k < scene->n_bodies; ++k)
    if (flo_scene_is_body(&scene->bodies[k]) && scene->bodies[k].material == material) return true;
  return false;
}

static bool is_of_fluid(const FloScene *scene, size_t material) {
  const struct FloSceneParts *parts = scene->parts;
  for (size_t k = 0; k < parts->n_fluids; ++k)
    if (parts->fluids[k].material == material) return true;
  for (size_t k = 0; k < parts->n_added; ++k)
    if (parts->added[k].material == material) return true;
  for (size_t k = 0; k < parts->n_fills; ++k)
    if (parts->fills[k].material == material) return true;
  for (size_t k = 0; k < parts->n_particle_files; ++k)
    if (parts->particles[k].material == material) return true;
  for (size_t k = 0; k < parts->n_emitters; ++k)
    if (parts->emitters[k].material == material) return true;
  return false;
}

// ---- Units ----

// A liquid that visibly flows within seconds is not thicker than this; honey has 0.005 to 0.01.
#define THICK 1 // [m2/s]

// Liquids have 600 or more; in g/cm3 they would have about 1.
#define THIN 50 // [kg/m3]

// Ten times that of the earth; a scene in centimetres would have 981.
#define STRONG 98.1 // [m/s2]

// ---- Wetting ----

static void advise_on_wetting(FloAdvice *advice, const char *name, const FloMaterialDef *def) {
  if (!(def->contact_angle >= 0)) return;
  if (!(def->surface_tension > 0))
    flo_advice_tell(advice,
                    "fluid '%s' has a contact_angle but no surface_tension, so the angle does nothing; give "
                    "surface_tension in N/m (water: 0.072)",
                    name);
  if (def->adhesion > 0)
    flo_advice_tell(advice,
                    "fluid '%s' has a contact_angle and adhesion: both pull it to solids; leave out adhesion",
                    name);
}

void flo_advice_on_materials(FloAdvice *advice) {
  const struct FloSceneParts *parts = advice->scene->parts;
  for (size_t k = 0; k < parts->n_materials; ++k)
    if (!is_of_fluid(advice->scene, k) && !is_of_body(advice->scene, k))
      flo_advice_tell(advice, "material '%s' is not used by any fluid, body or emitter; use it or remove it",
                      parts->materials[k].name);
  flo_advice_end_kind(advice, "materials");
  for (size_t k = 0; k < parts->n_materials; ++k)
    if (is_of_fluid(advice->scene, k) && parts->materials[k].def.viscosity > THICK)
      flo_advice_tell(advice,
                      "material '%s' has a kinematic viscosity of %g m2/s, but honey has 0.01 and water "
                      "1e-6; give it in m2/s: divide a dynamic viscosity in Pa s by the density",
                      parts->materials[k].name, parts->materials[k].def.viscosity);
  flo_advice_end_kind(advice, "materials");
  for (size_t k = 0; k < parts->n_materials; ++k)
    if (is_of_fluid(advice->scene, k) && parts->materials[k].def.density < THIN)
      flo_advice_tell(advice, "fluid '%s' has a density of %g kg/m3, but water has 1000; give it in kg/m3",
                      parts->materials[k].name, parts->materials[k].def.density);
  flo_advice_end_kind(advice, "materials");
  for (size_t k = 0; k < parts->n_materials; ++k)
    if (is_of_fluid(advice->scene, k))
      advise_on_wetting(advice, parts->materials[k].name, &parts->materials[k].def);
  flo_advice_end_kind(advice, "materials");
  double gravity = vec_length(advice->scene->world.gravity);
  if (gravity > STRONG)
    flo_advice_tell(advice, "gravity is %g m/s2, %.0f times that of the earth; give it in m/s2", gravity,
                    gravity / 9.81);
  flo_advice_end_kind(advice, "kinds of gravity");
}
