// What is to be drawn, free of GL: bodies as instances, boundaries as surfaces. Made from a world by the caller, at any
// instant t up to one step before the world's time: the renderer draws x - s v, turned by exp(-s w).
#pragma once
#include "app/render/colormap.h"
#include "sim/step/backend.h"
#include "sandglass/simulation.h"

typedef enum RenderColor {
    COLOR_BY_BODY,
    COLOR_BY_SPEED,
    COLOR_BY_CONTACTS,
    COLOR_BY_FORCE,
    COLOR_BY_RESIDUAL,
    RENDER_COLOR_COUNT
} RenderColor;
extern const char *const render_color_names[RENDER_COLOR_COUNT + 1]; // ended by NULL

// The first are those of bodies: see SandLook.
typedef enum RenderLook {
    LOOK_SAND = SAND_LOOK_SAND,
    LOOK_ROCK = SAND_LOOK_ROCK,
    LOOK_METAL = SAND_LOOK_METAL,
    LOOK_FLOOR,
    LOOK_EARTH,
    LOOK_GLASS
} RenderLook;

// One contact of a force chain: from the middle of a body to that of its neighbor, or to where it touches a wall.
typedef struct RenderLink {
    float from[3];
    float value;            // 0 to 1: the normal force, of the picture's chain_range
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
    float turn; // how far round the axis, 0 to 1, for marks that show it turning; -1: a flat pane, -2: its edge
} RenderVertex;

typedef struct RenderSurface {
    uint32_t first, count;               // indices
    uint32_t coarse_first, coarse_count; // of fewer triangles for the same, where there are any
    RenderLook look;
    int boundary;                   // of the world
    bool in_world;                  // its vertices are in the world's frame (seen from the origin), not in the boundary's
    bool marks;                     // it turns, and shows it
    float rotation[4], position[3]; // at the instant, from the origin
} RenderSurface;

typedef struct RenderList {
    SandInstance *items; // NULL: the picture's bytes are not in the memory of the host; see render_scene_read_store
    int count;
} RenderList;

typedef struct RenderLinks {
    RenderLink *items;
    int count;
} RenderLinks;

// Where instances and links are written: all lists lie in it, one after the other. They may be written where the steps are
// taken instead, and stay there: in a slot of that machine.
typedef struct InstanceStore {
    void *data;
    size_t capacity;            // bytes
    size_t bytes;               // in use
    bool takes_slots;           // set by who made it: a slot can be drawn from
    const SandBackend *backend; // of the slot, which belongs to the store once it is made
    SandSlot *slot;
    bool away; // the bytes are in the slot
} InstanceStore;
void render_scene_close_slot(InstanceStore *store);

typedef struct RenderScene {
    double time;           // s, the instant shown
    double back;           // s, the instances' state is so much later than the instant
    SandVec3 origin;       // m, where the picture's coordinates have their zero
    SandVec3 lower, upper; // m, from the origin: what a camera should show
    double floor;          // m, height of the ground from the origin
    double grain;          // m, a typical radius
    RenderColor color;
    ColorMap map;       // set by who draws it
    double range;       // the value at the color map's upper end: m/s, contacts, N
    double least;       // the value at its lower end; above 0 the map goes by decades
    bool chains;        // set by the caller: gather the force chains as well
    double chain_range; // N, the normal force of the widest link
    RenderList spheres, boxes, cylinders;
    RenderList rocks; // balls of clumps, with the look of rock, where colors mean nothing
    RenderLinks links;
    InstanceStore own;    // memory of the picture itself, where the caller gives none
    InstanceStore *store; // where the lists lie: the caller's (see ring.h), or `own`
    unsigned buffer;      // the GL buffer that holds the store's bytes; 0: none, so the renderer copies them

    RenderVertex *vertices;
    uint32_t *indices;
    RenderSurface *surfaces;
    uint32_t vertex_count, index_count;
    int surface_count;
    size_t vertex_capacity, index_capacity, surface_capacity;
    uint64_t stamp;   // another number for every render_scene_update in this program; 0: never the same
    unsigned version; // another number for every set of vertices and indices in this program

    int body_count;         // of the world that the places are for
    double mass, last_mass; // kg, mean of its bodies, and of the last of them
    double largest;         // m, no ball has a greater radius; 0: nobody looked
    int *places;            // of each body's first instance
    SandInstanceCounts counts;
    size_t place_capacity;
    float *values; // scratch, one a body
    size_t value_capacity;
} RenderScene;

// Makes the surfaces of the world's boundaries, cut to the box that is to be shown.
bool render_scene_init(RenderScene *render_scene, const SandWorld *world, SandVec3 view_lower, SandVec3 view_upper,
                       SandError *error);
void render_scene_free(RenderScene *render_scene);

// Takes the bodies as they are now, to be shown at `time`, at most a step before the world's. With `sim`, whose world
// it is, contacts, forces and residuals of the last step can be shown; it may be NULL. Where another machine takes the steps
// and the store takes slots, the bodies stay there; else they are fetched. Residuals and force chains are the host's.
bool render_scene_update(RenderScene *render_scene, const SandWorld *world, SandSimulation *sim, double time,
                         RenderColor color, SandError *error);
// Brings the instances of a picture to the host, where they are not, for who looks into them. The picture is drawn as
// before.
bool render_scene_read_store(RenderScene *render_scene, SandError *error);
void render_scene_clear(RenderScene *render_scene); // shows no bodies

// surface.c: adds the surfaces of one boundary. render_scene_init calls it.
bool surface_add(RenderScene *render_scene, const SandWorld *world, int boundary, SandError *error);
bool surface_is_floor(const SandWorld *world, int boundary); // a plane that faces up
