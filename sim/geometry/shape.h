// The shape of a body: a template of size 1 that any number of bodies share, each with its own scale.
// Frame: the center of mass is the origin and the axes are principal, so that the inertia is diagonal.
#pragma once
#include "sim/core/error.h"
#include "sim/core/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SandShapeKind { SAND_SPHERE, SAND_CLUMP, SAND_BOX, SAND_CYLINDER } SandShapeKind;

typedef struct SandShapeSphere {
    SandVec3 center;
    double radius;
} SandShapeSphere;

enum { SAND_MAX_SPHERES = 255 }; // spheres in a clump: their number is one byte of a contact's key

typedef struct SandShape {
    SandShapeKind kind;
    int sphere_count;         // sphere: 1, clump: its spheres, box and cylinder: 0
    SandShapeSphere *spheres; // owned
    SandVec3 half;            // box: half extents; cylinder: (radius, radius, half height), axis z
    double volume;            // at scale 1; times scale^3
    SandVec3 inertia;         // principal, at density 1 and scale 1; times density and scale^5
    double bound;             // radius around the center of mass that holds the whole shape, at scale 1
    SandPose from_input;      // the frame the shape was described in, seen from the principal frame
} SandShape;

// A sphere of radius 1: the scale of a body is its radius.
bool sand_shape_sphere(SandShape *shape, SandError *error);

// The union of spheres, which may overlap. Volume, center and inertia by quadrature, to 0.1 % and better.
// The spheres must hang together: a clump in two parts is refused.
bool sand_shape_clump(SandShape *shape, const SandShapeSphere *spheres, int count, SandError *error);

bool sand_shape_box(SandShape *shape, SandVec3 half, SandError *error);
bool sand_shape_cylinder(SandShape *shape, double radius, double height, SandError *error); // axis z

void sand_shape_free(SandShape *shape);

#ifdef __cplusplus
}
#endif
