// Wetted films: the pressure of fluid in a gap that is too narrow for particles.
//
// Under a body that rests on a floor there is no fluid particle, so nothing would push the body up, and the
// lightest block would stay on the floor for ever. In reality the gap is wet, and its pressure is that of the
// fluid around it. So each sample that faces another body feels this pressure on the part of its area that no
// particle reaches, and the other body feels the opposite at the same point:
//
//   p = w (mean of (F_b/A - rho g . x_b) + rho g . x)
//
// The mean is over the wet samples at the rim of the gap. F_b is the force of the fluid on such a sample, A
// its area, and w the share of the samples at the rim that are wet. In still water this is exact. Forces are
// used because they are right in the mean: they carry the weight of the fluid. The pressures of single
// particles at a wall are not. Samples far from the gap do not count: a body that is pushed up presses on the
// fluid above it, which would push it up the more. The pressure follows the mean slowly. The load of a
// contact is then weight minus buoyancy, as friction requires.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"

#include <string.h>

// Time in which the film follows the pressures of wet samples, in units of sqrt(spacing/gravity).
#define FOLLOW_TIME 1
// The widest gap that has a film, in spacings. In wider gaps particles get in by themselves.
#define WIDEST 3
// Share of the pressure that particles in a gap should carry.
#define ENOUGH 0.97
// Wet samples up to this distance from the other body are at the rim of a gap, in spacings.
#define RIM 4

// The fluid at the rims of a body's gaps.
typedef struct Film {
  double level; // mean of F_b/A - rho g . x_b [Pa]
  double density, count;
  double share; // of the samples at rims that are wet
} Film;

typedef struct FilmWork {
  FloWorld *world;
  FloMonolithic *mono;
  size_t body;
} FilmWork;

static double hydrostatic(const FloWorld *world, double density, const double x[3]) {
  return density * vec_dot(world->def.gravity, x);
}

static void read_place(const FloWorld *world, size_t i, double x[3]) {
  const FloParticles *p = &world->sets[FLO_SET_RIGID];
  vec_set(x, p->x[i], p->y[i], p->z[i]);
}

// ---- Samples that face another body ----

static bool has_film(const FloWorld *world, const FloMonolithic *mono, size_t k) {
  const FloBody *body = &flo_bodies(world)[k];
  return flo_body_is_pushed(body) && !body->is_sealed && mono->wet_counts[k] > 0;
}

// What fluid particles do to a sample, along a direction out of its body.
typedef struct Push {
  double share; // of the sample's face that they are in front of
  double force; // of the last step's pressures, against the direction [N]
} Push;

static Push find_push(const FloWorld *world, const FloMonolithic *mono, size_t i, const double out[3]) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID);
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  const float *of_fluid = world->sets[FLO_SET_FLUID].extra[FLO_MONO_WARM],
              *of_samples = rigid->extra[FLO_MONO_WET];
  size_t lane = i % FLO_BLOCK;
  Push push = {0};
  for (int32_t k = 0; pairs->slot_count[i / FLO_BLOCK] && k < pairs->row_count[i]; ++k) {
    double slope = (double)slots[k].gx[lane] * out[0] + (double)slots[k].gy[lane] * out[1] +
                   (double)slots[k].gz[lane] * out[2];
    push.share += slope;
    push.force += slope * (double)(of_fluid[slots[k].index[lane]] + of_samples[i]);
  }
  push.share = fmin(fmax(push.share / mono->sheet_slope, 0), 1);
  push.force *= mono->rest_volume * (double)rigid->volume[i];
  return push;
}

// The nearest body within the distance of a rim; UINT32_MAX: none. `out` leads towards it.
static uint32_t find_nearest(const FilmWork *work, const double x[3], double out[3], double *nearest) {
  const FloWorld *world = work->world;
  uint32_t found = UINT32_MAX;
  *nearest = RIM * world->def.spacing;
  for (size_t k = 0; k < work->mono->n_near; ++k) {
    const FloBody *other = &flo_bodies(world)[work->mono->near[k]];
    double distance = flo_world_distance(world, other, x);
    if (!(distance < *nearest)) continue;
    *nearest = distance, found = work->mono->near[k];
    flo_world_normal(world, other, x, out);
  }
  vec_scale(out, -1, out);
  return found;
}

// Whether a sample faces the nearest body across a narrow gap: its own surface is then half a spacing away in
// that direction. (The normal of its own body does not tell this at edges.)
static bool faces(const FilmWork *work, const double x[3], const double out[3], double nearest) {
  const double s = work->world->def.spacing;
  double surface[3];
  vec_add_scaled(x, out, 0.6 * s, surface);
  return nearest < (WIDEST + 0.5) * s &&
         flo_world_distance(work->world, &flo_bodies(work->world)[work->body], surface) > 0;
}

