// Shapes of bodies. A shape is a template that any number of bodies share, each with its own scale. In its frame the center
// of mass is the origin and the axes are principal, so that the inertia is diagonal.
#pragma once
#include "sim/core/error.h"
#include "sim/core/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SandShapeKind {
    SAND_SPHERE,
    SAND_CLUMP,    // rigid union of spheres
    SAND_BOX,      // at most one box or cylinder may be in a world: sand_world_check
    SAND_CYLINDER, // axis z
} SandShapeKind;

// One sphere of a shape, at scale 1.
typedef struct SandShapeSphere {
    SandVec3 center; // m
    double radius;   // m
} SandShapeSphere;

enum { SAND_MAX_SPHERES = 255 }; // spheres in a clump: the index of one is a byte of a contact's key

// Fields are filled by the functions below and read-only afterwards.

typedef struct SandShape {
    SandShapeKind kind;
    int sphere_count;         // sphere: 1, clump: its spheres, box and cylinder: 0
    SandShapeSphere *spheres; // owned; in the principal frame
    SandVec3 half;            // m, box: half extents; cylinder: (radius, radius, half height)
    double volume;            // m^3 at scale 1; grows with scale^3
    SandVec3 inertia;         // m^5, principal moments at density 1 and scale 1; grow with density and scale^5
    double bound;             // m, radius about the center of mass that contains the shape, at scale 1
    SandPose from_input;      // the frame the shape was described in, expressed in the principal frame
} SandShape;

// Make a shape. On failure there is a sentence, and nothing needs to be freed.

// A sphere of radius 1: the scale of a body is its radius (m).
bool sand_shape_sphere(SandShape *shape, SandError *error);

// A clump: the union of `count` spheres, which are copied and may overlap. Volume, center of mass and inertia come from
// quadrature, to 0.1 % and better. The spheres must be connected: a clump in two parts is refused.
bool sand_shape_clump(SandShape *shape, const SandShapeSphere *spheres, int count, SandError *error);

// A box of these half extents (m).
bool sand_shape_box(SandShape *shape, SandVec3 half, SandError *error);
// A cylinder of this radius and height (m), with its axis along z.
bool sand_shape_cylinder(SandShape *shape, double radius, double height, SandError *error);

void sand_shape_free(SandShape *shape); // frees what the shape owns, not `shape` itself

#ifdef __cplusplus
}
#endif
