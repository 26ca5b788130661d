// Rows of feet: what carries the other half of the pressure at a wall with the boundary field.
//
// The density of a particle next to a solid contains the field, and its multiplier pushes the particle away.
// That is half of what the missing fluid would do. The other half are the multipliers of the missing fluid
// itself. So each particle next to a face has a foot: the point half a spacing below the face, where a
// particle of the solid's first sheet would be. In an edge or a corner there are also feet half a spacing
// below two and three faces. A foot has a density, too,
//
//   g = V0 sum_j W(y - x_j)/r + share of the solids at y - 1,
//
// and a row that keeps it from growing, like that of a wet sample. Its pressure is that of the fluid above
// it. So the first layer stays half a spacing away from the wall and has the pressure of the fluid beside it.
//
// Forces of a row point from the foot to the particles. The reaction acts on the bodies at the foot, so both
// momenta are conserved.
#include "coupling/constraint/constraint.h"

// Two faces have no common foot if the cosine of the angle between their normals is outside these bounds.
// Above they are one face. Below the particle is in a gap, and the foot would be far away.
#define LEAST_COSINE -0.5
#define MOST_COSINE  0.8

// ---- Where feet are ----

static double cosine(const FloFluidContact *a, const FloFluidContact *b) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) sum += (double)a->normal[axis] * (double)b->normal[axis];
  return sum;
}

static bool make_an_edge(const FloFluidContact *a, const FloFluidContact *b) {
  const double c = cosine(a, b);
  return c > LEAST_COSINE && c < MOST_COSINE;
}

// Moves x along the normal of each face until it is deep enough, again and again. Two faces that are
// perpendicular to each other need one round.
static void descend(const FloWorld *world, const FloConstraint *c, FloFoot *foot) {
  enum { MAX_ROUNDS = 40 };
  const FloFluidContact *first = &c->contacts[foot->contacts[0]];
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double wanted = world->def.spacing / 2;
  double way[3] = {0};
  for (int round = 0; round < (foot->n_faces > 1 ? MAX_ROUNDS : 1); ++round)
    for (uint32_t k = 0; k < foot->n_faces; ++k) {
      const FloFluidContact *face = &c->contacts[foot->contacts[k]];
      const double n[3] = {(double)face->normal[0], (double)face->normal[1], (double)face->normal[2]};
      vec_add_scaled(way, n, -(wanted + (double)face->distance + vec_dot(way, n)), way);
    }
  vec_set(foot->x, p->x[first->particle], p->y[first->particle], p->z[first->particle]);
  vec_add(foot->x, way, foot->x);
}

static FloStatus add_foot(FloWorld *world, FloConstraint *c, const FloFoot *foot, FloError *error) {
  const size_t size = sizeof *foot;
  FLO_TRY(
      flo_constraint_reserve(world, c, FLO_CONSTRAINT_FEET, (c->n_feet + 1) * size, c->n_feet * size, error));
  c->feet = c->buffers[FLO_CONSTRAINT_FEET].data;
  c->feet[c->n_feet] = *foot;
  descend(world, c, &c->feet[c->n_feet++]);
  return FLO_OK;
}

// Adds a foot of these faces, and those of more faces out of the following contacts of the same particle.
static FloStatus add_feet_from(FloWorld *world, FloConstraint *c, FloFoot foot, FloError *error) {
  FLO_TRY(add_foot(world, c, &foot, error));
  if (foot.n_faces == FLO_FOOT_FACES) return FLO_OK;
  for (uint32_t next = foot.contacts[foot.n_faces - 1] + 1; next < c->n_distances; ++next) {
    const FloFluidContact *face = &c->contacts[next];
    bool fits = true;
    if (face->particle != c->contacts[foot.contacts[0]].particle) break;
    for (uint32_t k = 0; k < foot.n_faces; ++k) fits &= make_an_edge(&c->contacts[foot.contacts[k]], face);
    if (!fits) continue;
    FloFoot more = foot;
    more.contacts[more.n_faces++] = next;
    FLO_TRY(add_feet_from(world, c, more, error));
  }
  return FLO_OK;
}

FloStatus flo_constraint_find_feet(FloWorld *world, FloConstraint *c, FloError *error) {
  c->n_feet = 0;
  for (uint32_t k = 0; k < c->n_distances; ++k)
    FLO_TRY(add_feet_from(world, c, (FloFoot){.contacts = {k}, .n_faces = 1}, error));
  return FLO_OK;
}

// ---- Their rows ----

// The link of a particle, and what it adds to the kernel sum of the foot.
static double link_to(const FloWorld *world, const FloConstraint *c, const FloFoot *foot, size_t j,
                      FloLink *link) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double x[3] = {p->x[j], p->y[j], p->z[j]};
  double to[3];
  flo_domain_between(&world->domain, foot->x, x, to);
  const double r = vec_length(to), slope = flo_kernel_gradient(&world->kernel, r);
  *link = (FloLink){.particle = (uint32_t)j};
  for (int axis = 0; axis < 3; ++axis)
    link->g[axis] = (float)(c->rest_volume / c->rest_sum * slope * to[axis]);
  return flo_kernel_w(&world->kernel, r);
}

