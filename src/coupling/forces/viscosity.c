#include "coupling/forces/viscosity.h"

#include <math.h>

// The material of all fluid if it has one density and viscosity; NULL if fluids differ.
static const FloMaterial *single_fluid(const FloWorld *world) {
  const FloMaterial *m = flo_materials(world), *first = NULL;
  for (size_t k = 0; k < world->materials.count; ++k) {
    if (!m[k].is_fluid) continue;
    if (!first) first = &m[k];
    if (m[k].density != first->density || m[k].viscosity != first->viscosity ||
        m[k].wall_viscosity != first->wall_viscosity)
      return NULL;
  }
  return first;
}

static FloFluidCoefficients coefficients_of(const FloWorld *world, double reference, double artificial,
                                            bool has_laminar, const FloMaterial *material) {
  double stiff = reference > 0 ? reference : material->density, sound = sqrt(stiff / material->density);
  double volume2 = pow(flo_world_rest_volume(world), 2),
         laminar = has_laminar ? 2 * (world->def.dim + 2) * material->density * volume2 : 0;
  return (FloFluidCoefficients){
      .always = (float)(laminar * material->viscosity),
      .approaching = (float)(artificial * sound * material->density * volume2),
      .wall = (float)(laminar * world->wall_drag * material->wall_viscosity),
      .rest_density = (float)stiff,
  };
}

static void fill_each(const FloWorld *world, double reference, double artificial, bool has_laminar,
                      FloFluidCoefficients *all) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  FloFluidCoefficients of_last = {0};
  uint16_t last = UINT16_MAX;
  // Neighbours in memory are mostly of one material.
  for (size_t i = 0; i < fluid->count; ++i) {
    if (fluid->material[i] != last) {
      last = fluid->material[i];
      of_last = coefficients_of(world, reference, artificial, has_laminar, &flo_materials(world)[last]);
    }
    all[i] = of_last;
  }
}

FloStatus flo_viscosity_prepare(FloViscosity *viscosity, FloWorld *world, double artificial, bool has_laminar,
                                FloError *error) {
  size_t size = world->sets[FLO_SET_FLUID].capacity * sizeof(FloFluidCoefficients);
  const FloMaterial *single = single_fluid(world);
  viscosity->is_single = single != NULL || world->sets[FLO_SET_FLUID].count == 0;
  if (single) viscosity->all = coefficients_of(world, viscosity->reference, artificial, has_laminar, single);
  if (viscosity->is_single) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(&world->memory, &viscosity->each, size, 0, error));
  fill_each(world, viscosity->reference, artificial, has_laminar, viscosity->each.data);
  return FLO_OK;
}

// Morris 1997, eq. 20. Solids are half of the neighbours of fluid next to them.
double flo_viscosity_max_dt(const FloWorld *world) {
  double s = world->def.spacing, highest = 0;
  for (size_t k = 0; k < world->materials.count; ++k) {
    const FloMaterial *material = &flo_materials(world)[k];
    double at_walls = (material->viscosity + world->wall_drag * material->wall_viscosity) / 2;
    if (material->is_fluid) highest = fmax(highest, fmax(material->viscosity, at_walls));
  }
  return highest > 0 ? 0.125 * s * s / highest : INFINITY;
}