// Which body a sample faces, and what fluid particles in the gap do to it.
static void face_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const FilmWork *work = context;
  size_t first = flo_bodies(work->world)[work->body].first;
  for (size_t i = first + begin; i < first + end; ++i) {
    FloFilmForce *force = &work->mono->film_forces[i];
    double x[3], out[3] = {0};
    read_place(work->world, i, x);
    uint32_t nearest = find_nearest(work, x, out, &force->distance);
    force->facing = nearest != UINT32_MAX && faces(work, x, out, force->distance) ? nearest : UINT32_MAX;
    vec_scale(out, -1, force->away);
    if (force->facing == UINT32_MAX) continue;
    Push push = find_push(work->world, work->mono, i, out);
    force->share = push.share, force->push = push.force;
  }
}

// ---- The pressure at the rim of a gap ----

static double area_of(const FloWorld *world, const FloBody *body) {
  return pow(body->sampling * world->def.spacing, world->def.dim - 1);
}

static double density_near(const FloWorld *world, const FloMonolithic *mono, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID);
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  double mass = 0;
  for (int32_t k = 0; k < pairs->row_count[i]; ++k)
    mass += (double)world->sets[FLO_SET_FLUID].mass[slots[k].index[i % FLO_BLOCK]];
  return mass / pairs->row_count[i] / mono->rest_volume;
}

// Whether the face of a sample near another body leads past that body.
static bool is_at_rim(const FloFilmForce *at, const double normal[3]) {
  return fabs(vec_dot(at->away, normal)) < 0.5;
}

// Adds a sample at the rim of a gap. Those without fluid count as dry.
static void add_rim(const FloWorld *world, const FloMonolithic *mono, const FloBody *body, size_t i,
                    const double x[3], const double normal[3], Film *film) {
  film->share++;
  if (flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID)->kernel_sum[i] < mono->wet_samples.least_sum) return;
  double density = density_near(world, mono, i), force = find_push(world, mono, i, normal).force;
  film->level += force / area_of(world, body) - hydrostatic(world, density, x);
  film->density += density;
  film->count++;
}

// Means over the wet samples at rims, and the share of samples there that are wet.
static Film find_level(const FloWorld *world, const FloMonolithic *mono, const FloBody *body) {
  Film film = {0};
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const FloFilmForce *at = &mono->film_forces[i];
    double x[3], normal[3];
    if (at->facing != UINT32_MAX || !(at->distance < RIM * world->def.spacing)) continue;
    read_place(world, i, x);
    flo_world_normal(world, body, x, normal);
    if (is_at_rim(at, normal)) add_rim(world, mono, body, i, x, normal, &film);
  }
  if (film.count == 0) return (Film){0};
  film.share = film.count / film.share;
  film.level /= film.count, film.density /= film.count;
  return film;
}

static double pressure_at(const FloWorld *world, const Film *film, size_t i) {
  double x[3];
  read_place(world, i, x);
  return film->share * fmax(film->level + hydrostatic(world, film->density, x), 0);
}

// One or two layers of particles in a gap carry less than the pressure around it, since layers cannot
// rearrange when the gap widens. The share that they lack is the same for the whole face, so that the noise
// of single samples does not matter.
static double find_lack(const FloWorld *world, const FloMonolithic *mono, const Film *film,
                        const FloBody *body) {
  double asked = 0, found = 0;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const FloFilmForce *force = &mono->film_forces[i];
    if (force->facing == UINT32_MAX) continue;
    asked += force->share * pressure_at(world, film, i) * area_of(world, body);
    found += force->push;
  }
  return asked > 0 ? fmin(fmax(ENOUGH - found / asked, 0), 1) : 0;
}

static double follow_time(const FloWorld *world) {
  double g = vec_length(world->def.gravity);
  return FOLLOW_TIME * sqrt(world->def.spacing / (g > 0 ? g : 1));
}

static void press_sample(FloWorld *world, FloMonolithic *mono, double pressure, const FloBody *own,
                         size_t i) {
  float *kept = &((float *)world->sets[FLO_SET_RIGID].extra[FLO_MONO_FILM])[i];
  FloFilmForce *force = &mono->film_forces[i];
  *kept += (float)((1 - exp(-mono->dt / follow_time(world))) * (pressure - (double)*kept));
  // If both bodies have films, each carries half.
  double share = has_film(world, mono, force->facing) ? 0.5 : 1;
  vec_scale(force->away, share * area_of(world, own) * (double)*kept, force->force);
}

// ---- Bodies ----

// A film needs a body that takes the opposite force as a whole, and that is not sealed.
static bool can_face(const FloWorld *world, const FloBody *own, const FloBody *other) {
  double widest = own->reach + (WIDEST + 1) * world->def.spacing, between[3];
  if (other == own || other->n_nodes > 1 || other->is_sealed) return false;
  flo_domain_between(&world->domain, other->state.pose.position, own->state.pose.position, between);
  if (flo_body_is_pushed(other) && vec_length(between) > widest + other->reach) return false;
  return flo_world_distance(world, other, own->state.pose.position) < widest;
}

// Lists the bodies that are near enough for a film.
static void list_near(const FloWorld *world, FloMonolithic *mono, size_t k) {
  for (size_t other = 0; other < world->bodies.count; ++other)
    if (can_face(world, &flo_bodies(world)[k], &flo_bodies(world)[other]))
      mono->near[mono->n_near++] = (uint32_t)other;
}

