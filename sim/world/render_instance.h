// The bodies of a world as a picture takes them: one instance for each ball, box and cylinder, as shaders read it. Each has
// a place of its own that stays the same as long as no body is added, so that any machine can write them side by side.
#pragma once
#include "sim/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// One ball, box or cylinder. A radius of 0, or half extents of 0, hide it.
typedef struct SandInstance {
    float center[3];   // m, of the body's center of mass, from the picture's origin
    float radius;      // m, of the ball
    float rotation[4]; // x, y, z, w of the body
    float velocity[3]; // m/s
    float value;       // 0 to 1: where it stands on the color map
    float spin[3];     // rad/s
    uint32_t tag;      // body number, look << 28
    float offset[3];   // m, ball: its center in the body's frame; box and cylinder: half extents
    float unused;
} __attribute__((aligned(16))) SandInstance; // a machine writes it in few strokes

typedef enum SandLook { SAND_LOOK_SAND, SAND_LOOK_ROCK, SAND_LOOK_METAL } SandLook;

// What the value of a body is: nothing, or a figure of it in the last step.
typedef enum SandShade { SAND_SHADE_NONE, SAND_SHADE_SPEED, SAND_SHADE_CONTACTS, SAND_SHADE_FORCE } SandShade;

typedef struct SandInstanceDef {
    SandVec3 origin; // m, where the picture's coordinates have their zero
    double time;     // s, the instant that is shown: bodies that enter later are hidden
    double grain;    // m, a typical radius; what is much larger is of metal
    SandShade shade;
    double range; // the value at the color map's upper end: m/s, contacts, N
    double least; // the value at its lower end; above 0 the map goes by decades
} SandInstanceDef;

// How many there are of each kind. They lie in this order.
typedef struct SandInstanceCounts {
    int spheres, pieces, boxes, cylinders; // pieces: the balls of clumps
} SandInstanceCounts;

// Where each body's first instance lies; the others of a clump follow it.
SandInstanceCounts sand_instance_places(const SandWorld *world, int *places);

static inline size_t sand_instance_total(SandInstanceCounts c) {
    return (size_t)c.spheres + (size_t)c.pieces + (size_t)c.boxes + (size_t)c.cylinders;
}

#ifdef __cplusplus
}
#endif
