// Followers: fluid particles that touch exactly one solid, a body that may move. Most particles that touch
// such bodies are followers. Their velocities depend only on that body, so the response needs only sums over
// them. They are stored in groups; a group belongs to one body. The values of a group stand in columns. Every
// formula here is a loop over a column and computes as many followers at once as the machine has lanes.
//
// The impulse of followers on their body needs no loop over contacts either. Each follower gets the impulse
// m_i (v^_i + S_i J_i du), so the body gets -sum_i m_i J_i^T v^_i - (sum_i m_i J_i^T S_i J_i) du. Both sums
// are known from (18).
//
// Each group sums its columns with a fixed number of partial sums. The groups are added in their order. So
// the result is the same bit by bit for any number of threads.
#include "base/parallel.h"
#include "coupling/direct_forcing/direct_forcing.h"

#include <string.h>

// Columns are padded with followers without mass to a multiple of this.
enum { LANES = 8, GROUPS_PER_CHUNK = 4, N = FLO_MAX_FOLLOWERS };

typedef struct Flock {
  FloWorld *world;
  FloDirectForcing *forcing;
} Flock;

static int padded(const FloFollowers *group) { return (group->n + LANES - 1) / LANES * LANES; }

// ---- Columns ----

void flo_forcing_add_follower(FloFollowers *group, int k, const FloForcingContact *c, double mass) {
  group->particle[k] = c->particle;
  group->mass[k] = mass, group->bounce[k] = c->bounce;
  group->take[k] = (c->is_pressed ? 1 : 0) - c->grip;
  for (int axis = 0; axis < 3; ++axis) {
    group->normal[axis][k] = c->normal[axis], group->arm[axis][k] = c->arm[axis];
    group->missing[axis][k] = c->missing[axis];
  }
}

static void pad(FloFollowers *group) {
  static const FloForcingContact nobody = {0};
  for (int k = group->n; k < padded(group); ++k) flo_forcing_add_follower(group, k, &nobody, 0);
}

// ---- Sums ----

typedef double Lanes __attribute__((vector_size(LANES / 2 * sizeof(double)), aligned(FLO_COLUMN_ALIGNMENT)));

static double dot_columns(const double *a, const double *b, int n) {
  const Lanes *left = (const Lanes *)a, *right = (const Lanes *)b;
  Lanes even = {0}, odd = {0};
  for (int k = 0; k < n / (LANES / 2); k += 2) {
    even += left[k] * right[k];
    odd += left[k + 1] * right[k + 1];
  }
  even += odd;
  return (even[0] + even[1]) + (even[2] + even[3]);
}

// r x f
static void cross_columns(double (*r)[N], double (*f)[N], int n, double (*out)[N]) {
  for (int k = 0; k < n; ++k) {
    double x = r[0][k], y = r[1][k], z = r[2][k], fx = f[0][k], fy = f[1][k], fz = f[2][k];
    out[0][k] = y * fz - z * fy, out[1][k] = z * fx - x * fz, out[2][k] = x * fy - y * fx;
  }
}

// -sum m J^T v
static void sum_load(FloFollowers *group, double (*velocity)[N]) {
  _Alignas(FLO_COLUMN_ALIGNMENT) double turn[3][N];
  int n = padded(group);
  cross_columns(group->arm, velocity, n, turn);
  for (int axis = 0; axis < 3; ++axis) {
    group->load[axis] = -dot_columns(velocity[axis], group->mass, n);
    group->load[axis + 3] = -dot_columns(turn[axis], group->mass, n);
  }
}

// sum m J^T S J with J^T S J = grip J^T J + take (J^T n)(J^T n)^T; the lower half of the matrix.
static void sum_steep(FloFollowers *group) {
  _Alignas(FLO_COLUMN_ALIGNMENT) double turn[3][N], heavy[N], weight[N];
  const double *steep[6] = {group->normal[0], group->normal[1], group->normal[2], turn[0], turn[1], turn[2]};
  int n = padded(group);
  cross_columns(group->arm, group->normal, n, turn);
  for (int k = 0; k < n; ++k) weight[k] = group->mass[k] * group->take[k];
  for (int row = 0; row < 6; ++row) {
    for (int k = 0; k < n; ++k) heavy[k] = weight[k] * steep[row][k];
    for (int column = 0; column <= row; ++column)
      group->matrix[6 * row + column] = dot_columns(heavy, steep[column], n);
  }
}