static void push_node(FloPartner *partner, const double force[3], const double x[3], double share) {
  double arm[3], part[3], torque[3];
  vec_sub(x, partner->node->position, arm);
  vec_scale(force, share, part);
  vec_cross(arm, part, torque);
  vec_add(partner->drag, part, partner->drag);
  vec_add(partner->turn_drag, torque, partner->turn_drag);
}

// Applies the force to the nodes that carry the sample, and the opposite to the first node of the other body.
static void apply_force(FloWorld *world, FloMonolithic *mono, size_t i) {
  const FloFilmForce *force = &mono->film_forces[i];
  const FloCarried own = flo_world_carried(world, i);
  const FloBody *other = &flo_bodies(world)[force->facing];
  double x[3];
  read_place(world, i, x);
  for (int k = 0; k < own.count; ++k)
    push_node(&mono->partners[own.nodes[k]], force->force, x, own.shares[k]);
  if (!flo_body_is_pushed(other)) return;
  flo_world_nearest_image(world, other->nodes->position, x, x);
  push_node(&mono->partners[other->first_node], force->force, x, -1);
}

static void press_body(FloWorld *world, FloMonolithic *mono, size_t k) {
  const FloBody *body = &flo_bodies(world)[k];
  float *kept = world->sets[FLO_SET_RIGID].extra[FLO_MONO_FILM];
  FilmWork work = {world, mono, k};
  for (size_t i = body->first; i < body->first + body->count; ++i) mono->film_forces[i].facing = UINT32_MAX;
  mono->n_near = 0;
  if (has_film(world, mono, k)) list_near(world, mono, k);
  if (mono->n_near == 0) {
    memset(kept + body->first, 0, body->count * sizeof *kept);
    return;
  }
  flo_parallel_for(world->threads, body->count, 64, face_range, &work);
  const Film film = find_level(world, mono, body);
  const double lack = find_lack(world, mono, &film, body);
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    if (mono->film_forces[i].facing == UINT32_MAX) {
      kept[i] = 0;
      continue;
    }
    // Fluid beside a narrow gap must not press the sample against the other body.
    double share = mono->film_forces[i].share,
           held = fmax(-mono->film_forces[i].push, 0) / area_of(world, body);
    press_sample(world, mono, pressure_at(world, &film, i) * (1 - share + share * lack) + held, body, i);
    apply_force(world, mono, i);
  }
}

static void count_wet(const FloWorld *world, FloMonolithic *mono) {
  const FloWet *wet = &mono->wet[1];
  memset(mono->wet_counts, 0, world->bodies.count * sizeof *mono->wet_counts);
  for (size_t row = 0; row < wet->n_rows; ++row)
    mono->wet_counts[world->sets[FLO_SET_RIGID].body[wet->samples[row]]]++;
}

FloStatus flo_monolithic_press_films(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n = world->sets[FLO_SET_RIGID].count, n_bodies = world->bodies.count;
  mono->n_film_forces = 0;
  if (n == 0 || !mono->has_wet) return FLO_OK;
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_WET_COUNTS, n_bodies * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_NEAR, n_bodies * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_FILM_FORCES, n * sizeof(FloFilmForce), 0, error));
  mono->wet_counts = mono->buffers[FLO_BUFFER_WET_COUNTS].data;
  mono->near = mono->buffers[FLO_BUFFER_NEAR].data;
  mono->film_forces = mono->buffers[FLO_BUFFER_FILM_FORCES].data;
  mono->sheet_slope = flo_kernel_sheet_slope(&world->kernel, world->def.spacing);
  mono->n_film_forces = n;
  count_wet(world, mono);
  for (size_t k = 0; k < n_bodies; ++k)
    if (flo_bodies(world)[k].kind->set == FLO_SET_RIGID) press_body(world, mono, k);
  return FLO_OK;
}

// ---- Forces on walls ----

static size_t nearest_sample(const FloWorld *world, const FloBody *wall, const double x[3]) {
  const FloParticles *p = &world->sets[FLO_SET_BOUNDARY];
  double least = INFINITY;
  size_t nearest = wall->first;
  for (size_t i = wall->first; i < wall->first + wall->count; ++i) {
    double there[3] = {p->x[i], p->y[i], p->z[i]}, between[3];
    flo_world_nearest_image(world, x, there, there);
    vec_sub(there, x, between);
    if (vec_dot(between, between) < least) least = vec_dot(between, between), nearest = i;
  }
  return nearest;
}

void flo_monolithic_add_film_forces(const FloWorld *world, const FloMonolithic *mono, float *wall_force) {
  for (size_t i = 0; i < mono->n_film_forces; ++i) {
    const FloFilmForce *force = &mono->film_forces[i];
    if (force->facing == UINT32_MAX || flo_body_is_pushed(&flo_bodies(world)[force->facing])) continue;
    double x[3];
    read_place(world, i, x);
    float *to = wall_force + 4 * nearest_sample(world, &flo_bodies(world)[force->facing], x);
    for (int axis = 0; axis < 3; ++axis) to[axis] -= (float)force->force[axis];
  }
}
