// Skins: the samples of bodies, the volumes that they represent, and how samples are added and removed.
//
// The samples of a body are contiguous in the set of its kind. When a skin changes, the set is rebuilt in one
// pass, in the order of the bodies. A sample that stays keeps its id, its binding and all its fields, for
// every body.
#include "base/pose.h"
#include "state/state.h"

// ---- Volumes ----

// The samples of one body; the fields are views into the set.
static FloParticles own_samples(const FloParticles *set, const FloBody *body) {
  FloParticles own = {.set = set->set, .count = body->count};
  own.x = set->x + body->first, own.y = set->y + body->first, own.z = set->z + body->first;
  own.id = set->id + body->first;
  return own;
}

static double gamma_of(const FloWorld *world, double sampling) {
  const double s = world->def.spacing, spacing = sampling * s;
  if (spacing == s) return world->boundary_gamma;
  return flo_kernel_sampled_gamma(&world->kernel, s, spacing, world->layers);
}

double flo_world_sheet_volume(const FloWorld *world, double sampling) {
  return gamma_of(world, sampling) / flo_kernel_sheet_sum(&world->kernel, sampling * world->def.spacing, 0);
}

// Akinci 2012: V_b = gamma / sum of W over the samples of the same body, itself included.
static FloStatus compute_volumes(FloWorld *world, const FloBody *body, FloGrid *grid, FloPairs *pairs,
                                 FloError *error) {
  FloParticles *samples = flo_samples_of(world, body), own = own_samples(samples, body);
  FloPairsSpec spec = {
      .rows = grid, .columns = grid, .kernel = world->kernel, .reach = 1, .threads = world->threads};
  FLO_TRY(flo_grid_build(grid, &own, NULL, world->threads, error));
  FLO_TRY(flo_pairs_build(pairs, &spec, error));
  const double self = flo_kernel_w(&world->kernel, 0), gamma = gamma_of(world, body->sampling);
  for (size_t k = 0; k < body->count; ++k)
    samples->volume[body->first + k] = (float)(gamma / (self + (double)pairs->kernel_sum[k]));
  return FLO_OK;
}

// ---- The share of the kernel that is covered ----

typedef struct Covering {
  FloWorld *world;
  const FloBody *body;
  size_t first;
  FloCurving curving;
} Covering;

// At an edge the way along the normal does not lead to the surface in the distance that the surface has.
static bool is_at_edge(const FloWorld *world, const FloBody *body, const double x[3]) {
  double normal[3], surface[3], distance = flo_world_distance(world, body, x);
  flo_world_normal(world, body, x, normal);
  vec_add_scaled(x, normal, -distance, surface);
  return fabs(flo_world_distance(world, body, surface)) >
         0.1 * fmax(fabs(distance), 0.1 * world->def.spacing);
}

// Axes at a sample: those of the body, turned so that one of them is the normal of the surface. At edges they
// are not turned.
static void axes_at(const FloWorld *world, const FloBody *body, const double x[3], double rotation[4]) {
  double normal[3], axis[3] = {0}, turn[4];
  int nearest = 0;
  quat_copy(body->state.pose.rotation, rotation);
  flo_world_normal(world, body, x, normal);
  quat_rotate_back(rotation, normal, normal);
  for (int k = 1; k < world->def.dim; ++k)
    if (fabs(normal[k]) > fabs(normal[nearest])) nearest = k;
  if (!(vec_length(normal) > 0) || is_at_edge(world, body, x)) return;
  axis[nearest] = normal[nearest] > 0 ? 1 : -1;
  vec_cross(axis, normal, turn);
  turn[3] = 1 + vec_dot(axis, normal);
  quat_normalise(turn);
  quat_multiply(rotation, turn, rotation);
}

// The kernel sum that a fluid lattice around the body would add at a sample; the rest never holds fluid.
static double uncovered_share(const Covering *covering, const double x[3]) {
  const FloWorld *world = covering->world;
  const double s = world->def.spacing;
  int reach = (int)ceil(world->def.support), reach_z = world->def.dim == 3 ? reach : 0;
  // Samples of thin bodies are nearer to the surface than half a spacing.
  double sum = 0, axes[4], own = fmax(flo_world_distance(world, covering->body, x), -0.5 * s);
  axes_at(world, covering->body, x, axes);
  for (int k = -reach_z; k <= reach_z; ++k)
    for (int j = -reach; j <= reach; ++j)
      for (int i = -reach; i <= reach; ++i) {
        double offset[3] = {i * s, j * s, k * s}, point[3];
        double w = flo_kernel_w(&world->kernel, vec_length(offset));
        if (!(w > 0)) continue;
        quat_rotate(axes, offset, point);
        vec_add(x, point, point);
        double height = flo_world_distance(world, covering->body, point) - own;
        sum += w * flo_curving_share(&covering->curving, height / s);
      }
  return sum * flo_world_rest_volume(world);
}

