// Fluid particles near solids, and the share of their kernels that the solids cover: the boundary field.
//
// The paper adds m W(d) to the density of a particle at distance d from a surface, in 2D. That falls again
// behind the surface. Here the field is the integral of the kernel over the solid, in 2D and in 3D; see
// sph/cover.h. A body and its field move together, so the rate at which the share grows is
//
//   grad share . (v_i - velocity of the body at x_i),
//
// and the force of a row on the body is the opposite of that on the particle, at the same point.
#include "base/pose.h"
#include "coupling/constraint/constraint.h"

typedef struct Work {
  const FloWorld *world;
  FloConstraint *c;
} Work;

// ---- Which bodies are near ----

static void count_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  for (size_t i = begin; i < end; ++i) {
    uint32_t n = 0;
    if (flo_world_is_near_solids(work->world, i))
      for (FloNearBody near = {0}; flo_near_next(work->world, i, &near);) ++n;
    work->c->near_begin[i + 1] = n;
  }
}

static void list_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  for (size_t i = begin; i < end; ++i) {
    FloNearSolid *list = work->c->near + work->c->near_begin[i];
    if (work->c->near_begin[i] == work->c->near_begin[i + 1]) continue;
    for (FloNearBody near = {0}; flo_near_next(work->world, i, &near);)
      *list++ = (FloNearSolid){.particle = (uint32_t)i, .body = near.body, .sample = (uint32_t)near.sample};
  }
}

FloStatus flo_constraint_find_near(FloWorld *world, FloConstraint *c, FloError *error) {
  Work work = {world, c};
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_NEAR_BEGIN, (c->n_fluid + 1) * 4, 0, error));
  c->near_begin = c->buffers[FLO_CONSTRAINT_NEAR_BEGIN].data;
  c->near_begin[0] = 0;
  flo_each_particle(world, FLO_SET_FLUID, count_range, &work);
  for (size_t i = 0; i < c->n_fluid; ++i) c->near_begin[i + 1] += c->near_begin[i];
  const size_t size = (c->near_begin[c->n_fluid] + 1) * sizeof *c->near;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_NEAR, size, 0, error));
  c->near = c->buffers[FLO_CONSTRAINT_NEAR].data;
  flo_each_particle(world, FLO_SET_FLUID, list_range, &work);
  return FLO_OK;
}

// ---- The field ----

// A body that keeps its shape has a field in its frame. For other bodies their surface counts as flat.
static bool has_frame(const FloBody *body) { return body->kind->distance == flo_posed_distance; }

static void position_of(const FloWorld *world, uint32_t particle, double x[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  vec_set(x, p->x[particle], p->y[particle], p->z[particle]);
}

static double depth_at(const Work *work, uint32_t number, const double x[3], double gradient[3]) {
  const FloBody *body = &flo_bodies(work->world)[number];
  double local[3];
  if (!has_frame(body)) {
    flo_world_normal(work->world, body, x, gradient);
    return flo_world_distance(work->world, body, x);
  }
  flo_posed_local(body, &work->world->domain, &body->state.pose, x, local);
  const double depth = flo_cover_depth(&work->c->cover, work->c->coverings[number], local, gradient);
  quat_rotate(body->state.pose.rotation, gradient, gradient);
  return depth;
}

static void cover_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  for (size_t k = begin; k < end; ++k) {
    FloNearSolid *near = &work->c->near[k];
    double x[3], gradient[3];
    position_of(work->world, near->particle, x);
    const double depth = depth_at(work, near->body, x, gradient),
                 steepness = flo_cover_steepness(&work->c->cover.sheets, depth);
    near->share = (float)flo_cover_share(&work->c->cover.sheets, depth);
    near->stress = (float)flo_cover_stress(&work->c->cover.sheets, depth);
    for (int axis = 0; axis < 3; ++axis) near->g[axis] = (float)(-steepness * gradient[axis]);
  }
}

// What all solids near the particle cover at its foot.
static void cover_feet_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloConstraint *c = work->c;
  for (size_t k = begin; k < end; ++k) {
    FloFoot *foot = &c->feet[k];
    const uint32_t i = c->contacts[foot->contacts[0]].particle;
    double gradient[3], share = 0;
    for (uint32_t n = c->near_begin[i]; n < c->near_begin[i + 1]; ++n)
      share += flo_cover_share(&c->cover.sheets, depth_at(work, c->near[n].body, foot->x, gradient));
    foot->covered = (float)share;
  }
}

