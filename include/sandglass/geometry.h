// SPDX-License-Identifier: MIT
// Geometry: the shapes of bodies, and the boundaries of a world.
//
// A shape is a template that any number of bodies share, each with its own scale. In its frame the center
// of mass is the origin and the axes are principal, so that the inertia is diagonal.
#pragma once
#include "sandglass/error.h"
#include "sandglass/math.h"

#ifdef __cplusplus
extern "C" {
#endif

// How bodies of a shape are drawn, in the order of a renderer's instances.
typedef enum SandDrawn {
    SAND_DRAWN_SPHERE,
    SAND_DRAWN_CLUMP, // sphere by sphere
    SAND_DRAWN_PART,  // by a mesh of the kind, which half extents stretch
    SAND_DRAWN_STONE, // by a mesh of the shape itself: its core, or those of its pieces
} SandDrawn;

// What describes a shape of a kind that has sizes: keys of a scene, under these names.
typedef struct SandShapeSizes {
    double radius, height, length; // m
    SandVec3 size;                 // m, full lengths
} SandShapeSizes;
enum { SAND_SIZE_RADIUS = 1, SAND_SIZE_HEIGHT = 2, SAND_SIZE_LENGTH = 4, SAND_SIZE_SIZE = 8 };

// The kinds of shapes: constant, name, how they are drawn, sizes. Rows are in the order of SandDrawn. What counts, names,
// reads and draws shapes is made from this table; CONTRIBUTING.md says what else a new one needs.
// clang-format off
#define SAND_SIZED_SHAPES(SHAPE) /* which sand_shape_make makes, and are keys of a scene; a sphere has its radius as scale */ \
    SHAPE(BOX, box, PART, SAND_SIZE_SIZE) \
    SHAPE(CYLINDER, cylinder, PART, SAND_SIZE_RADIUS | SAND_SIZE_HEIGHT) /* axis z, with sharp rims */ \
    SHAPE(CAPSULE, capsule, PART, SAND_SIZE_RADIUS | SAND_SIZE_LENGTH)   /* a segment along z, rounded by its radius */
#define SAND_SHAPES(SHAPE) \
    SHAPE(SPHERE, sphere, SPHERE, SAND_SIZE_RADIUS) \
    SHAPE(CLUMP, clump, CLUMP, 0) /* rigid union of spheres; all that follow are convex bodies */ \
    SAND_SIZED_SHAPES(SHAPE) \
    SHAPE(HULL, hull, STONE, 0)   /* convex hull of points: a stone */ \
    SHAPE(COMPOUND, compound, STONE, 0) /* rigid union of convex pieces */
#define SAND_SHAPE_CONSTANT(KIND, ...) SAND_##KIND,
typedef enum SandShapeKind { SAND_SHAPES(SAND_SHAPE_CONSTANT) SAND_SHAPE_KINDS } SandShapeKind;
#define SAND_SHAPE_BEFORE_PARTS(KIND, name, drawn, sizes) +(SAND_DRAWN_##drawn < SAND_DRAWN_PART)
#define SAND_SHAPE_BEFORE_STONES(KIND, name, drawn, sizes) +(SAND_DRAWN_##drawn < SAND_DRAWN_STONE)
enum { // the first kind that is drawn as a part, and as a stone
    SAND_FIRST_PART = 0 SAND_SHAPES(SAND_SHAPE_BEFORE_PARTS),
    SAND_FIRST_STONE = 0 SAND_SHAPES(SAND_SHAPE_BEFORE_STONES),
};
// clang-format on

SAND_HOST_DEVICE SandDrawn sand_shape_drawn(SandShapeKind kind) {
    switch (kind) {
#define SAND_SHAPE_DRAWN(KIND, name, drawn, sizes) \
    case SAND_##KIND: return SAND_DRAWN_##drawn;
        SAND_SHAPES(SAND_SHAPE_DRAWN)
#undef SAND_SHAPE_DRAWN
    default: return SAND_DRAWN_SPHERE;
    }
}
SAND_API const char *sand_shape_kind_name(SandShapeKind kind);

// One sphere of a shape, at scale 1.
typedef struct SandShapeSphere {
    SandVec3 center; // m
    double radius;   // m
} SandShapeSphere;

enum { SAND_MAX_SPHERES = 255 }; // spheres in a clump: the index of one is a byte of a contact's key

// The corners, edges and faces of a convex polytope: the core of a box, of a hull, and, with two corners and no face, of a
// capsule. Corners, edges and faces are bytes of contact keys; with 64 corners a polytope has at most 186 edges and 124
// faces.
enum { SAND_MAX_CORNERS = 64, SAND_MAX_EDGES = 3 * SAND_MAX_CORNERS - 6, SAND_MAX_FACES = 2 * SAND_MAX_CORNERS - 4 };

typedef struct SandFace {
    SandVec3 normal; // unit, outward
    double offset;   // m, the face lies in normal . x = offset
    int first;       // its corners are loop[first] .. loop[first + count - 1]
    int count;
} SandFace;

typedef struct SandEdge {
    uint8_t from, to;    // corners, in the order of the face `left`
    uint8_t left, right; // faces
} SandEdge;

typedef struct SandPolytope {
    int corner_count, edge_count, face_count;
    SandVec3 corners[SAND_MAX_CORNERS]; // m, principal frame, at scale 1
    SandEdge edges[SAND_MAX_EDGES];
    SandFace faces[SAND_MAX_FACES];
    uint8_t loop[2 * SAND_MAX_EDGES];  // corners of the faces, counter-clockwise from outside
    uint8_t sides[2 * SAND_MAX_EDGES]; // edge from loop[k] to the next corner of its face
} SandPolytope;

enum { SAND_MAX_PIECES = 256 }; // of a compound: the index of one is a byte of a contact's key

// Fields are filled by the functions below and read-only afterwards.

typedef struct SandShape {
    SandShapeKind kind;
    int sphere_count;         // sphere: 1, clump: its spheres, all others: 0
    SandShapeSphere *spheres; // owned; in the principal frame
    int piece_count;          // compound: its pieces, all others: 0
    struct SandPiece *pieces; // owned; in the principal frame
    SandPolytope *core;       // owned; box, capsule and hull: what is rounded by `rounding`
    double rounding;          // m, capsule: its radius; box, cylinder and hull: 0, sharp
    SandVec3 half;       // m, box: half extents; cylinder and capsule: (radius, radius, half height); hull: of its bounds
    double volume;       // m^3 at scale 1; grows with scale^3
    SandVec3 inertia;    // m^5, principal moments at density 1 and scale 1; grow with density and scale^5
    double bound;        // m, radius about the center of mass that contains the shape, at scale 1
    SandPose from_input; // the frame the shape was described in, expressed in the principal frame
} SandShape;

// A convex piece of a compound. A caller gives the pose of the frame that the shape of the piece was
// described in; SandShape.pieces have that of its center of mass and principal axes.
typedef struct SandPiece {
    SandShape shape; // a sphere, a box, a cylinder, a capsule or a hull; in SandShape.pieces a sphere has a core, too
    double scale;    // of the shape; of a sphere its radius (m)
    SandPose pose;
} SandPiece;

// What a solid weighs and how it resists turning, in the frame that it was described in.
typedef struct SandSolid {
    double volume;     // m^3
    SandVec3 center;   // m, of mass
    SandVec3 moments;  // m^5, xx, yy and zz of the inertia tensor about the center, at density 1
    SandVec3 products; // m^5, its entries xy, xz and yz
} SandSolid;

// Make a shape. On failure there is a sentence, and nothing needs to be freed.

// A sphere of radius 1: the scale of a body is its radius (m).
SAND_API bool sand_shape_sphere(SandShape *shape, SandError *error);

// A clump: the union of `count` spheres, which are copied and may overlap. Volume, center of mass and inertia come from
// quadrature, to 0.1 % and better. The spheres must be connected: a clump in two parts is refused.
SAND_API bool sand_shape_clump(SandShape *shape, const SandShapeSphere *spheres, int count, SandError *error);

// A box of these half extents (m).
SAND_API bool sand_shape_box(SandShape *shape, SandVec3 half, SandError *error);
// A cylinder of this radius and height (m), with its axis along z.
SAND_API bool sand_shape_cylinder(SandShape *shape, double radius, double height, SandError *error);
// A capsule: all points within `radius` (m) of a segment of this length (m) along z; its ends are half spheres.
SAND_API bool sand_shape_capsule(SandShape *shape, double radius, double length, SandError *error);
// Makes a shape of one of SAND_SIZED_SHAPES from the sizes that it has; others do not matter.
SAND_API bool sand_shape_make(SandShape *shape, SandShapeKind kind, const SandShapeSizes *sizes, SandError *error);
// The convex hull of `count` points (m). Points inside it, or within 1e-9 of its size of a face, are dropped. Refuses points
// in one plane and hulls of more than SAND_MAX_CORNERS corners.
SAND_API bool sand_shape_hull(SandShape *shape, const SandVec3 *points, int count, SandError *error);
// The convex hull of a closed mesh from a file (sand_mesh_data_read); an open mesh is refused.
SAND_API bool sand_shape_hull_file(SandShape *shape, const char *path, SandError *error);

// The hull of any number of points with at most this many corners, 4 to SAND_MAX_CORNERS: those that are farthest outside
// are taken first, so that the hull lies within that of all points. `beyond` (m, may be NULL) is how far it leaves one of
// them outside; 0 where it is the whole hull.
SAND_API bool sand_shape_hull_within(SandShape *shape, const SandVec3 *points, int count, int at_most, double *beyond,
                                     SandError *error);

// A compound: the rigid union of `count` convex pieces, which are copied. They need not touch. Without a solid, volume,
// center of mass and inertia are the sums of those of the pieces, so that what overlaps counts twice; a solid gives them, as
// of the mesh that pieces were cut from. Refuses more than SAND_MAX_PIECES, clumps, and compounds of compounds.
SAND_API bool sand_shape_compound(SandShape *shape, const SandPiece *pieces, int count, const SandSolid *solid,
                                  SandError *error);

// Triangles as files have them: 0-based vertices of each, counter-clockwise seen from outside.
typedef struct SandMeshData {
    int vertex_count, face_count;
    SandVec3 *vertices; // m, owned
    int (*faces)[3];    // owned
    int *lines;         // of the file, of each face, or its number in it; owned
} SandMeshData;
// Reads an STL file (binary or text), a PLY file (text or binary), a glTF or a GLB file, by how its name ends, and else an
// OBJ file (v and f lines). In glTF y points up; it becomes z. A mistake is refused with its file and line, or the number of
// the triangle.
SAND_API bool sand_mesh_data_read(SandMeshData *mesh, const char *path, SandError *error);
SAND_API void sand_mesh_data_free(SandMeshData *mesh); // frees what the mesh owns, not `mesh` itself
// The solid that a closed mesh encloses, by exact sums over tetrahedra. Refuses a mesh that is open or inside out.
SAND_API bool sand_solid_of_mesh(SandSolid *solid, const SandMeshData *mesh, SandError *error);

// Describes a random stone: the hull of points on an ellipsoid, cut by planes. Start from sand_default_stone().
typedef struct SandStoneDef {
    uint64_t seed;     // another one, another stone; 0 is the default seed
    int points;        // on the ellipsoid, 4 to 32; more make it rounder
    int cuts;          // planes that cut off a cap each, 0 to 8; more make it more angular
    double elongation; // middle axis over the longest, above 0, at most 1
    double flatness;   // shortest axis over the middle one, above 0, at most 1
} SandStoneDef;
SAND_API SandStoneDef sand_default_stone(void);
// A stone as large as the sphere of radius 1: the scale of a body is the radius (m) of the sphere of its volume.
SAND_API bool sand_shape_stone(SandShape *shape, const SandStoneDef *def, SandError *error);

// Returns the pose of a body of this shape and scale, that of its center of mass and principal axes, where the frame that
// the shape was described in has the pose `input`.
SAND_API SandPose sand_shape_place(const SandShape *shape, double scale, SandPose input);

SAND_API void sand_shape_free(SandShape *shape); // frees what the shape owns, not `shape` itself

// --- boundaries ---------------------------------------------------------------------------------------------
// Boundaries: the fixed or moving surfaces that bodies touch. Every kind answers the same query: which touches does a sphere
// of this center and radius have within reach? (sand_boundary_touch, boundary_distance.inl.) Gaps are signed distances.
// A boundary is made by one of the sand_boundary_ functions below, placed by setting pose, motion and moves, and handed to
// sand_world_add_boundary.

typedef enum SandBoundaryKind {
    SAND_PLANE,       // a half space: bodies are where the normal points
    SAND_BOX_WALLS,   // inside: six walls; outside: a solid block
    SAND_REVOLUTION,  // a profile (radius, height) revolved about z: cylinder, cone frustum, hourglass
    SAND_SPHERE_WALL, // inside: a hollow sphere; outside: a solid one
    SAND_MESH,        // triangles, counter-clockwise seen from the side where bodies are
} SandBoundaryKind;

// On which side of the surface bodies are: its allowed side.
typedef enum SandSide {
    SAND_INSIDE,  // within the shape: a vessel
    SAND_OUTSIDE, // around the shape: an obstacle
} SandSide;

// Prescribed motion of a boundary: a translation and a rotation at constant rates, an oscillation, and a path
// (sand_boundary_path), each added to the others. The pose is a closed function of time and not integrated, so that every
// step lands exactly where it should.
typedef struct SandMotion {
    SandVec3 velocity;  // m/s
    SandVec3 center;    // m, a point on the axis of rotation when the motion starts; the axis travels with the boundary
    SandVec3 axis;      // direction of the axis, of any length
    double rate;        // rad/s about the axis, right-handed
    double start, stop; // s; it moves between these times (stop <= start: forever)
    // The oscillation: amplitude and swing times sin(2 pi frequency t + phase) - sin(phase), with t from `start` on, so that
    // it begins where the boundary is.
    SandVec3 amplitude; // m
    double swing;       // rad, about the axis
    double frequency;   // 1/s
    double phase;       // rad
    // m/s, of a surface that runs and stays where it is: a conveyor. It turns with the boundary. Of planes and flat meshes,
    // and along them.
    SandVec3 surface;
    double path; // times this the path is followed: 1 as it is, 0 not at all
} SandMotion;

// A row of a path: how far a boundary has moved and turned at a time.
typedef struct SandMotionPoint {
    double time;    // s, from the start of the motion on
    SandVec3 shift; // m
    double angle;   // rad, about the axis of the motion
} SandMotionPoint;

typedef struct SandTriangleMesh SandTriangleMesh; // the library's

typedef struct SandBoundary {
    SandBoundaryKind kind;
    SandSide side;        // not used by planes and meshes
    char name[SAND_NAME]; // for messages; the caller's to set
    int material;         // index into the materials of the world; the caller's to set
    SandPose pose;        // of the local frame, at time 0 or when the motion starts
    SandMotion motion;    // used where `moves` is set
    bool moves;
    int path_count;        // rows of the path; 0: there is none
    SandMotionPoint *path; // owned
    // The shape, in the local frame: a plane is z = 0 with normal +z, a box and a sphere are centered on the origin, the
    // axis of a revolution is z.
    SandVec3 half;                       // m, box: half extents
    double radius;                       // m, sphere
    int profile_count;                   // revolution: corners of the profile, at least 2
    double (*profile)[2];                // m, (radius, height), owned; an open polyline whose ends may lie on the axis
    struct SandProfileSegment *segments; // derived from the profile, owned, one for each corner
    struct SandBands *bands;             // likewise
    bool hollow;                         // revolution: its allowed side is convex; derived
    SandPolytope *core;                  // box, outside: the block as a polytope; derived, owned
    SandTriangleMesh *mesh;              // owned
    bool hidden;                         // pictures do not show it
} SandBoundary;

// One touch of a sphere with one smooth piece of a boundary.
typedef struct SandTouch {
    SandVec3 normal;  // unit, from the sphere's center towards the boundary, world frame
    double gap;       // m, signed distance between the surfaces; negative: penetration
    uint32_t feature; // which piece, below SAND_MAX_FEATURE; a piece keeps its number from step to step
} SandTouch;

enum { SAND_MAX_FEATURE = 1 << 24 }; // features of a boundary: they are 24 bits of a contact's key

// Make a boundary. Each checks its numbers and derives what queries need; on failure the sentence names the key at fault and
// nothing needs to be freed. The pose is the identity (for a plane, that of its point and normal), and it does not move.

// A plane through `point`; bodies are where `normal`, of any length, points.
SAND_API bool sand_boundary_plane(SandBoundary *b, SandVec3 point, SandVec3 normal, SandError *error);
// A box of these half extents (m).
SAND_API bool sand_boundary_box(SandBoundary *b, SandVec3 half, SandSide side, SandError *error);
// A sphere of this radius (m).
SAND_API bool sand_boundary_sphere(SandBoundary *b, double radius, SandSide side, SandError *error);
// A surface of revolution of a profile of `count` corners (radius, height) in m, which is copied. Inside: bodies are towards
// the axis; outside: away from it. Heights need not be monotone; the profile must not cross itself.
SAND_API bool sand_boundary_revolution(SandBoundary *b, const double (*profile)[2], int count, SandSide side,
                                       SandError *error);
// A mesh. Refuses numbers that are not finite, degenerate triangles, edges with more than two triangles or of opposed
// orientation, and holes: a mesh is closed, or has one outer rim.
SAND_API bool sand_boundary_mesh(SandBoundary *b, const SandVec3 *vertices, int vertex_count, const int (*faces)[3],
                                 int face_count, SandError *error);
// The same from a file (sand_mesh_data_read).
SAND_API bool sand_boundary_mesh_file(SandBoundary *b, const char *path, SandError *error);
// A patch of ground, as a mesh: `heights` (m) is nx by ny, row after row along x, over [-half.x, half.x] x [-half.y,
// half.y].
SAND_API bool sand_boundary_terrain(SandBoundary *b, const double *heights, int nx, int ny, SandVec3 half, SandError *error);

// Lets a boundary move by a table of rows, which is copied; times ascend. Between two rows it moves and turns at constant
// rates, before the first and behind the last it stands still. Sets motion.path to 1.
SAND_API bool sand_boundary_path(SandBoundary *b, const SandMotionPoint *rows, int count, SandError *error);

SAND_API void sand_boundary_free(SandBoundary *b); // frees what the boundary owns, not `b` itself

// Returns the pose at a time (s).
SAND_API SandPose sand_boundary_pose(const SandBoundary *b, double time);
// Returns the point (m) through which the axis of its motion passes at a time: motion.center, which travels with it. Of a
// boundary that does not move, its position.
SAND_API SandVec3 sand_boundary_center(const SandBoundary *b, double time);
// Returns the velocity (m/s) of the pose's position and the spin (rad/s) that carry it from `time` to `time + step` exactly.
SAND_API void sand_boundary_velocity(const SandBoundary *b, double time, double step, SandVec3 *velocity, SandVec3 *spin);

// Finds all touches of a sphere with gap <= reach (m), at most one for each smooth piece: pieces that meet in an edge or
// corner which is the nearest point give one touch, and an edge covered by a touched face gives none. Returns how many there
// are, which may exceed `capacity`; the first `capacity` are written, in a fixed order.
SAND_API int sand_boundary_touch(const SandBoundary *b, const SandPose *pose, SandVec3 center, double radius, double reach,
                                 SandTouch *touches, int capacity);

// Returns the signed distance (m) of a point to the boundary, positive on the allowed side: for filling and for checks.
SAND_API double sand_boundary_distance(const SandBoundary *b, const SandPose *pose, SandVec3 point);

// Whether a flat face can rest on it by its corners and rims alone: true of planes and the insides of convex vessels.
SAND_API bool sand_boundary_flat_or_hollow(const SandBoundary *b);

#ifdef __cplusplus
}
#endif
