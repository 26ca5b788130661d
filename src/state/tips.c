// Tips: the sharp edge or corner of a body that a sample stands for.
//
// Samples lie half a spacing below the surface. So the outermost samples of a face end half a spacing before
// its edge. A body that could be touched at the nearest points of faces alone would be that much narrower,
// which decides whether an arch stands. A sample next to an edge or corner of an outward kind gets the vector
// from it to the nearest point of that edge or corner.
//
// It is found as the meeting point of planes, like the vertices of dual contouring: the surface seen from
// places around the sample consists of one, two or three faces with different normals.
#include "base/parallel.h"
#include "geometry/solid_surface.h"
#include "state/state.h"

// Places from which the surface is seen, in spacings from the sample. In the next row of samples from an edge
// it would take 0.71 to see both faces, so only the outermost row finds the edge.
#define VIEW 0.6
// Faces whose normals differ by less than 37 degrees are one smooth face: round shapes of triangles have as
// much.
#define SAME_FACE 0.8
// Largest distance of a tip from the surface, in spacings.
#define LARGEST_ERROR 0.05
// The edge of a thin wedge is farther from its outermost samples than this, in spacings, and has no tip.
#define FARTHEST 1.5

typedef struct Face {
  double normal[3];
  double distance; // from the sample to the plane, along the normal
} Face;

typedef struct Faces {
  int count;
  Face face[3];
} Faces;

typedef struct Tips {
  FloWorld *world;
  const FloBody *body;
} Tips;

// Signed distance and normal in the frame of the body.
static double look_at(const Tips *tips, const double x[3], double normal[3]) {
  return flo_solid_sharp_surface(tips->body->solid, x, normal);
}

static double distance_at(const Tips *tips, const double x[3], const double way[3], double scale) {
  double there[3], normal[3];
  vec_add_scaled(x, way, scale, there);
  return look_at(tips, there, normal);
}

// The face nearest to a place near the sample at x; false if that place sees an edge.
static bool see_face(const Tips *tips, const double x[3], const double view[3], Face *face) {
  double place[3], foot[3];
  vec_add(x, view, place);
  double distance = look_at(tips, place, face->normal);
  if (!(vec_dot(face->normal, face->normal) > 0.5)) return false;
  vec_add_scaled(place, face->normal, -distance, foot);
  vec_sub(foot, x, foot);
  face->distance = vec_dot(foot, face->normal);
  return fabs(distance_at(tips, x, foot, 1)) < LARGEST_ERROR * tips->world->def.spacing;
}

// Adds a face unless it is known. Of several views of a curved face the nearest counts.
static void add_face(Faces *faces, const Face *face) {
  for (int k = 0; k < faces->count; ++k) {
    if (vec_dot(faces->face[k].normal, face->normal) < SAME_FACE) continue;
    if (face->distance < faces->face[k].distance) faces->face[k] = *face;
    return;
  }
  if (faces->count < 3) faces->face[faces->count++] = *face;
}

static Faces see_faces(const Tips *tips, const double x[3]) {
  const double s = tips->world->def.spacing;
  const int deep = tips->world->def.dim == 3;
  Faces faces = {0};
  for (int k = -deep; k <= deep; ++k)
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) {
        double view[3] = {i, j, k};
        Face face;
        if (!i && !j && !k) continue;
        vec_scale(view, VIEW * s / vec_length(view), view);
        if (see_face(tips, x, view, &face)) add_face(&faces, &face);
      }
  return faces;
}

// Whether two faces meet in an edge of the outward kind, which is sharp. Beyond either of them is the
// outside; and close to a sharp edge the normals still differ, while on a rounded one they come together.
// `inside` is a place below the tip.
static bool is_sharp(const Tips *tips, const double tip[3], const double inside[3], const Face *a,
                     const Face *b) {
  const double s = tips->world->def.spacing;
  double across[3], here[3], there[3], of_a[3], of_b[3];
  vec_sub(a->normal, b->normal, across);
  vec_scale(across, s / vec_length(across), across);
  if (!(distance_at(tips, tip, across, 0.2) > 0 && distance_at(tips, tip, across, -0.2) > 0)) return false;
  vec_add_scaled(inside, across, 0.1, here);
  vec_add_scaled(inside, across, -0.1, there);
  look_at(tips, here, of_a);
  look_at(tips, there, of_b);
  return vec_dot(of_a, of_b) < SAME_FACE;
}

