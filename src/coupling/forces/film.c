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
//
// Two bodies have one film, which the smaller of them carries. Bodies of several nodes have none.
//
// A film has inertia: see film_inertia.c.
#include "coupling/forces/film.h"

#include "base/parallel.h"
#include "base/vecmath.h"
#include "coupling/forces/wet_samples.h"

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
  const FloWorld *world;
  FloFilms *films;
  size_t body;
} FilmWork;

enum { FORCES, ARE_WET, ARE_NEAR, ARE_TOUCHED, NEAR, DENSITIES };

static double hydrostatic(const FloWorld *world, double density, const double x[3]) {
  return density * vec_dot(world->def.gravity, x);
}

static void read_place(const FloWorld *world, size_t i, double x[3]) {
  const FloParticles *p = &world->sets[FLO_SET_RIGID];
  vec_set(x, p->x[i], p->y[i], p->z[i]);
}

// ---- Samples that face another body ----

static bool can_carry(const FloBody *body) {
  return flo_body_is_pushed(body) && !body->is_sealed && !flo_body_is_soft(body);
}

// The share of a sample's face that fluid particles are in front of, along a direction out of its body.
static double find_share(const FloWorld *world, const FloFilms *films, size_t i, const double out[3]) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID);
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  size_t lane = i % FLO_BLOCK;
  double sum = 0;
  for (int32_t k = 0; pairs->slot_count[i / FLO_BLOCK] && k < pairs->row_count[i]; ++k)
    sum += (double)slots[k].gx[lane] * out[0] + (double)slots[k].gy[lane] * out[1] +
           (double)slots[k].gz[lane] * out[2];
  return fmin(fmax(sum / films->sheet_slope, 0), 1);
}

static double find_push(const FloWorld *world, const FloFilms *films, size_t i, const double out[3],
                        double share) {
  FloFilmSite site = {.sample = i, .share = share};
  vec_copy(out, site.out);
  return films->source.push(films->source.context, world, &site);
}

// The nearest body within the distance of a rim; UINT32_MAX: none. `out` leads towards it.
static uint32_t find_nearest(const FilmWork *work, const double x[3], double out[3], double *nearest) {
  const FloWorld *world = work->world;
  uint32_t found = UINT32_MAX;
  *nearest = RIM * world->def.spacing;
  for (size_t k = 0; k < work->films->n_near; ++k) {
    const FloBody *other = &flo_bodies(world)[work->films->near[k]];
    double distance = flo_world_distance(world, other, x);
    if (!(distance < *nearest)) continue;
    *nearest = distance, found = work->films->near[k];
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
    FloFilmForce *force = &work->films->forces[i];
    double x[3], out[3] = {0};
    read_place(work->world, i, x);
    uint32_t nearest = find_nearest(work, x, out, &force->distance);
    force->facing = nearest != UINT32_MAX && faces(work, x, out, force->distance) ? nearest : UINT32_MAX;
    vec_scale(out, -1, force->away);
    if (force->facing == UINT32_MAX) continue;
    force->share = find_share(work->world, work->films, i, out);
    force->push = find_push(work->world, work->films, i, out, force->share);
  }
}

// ---- The pressure at the rim of a gap ----

static double area_of(const FloWorld *world, const FloBody *body) {
  return pow(body->sampling * world->def.spacing, world->def.dim - 1);
}

static double density_near(const FloWorld *world, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID);
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  double mass = 0;
  for (int32_t k = 0; k < pairs->row_count[i]; ++k)
    mass += (double)world->sets[FLO_SET_FLUID].mass[slots[k].index[i % FLO_BLOCK]];
  return mass / pairs->row_count[i] / flo_world_rest_volume(world);
}

// Whether the face of a sample near another body leads past that body.
static bool is_at_rim(const FloFilmForce *at, const double normal[3]) {
  return fabs(vec_dot(at->away, normal)) < 0.5;
}

// Adds a sample at the rim of a gap. Those without fluid count as dry.
static void add_rim(const FloWorld *world, const FloFilms *films, const FloBody *body, size_t i,
                    const double x[3], const double normal[3], Film *film) {
  film->share++;
  if (flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID)->kernel_sum[i] < films->least_sum) return;
  double density = density_near(world, i), force = find_push(world, films, i, normal, 1);
  film->level += force / area_of(world, body) - hydrostatic(world, density, x);
  film->density += density;
  film->count++;
}