static FloStatus need_block(FloWorld *world, FloConstraint *c, uint32_t number, const double x[3],
                            FloError *error) {
  const FloBody *body = &flo_bodies(world)[number];
  double local[3];
  if (!has_frame(body)) return FLO_OK;
  flo_posed_local(body, &world->domain, &body->state.pose, x, local);
  return flo_cover_need(&c->cover, c->coverings[number], local, error);
}

static FloStatus need_blocks_of_feet(FloWorld *world, FloConstraint *c, FloError *error) {
  for (size_t k = 0; k < c->n_feet; ++k) {
    const uint32_t i = c->contacts[c->feet[k].contacts[0]].particle;
    for (uint32_t n = c->near_begin[i]; n < c->near_begin[i + 1]; ++n)
      FLO_TRY(need_block(world, c, c->near[n].body, c->feet[k].x, error));
  }
  return FLO_OK;
}

// Blocks of the field that fluid meets for the first time are made now.
static FloStatus need_blocks(FloWorld *world, FloConstraint *c, FloError *error) {
  if (!c->cover.memory)
    FLO_TRY(flo_cover_init(&c->cover, &world->kernel, world->def.spacing, &world->memory, error));
  FLO_TRY(flo_constraint_find_coverings(world, c, error));
  for (size_t k = 0; k < c->near_begin[c->n_fluid]; ++k) {
    double x[3];
    position_of(world, c->near[k].particle, x);
    FLO_TRY(need_block(world, c, c->near[k].body, x, error));
  }
  FLO_TRY(need_blocks_of_feet(world, c, error));
  const FloCoverOwners owners = flo_constraint_owners(world);
  flo_cover_fill(&c->cover, &owners, world->threads);
  return FLO_OK;
}

FloStatus flo_constraint_find_cover(FloWorld *world, FloConstraint *c, FloError *error) {
  Work work = {world, c};
  FLO_TRY(need_blocks(world, c, error));
  flo_parallel_for(world->threads, c->near_begin[c->n_fluid], 256, cover_range, &work);
  flo_parallel_for(world->threads, c->n_feet, 256, cover_feet_range, &work);
  return FLO_OK;
}

// ---- In the rows of densities ----

// The velocity of a body whose motion is given, where the particle is.
static void given_velocity(const FloWorld *world, const FloBody *body, uint32_t particle, double v[3]) {
  static const FloCarried here = {.count = 1, .shares = {1}};
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double x[3] = {p->x[particle], p->y[particle], p->z[particle]};
  vec_set(v, 0, 0, 0);
  if (flo_body_is_led(body)) flo_wall_velocity(world, body, x, &here, v);
}

float flo_constraint_given_rate(const FloWorld *world, uint32_t body, uint32_t particle, const float g[3]) {
  const FloBody *solid = &flo_bodies(world)[body];
  double v[3];
  if (flo_body_is_pushed(solid)) return 0;
  given_velocity(world, solid, particle, v);
  return (float)(v[0] * (double)g[0] + v[1] * (double)g[1] + v[2] * (double)g[2]);
}

float flo_constraint_add_cover(const FloWorld *world, const FloConstraint *c, size_t i, float own[3]) {
  float rate = 0;
  for (uint32_t k = c->near_begin[i]; k < c->near_begin[i + 1]; ++k) {
    for (int axis = 0; axis < 3; ++axis) own[axis] += c->near[k].g[axis];
    rate -= flo_constraint_given_rate(world, c->near[k].body, (uint32_t)i, c->near[k].g);
  }
  return rate;
}

float flo_constraint_cover_share(const FloConstraint *c, size_t i) {
  float share = 0;
  for (uint32_t k = c->near_begin[i]; k < c->near_begin[i + 1]; ++k) share += c->near[k].share;
  return share;
}

float flo_constraint_cover_stress(const FloConstraint *c, size_t i) {
  float stress = 0;
  for (uint32_t k = c->near_begin[i]; k < c->near_begin[i + 1]; ++k) stress += c->near[k].stress;
  return stress;
}
