// How far features of surfaces are from each other, and whether they meet while they move: a vertex and a
// segment, a vertex and a triangle, or two edges.
#ifndef FLO_GEOMETRY_APART_H
#define FLO_GEOMETRY_APART_H

#include "base/vecmath.h"

enum { FLO_MOST_CORNERS = 4 };

// The corners of two features; those of the first feature come first.
typedef struct FloFeaturePair {
  int n_first, n_second; // 1 and 2, 1 and 3, or 2 and 2
  double x[FLO_MOST_CORNERS][3];
} FloFeaturePair;

// The nearest points of two features.
typedef struct FloApart {
  double distance;                  // [m]
  double weights[FLO_MOST_CORNERS]; // of the corners; those of each feature add up to one
  double way[3];                    // from the point of the second feature to that of the first [m]
} FloApart;

// Features without length or area are fine.
void flo_pair_apart(const FloFeaturePair *pair, FloApart *apart);

// The two features when each corner has gone this share of its way.
void flo_pair_between(const FloFeaturePair *from, const FloFeaturePair *to, double share,
                      FloFeaturePair *out);

// The first time in [0, 1] at which features come nearer than `least` while their corners move in straight
// lines, or nearer than half of their first distance if that is less. INFINITY: they do not. The time is
// never late. At this time the distance is at most a twentieth above that limit.
double flo_pair_meets(const FloFeaturePair *from, const FloFeaturePair *to, double least);

#endif
