#include "bodies/material.h"

#include <math.h>
#include <stdio.h>

FloMaterialDef flo_default_material_def(void) {
  return (FloMaterialDef){.name = "water",
                          .density = 1000,
                          .viscosity = 1e-6,
                          .wall_viscosity = -1,
                          .friction = -1,
                          .slip = -1,
                          .restitution = -1,
                          .contact_angle = -1};
}

FloStatus flo_slip_check(double slip, double restitution, FloError *error) {
  if (slip <= 1 && restitution <= 1) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "slip and restitution: must lie between 0 and 1, got %g and %g", slip,
                  restitution);
}

FloStatus flo_contact_angle_check(double degrees, FloError *error) {
  if (degrees <= 180) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "contact_angle: must lie between 0 and 180 degrees, got %g", degrees);
}

static FloStatus check(const FloMaterialDef *def, FloError *error) {
  const struct {
    const char *name;
    double value;
    const char *rule;
    bool is_kept;
  } checks[] = {{"density", def->density, "> 0", def->density > 0},
                {"viscosity", def->viscosity, ">= 0", def->viscosity >= 0},
                {"wall_viscosity", def->wall_viscosity, "finite", true},
                {"friction", def->friction, "finite", true},
                {"surface_tension", def->surface_tension, ">= 0", def->surface_tension >= 0},
                {"adhesion", def->adhesion, ">= 0", def->adhesion >= 0}};
  for (size_t k = 0; k < FLO_COUNT_OF(checks); ++k)
    if (!checks[k].is_kept || !isfinite(checks[k].value))
      return flo_fail(error, FLO_BAD_INPUT, "%s: must be %s, got %g", checks[k].name, checks[k].rule,
                      checks[k].value);
  return flo_slip_check(def->slip, def->restitution, error);
}

FloStatus flo_material_make(const FloMaterialDef *def, FloMaterial *material, FloError *error) {
  FLO_TRY(check(def, error));
  *material = (FloMaterial){.density = def->density,
                            .viscosity = def->viscosity,
                            .friction = def->friction,
                            .surface_tension = def->surface_tension,
                            .adhesion = def->adhesion,
                            .slip = def->slip,
                            .restitution = def->restitution,
                            .contact_angle = def->contact_angle};
  material->wall_viscosity = def->wall_viscosity < 0 ? def->viscosity : def->wall_viscosity;
  snprintf(material->name, sizeof material->name, "%s", def->name ? def->name : "");
  return FLO_OK;
}
