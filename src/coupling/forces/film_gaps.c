// Connected pieces of the gaps below bodies.
//
// Water flows in from the rim of each piece, so a block on two feet has two small gaps and not one large one.
// Samples of a body are connected if they are neighbours and face nearly the same way, whatever body they
// face: the seam of two floors is no rim. A hole in a piece is not noticed.
#include "coupling/forces/film_gaps.h"

#include "base/vecmath.h"
#include "geometry/mesh.h"

// Samples that are nearer are neighbours, in distances of samples.
#define LINK 1.6
// So are only those with a larger cosine of the angle between their directions.
#define ALIGNED 0.8

enum { GAPS, PARTS, ACCELERATIONS, PARENTS, NEXTS, HEADS };

static double sample_area(const FloWorld *world, const FloBody *body) {
  return pow(body->sampling * world->def.spacing, world->def.dim - 1);
}

static void read_place(const FloWorld *world, const FloBody *body, size_t i, double x[3]) {
  const FloParticles *p = &world->sets[FLO_SET_RIGID];
  vec_set(x, p->x[i], p->y[i], p->z[i]);
  flo_world_nearest_image(world, body->state.pose.position, x, x);
}

// ---- Neighbours ----

typedef struct Splitting {
  FloFilmGaps *gaps;
  const FloWorld *world;
  FloFilmForce *forces;
  const FloBody *body;
  double reach; // of a link [m]
} Splitting;

static uint32_t *head_of(const FloFilmGaps *gaps, const int64_t cell[3]) {
  const uint64_t key =
      (uint64_t)cell[0] * 73856093u ^ (uint64_t)cell[1] * 19349663u ^ (uint64_t)cell[2] * 83492791u;
  return &gaps->heads[key & (gaps->n_heads - 1)];
}

// Numbers count from the first sample of the body.
static void try_link(const Splitting *s, uint32_t a, uint32_t b) {
  double from[3], to[3], way[3];
  read_place(s->world, s->body, s->body->first + a, from);
  read_place(s->world, s->body, s->body->first + b, to);
  vec_sub(to, from, way);
  if (vec_length(way) > s->reach) return;
  if (!(vec_dot(s->forces[s->body->first + a].away, s->forces[s->body->first + b].away) > ALIGNED)) return;
  flo_mesh_join_sets(s->gaps->parents, a, b);
}

// Links a sample with those before it, and makes it known to those after it.
static void link_sample(const Splitting *s, uint32_t number) {
  double x[3];
  int64_t own[3];
  read_place(s->world, s->body, s->body->first + number, x);
  for (int axis = 0; axis < 3; ++axis) own[axis] = (int64_t)floor(x[axis] / s->reach);
  for (int k = 0; k < 27; ++k) {
    const int64_t cell[3] = {own[0] + k % 3 - 1, own[1] + k / 3 % 3 - 1, own[2] + k / 9 - 1};
    for (uint32_t other = *head_of(s->gaps, cell); other != UINT32_MAX; other = s->gaps->nexts[other])
      try_link(s, number, other);
  }
  s->gaps->nexts[number] = *head_of(s->gaps, own);
  *head_of(s->gaps, own) = number;
}

static void link_samples(const Splitting *s) {
  for (size_t k = 0; k < s->gaps->n_heads; ++k) s->gaps->heads[k] = UINT32_MAX;
  for (uint32_t k = 0; k < s->body->count; ++k) {
    s->gaps->parents[k] = k;
    if (s->forces[s->body->first + k].facing != UINT32_MAX) link_sample(s, k);
  }
}

// ---- Pieces ----

static FloStatus add_part(FloFilmGaps *gaps, FloWorld *world, uint32_t body, FloError *error) {
  size_t size = sizeof *gaps->parts, capacity = gaps->buffers[PARTS].capacity / size;
  if (gaps->n_parts == capacity)
    FLO_TRY(flo_buffer_reserve(&world->memory, &gaps->buffers[PARTS], (2 * capacity + 8) * size,
                               gaps->n_parts * size, error));
  gaps->parts = gaps->buffers[PARTS].data;
  gaps->parts[gaps->n_parts++] = (FloFilmPart){.body = body, .next = UINT32_MAX};
  return FLO_OK;
}

static FloStatus add_gap(FloFilmGaps *gaps, FloWorld *world, uint32_t body, FloError *error) {
  size_t size = sizeof *gaps->gaps, capacity = gaps->buffers[GAPS].capacity / size;
  if (gaps->n_gaps == capacity)
    FLO_TRY(flo_buffer_reserve(&world->memory, &gaps->buffers[GAPS], (2 * capacity + 8) * size,
                               gaps->n_gaps * size, error));
  gaps->gaps = gaps->buffers[GAPS].data;
  gaps->gaps[gaps->n_gaps++] = (FloFilmGap){.first_part = (uint32_t)gaps->n_parts};
  return add_part(gaps, world, body, error);
}

