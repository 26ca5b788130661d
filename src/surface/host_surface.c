// The surface of the fluid of a world at the present moment, for programs.
#include "flotsam/scenes.h"
#include "state/state.h"
#include "surface/surface.h"

#include <stdlib.h>
#include <string.h>

// The surface with the memory that holds it.
typedef struct HostSurface {
  FloMemory memory;
  FloSurfaceMesh mesh;
} HostSurface;

// Positions and velocities of the fluid as triples.
typedef struct Triples {
  double *positions;
  float *velocities;
} Triples;

static bool gather(const FloParticles *fluid, Triples *triples) {
  triples->positions = malloc((3 * fluid->count + 1) * sizeof(double));
  triples->velocities = malloc((3 * fluid->count + 1) * sizeof(float));
  if (!triples->positions || !triples->velocities) return false;
  for (size_t i = 0; i < fluid->count; ++i) {
    vec_set(triples->positions + 3 * i, fluid->x[i], fluid->y[i], fluid->z[i]);
    float *v = triples->velocities + 3 * i;
    v[0] = fluid->vx[i], v[1] = fluid->vy[i], v[2] = fluid->vz[i];
  }
  return true;
}

static FloSurfaceDef define(const FloWorld *world, const FloFluidSurfaceDef *wish) {
  FloSurfaceDef def = flo_surface_default_def(world->def.spacing);
  def.threads = world->threads;
  if (!wish) return def;
  if (wish->cell != 0) def.cell = wish->cell * world->def.spacing;
  if (wish->smoothing >= 0) def.smoothing = wish->smoothing;
  if (wish->drops_spray) def.min_particles = 2;
  if (wish->anisotropic) def.kernel = FLO_SURFACE_ANISOTROPIC;
  return def;
}

static void show(HostSurface *own, FloFluidSurface *surface) {
  const FloSurfaceMesh *mesh = &own->mesh;
  *surface = (FloFluidSurface){.vertices = mesh->mesh.vertices.data,
                               .normals = mesh->normals.data,
                               .velocities = mesh->velocities.data,
                               .triangles = mesh->mesh.triangles.data,
                               .n_vertices = mesh->mesh.n_vertices,
                               .n_triangles = mesh->mesh.n_triangles,
                               .volume = mesh->volume,
                               .area = mesh->area,
                               .own = own};
}

FloStatus flo_world_surface(const FloWorld *world, const FloFluidSurfaceDef *wish, FloFluidSurface *surface,
                            FloError *error) {
  if (!world || !surface)
    return flo_fail(error, FLO_BAD_INPUT, "%s: is NULL, but it is needed", world ? "surface" : "world");
  *surface = (FloFluidSurface){0};
  if (world->def.dim != 3)
    return flo_fail(error, FLO_UNSUPPORTED, "surface: only fluid in three dimensions has one");
  HostSurface *own = calloc(1, sizeof *own);
  Triples triples = {0};
  const FloSurfaceDef def = define(world, wish);
  FloStatus status = FLO_OK;
  if (!own || !gather(&world->sets[FLO_SET_FLUID], &triples))
    status = flo_fail(error, FLO_NO_MEMORY, "out of memory for the surface of the fluid");
  if (own) flo_memory_init(&own->memory, &(FloAllocator){0});
  if (status == FLO_OK)
    status = flo_surface_build(&def, triples.positions, triples.velocities, world->sets[FLO_SET_FLUID].count,
                               &own->mesh, &own->memory, error);
  free(triples.positions);
  free(triples.velocities);
  if (own) show(own, surface);
  if (status != FLO_OK) flo_fluid_surface_free(surface);
  return status;
}

void flo_fluid_surface_free(FloFluidSurface *surface) {
  HostSurface *own = surface ? surface->own : NULL;
  if (!own) return;
  flo_surface_free(&own->mesh);
  free(own);
  *surface = (FloFluidSurface){0};
}