// Neighbour k of particle i.
static size_t neighbour(const FloPairs *pairs, size_t i, uint32_t k) {
  return (size_t)pairs->slots[pairs->slot_begin[i / FLO_BLOCK] + k].index[i % FLO_BLOCK];
}

// g . (velocities of the bodies), for bodies whose motion is given.
static float given_rate(const FloWorld *world, const FloConstraint *c, const FloFoot *foot, size_t row) {
  double sum[3], part[3];
  float rate = 0;
  flo_constraint_sum_links(c, row, sum);
  for (uint32_t k = 0; k < foot->n_faces; ++k) {
    const FloFluidContact *face = &c->contacts[foot->contacts[k]];
    flo_constraint_foot_part(c, foot, k, sum, part);
    const float g[3] = {(float)part[0], (float)part[1], (float)part[2]};
    rate -= flo_constraint_given_rate(world, face->body, face->particle, g);
  }
  return rate;
}

// Particles in the support of a foot are in that of the particle above it.
void flo_constraint_link_foot(const FloWorld *world, FloConstraint *c, size_t row) {
  const FloFoot *foot = flo_constraint_foot(c, row);
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID);
  const size_t i = flo_constraint_contact(c, row)->particle;
  FloLink *links = c->links + c->link_begin[row];
  double sum = 0;
  const uint32_t n = 1 + (pairs->slot_count[i / FLO_BLOCK] > 0 ? (uint32_t)pairs->row_count[i] : 0);
  for (uint32_t k = 0; k < n; ++k)
    sum += link_to(world, c, foot, k ? neighbour(pairs, i, k - 1) : i, &links[k]);
  flo_links_pad(links, n);
  c->violation[row] = (float)(c->rest_volume / c->rest_sum * sum + (double)foot->covered - 1);
  c->wall_rate[row] = given_rate(world, c, foot, row);
}

// ---- Forces ----

void flo_constraint_sum_links(const FloConstraint *c, size_t row, double sum[3]) {
  vec_set(sum, 0, 0, 0);
  for (uint32_t k = c->link_begin[row], end = k + c->link_count[row]; k < end; ++k)
    for (int axis = 0; axis < 3; ++axis) sum[axis] += (double)c->links[k].g[axis];
}

// Each further face gets what is along its normal. The first one gets the rest.
void flo_constraint_foot_part(const FloConstraint *c, const FloFoot *foot, uint32_t face, const double sum[3],
                              double part[3]) {
  vec_copy(sum, part);
  for (uint32_t k = 1; k < foot->n_faces; ++k) {
    const float *normal = c->contacts[foot->contacts[k]].normal;
    const double n[3] = {(double)normal[0], (double)normal[1], (double)normal[2]}, along = vec_dot(sum, n);
    if (face == 0) vec_add_scaled(part, n, -along, part);
    if (face == k) vec_scale(n, along, part);
  }
}

void flo_constraint_add_feet(const FloConstraint *c, float *force) {
  const size_t first = flo_constraint_first_foot(c);
  for (size_t row = first; row < first + c->n_feet; ++row) {
    const float push = -c->p[row] / (float)c->dt;
    for (uint32_t k = c->link_begin[row], end = k + c->link_count[row]; k < end; ++k)
      for (size_t axis = 0; axis < 3; ++axis)
        force[4 * (size_t)c->links[k].particle + axis] += push * c->links[k].g[axis];
  }
}

static void add_foot_to_walls(const FloWorld *world, const FloConstraint *c, size_t row, float *force) {
  const FloFoot *foot = flo_constraint_foot(c, row);
  double sum[3], part[3];
  flo_constraint_sum_links(c, row, sum);
  for (uint32_t k = 0; k < foot->n_faces; ++k) {
    const size_t sample = c->contacts[foot->contacts[k]].sample;
    if (sample >= world->sets[FLO_SET_BOUNDARY].count) continue;
    flo_constraint_foot_part(c, foot, k, sum, part);
    for (size_t axis = 0; axis < 3; ++axis)
      force[4 * sample + axis] += c->p[row] / (float)c->dt * (float)part[axis];
  }
}

void flo_constraint_add_feet_to_walls(const FloWorld *world, const FloConstraint *c, float *force) {
  const size_t first = flo_constraint_first_foot(c);
  for (size_t row = first; row < first + c->n_feet; ++row) add_foot_to_walls(world, c, row, force);
}

// A foot has about the pressure of the particle above it.
void flo_constraint_start_feet(FloConstraint *c) {
  const size_t first = flo_constraint_first_foot(c);
  for (size_t row = first; row < first + c->n_feet; ++row)
    c->p[row] = c->p[flo_constraint_contact(c, row)->particle];
}