// Means over the wet samples at rims, and the share of samples there that are wet.
static Film find_level(const FloWorld *world, const FloFilms *films, const FloBody *body) {
  Film film = {0};
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const FloFilmForce *at = &films->forces[i];
    double x[3], normal[3];
    if (at->facing != UINT32_MAX || !(at->distance < RIM * world->def.spacing)) continue;
    read_place(world, i, x);
    flo_world_normal(world, body, x, normal);
    if (is_at_rim(at, normal)) add_rim(world, films, body, i, x, normal, &film);
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
static double find_lack(const FloWorld *world, const FloFilms *films, const Film *film, const FloBody *body) {
  double asked = 0, found = 0;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const FloFilmForce *force = &films->forces[i];
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

static void press_sample(const FloWorld *world, FloFilms *films, const FloBody *own, size_t i) {
  FloFilmForce *force = &films->forces[i];
  double last = (double)films->source.kept[i], asked = (double)force->pressure;
  force->pressure = (float)(last + (1 - exp(-films->dt / follow_time(world))) * (asked - last));
  vec_scale(force->away, area_of(world, own) * (double)force->pressure, force->force);
}

// ---- Bodies ----

// Whether the film between them is the other body's.
static bool is_others_film(const FloBody *own, const FloBody *other) {
  return can_carry(other) && (other->reach < own->reach || (other->reach <= own->reach && other < own));
}

// A film needs a body that takes the opposite force as a whole, and that is not sealed.
static bool can_face(const FloWorld *world, const FloBody *own, const FloBody *other) {
  double widest = own->reach + (WIDEST + 1) * world->def.spacing, between[3];
  if (other == own || other->n_nodes > 1 || other->is_sealed || is_others_film(own, other)) return false;
  flo_domain_between(&world->domain, other->state.pose.position, own->state.pose.position, between);
  if (flo_body_is_pushed(other) && vec_length(between) > widest + other->reach) return false;
  return flo_world_distance(world, other, own->state.pose.position) < widest;
}

// Lists the bodies that are near enough for a film.
static void list_near(const FloWorld *world, FloFilms *films, size_t k) {
  for (size_t other = 0; other < world->bodies.count; ++other)
    if (can_face(world, &flo_bodies(world)[k], &flo_bodies(world)[other]))
      films->near[films->n_near++] = (uint32_t)other;
}

// The height of a gap between bodies that touch.
static double gap_of(const FloWorld *world, const FloFilms *films) {
  return films->source.gap > 0 ? films->source.gap : FLO_FILM_GAP * world->def.spacing;
}

static FloStatus press_body(FloWorld *world, FloFilms *films, size_t k, FloError *error) {
  const FloBody *body = &flo_bodies(world)[k];
  FilmWork work = {world, films, k};
  for (size_t i = body->first; i < body->first + body->count; ++i)
    films->forces[i].facing = UINT32_MAX, films->forces[i].pressure = 0;
  films->n_near = 0;
  if (films->are_wet[k] && can_carry(body)) list_near(world, films, k);
  films->are_near[k] = films->n_near > 0;
  if (films->n_near == 0) return FLO_OK;
  flo_parallel_for(world->threads, body->count, 64, face_range, &work);
  const Film film = find_level(world, films, body);
  const double lack = find_lack(world, films, &film, body);
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    if (films->forces[i].facing == UINT32_MAX) continue;
    // Fluid beside a narrow gap must not press the sample against the other body.
    double share = films->forces[i].share, held = fmax(-films->forces[i].push, 0) / area_of(world, body);
    films->forces[i].pressure = (float)(pressure_at(world, &film, i) * (1 - share + share * lack) + held);
  }
  for (size_t i = body->first; i < body->first + body->count; ++i)
    if (films->forces[i].facing != UINT32_MAX) press_sample(world, films, body, i);
  films->densities[k] = film.density;
  return films->source.has_reactions
             ? flo_film_gaps_add(&films->gaps, world, films->forces, k, gap_of(world, films), error)
             : FLO_OK;
}

static void find_touched(const FloWorld *world, FloFilms *films) {
  memset(films->are_touched, 0, world->bodies.count * sizeof *films->are_touched);
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    if (point->kept[0] > 0) films->are_touched[point->body] = films->are_touched[point->other] = true;
  }
}