static void add_grip(FloFollowers *group, double grip) {
  _Alignas(FLO_COLUMN_ALIGNMENT) double heavy[N];
  double whole = 0, first[3], second[3][3], *a = group->matrix;
  int n = padded(group);
  for (int k = 0; k < n; ++k) whole += group->mass[k];
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < n; ++k) heavy[k] = group->mass[k] * group->arm[i][k];
    first[i] = dot_columns(group->mass, group->arm[i], n);
    for (int j = 0; j <= i; ++j) second[i][j] = dot_columns(heavy, group->arm[j], n);
  }
  const double r2 = second[0][0] + second[1][1] + second[2][2];
  const double cross[9] = {0, -first[2], first[1], first[2], 0, -first[0], -first[1], first[0], 0};
  for (int i = 0; i < 3; ++i) {
    a[7 * i] += grip * whole;
    for (int k = 0; k < 3; ++k) a[6 * (i + 3) + k] += grip * cross[3 * i + k];
    for (int k = 0; k <= i; ++k) a[6 * (i + 3) + k + 3] += grip * ((i == k ? r2 : 0) - second[i][k]);
  }
}

// ---- Each contact by itself, (12): change dv from (1 + m S K) dv = v^ with K = J M^-1 J^T ----

// If nothing acts along the surface, only the normal part is unknown.
static void solve_gliding(FloFollowers *group, const FloForcingPartner *partner) {
  const double *m = partner->mobility, dx = m[0], dy = m[7], dz = m[14];
  const double xx = m[21], yy = m[28], zz = m[35], xy = m[22], xz = m[23], yz = m[29];
  _Alignas(FLO_COLUMN_ALIGNMENT) double turn[3][N];
  int n = padded(group);
  cross_columns(group->arm, group->normal, n, turn);
  for (int k = 0; k < n; ++k) {
    double nx = group->normal[0][k], ny = group->normal[1][k], nz = group->normal[2][k];
    double tx = turn[0][k], ty = turn[1][k], tz = turn[2][k];
    double yield = dx * nx * nx + dy * ny * ny + dz * nz * nz + xx * tx * tx + yy * ty * ty + zz * tz * tz +
                   2 * (xy * tx * ty + xz * tx * tz + yz * ty * tz);
    double lack = group->missing[0][k] * nx + group->missing[1][k] * ny + group->missing[2][k] * nz;
    double press = lack / (1 + group->mass[k] * group->take[k] * yield);
    group->change[0][k] = press * nx, group->change[1][k] = press * ny, group->change[2][k] = press * nz;
  }
}

// Columns of m K for the body alone. About the centre of mass forces do not turn the body and torques do not
// push it, so K = D - r~ B r~.
static inline void find_yield(const double m[36], const double r[3], double mass, double k[3][3]) {
  double c[3][3]; // B r~
  for (int i = 0; i < 3; ++i) {
    const double *b = m + 6 * (i + 3) + 3;
    vec_set(c[i], b[1] * r[2] - b[2] * r[1], b[2] * r[0] - b[0] * r[2], b[0] * r[1] - b[1] * r[0]);
  }
  for (int j = 0; j < 3; ++j) {
    k[j][0] = mass * ((j == 0 ? m[0] : 0) + r[2] * c[1][j] - r[1] * c[2][j]);
    k[j][1] = mass * ((j == 1 ? m[7] : 0) + r[0] * c[2][j] - r[2] * c[0][j]);
    k[j][2] = mass * ((j == 2 ? m[14] : 0) + r[1] * c[0][j] - r[0] * c[1][j]);
  }
}