static void cover_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Covering *covering = context;
  FloParticles *samples = flo_samples_of(covering->world, covering->body);
  for (size_t i = covering->first + begin; i < covering->first + end; ++i) {
    const double x[3] = {samples->x[i], samples->y[i], samples->z[i]};
    samples->covered[i] = (float)(1 - uncovered_share(covering, x));
  }
}

static void find_covered(FloWorld *world, const FloBody *body, size_t begin, size_t end) {
  Covering covering = {world, body, begin, flo_kernel_curving(&world->kernel, world->def.spacing)};
  flo_parallel_for(world->threads, end - begin, 64, cover_range, &covering);
}

// ---- A new skin ----

// Orders the points along the cells of a grid in the body's own frame. So neighbours in the body are
// neighbours in memory in any pose. `order` belongs to the grid.
static FloStatus order_points(FloWorld *world, const FloPoints *points, FloGrid *grid, FloError *error) {
  FloParticles local;
  flo_particles_init(&local, FLO_SET_BOUNDARY, NULL, &world->memory);
  FloStatus status = flo_particles_add(&local, points->count, error);
  for (size_t k = 0; status == FLO_OK && k < points->count; ++k) {
    const double *p = flo_points_at(points, k);
    local.x[k] = p[0], local.y[k] = p[1], local.z[k] = p[2];
  }
  if (status == FLO_OK) status = flo_grid_build(grid, &local, NULL, world->threads, error);
  flo_particles_free(&local);
  return status;
}

static void bind_sample(FloWorld *world, const FloBody *body, size_t i, uint32_t number,
                        const double binding[3]) {
  FloParticles *samples = flo_samples_of(world, body);
  samples->local_x[i] = binding[0], samples->local_y[i] = binding[1], samples->local_z[i] = binding[2];
  samples->id[i] = world->next_id[body->kind->set]++;
  samples->body[i] = number;
  if (samples->added) samples->added[i] = (float)world->time;
}

static FloStatus add_samples(FloWorld *world, FloBody *body, const FloPoints *points, const FloGrid *grid,
                             FloError *error) {
  FloParticles *samples = flo_samples_of(world, body);
  body->first = samples->count, body->count = points->count;
  FLO_TRY(flo_particles_add(samples, points->count, error));
  for (size_t k = 0; k < points->count; ++k)
    bind_sample(world, body, body->first + k, (uint32_t)world->bodies.count,
                flo_points_at(points, grid->order[k]));
  return FLO_OK;
}

FloStatus flo_world_make_skin(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  body->sampling = def->sampling > 0 ? def->sampling : 1;
  body->first = flo_samples_of(world, body)->count, body->count = 0;
  if (flo_body_is_soft(body)) return FLO_OK; // its kind makes them
  // The inset does not change: fluid rests one fluid spacing away from samples of any size.
  FloSampleOptions options = {.spacing = body->sampling * world->def.spacing,
                              .inset = def->inset > 0 ? def->inset : world->def.spacing / 2,
                              .layers = world->layers,
                              .relax = def->relax,
                              .threads = world->threads};
  FloPoints points = {.memory = &world->memory};
  FloGrid grid;
  flo_grid_init(&grid, &world->lattice, &world->memory);
  FloStatus status = flo_solid_sample_surface(body->solid, &options, &points, error);
  if (status == FLO_OK) status = order_points(world, &points, &grid, error);
  if (status == FLO_OK) status = add_samples(world, body, &points, &grid, error);
  flo_grid_free(&grid);
  flo_points_free(&points);
  return status;
}

// The first samples of a soft body, whose number in the world is given.
static FloStatus add_soft_samples(FloWorld *world, FloBody *body, FloError *error) {
  FloSkinEdit edit = {.memory = &world->memory};
  FloParticles *samples = flo_samples_of(world, body);
  FloStatus status = body->kind->resample(body, samples, &edit, error);
  if (status == FLO_OK) status = flo_particles_add(samples, edit.n_gained, error);
  for (size_t k = 0; status == FLO_OK && k < edit.n_gained; ++k)
    bind_sample(world, body, body->first + body->count++, (uint32_t)world->bodies.count,
                flo_skin_gained(&edit)[k].binding);
  flo_skin_free(&edit);
  return status;
}