static void find_wet(const FloWorld *world, FloFilms *films) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID);
  memset(films->are_wet, 0, world->bodies.count * sizeof *films->are_wet);
  memset(films->are_near, 0, world->bodies.count * sizeof *films->are_near);
  for (size_t i = 0; i < pairs->n_rows; ++i)
    if (pairs->slot_count[i / FLO_BLOCK] > 0 && pairs->kernel_sum[i] >= films->least_sum)
      films->are_wet[world->sets[FLO_SET_RIGID].body[i]] = true;
}

static FloStatus reserve(FloFilms *films, FloWorld *world, FloError *error) {
  size_t n = world->sets[FLO_SET_RIGID].capacity, n_bodies = world->bodies.count;
  FloBuffer *buffers = films->buffers;
  FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[FORCES], n * sizeof(FloFilmForce), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[ARE_WET], n_bodies * sizeof(bool), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[ARE_NEAR], n_bodies * sizeof(bool), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[ARE_TOUCHED], n_bodies * sizeof(bool), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[NEAR], n_bodies * sizeof(uint32_t), 0, error));
  films->forces = buffers[FORCES].data, films->are_wet = buffers[ARE_WET].data;
  films->are_near = buffers[ARE_NEAR].data, films->are_touched = buffers[ARE_TOUCHED].data;
  FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[DENSITIES], n_bodies * sizeof(double), 0, error));
  films->near = buffers[NEAR].data, films->densities = buffers[DENSITIES].data;
  return flo_film_gaps_begin(&films->gaps, world, error);
}

FloStatus flo_films_press(FloFilms *films, FloWorld *world, const FloFilmSource *source, double dt,
                          FloError *error) {
  size_t n = world->sets[FLO_SET_RIGID].count;
  films->n_forces = 0;
  if (n == 0 || world->sets[FLO_SET_FLUID].count == 0) return FLO_OK;
  FLO_TRY(reserve(films, world, error));
  films->source = *source, films->dt = dt, films->n_forces = n;
  films->least_sum = flo_wet_least_sum(world);
  films->sheet_slope = flo_kernel_sheet_slope(&world->kernel, world->def.spacing);
  find_wet(world, films);
  find_touched(world, films);
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_bodies(world)[k].kind->set == FLO_SET_RIGID) FLO_TRY(press_body(world, films, k, error));
  flo_film_gaps_resist(&films->gaps, world, films->forces, films->densities, films->are_touched, dt);
  return FLO_OK;
}

void flo_films_keep(const FloFilms *films) {
  for (size_t i = 0; i < films->n_forces; ++i) films->source.kept[i] = films->forces[i].pressure;
}

void flo_films_free(FloFilms *films, FloMemory *memory) {
  flo_film_gaps_free(&films->gaps, memory);
  flo_buffers_free(memory, films->buffers, FLO_COUNT_OF(films->buffers));
}

// ---- Forces on nodes ----

typedef struct Taking {
  FloFilmTake take;
  void *context;
} Taking;

static void push_node(const Taking *taking, const FloNode *node, size_t number, const double force[3],
                      const double x[3], double share) {
  double arm[3], part[3], torque[3];
  vec_sub(x, node->position, arm);
  vec_scale(force, share, part);
  vec_cross(arm, part, torque);
  taking->take(taking->context, number, part, torque);
}

// Applies the force to the nodes that carry the sample, and the opposite to the first node of the other body.
static void push_both(const Taking *taking, const FloWorld *world, const FloFilmForce *force, size_t i) {
  const FloParticles *samples = &world->sets[FLO_SET_RIGID];
  const FloBody *own = &flo_bodies(world)[samples->body[i]], *other = &flo_bodies(world)[force->facing];
  const FloCarriers carriers = flo_body_carriers(own, samples, i);
  double x[3];
  read_place(world, i, x);
  for (int k = 0; k < carriers.count; ++k)
    push_node(taking, &own->nodes[carriers.nodes[k]], own->first_node + carriers.nodes[k], force->force, x,
              carriers.shares[k]);
  if (!flo_body_is_pushed(other)) return;
  flo_world_nearest_image(world, other->nodes->position, x, x);
  push_node(taking, other->nodes, other->first_node, force->force, x, -1);
}