// By Cramer's rule.
static void solve_gripping(FloFollowers *group, const FloForcingPartner *partner, double grip) {
  double m[36];
  memcpy(m, partner->mobility, sizeof m);
  for (int i = 0, n = padded(group); i < n; ++i) {
    const double r[3] = {group->arm[0][i], group->arm[1][i], group->arm[2][i]},
                 normal[3] = {group->normal[0][i], group->normal[1][i], group->normal[2][i]},
                 lack[3] = {group->missing[0][i], group->missing[1][i], group->missing[2][i]};
    double k[3][3], minor[3][3];
    find_yield(m, r, group->mass[i], k);
    for (int j = 0; j < 3; ++j) {
      double share = group->take[i] * vec_dot(k[j], normal);
      vec_scale(k[j], grip, k[j]);
      vec_add_scaled(k[j], normal, share, k[j]);
      k[j][j] += 1;
    }
    vec_cross(k[1], k[2], minor[0]);
    vec_cross(k[2], k[0], minor[1]);
    vec_cross(k[0], k[1], minor[2]);
    double scale = 1 / vec_dot(k[0], minor[0]);
    for (int j = 0; j < 3; ++j) group->change[j][i] = scale * vec_dot(lack, minor[j]);
  }
}

static void solve_alone(FloFollowers *group, const FloForcingPartner *partner) {
  if (partner->slip < 1)
    solve_gripping(group, partner, 1 - partner->slip);
  else
    solve_gliding(group, partner);
  sum_load(group, group->change);
}

// ---- Before the velocities of bodies are known ----

// Whether a follower's velocity is found without the velocity of its body.
static bool is_alone(const FloDirectForcing *forcing, const FloForcingPartner *partner) {
  return partner->is_free && forcing->response == FLO_RESPONSE_LOCAL;
}

// Whether the body may move differently from the prediction. Only then its mass with followers matters.
static bool may_turn_aside(const FloDirectForcing *forcing, const FloForcingPartner *partner) {
  return partner->is_free || (partner->is_loose && forcing->n_body_contacts > 0);
}

static void sum_group(const FloDirectForcing *forcing, const FloForcingPartner *partner,
                      FloFollowers *group) {
  sum_load(group, group->missing);
  if (!may_turn_aside(forcing, partner)) return;
  sum_steep(group);
  if (partner->slip < 1) add_grip(group, 1 - partner->slip);
}

static inline void meet_groups(const Flock *flock, size_t begin, size_t end) {
  for (size_t g = begin; g < end; ++g) {
    FloFollowers *group = &flock->forcing->followers[g];
    const FloForcingPartner *partner = &flock->forcing->partners[group->body];
    pad(group);
    if (is_alone(flock->forcing, partner))
      solve_alone(group, partner);
    else
      sum_group(flock->forcing, partner, group);
  }
}

static void meet_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  meet_groups(context, begin, end);
}

static void complete_matrix(double a[36]) {
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < i; ++k) a[6 * k + i] = a[6 * i + k];
}

static const FloFollowerPasses *passes_of(const FloDirectForcing *forcing) {
  return forcing->follower_passes ? forcing->follower_passes : flo_forcing_passes();
}

void flo_forcing_meet_followers(FloWorld *world, FloDirectForcing *forcing) {
  Flock flock = {world, forcing};
  flo_parallel_for(world->threads, forcing->n_groups, GROUPS_PER_CHUNK, passes_of(forcing)->meet, &flock);
  for (size_t g = 0; g < forcing->n_groups; ++g) {
    const FloFollowers *group = &forcing->followers[g];
    FloForcingPartner *partner = &forcing->partners[group->body];
    for (int row = 0; row < 6; ++row) partner->load[row] += group->load[row];
    if (!may_turn_aside(forcing, partner) || is_alone(forcing, partner)) continue;
    for (int row = 0; row < 6; ++row)
      for (int column = 0; column <= row; ++column)
        partner->followers[6 * row + column] += group->matrix[6 * row + column];
  }
  for (size_t k = 0; k < world->bodies.count; ++k) complete_matrix(forcing->partners[k].followers);
}

