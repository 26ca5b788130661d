// Rows of distances, (26)-(29): fluid keeps a distance from surfaces. In the paper's simulations in 3D these
// rows are all that fluid sees of solids, `boundary` = `distances`. With the boundary field they
// stop fluid that hits a solid; feet keep fluid at rest away from it, see feet.c.
#include "coupling/constraint/constraint.h"

#include <string.h>

// Surfaces farther away than this, in spacings beyond the distance that is kept, have no row in this step.
#define REACH 0.5
// With the boundary field, feet keep fluid at rest half a spacing away from surfaces; see feet.c. These rows
// stop fluid that comes nearer.
#define FIELD_DISTANCE 0.25
// Particles up to this far from a face have a foot, in spacings: the first layer.
#define FOOT_REACH 1.0

static double kept_distance(const FloWorld *world) {
  const double given = world->params[FLO_CONSTRAINT_DISTANCE];
  if (given > 0) return given * world->def.spacing;
  return flo_constraint_has_field(world) ? FIELD_DISTANCE * world->def.spacing : world->kernel.support / 2;
}

// Faces farther away than this have neither row.
static double farthest_face(const FloWorld *world, double kept) {
  const double reach = kept + REACH * world->def.spacing;
  return flo_constraint_has_field(world) ? fmax(reach, FOOT_REACH * world->def.spacing) : reach;
}

// ---- The faces of a body near a particle ----

// In a concave edge or corner a particle touches several faces of one body. They are found by probes around
// it, along the nearest face. Directions to all sides of a normal:
enum { N_PROBES = 8, MAX_FACES = 1 + N_PROBES };
// Faces whose normals differ by less than this cosine are one.
#define SAME_FACE 0.8

typedef struct Face {
  double distance, normal[3]; // of the particle from its plane
} Face;

typedef struct Look {
  const FloWorld *world;
  const FloBody *body;
  double x[3], farthest; // [m]
  int n_faces;
  Face faces[MAX_FACES];
} Look;

static bool is_known(const Look *look, const double normal[3]) {
  for (int k = 0; k < look->n_faces; ++k)
    if (vec_dot(look->faces[k].normal, normal) > SAME_FACE) return true;
  return false;
}

// The plane of the face nearest to a probe. A face that is nearer to the particle than the nearest surface
// belongs to a convex edge, and the particle is beyond its end.
static void probe(Look *look, const double way[3]) {
  double there[3], normal[3];
  vec_add(look->x, way, there);
  const double distance = flo_world_distance(look->world, look->body, there);
  if (distance > look->faces[0].distance - 0.25 * vec_length(way)) return;
  flo_world_normal(look->world, look->body, there, normal);
  const Face face = {distance - vec_dot(normal, way), {normal[0], normal[1], normal[2]}};
  if (vec_length(normal) < 0.5 || is_known(look, normal) || face.distance > look->farthest) return;
  if (face.distance < look->faces[0].distance - 1e-6 * look->farthest) return;
  look->faces[look->n_faces++] = face;
}

// Two unit vectors along the face.
static void span(const double normal[3], int dim, double a[3], double b[3]) {
  const int least = fabs(normal[0]) < fabs(normal[1]) ? (fabs(normal[0]) < fabs(normal[2]) ? 0 : 2)
                                                      : (fabs(normal[1]) < fabs(normal[2]) ? 1 : 2);
  double axis[3] = {0};
  axis[dim == 2 ? 2 : least] = 1;
  vec_cross(normal, axis, a);
  vec_scale(a, 1 / vec_length(a), a);
  vec_cross(normal, a, b);
}

static void probe_around(Look *look) {
  const int dim = look->world->def.dim, step = dim == 2 ? N_PROBES / 2 : 1;
  double a[3], b[3], way[3];
  span(look->faces[0].normal, dim, a, b);
  for (int k = 0; k < N_PROBES; k += step) {
    const double angle = 2 * FLO_PI * k / N_PROBES;
    vec_scale(a, look->farthest * cos(angle), way);
    vec_add_scaled(way, b, look->farthest * sin(angle), way);
    if (dim == 2) way[2] = 0;
    probe(look, way);
  }
}

static void look_at(Look *look) {
  Face *nearest = &look->faces[0];
  look->n_faces = 0;
  nearest->distance = flo_world_distance(look->world, look->body, look->x);
  if (nearest->distance > look->farthest) return;
  flo_world_normal(look->world, look->body, look->x, nearest->normal);
  look->n_faces = 1;
  if (vec_length(nearest->normal) > 0.5) probe_around(look);
}

// ---- All contacts ----

typedef struct Search {
  FloWorld *world;
  FloConstraint *c;
  FloFluidContact *found; // MAX_FACES for each pair of particle and body
  uint8_t *n_found;
} Search;

static void search_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Search *search = context;
  const FloWorld *world = search->world;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double kept = kept_distance(world);
  for (size_t k = begin; k < end; ++k) {
    const FloNearSolid *near = &search->c->near[k];
    const size_t i = near->particle;
    Look look = {
        .world = world, .body = &flo_bodies(world)[near->body], .farthest = farthest_face(world, kept)};
    vec_set(look.x, p->x[i], p->y[i], p->z[i]);
    look_at(&look);
    search->n_found[k] = (uint8_t)look.n_faces;
    for (int n = 0; n < look.n_faces; ++n) {
      const double *normal = look.faces[n].normal;
      search->found[k * MAX_FACES + (size_t)n] =
          (FloFluidContact){.particle = near->particle,
                            .body = near->body,
                            .sample = near->sample,
                            .normal = {(float)normal[0], (float)normal[1], (float)normal[2]},
                            .distance = (float)look.faces[n].distance,
                            .gap = (float)(look.faces[n].distance - kept)};
    }
  }
}

// Moves what was found together.
static void pack(const Search *search, size_t n_near) {
  FloConstraint *c = search->c;
  c->contacts = search->found, c->n_distances = 0;
  for (size_t k = 0; k < n_near; ++k)
    for (size_t n = 0; n < search->n_found[k]; ++n)
      c->contacts[c->n_distances++] = search->found[k * MAX_FACES + n];
}

FloStatus flo_constraint_find_distances(FloWorld *world, FloConstraint *c, FloError *error) {
  const size_t n_near = c->near_begin[c->n_fluid], size = (n_near + 1) * MAX_FACES * sizeof *c->contacts;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_FLUID_CONTACTS, size, 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_FACE_COUNT, n_near + 1, 0, error));
  Search search = {world, c, c->buffers[FLO_CONSTRAINT_FLUID_CONTACTS].data,
                   c->buffers[FLO_CONSTRAINT_FACE_COUNT].data};
  flo_parallel_for(world->threads, n_near, 256, search_range, &search);
  pack(&search, n_near);
  return FLO_OK;
}

void flo_constraint_link_distance(const FloWorld *world, FloConstraint *c, size_t row) {
  const FloFluidContact *contact = flo_constraint_contact(c, row);
  const float *n = contact->normal;
  c->links[c->link_begin[row]] = (FloLink){{-n[0], -n[1], -n[2]}, contact->particle};
  c->violation[row] = -contact->gap;
  c->wall_rate[row] = flo_constraint_given_rate(world, contact->body, contact->particle, n);
}