static bool are_all_sharp(const Tips *tips, const double tip[3], const Faces *faces) {
  double inside[3] = {0};
  for (int k = 0; k < faces->count; ++k) vec_add(inside, faces->face[k].normal, inside);
  vec_add_scaled(tip, inside, -0.2 * tips->world->def.spacing / vec_length(inside), inside);
  for (int k = 0; k < faces->count; ++k)
    for (int j = 0; j < k; ++j)
      if (!is_sharp(tips, tip, inside, &faces->face[j], &faces->face[k])) return false;
  return true;
}

// The shortest vector to the line in which two planes meet.
static bool meet_two(const Face *a, const Face *b, double out[3]) {
  double c = vec_dot(a->normal, b->normal), determinant = 1 - c * c;
  if (!(determinant > 0.1)) return false; // opposite faces of a thin plate
  vec_scale(a->normal, (a->distance - c * b->distance) / determinant, out);
  vec_add_scaled(out, b->normal, (b->distance - c * a->distance) / determinant, out);
  return true;
}

static bool meet_three(const Face faces[3], double out[3]) {
  double bc[3], ca[3], ab[3];
  vec_cross(faces[1].normal, faces[2].normal, bc);
  vec_cross(faces[2].normal, faces[0].normal, ca);
  vec_cross(faces[0].normal, faces[1].normal, ab);
  double determinant = vec_dot(faces[0].normal, bc);
  if (!(fabs(determinant) > 0.1)) return false;
  vec_scale(bc, faces[0].distance / determinant, out);
  vec_add_scaled(out, ca, faces[1].distance / determinant, out);
  vec_add_scaled(out, ab, faces[2].distance / determinant, out);
  return true;
}

// Two faces meet in an edge; three meet in a corner, which has no direction, like corners of flat worlds.
static void find_edge(const Tips *tips, const Faces *faces, double edge[3]) {
  vec_set(edge, 0, 0, 0);
  if (faces->count != 2 || tips->world->def.dim != 3) return;
  vec_cross(faces->face[0].normal, faces->face[1].normal, edge);
  vec_scale(edge, 1 / vec_length(edge), edge);
}

static bool find_tip(const Tips *tips, const double x[3], double out[3], double edge[3]) {
  const double s = tips->world->def.spacing;
  const Faces faces = see_faces(tips, x);
  const Face *f = faces.face;
  double tip[3];
  if (faces.count < 2) return false;
  if (!(faces.count == 2 ? meet_two(&f[0], &f[1], out) : meet_three(f, out))) return false;
  if (vec_length(out) > FARTHEST * s || fabs(distance_at(tips, x, out, 1)) > LARGEST_ERROR * s) return false;
  vec_add(x, out, tip);
  find_edge(tips, &faces, edge);
  return are_all_sharp(tips, tip, &faces);
}

static void tip_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Tips *tips = context;
  FloParticles *samples = flo_samples_of(tips->world, tips->body);
  for (size_t i = tips->body->first + begin; i < tips->body->first + end; ++i) {
    const double x[3] = {samples->local_x[i], samples->local_y[i], samples->local_z[i]};
    double tip[3], edge[3];
    if (!find_tip(tips, x, tip, edge)) vec_set(tip, 0, 0, 0), vec_set(edge, 0, 0, 0);
    samples->tip_x[i] = (float)tip[0], samples->tip_y[i] = (float)tip[1], samples->tip_z[i] = (float)tip[2];
    samples->edge_x[i] = (float)edge[0], samples->edge_y[i] = (float)edge[1];
    samples->edge_z[i] = (float)edge[2];
  }
}

// Bodies that change their shape have no tips.
void flo_world_find_tips(FloWorld *world, FloBody *body) {
  const FloParticles *samples = flo_samples_of(world, body);
  Tips tips = {world, body};
  body->has_tips = false;
  if (body->kind->place != flo_posed_place) return;
  flo_parallel_for(world->threads, body->count, 64, tip_range, &tips);
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double tip[3];
    body->has_tips |= flo_sample_tip(samples, i, tip);
  }
}