// ---- When the velocities of bodies are known ----

// v^ + S J du, (15)
static void follow_body(FloFollowers *group, const FloForcingPartner *partner) {
  const double *u = partner->change, grip = 1 - partner->slip;
  const double vx = u[0], vy = u[1], vz = u[2], wx = u[3], wy = u[4], wz = u[5];
  for (int k = 0, n = padded(group); k < n; ++k) {
    double x = group->arm[0][k], y = group->arm[1][k], z = group->arm[2][k];
    double nx = group->normal[0][k], ny = group->normal[1][k], nz = group->normal[2][k];
    double ux = vx + (wy * z - wz * y), uy = vy + (wz * x - wx * z), uz = vz + (wx * y - wy * x);
    double along = group->take[k] * (ux * nx + uy * ny + uz * nz);
    group->change[0][k] = group->missing[0][k] + grip * ux + along * nx;
    group->change[1][k] = group->missing[1][k] + grip * uy + along * ny;
    group->change[2][k] = group->missing[2][k] + grip * uz + along * nz;
  }
}

// Velocities of followers. `low` has the bits that a float cannot hold, so that bodies get the opposite
// impulse except for the last few bits.
typedef struct Velocities {
  _Alignas(FLO_COLUMN_ALIGNMENT) float high[3][N];
  float low[3][N], gain[3][N]; // gain: of acceleration
} Velocities;

static void gather_velocities(const FloParticles *p, const FloFollowers *group, Velocities *v) {
  for (int k = 0; k < group->n; ++k) {
    size_t i = group->particle[k];
    v->high[0][k] = p->vx[i], v->high[1][k] = p->vy[i], v->high[2][k] = p->vz[i];
    v->low[0][k] = p->vx_low[i], v->low[1][k] = p->vy_low[i], v->low[2][k] = p->vz_low[i];
  }
}

static void change_velocities(const FloFollowers *group, double per_dt, Velocities *v) {
  int n = padded(group);
  for (int axis = 0; axis < 3; ++axis)
    for (int k = 0; k < n; ++k) {
      double change = group->change[axis][k];
      double sum = (double)v->high[axis][k] + (double)v->low[axis][k] + change;
      v->high[axis][k] = (float)sum;
      v->low[axis][k] = (float)(sum - (double)v->high[axis][k]);
      v->gain[axis][k] = (float)(change * per_dt);
    }
}

static void scatter_velocities(const Velocities *v, const FloFollowers *group, FloParticles *p) {
  for (int k = 0; k < group->n; ++k) {
    size_t i = group->particle[k];
    p->vx[i] = v->high[0][k], p->vy[i] = v->high[1][k], p->vz[i] = v->high[2][k];
    p->vx_low[i] = v->low[0][k], p->vy_low[i] = v->low[1][k], p->vz_low[i] = v->low[2][k];
    p->ax[i] += v->gain[0][k], p->ay[i] += v->gain[1][k], p->az[i] += v->gain[2][k];
  }
}

static void move_followers(const Flock *flock, const FloFollowers *group, Velocities *v) {
  FloParticles *p = &flock->world->sets[FLO_SET_FLUID];
  const uint32_t *linked = flock->forcing->linked + group->first;
  gather_velocities(p, group, v);
  change_velocities(group, 1 / flock->forcing->kick_dt, v);
  scatter_velocities(v, group, p);
  for (int k = 0; k < group->n; ++k) {
    const double change[3] = {group->change[0][k], group->change[1][k], group->change[2][k]};
    vec_scale(change, group->mass[k], flock->forcing->contacts[linked[k]].impulse);
  }
}

