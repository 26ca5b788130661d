#include "soft/sheet.h"

#include <math.h>

static FloStatus refuse(FloError *error, const char *what, double value, const char *remedy) {
  return flo_fail(error, FLO_BAD_INPUT, "cloth: %s is %g; %s", what, value, remedy);
}

static FloStatus check_not_negative(const char *name, double value, FloError *error) {
  if (value >= 0 && isfinite(value)) return FLO_OK;
  return refuse(error, name, value, "it must be a number of at least 0");
}

static FloStatus check_numbers(const FloClothDef *cloth, FloError *error) {
  FLO_TRY(check_not_negative("areal_density", cloth->areal_density, error));
  FLO_TRY(check_not_negative("thickness", cloth->thickness, error));
  FLO_TRY(check_not_negative("young", cloth->young, error));
  FLO_TRY(check_not_negative("stretch", cloth->stretch, error));
  FLO_TRY(check_not_negative("shear", cloth->shear, error));
  FLO_TRY(check_not_negative("bend", cloth->bend, error));
  FLO_TRY(check_not_negative("damping", cloth->damping, error));
  FLO_TRY(check_not_negative("max_stretch", cloth->max_stretch, error));
  FLO_TRY(check_not_negative("prestretch[0]", cloth->prestretch[0], error));
  return check_not_negative("prestretch[1]", cloth->prestretch[1], error);
}

static void fill_stiffness(const FloClothDef *cloth, FloSheet *sheet) {
  double nu = cloth->poisson, t = cloth->thickness;
  sheet->stretch = cloth->stretch > 0 ? cloth->stretch : cloth->young * t;
  sheet->along = sheet->stretch / (1 - nu * nu);
  sheet->shear = cloth->shear > 0 ? cloth->shear : sheet->stretch / (2 * (1 + nu));
  sheet->bend = cloth->bend > 0 ? cloth->bend : cloth->young * t * t * t / (12 * (1 - nu * nu));
}

static FloStatus check_limit(const FloSheet *sheet, FloError *error) {
  double most = fmax(sheet->prestretch[0], sheet->prestretch[1]);
  if (sheet->limit == 0 || most < 1 + sheet->limit) return FLO_OK;
  return refuse(error, "prestretch", most, "it must be below 1 + max_stretch");
}

FloStatus flo_sheet_read(const FloClothDef *cloth, FloSheet *sheet, FloError *error) {
  FLO_TRY(check_numbers(cloth, error));
  if (!(cloth->poisson >= 0 && cloth->poisson <= 0.5))
    return refuse(error, "poisson", cloth->poisson, "it must be between 0 and 0.5");
  *sheet = (FloSheet){.density = cloth->areal_density, .poisson = cloth->poisson, .damping = cloth->damping};
  fill_stiffness(cloth, sheet);
  sheet->limit = cloth->max_stretch;
  for (int k = 0; k < 2; ++k) sheet->prestretch[k] = cloth->prestretch[k] > 0 ? cloth->prestretch[k] : 1;
  if (!(sheet->density > 0)) return refuse(error, "areal_density", sheet->density, "it must be above 0");
  if (!(sheet->stretch > 0))
    return refuse(error, "stretch", sheet->stretch, "give stretch, or young and thickness, above 0");
  return check_limit(sheet, error);
}

// -s^2 log(1 - s): smooth at zero, unbounded at one.
static FloCurve barrier(double s) {
  double rest = 1 - s, l = -log(rest);
  return (FloCurve){s * s * l, 2 * s * l + s * s / rest, 2 * l + 4 * s / rest + s * s / (rest * rest)};
}

FloCurve flo_sheet_limit(const FloSheet *sheet, double stretch) {
  const double last = 0.999;
  double width = sheet->limit / 2, s = (stretch - 1 - width) / width;
  if (sheet->limit == 0 || s <= 0) return (FloCurve){0, 0, 0};
  FloCurve f = barrier(fmin(s, last));
  double beyond = fmax(s - last, 0);
  f.value += beyond * (f.slope + beyond / 2 * f.bend);
  f.slope += beyond * f.bend;
  double k = sheet->stretch;
  return (FloCurve){k * width * width * f.value, k * width * f.slope, k * f.bend};
}