// Adds a sample to the part of the body that it faces. Its share is a number of samples at first.
static FloStatus add_to_part(FloFilmGaps *gaps, FloWorld *world, const FloFilmForce *force, const double x[3],
                             FloError *error) {
  uint32_t last = gaps->gaps[force->gap].first_part, part = gaps->parts[last].next;
  for (; part != UINT32_MAX && gaps->parts[part].body != force->facing; part = gaps->parts[part].next)
    last = part;
  if (part == UINT32_MAX) {
    part = (uint32_t)gaps->n_parts;
    FLO_TRY(add_part(gaps, world, force->facing, error));
    gaps->parts[last].next = part;
  }
  gaps->parts[part].share++;
  vec_add(gaps->parts[part].middle, x, gaps->parts[part].middle);
  return FLO_OK;
}

// Adds a sample to its gap, which begins with the sample after which its set is named.
static FloStatus add_sample(Splitting *s, FloWorld *world, uint32_t number, FloError *error) {
  const uint32_t root = flo_mesh_find_set(s->gaps->parents, number);
  const double above = s->body->sampling * world->def.spacing / 2; // from a sample to the surface of its body
  FloFilmForce *force = &s->forces[s->body->first + number];
  double x[3];
  if (root == number) {
    force->gap = (uint32_t)s->gaps->n_gaps;
    FLO_TRY(add_gap(s->gaps, world, (uint32_t)(s->body - flo_bodies(world)), error));
  }
  force->gap = s->forces[s->body->first + root].gap;
  read_place(world, s->body, s->body->first + number, x);
  FloFilmGap *gap = &s->gaps->gaps[force->gap];
  gap->count++;
  gap->height += fmax(force->distance - above, 0);
  gap->empty += 1 - force->share;
  vec_add(gap->away, force->away, gap->away);
  vec_add(gap->middle, x, gap->middle);
  return add_to_part(s->gaps, world, force, x, error);
}

// Makes means of sums.
static void finish_gap(const Splitting *s, FloFilmGap *gap, double height) {
  const double n = gap->count, length = vec_length(gap->away);
  FloFilmPart *parts = s->gaps->parts, *own = &parts[gap->first_part];
  gap->is_one_direction = length > ALIGNED * n;
  vec_scale(gap->away, length > 0 ? 1 / length : 0, gap->away);
  vec_scale(gap->middle, 1 / n, gap->middle);
  gap->height = gap->height / n + height;
  gap->empty /= n, gap->area = n * sample_area(s->world, s->body);
  own->share = 1;
  vec_copy(gap->middle, own->middle);
  for (uint32_t k = own->next; k != UINT32_MAX; k = parts[k].next) {
    vec_scale(parts[k].middle, 1 / parts[k].share, parts[k].middle);
    parts[k].share /= -n;
  }
}

// The sums that need means.
static void finish_sample(const Splitting *s, size_t i) {
  const FloFilmForce *force = &s->forces[i];
  FloFilmGap *gap = &s->gaps->gaps[force->gap];
  const double area = sample_area(s->world, s->body);
  double x[3], arm[3];
  read_place(s->world, s->body, i, x);
  vec_sub(x, gap->middle, arm);
  vec_add_scaled(arm, gap->away, -vec_dot(arm, gap->away), arm);
  gap->moment += area * (vec_dot(arm, arm) + area / 6); // the square of a sample has a moment, too
  gap->push += vec_dot(force->force, gap->away);
}

FloStatus flo_film_gaps_begin(FloFilmGaps *gaps, FloWorld *world, FloError *error) {
  const size_t n = world->sets[FLO_SET_RIGID].capacity, n_bodies = world->bodies.count;
  FloBuffer *buffers = gaps->buffers;
  for (gaps->n_heads = 1; gaps->n_heads < n;) gaps->n_heads *= 2;
  FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[PARENTS], n * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[NEXTS], n * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[HEADS], gaps->n_heads * sizeof(uint32_t), 0, error));
  FLO_TRY(
      flo_buffer_reserve(&world->memory, &buffers[ACCELERATIONS], n_bodies * 6 * sizeof(double), 0, error));
  gaps->parents = buffers[PARENTS].data, gaps->nexts = buffers[NEXTS].data;
  gaps->heads = buffers[HEADS].data, gaps->accelerations = buffers[ACCELERATIONS].data;
  gaps->n_gaps = gaps->n_parts = 0;
  return FLO_OK;
}

FloStatus flo_film_gaps_add(FloFilmGaps *gaps, FloWorld *world, FloFilmForce *forces, size_t body,
                            double height, FloError *error) {
  const FloBody *own = &flo_bodies(world)[body];
  const size_t first_gap = gaps->n_gaps;
  Splitting s = {gaps, world, forces, own, LINK * own->sampling * world->def.spacing};
  for (gaps->n_heads = 1; gaps->n_heads < own->count;) gaps->n_heads *= 2;
  link_samples(&s);
  for (uint32_t k = 0; k < own->count; ++k)
    if (forces[own->first + k].facing != UINT32_MAX) FLO_TRY(add_sample(&s, world, k, error));
  for (size_t k = first_gap; k < gaps->n_gaps; ++k) finish_gap(&s, &gaps->gaps[k], height);
  for (size_t i = own->first; i < own->first + own->count; ++i)
    if (forces[i].facing != UINT32_MAX) finish_sample(&s, i);
  return FLO_OK;
}

void flo_film_gaps_free(FloFilmGaps *gaps, FloMemory *memory) {
  flo_buffers_free(memory, gaps->buffers, FLO_COUNT_OF(gaps->buffers));
}
