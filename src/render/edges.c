#include "render/edges.h"

// Cuts off the part behind the eye, which cannot be projected.
static bool clip_to_front(const FloLens *lens, V3 *a, V3 *b) {
  float za = v3_dot(v3_sub(*a, lens->eye), lens->forward), zb = v3_dot(v3_sub(*b, lens->eye), lens->forward);
  const float nearest = 1e-3f * flo_maxf(fabsf(za), fabsf(zb));
  if (za < nearest && zb < nearest) return false;
  if (za < nearest) *a = v3_mix(*a, *b, (nearest - za) / (zb - za));
  if (zb < nearest) *b = v3_mix(*b, *a, (nearest - zb) / (za - zb));
  return true;
}

size_t flo_edges_project(const FloEdge *edges, size_t n, const FloLens *lens, FloScreenEdge *out) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    V3 a = edges[i].a, b = edges[i].b;
    if (!clip_to_front(lens, &a, &b)) continue;
    FloScreenEdge *e = &out[count++];
    float za, zb;
    flo_lens_project(lens, a, &e->x0, &e->y0, &za);
    flo_lens_project(lens, b, &e->x1, &e->y1, &zb);
    e->key0 = lens->is_flat ? za : 1 / za;
    e->key1 = lens->is_flat ? zb : 1 / zb;
  }
  return count;
}

bool flo_edge_touches(const FloScreenEdge *e, float width, float x0, float y0, float x1, float y1) {
  const float reach = 0.5f * width + 1;
  if (flo_maxf(e->x0, e->x1) < x0 - reach || flo_minf(e->x0, e->x1) > x1 + reach) return false;
  if (flo_maxf(e->y0, e->y1) < y0 - reach || flo_minf(e->y0, e->y1) > y1 + reach) return false;
  // Compares the distance of the rectangle's centre from the infinite line with the rectangle's extent across
  // it.
  float dx = e->x1 - e->x0, dy = e->y1 - e->y0, length = sqrtf(dx * dx + dy * dy);
  float cx = 0.5f * (x0 + x1) - e->x0, cy = 0.5f * (y0 + y1) - e->y0;
  float across = 0.5f * ((x1 - x0) * fabsf(dy) + (y1 - y0) * fabsf(dx));
  return fabsf(cx * dy - cy * dx) <= across + reach * length;
}

float flo_edge_coverage(const FloScreenEdge *e, bool is_flat, float width, float x, float y, float *depth) {
  float dx = e->x1 - e->x0, dy = e->y1 - e->y0, px = x - e->x0, py = y - e->y0;
  float length2 = dx * dx + dy * dy;
  float along = length2 > 0 ? flo_clamp01((px * dx + py * dy) / length2) : 0;
  float ex = px - along * dx, ey = py - along * dy;
  float key = e->key0 + along * (e->key1 - e->key0);
  *depth = is_flat ? key : 1 / key;
  return flo_minf(width, 1) * flo_clamp01(0.5f * flo_maxf(width, 1) + 0.5f - sqrtf(ex * ex + ey * ey));
}