// The share of the kernel that a plane solid covers at a sample half a spacing below its surface.
static double plane_covered(const FloWorld *world) {
  const double s = world->def.spacing;
  const FloCurving curving = flo_kernel_curving(&world->kernel, s);
  const int reach = (int)ceil(world->def.support), reach_z = world->def.dim == 3 ? reach : 0;
  double sum = 0;
  for (int k = -reach_z; k <= reach_z; ++k)
    for (int j = -reach; j <= reach; ++j)
      for (int i = -reach; i <= reach; ++i) {
        const double offset[3] = {i * s, j * s, k * s};
        sum += flo_kernel_w(&world->kernel, vec_length(offset)) * flo_curving_share(&curving, i);
      }
  return 1 - sum * flo_world_rest_volume(world);
}

// Describes samples from `begin` to `end` of a body. The surface of a soft body counts as plane; a sheet
// covers nothing.
static void describe_samples(FloWorld *world, FloBody *body, size_t begin, size_t end) {
  FloParticles *samples = flo_samples_of(world, body);
  if (!flo_body_is_soft(body)) {
    find_covered(world, body, begin, end);
    flo_world_find_tips(world, body);
    return;
  }
  const float covered = body->is_thin ? 0 : (float)plane_covered(world);
  for (size_t i = begin; i < end; ++i) samples->covered[i] = covered;
}

FloStatus flo_world_describe_skin(FloWorld *world, FloBody *body, FloError *error) {
  FloGrid grid;
  FloPairs pairs;
  if (flo_body_is_soft(body)) FLO_TRY(add_soft_samples(world, body, error));
  flo_world_place_samples(world, body);
  describe_samples(world, body, body->first, body->first + body->count);
  flo_grid_init(&grid, &world->lattice, &world->memory);
  flo_pairs_init(&pairs, &world->memory);
  FloStatus status = compute_volumes(world, body, &grid, &pairs, error);
  flo_pairs_free(&pairs);
  flo_grid_free(&grid);
  return status;
}

// ---- Skins that change ----

// The part of one body in the edit: how many samples it loses and gains.
typedef struct FloSkinChange {
  uint32_t body;
  size_t n_lost, n_gained;
} FloSkinChange;

static bool is_changing(const FloBody *body, FloSet set) {
  return body->kind->resample && body->kind->set == set;
}

bool flo_world_has_changing_skin(const FloWorld *world, FloSet set) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (is_changing(&flo_bodies(world)[k], set)) return true;
  return false;
}

// Samples may be missing beyond this many spacings from fluid, and beyond twice the support. Fluid feels
// samples within a support, and their volumes depend on others within a support of them. The rest is for
// motion within a step, and for samples that stand for vertices up to two spacings away.
#define DRY_DISTANCE 4

static FloStatus find_wet_cells(FloWorld *world, FloError *error) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  FloWetCells *wet = &world->skins.wet;
  bool has_soft = false;
  for (size_t k = 0; k < world->bodies.count; ++k) has_soft |= flo_body_is_soft(&flo_bodies(world)[k]);
  if (!has_soft) return FLO_OK;
  flo_wet_cells_begin(wet, &world->domain, 2 * world->kernel.support + DRY_DISTANCE * world->def.spacing);
  for (size_t i = 0; i < fluid->count; ++i)
    FLO_TRY(flo_wet_cells_add(wet, (const double[3]){fluid->x[i], fluid->y[i], fluid->z[i]}, error));
  return FLO_OK;
}

// Collects the edits of all bodies of a set, in their order.
static FloStatus collect_edits(FloWorld *world, FloSet set, FloError *error) {
  FloSkinEdit *edit = &world->skins.edit;
  edit->memory = &world->memory, edit->wet = &world->skins.wet;
  edit->n_lost = edit->n_gained = world->skins.changes.count = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    size_t n_lost = edit->n_lost, n_gained = edit->n_gained;
    if (body->kind->set != set) continue;
    if (is_changing(body, set)) FLO_TRY(body->kind->resample(body, &world->sets[set], edit, error));
    FloSkinChange change = {(uint32_t)k, edit->n_lost - n_lost, edit->n_gained - n_gained};
    FLO_TRY(flo_list_append(&world->memory, &world->skins.changes, &change, sizeof change, error));
  }
  return FLO_OK;
}