void flo_films_take_wrench(void *wrenches, size_t node, const double force[3], const double torque[3]) {
  double *wrench = (double *)wrenches + 6 * node;
  vec_add(wrench, force, wrench);
  vec_add(wrench + 3, torque, wrench + 3);
}

void flo_films_push_nodes(const FloFilms *films, const FloWorld *world, FloFilmTake take, void *context) {
  const Taking taking = {take, context};
  for (size_t i = 0; i < films->n_forces; ++i)
    if (films->forces[i].facing != UINT32_MAX) push_both(&taking, world, &films->forces[i], i);
}

// ---- Forces on samples ----

static size_t nearest_sample(const FloWorld *world, const FloBody *body, const double x[3]) {
  const FloParticles *p = &world->sets[body->kind->set];
  double least = INFINITY;
  size_t nearest = body->first;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double there[3] = {p->x[i], p->y[i], p->z[i]}, between[3];
    flo_world_nearest_image(world, x, there, there);
    vec_sub(there, x, between);
    if (vec_dot(between, between) < least) least = vec_dot(between, between), nearest = i;
  }
  return nearest;
}

void flo_films_add_to_walls(const FloFilms *films, const FloWorld *world, float *wall_force) {
  for (size_t i = 0; i < films->n_forces; ++i) {
    const FloFilmForce *force = &films->forces[i];
    if (force->facing == UINT32_MAX || flo_body_is_pushed(&flo_bodies(world)[force->facing])) continue;
    double x[3];
    read_place(world, i, x);
    float *to = wall_force + 4 * nearest_sample(world, &flo_bodies(world)[force->facing], x);
    for (int axis = 0; axis < 3; ++axis) to[axis] -= (float)force->force[axis];
  }
}

static void add_to_sample(FloParticles *samples, size_t i, const double force[3], double sign) {
  samples->fx[i] += (float)(sign * force[0]);
  samples->fy[i] += (float)(sign * force[1]);
  samples->fz[i] += (float)(sign * force[2]);
}

void flo_films_add_to_bodies(const FloFilms *films, FloWorld *world) {
  FloParticles *samples = &world->sets[FLO_SET_RIGID];
  for (size_t i = 0; i < films->n_forces; ++i) {
    const FloFilmForce *force = &films->forces[i];
    if (force->facing == UINT32_MAX) continue;
    const FloBody *other = &flo_bodies(world)[force->facing];
    add_to_sample(samples, i, force->force, 1);
    if (!flo_body_is_pushed(other)) continue;
    double x[3];
    read_place(world, i, x);
    add_to_sample(samples, nearest_sample(world, other, x), force->force, -1);
  }
}

// ---- Methods with implicit pressure ----

static double push_of_multipliers(const void *fields, const FloWorld *world, const FloFilmSite *site) {
  const FloFilmFields *names = fields;
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID);
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  size_t i = site->sample, block = i / FLO_BLOCK, lane = i % FLO_BLOCK;
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
  const float *of_fluid = world->sets[FLO_SET_FLUID].extra[names->fluid],
              *of_samples = rigid->extra[names->samples];
  double push = 0;
  for (int32_t k = 0; pairs->slot_count[block] && k < pairs->row_count[i]; ++k) {
    double slope = (double)slots[k].gx[lane] * site->out[0] + (double)slots[k].gy[lane] * site->out[1] +
                   (double)slots[k].gz[lane] * site->out[2];
    push += slope * (double)(of_fluid[slots[k].index[lane]] + of_samples[i]);
  }
  return push * (flo_world_rest_volume(world) * (double)rigid->volume[i]);
}

FloStatus flo_films_press_by_multipliers(FloFilms *films, FloWorld *world, const FloFilmFields *fields,
                                         double dt, FloError *error) {
  const FloFilmSource source = {.context = fields,
                                .push = push_of_multipliers,
                                .kept = world->sets[FLO_SET_RIGID].extra[fields->film],
                                .has_reactions = true,
                                .gap = fields->gap};
  return flo_films_press(films, world, &source, dt, error);
}
