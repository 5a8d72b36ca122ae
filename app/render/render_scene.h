// SPDX-License-Identifier: MIT
// What is to be drawn, free of GL: bodies as instances, boundaries as surfaces. It can be shown at any time up to one step
// before that of the world: with s the time to go back, the renderer draws x - s v, rotated by exp(-s w).
#pragma once
#include "app/render/colormap.h"
#include "app/render/solid_mesh.h"
#include "sim/core/array.h"
#include "sim/ranks/subdomain.h"
#include "sandglass/scene.h"
#include "sandglass/simulation.h"

typedef enum RenderColor {
    COLOR_BY_BODY,
    COLOR_BY_SPEED,
    COLOR_BY_CONTACTS,
    COLOR_BY_FORCE,
    COLOR_BY_RESIDUAL,
    RENDER_COLOR_COUNT,
    COLOR_GIVEN = RENDER_COLOR_COUNT // by RenderScene.given; it has no name
} RenderColor;
extern const char *const render_color_names[RENDER_COLOR_COUNT + 1]; // ended by NULL

// Where the ends of the color map are. To hold a range as it is, set it to RenderScene.least and RenderScene.range.
typedef enum RenderRangeMode {
    RANGE_OF_SCENE, // by the scene's size and weights: constant, so that a color means the same in every frame
    RANGE_FIT,      // by the values of the frame: from the least to that which only one body in a hundred exceeds
    RANGE_SET       // from `low` to `high`
} RenderRangeMode;

typedef struct RenderRange {
    RenderRangeMode mode;
    double low, high; // m/s, contacts, N; of RANGE_SET
} RenderRange;

// The first values are those of bodies: see SandLook.
typedef enum RenderLook {
    LOOK_GLASS = SAND_LOOK_GLASS,
    LOOK_WOOD = SAND_LOOK_WOOD,
    LOOK_BRASS = SAND_LOOK_BRASS,
    LOOK_BRICK = SAND_LOOK_BRICK,
    LOOK_CONCRETE = SAND_LOOK_CONCRETE,
    LOOK_FLOOR = SAND_LOOK_COUNT,
    LOOK_EARTH, // and one more, of data colors: shaders/common/look.glsl
} RenderLook;

// One contact of a force chain: from the center of a body to that of its neighbor, or to the contact point on a wall.
typedef struct RenderLink {
    float from[3];
    float value;            // normal force over chain_range, 0 to 1
    float from_velocity[3]; // m/s
    float half_width;       // m
    float to[3];
    float unused;
    float to_velocity[3];
    float unused_too;
} RenderLink;

typedef struct RenderVertex {
    float position[3]; // m, in the surface's frame
    float normal[3];
    float turn; // angle around the axis, 0 to 1, for marks that show rotation; -1: a flat pane, -2: its edge
} RenderVertex;

typedef struct RenderSurface {
    uint32_t first, count;               // indices
    uint32_t coarse_first, coarse_count; // a coarser version of it, where there is one
    RenderLook look;
    float color[3];                 // of what is neither earth nor glass
    int boundary;                   // of the world; -1: scenery
    int body;                       // that carries it, with vertices in the frame of the body; -1: none
    bool beyond;                    // ground beyond the world's, which is not what a camera should show
    bool in_world;                  // vertices are in the world frame (relative to the origin), not in that of the boundary
    bool marks;                     // it rotates, and has marks that show so
    float rotation[4], position[3]; // at the time shown, relative to the origin
} RenderSurface;

typedef struct RenderList {
    SandInstance *items; // NULL: not in host memory; see render_scene_read_store
    int count;
} RenderList;

// Convex bodies with the same mesh, one behind the other among the instances.
typedef struct RenderGroup {
    int mesh; // of RenderScene.meshes
    int count;
} RenderGroup;

typedef struct RenderLinks {
    RenderLink *items;
    int count;
} RenderLinks;

// Memory for instances and links: all lists, one after the other. Where a device takes the steps they may be written to a
// slot of that device instead, and stay there.
typedef struct InstanceStore {
    void *data;
    size_t capacity;            // bytes
    size_t bytes;               // in use
    bool takes_slots;           // set by the owner: device slots can be drawn from
    const SandBackend *backend; // of the slot, which the store owns
    SandSlot *slot;
    bool away; // the bytes are in the device slot
} InstanceStore;
void render_scene_close_slot(InstanceStore *store);