// The order of samples in the new set: for each body the samples that stay, then its new ones, which were
// added at the end of the set.
static void order_samples(const FloWorld *world, size_t n_before, uint32_t *order) {
  const FloSkinEdit *edit = &world->skins.edit;
  const FloSkinChange *changes = FLO_LIST(world->skins.changes, FloSkinChange);
  const uint32_t *lost = flo_skin_lost(edit);
  size_t n = 0, n_lost = 0, n_gained = 0;
  for (size_t k = 0; k < world->skins.changes.count; ++k) {
    const FloBody *body = &flo_bodies(world)[changes[k].body];
    for (size_t i = body->first; i < body->first + body->count; ++i) {
      bool is_lost = n_lost < edit->n_lost && lost[n_lost] == i;
      if (is_lost)
        ++n_lost;
      else
        order[n++] = (uint32_t)i;
    }
    for (size_t g = 0; g < changes[k].n_gained; ++g) order[n++] = (uint32_t)(n_before + n_gained++);
  }
}

static void bind_gained(FloWorld *world, size_t n_before) {
  const FloSkinChange *changes = FLO_LIST(world->skins.changes, FloSkinChange);
  const FloNewSample *gained = flo_skin_gained(&world->skins.edit);
  size_t i = n_before;
  for (size_t k = 0; k < world->skins.changes.count; ++k)
    for (size_t g = 0; g < changes[k].n_gained; ++g, ++gained)
      bind_sample(world, &flo_bodies(world)[changes[k].body], i++, changes[k].body, gained->binding);
}

// The samples of every body have moved in memory.
static void move_ranges(FloWorld *world) {
  const FloSkinChange *changes = FLO_LIST(world->skins.changes, FloSkinChange);
  size_t first = 0;
  for (size_t k = 0; k < world->skins.changes.count; ++k) {
    FloBody *body = &flo_bodies(world)[changes[k].body];
    body->first = first, body->count += changes[k].n_gained - changes[k].n_lost;
    first += body->count;
  }
}

// Places and describes the samples of the bodies whose skins have changed.
static FloStatus settle_skins(FloWorld *world, FloError *error) {
  const FloSkinChange *changes = FLO_LIST(world->skins.changes, FloSkinChange);
  for (size_t k = 0; k < world->skins.changes.count; ++k) {
    FloBody *body = &flo_bodies(world)[changes[k].body];
    size_t end = body->first + body->count;
    if (changes[k].n_gained + changes[k].n_lost == 0) continue;
    flo_world_place_samples(world, body);
    describe_samples(world, body, end - changes[k].n_gained, end);
    if (!flo_body_is_soft(body))
      FLO_TRY(compute_volumes(world, body, &world->skins.grid, &world->skins.pairs, error));
  }
  return FLO_OK;
}

static FloStatus resample_set(FloWorld *world, FloSet set, FloError *error) {
  FloParticles *samples = &world->sets[set];
  const FloSkinEdit *edit = &world->skins.edit;
  const size_t n_before = samples->count;
  const uint32_t next_id = world->next_id[set];
  FLO_TRY(collect_edits(world, set, error));
  if (edit->n_lost + edit->n_gained == 0) return FLO_OK;
  size_t n_after = n_before + edit->n_gained - edit->n_lost;
  FLO_TRY(flo_buffer_reserve(&world->memory, &world->scratch, (n_before + edit->n_gained) * sizeof(uint32_t),
                             0, error));
  FLO_TRY(flo_particles_add(samples, edit->n_gained, error));
  bind_gained(world, n_before);
  order_samples(world, n_before, world->scratch.data);
  FloStatus status = flo_particles_permute(samples, world->scratch.data, n_after, world->threads, error);
  if (status != FLO_OK) samples->count = n_before, world->next_id[set] = next_id;
  if (status == FLO_OK) {
    move_ranges(world);
    status = settle_skins(world, error);
  }
  flo_epoch_note(world, &world->epochs.order);
  return status;
}

// The samples of a soft body move apart and together, so their volumes change in each step.
static FloStatus weigh_soft_skins(FloWorld *world, bool is_first, FloError *error) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (flo_body_is_soft(body) && body->count > 0 && (!is_first || body->is_weighed_first))
      FLO_TRY(compute_volumes(world, body, &world->skins.grid, &world->skins.pairs, error));
  }
  return FLO_OK;
}

static FloStatus resample(FloWorld *world, FloError *error) {
  FLO_TRY(weigh_soft_skins(world, true, error));
  FLO_TRY(find_wet_cells(world, error));
  for (int set = FLO_SET_BOUNDARY; set < FLO_SET_COUNT; ++set)
    if (flo_world_has_changing_skin(world, (FloSet)set)) FLO_TRY(resample_set(world, (FloSet)set, error));
  return weigh_soft_skins(world, false, error);
}

FloStatus flo_world_resample(FloWorld *world, FloError *error) {
  const double since = flo_seconds();
  const FloStatus status = resample(world, error);
  world->skin_seconds += flo_seconds() - since;
  return status;
}
