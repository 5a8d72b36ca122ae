// SPDX-License-Identifier: MIT
// Bodies as a renderer draws them: one instance for each sphere and each convex body, in the layout that the shaders read.
// Every instance has an index of its own that stays the same as long as no body is added, so that any backend can write
// instances in parallel, the GPU straight into the renderer's buffer.
#pragma once
#include "sandglass/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// One sphere or convex body. A radius of 0, or an extent of 0, hides it. Aligned for wide stores.
typedef struct SandInstance {
    float center[3];   // m, of the body's center of mass, relative to the scene origin of the renderer
    float radius;      // m, of the sphere; convex bodies: 0
    float rotation[4]; // x, y, z, w of the body
    float velocity[3]; // m/s
    float value;       // 0 to 1: position on the color map
    float spin[3];     // rad/s
    uint32_t tag;      // index of the body | SandLook << 28
    float offset[3];   // m, sphere: its center in the body frame; stone: its bound, three times;
                       // other convex bodies: half extents
    float material;    // index of its material
} __attribute__((aligned(16))) SandInstance;

// What the value of a body shows: nothing, or a quantity of the last step.
typedef enum SandShade {
    SAND_SHADE_NONE,
    SAND_SHADE_SPEED,    // m/s
    SAND_SHADE_CONTACTS, // contacts that carry an impulse
    SAND_SHADE_FORCE,    // N, sum of the sizes of its contact forces
} SandShade;

typedef struct SandInstanceDef {
    SandVec3 origin; // m, of the renderer's coordinates: floats near it keep their digits
    double time;     // s, the instant shown: bodies that enter later are hidden
    double grain;    // m, a typical radius; what is larger than four, but no rock, is drawn as chrome or, a part, as metal
    bool metal;      // boxes, cylinders and capsules are metal, of any size: they are few, and no grains
    SandShade shade;
    double range;                     // the value at the upper end of the color map: m/s, contacts, N
    double least;                     // the value at its lower end
    bool logarithmic;                 // values are placed on the map by their logarithm; `least` is above 0
    uint8_t look[SAND_MAX_MATERIALS]; // SandLook of each material; 0: by the shape of the body
} SandInstanceDef;

// How many instances there are of each kind of shape, of clumps their spheres. They are stored in this order.
typedef struct SandInstanceCounts {
    int of[SAND_SHAPE_KINDS];
} SandInstanceCounts;

// Fills first[i] with the index of the first instance of body i; the others of a clump follow it. Stones of the same shape
// lie one behind the other, in the order of the shapes: stones[s] gets how many there are of shape s, 0 where it is none.
SAND_API SandInstanceCounts sand_instance_first(const SandWorld *world, int *first, int *stones);

// Returns the number of instances that are drawn in this way.
static inline int sand_instance_drawn(const SandInstanceCounts *c, SandDrawn drawn) {
    int count = 0;
    for (int k = 0; k < SAND_SHAPE_KINDS; k++) count += sand_shape_drawn((SandShapeKind)k) == drawn ? c->of[k] : 0;
    return count;
}

// Returns the number of instances of all kinds.
static inline size_t sand_instance_total(SandInstanceCounts c) {
    size_t count = 0;
    for (int k = 0; k < SAND_SHAPE_KINDS; k++) count += (size_t)c.of[k];
    return count;
}

#ifdef __cplusplus
}
#endif