typedef struct RenderScene {
    double time;           // s, that is shown
    double back;           // s, from the state of the instances back to `time`
    SandVec3 origin;       // m, of the coordinates of the render scene, in the world
    SandVec3 lower, upper; // m, relative to the origin: what a camera should show
    SandVec3 followed;     // m, how far the camera has moved with a body; shadows are cast in the box that moves with it
    double floor;          // m, height of the ground from the origin
    double grain;          // m, a typical radius
    bool dressed;          // `studio` is set, by render_scene_dress; else the default one is used
    SandStudio studio;     // light, backdrop, ground and frame
    RenderColor color;
    const double *given; // set by the caller: what COLOR_GIVEN shows, one number for each body
    ColorMap map;        // set by the caller that draws
    double range;        // the value at the color map's upper end: m/s, contacts, N
    double least;        // the value at its lower end
    bool logarithmic;    // the map is one of logarithms
    RenderRange limits;  // set by the caller: how to choose the two
    bool chains;         // set by the caller: gather the force chains as well
    double chain_range;  // N, the normal force of the widest link
    RenderList spheres;
    RenderList rocks;               // balls of clumps, with the look of rock, when colored by body
    RenderList parts, stones;       // convex bodies: SAND_DRAWN_PART, SAND_DRAWN_STONE
    SolidMeshes meshes;             // of the shapes of the world
    SAND_ARRAY(RenderGroup) groups; // of the parts, then of the stones
    int part_groups, group_count;
    RenderLinks links;
    InstanceStore own;                    // used where the caller gives no store
    InstanceStore *store;                 // the memory of the lists: the caller's (triple_buffer.h), or `own`
    float palette[SAND_MAX_MATERIALS][4]; // colors of the materials; w: 1 where it has one, else it has that of its look
    int material_count;
    unsigned buffer; // the GL buffer that holds the store's bytes; 0: none, so the renderer copies them

    SAND_ARRAY(RenderVertex) vertices;
    SAND_ARRAY(uint32_t) indices;
    SAND_ARRAY(RenderSurface) surfaces;
    uint32_t vertex_count, index_count;
    int surface_count;
    bool carries;     // some surface has a body
    uint64_t stamp;   // unique for every render_scene_update of the program; 0: never equal
    unsigned version; // unique for every set of vertices and indices of the program

    int body_count;         // that `places` is valid for
    double mass, last_mass; // kg, mean of its bodies, and of the last of them
    double largest;         // m, upper bound of the radii; 0: unknown
    SAND_ARRAY(int) places; // index of the first instance of each body
    SandInstanceCounts counts;
    SAND_ARRAY(int) stone_counts; // how many bodies there are of each shape that is a stone
    SAND_ARRAY(float) values;     // scratch, one per body
    const float
        *sun_depths; // of the bodies in the shadow map, where others have drawn them there; NULL: the renderer draws them
} RenderScene;

// Builds the surfaces of the boundaries of the world, clipped to the box that is shown.
bool render_scene_init(RenderScene *render_scene, const SandWorld *world, SandVec3 view_lower, SandVec3 view_upper,
                       SandError *error);
// Sets light, backdrop and ground, and adds the frame of a vessel. Call it once, before the first update.
bool render_scene_dress(RenderScene *render_scene, const SandWorld *world, const SandStudio *studio, SandError *error);
void render_scene_free(RenderScene *render_scene);

// Writes the instances of the bodies as they are now, to be shown at `time`, at most one step before that of the world. With
// `sim`, whose world it is, contacts, forces and residuals of the last step can be shown; it may be NULL. Where a device
// takes the steps and the store accepts slots, the bodies stay there; else they are downloaded. Residuals and force chains
// always come from the host.
bool render_scene_update(RenderScene *render_scene, const SandWorld *world, SandSimulation *sim, double time,
                         RenderColor color, SandError *error);
// Downloads the instances to the host where they are in a device slot, for picking. The scene is drawn as before.
bool render_scene_read_store(RenderScene *render_scene, SandError *error);
void render_scene_clear(RenderScene *render_scene); // shows no bodies

// surface.c: adds the surfaces of one boundary. render_scene_init calls it.
bool surface_add(RenderScene *render_scene, const SandWorld *world, int boundary, SandError *error);
bool surface_is_floor(const SandWorld *world, int boundary); // a plane that faces up

// --- the bodies of several processes, each of which draws its own (app/cli/film/composite.c) ---

// Contacts of the last step, for values and force chains.
typedef struct RenderContacts {
    const SandProblem *problem;
    const SandSolution *solution;
    const int *body; // of the world, of each body of the problem
    int first, count;
    const double *residual; // of each contact of the problem, where they are shown
} RenderContacts;

enum { RENDER_SAMPLES = 4096 }; // bodies that RANGE_FIT looks at, at most
static inline int render_sample_step(int bodies) { return bodies / RENDER_SAMPLES + 1; } // from one of them to the next
enum { INSTANCE_BODY = 0x0fffffff }; // the bits of a tag that name the body

// The part of render_scene_update that needs no body: settings, surfaces, and a range where it is not RANGE_FIT.
bool render_scene_begin(RenderScene *render_scene, const SandWorld *world, double time, RenderColor color, SandError *error);
SandInstanceDef render_scene_describe(const RenderScene *render_scene, const SandWorld *world);
// Fills `values` with what the color of each body shows; NULL: no contacts are known.
bool render_scene_values(RenderScene *render_scene, const SandWorld *world, const RenderContacts *contacts,
                         SandError *error);
// Writes the force chains of these contacts, and returns how many links there are: at most one for each.
int render_scene_links(const RenderScene *render_scene, const SandWorld *world, const RenderContacts *contacts,
                       RenderLink *links);
void render_scene_fit_range(RenderScene *render_scene, float *sample, int count); // to these values, which it sorts
// Ensures capacity for these counts of instances, stones[s] of them of the shape s, and sets lists and groups. `all`: of the
// whole picture.
bool render_scene_reserve(RenderScene *render_scene, const SandWorld *world, const SandInstanceCounts *counts,
                          const int *stones, const SandInstanceCounts *all, SandError *error);
// Writes the instances of the bodies that a process has, with the numbers that they have in the world.
bool render_scene_write_part(RenderScene *render_scene, const SandOwnBodies *bodies, const SandInstanceDef *def,
                             const SandInstanceCounts *all, SandError *error);
