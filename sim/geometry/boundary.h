// Boundaries: the fixed or moving surfaces that bodies touch. Every one answers the same question: which
// touches does a ball of this center and radius have within reach? The gap is a signed distance.
#pragma once
#include "sim/core/error.h"
#include "sim/core/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SandBoundaryKind {
    SAND_PLANE,      // allowed side: where the normal points
    SAND_BOX_WALLS,  // inside: six planes; outside: a solid block
    SAND_REVOLUTION, // a profile (radius, height) turned about z: cylinder, cone frustum, the glass
    SAND_SPHERE_WALL,
    SAND_MESH, // triangles, counter-clockwise seen from the allowed side
} SandBoundaryKind;

typedef enum SandSide { SAND_INSIDE, SAND_OUTSIDE } SandSide; // where the bodies are

// How a boundary moves. The pose is a closed function of time, so that every step lands exactly.
typedef struct SandMotion {
    SandVec3 velocity;  // m/s
    SandVec3 center;    // m, a point on the axis of turning at time 0
    SandVec3 axis;      // direction of the axis; any length
    double rate;        // rad/s about the axis
    double start, stop; // s; it moves between these times (stop <= start: for ever)
} SandMotion;

typedef struct SandTriangleMesh SandTriangleMesh; // mesh.h

typedef struct SandBoundary {
    SandBoundaryKind kind;
    SandSide side;
    char name[SAND_NAME];
    int material;
    SandPose pose; // at time 0: where the local frame is
    SandMotion motion;
    bool moves;
    // Local frame: a plane is z = 0 with normal +z, a box and a sphere are centered on the origin, the axis of a
    // revolution is z.
    SandVec3 half;                       // box
    double radius;                       // sphere
    int profile_count;                   // revolution: corners of the profile, at least 2
    double (*profile)[2];                // (radius, height), owned; the polyline is open, its ends may lie on the axis
    struct SandProfileSegment *segments; // revolution.h: derived from the profile, owned; as many as corners
    struct SandBands *bands;             // the same
    SandTriangleMesh *mesh;              // owned
} SandBoundary;

// One touch of a ball with one smooth piece of a boundary.
typedef struct SandTouch {
    SandVec3 normal;  // unit, from the ball's center towards the boundary, world frame
    double gap;       // signed distance between the surfaces; negative: penetration
    uint32_t feature; // which piece: below 2^24, the same piece has the same number in the next step
} SandTouch;

enum { SAND_MAX_FEATURE = 1 << 24 };

// Checks sizes and completes what is derived. Sentences name the key at fault. The profile is copied.
bool sand_boundary_plane(SandBoundary *b, SandVec3 point, SandVec3 normal, SandError *error);
bool sand_boundary_box(SandBoundary *b, SandVec3 half, SandSide side, SandError *error);
bool sand_boundary_sphere(SandBoundary *b, double radius, SandSide side, SandError *error);
// Inside: the allowed region lies towards the axis; outside: away from it. Heights need not be monotone.
bool sand_boundary_revolution(SandBoundary *b, const double (*profile)[2], int count, SandSide side, SandError *error);
// From an OBJ file (v and f lines). Refuses what is not finite, degenerate triangles, edges with more than two
// triangles or of opposed orientation, and holes: a mesh is closed, or has one outer rim.
bool sand_boundary_mesh_file(SandBoundary *b, const char *path, SandError *error);
// A patch of ground: `heights` is nx by ny, row after row along x, over [-half.x, half.x] x [-half.y, half.y].
bool sand_boundary_terrain(SandBoundary *b, const double *heights, int nx, int ny, SandVec3 half, SandError *error);

void sand_boundary_free(SandBoundary *b);

// The pose at a time, and the velocity and spin that carry it from t to t + h exactly, about the pose's position.
SandPose sand_boundary_pose(const SandBoundary *b, double time);
void sand_boundary_velocity(const SandBoundary *b, double time, double step, SandVec3 *velocity, SandVec3 *spin);

// All touches with gap <= reach of the ball, at most one for each smooth piece; pieces that meet in a shared
// edge or corner which is the nearest point give one touch, and an edge that a touched face covers gives none.
// Returns how many there are, which may be more than `room`; the first `room` are written. In a fixed order.
int sand_boundary_touch(const SandBoundary *b, const SandPose *pose, SandVec3 center, double radius, double reach,
                        SandTouch *touches, int capacity);

// Signed distance of a point to the boundary, positive on the allowed side: for filling and for checks.
double sand_boundary_distance(const SandBoundary *b, const SandPose *pose, SandVec3 point);

// True where a flat face can rest on it by its corners and rims alone (planes and the insides of convex vessels).
bool sand_boundary_flat_or_hollow(const SandBoundary *b);

#ifdef __cplusplus
}
#endif