// Square of the largest error in (8), or (9), with the new velocities of fluid and body. The slip condition
// along the surface is [v]_t = eps [v - dv]_t, so grip v + eps dv must have no tangential part.
static double find_error(const FloFollowers *group, const FloForcingPartner *partner, const Velocities *v) {
  const double grip = 1 - partner->slip, slip = partner->slip;
  double u[6], errors[N], worst = 0;
  for (int row = 0; row < 6; ++row) u[row] = partner->velocity[row] + partner->change[row];
  for (int k = 0, n = padded(group); k < n; ++k) {
    double x = group->arm[0][k], y = group->arm[1][k], z = group->arm[2][k];
    double nx = group->normal[0][k], ny = group->normal[1][k], nz = group->normal[2][k];
    double vx = (double)v->high[0][k] - u[0] - (u[4] * z - u[5] * y),
           vy = (double)v->high[1][k] - u[1] - (u[5] * x - u[3] * z),
           vz = (double)v->high[2][k] - u[2] - (u[3] * y - u[4] * x);
    double ex = grip * vx + slip * group->change[0][k], ey = grip * vy + slip * group->change[1][k],
           ez = grip * vz + slip * group->change[2][k];
    double off = group->bounce[k] - (vx * nx + vy * ny + vz * nz), steep = ex * nx + ey * ny + ez * nz;
    ex -= steep * nx, ey -= steep * ny, ez -= steep * nz;
    double pressed = group->take[k] + grip; // 1 or 0
    errors[k] = ex * ex + ey * ey + ez * ez + pressed * off * off;
  }
  for (int k = 0; k < group->n; ++k) worst = errors[k] > worst ? errors[k] : worst;
  return worst;
}

static inline void lead_groups(const Flock *flock, size_t begin, size_t end) {
  Velocities velocities = {0};
  for (size_t g = begin; g < end; ++g) {
    FloFollowers *group = &flock->forcing->followers[g];
    const FloForcingPartner *partner = &flock->forcing->partners[group->body];
    if (!is_alone(flock->forcing, partner)) follow_body(group, partner);
    move_followers(flock, group, &velocities);
    group->error = partner->is_free ? find_error(group, partner, &velocities) : 0;
  }
}

static void lead_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  lead_groups(context, begin, end);
}

// Adds what followers gave their body to `exchange`, and to `impulse` if it moves the body.
static void take_from_followers(const FloDirectForcing *forcing, FloForcingPartner *partner) {
  for (int row = 0; row < 6; ++row) {
    double got = partner->load[row];
    for (int k = 0; k < 6 && !is_alone(forcing, partner); ++k)
      got -= partner->followers[6 * row + k] * partner->change[k];
    partner->exchange[row] += got;
    if (partner->is_free) partner->impulse[row] += got;
  }
}

double flo_forcing_lead_followers(FloWorld *world, FloDirectForcing *forcing) {
  Flock flock = {world, forcing};
  double worst = 0;
  flo_parallel_for(world->threads, forcing->n_groups, GROUPS_PER_CHUNK, passes_of(forcing)->lead, &flock);
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (forcing->partners[k].n_followers > 0) take_from_followers(forcing, &forcing->partners[k]);
  for (size_t g = 0; g < forcing->n_groups; ++g) worst = fmax(worst, forcing->followers[g].error);
  return sqrt(worst);
}

// ---- Instruction sets ----

const FloFollowerPasses *flo_forcing_passes_generic(void) {
  static const FloFollowerPasses generic = {"generic", meet_range, lead_range};
  return &generic;
}

#ifdef FLO_HAS_AVX2
// The same loops with longer vectors. Products and sums are not contracted, so the bits are the same.
#define WITH_AVX2 __attribute__((target("avx2"), flatten))

WITH_AVX2 static void meet_range_avx2(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  meet_groups(context, begin, end);
}

WITH_AVX2 static void lead_range_avx2(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  lead_groups(context, begin, end);
}

const FloFollowerPasses *flo_forcing_passes(void) {
  static const FloFollowerPasses avx2 = {"avx2", meet_range_avx2, lead_range_avx2};
  return __builtin_cpu_supports("avx2") ? &avx2 : flo_forcing_passes_generic();
}
#else
const FloFollowerPasses *flo_forcing_passes(void) { return flo_forcing_passes_generic(); }
#endif
