// SPDX-License-Identifier: MIT
// The world: bodies as structure of arrays, shapes, boundaries, materials, and the settings of a step. It is plain data that
// a caller may read at any time and change between steps; sandglass/simulation.h advances it.
//
//     SandWorld world;
//     sand_world_init(&world);
//     SandMaterial stone = {.name = "stone", .density = 2500, .mu = 0.5};
//     int material = sand_world_add_material(&world, &stone, &error);
//     ... sand_world_add_shape, sand_world_add_boundary, sand_world_add_body ...
//     sand_world_check(&world, &error)
//
// Units are SI: m, kg, s, rad. Functions that return an index return -1 on failure, with a sentence.
#pragma once
#include "sandglass/error.h"
#include "sandglass/geometry.h"
#include "sandglass/math.h"
#include "sandglass/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

// What bodies of a material look like; pictures alone depend on it.
typedef enum SandLook {
    SAND_LOOK_SAND,     // unless the material says otherwise: grains of sand; clumps and hulls are then rocks
    SAND_LOOK_ROCK,     // with facets and grain
    SAND_LOOK_METAL,    // dark steel; see SandInstanceDef.metal
    SAND_LOOK_CHROME,   // a mirror; also a sphere that is much larger than a grain
    SAND_LOOK_STEEL,    // brushed
    SAND_LOOK_GLASS,    // clear, with a tint
    SAND_LOOK_GRAPHITE, // dark gray, with a dull gloss
    SAND_LOOK_WOOD,     // with rings and fibers
    SAND_LOOK_BRASS,    // polished
    SAND_LOOK_RUBBER,   // black, matte; cylinders have treads, and rims of steel
    SAND_LOOK_PAINT,    // painted metal, olive green
    SAND_LOOK_BRICK,    // red, with mortar along the edges
    SAND_LOOK_QUARTZ,   // white and honey-colored crystal
    SAND_LOOK_BLACK,    // black steel
    SAND_LOOK_CONCRETE, // gray, with pores
    SAND_LOOK_NONE,     // not drawn
    SAND_LOOK_COUNT
} SandLook;
SAND_API const char *sand_look_name(SandLook look); // as scene files write it

enum { SAND_MAX_MATERIALS = 256 }; // of a world

// What a body or a boundary is made of. A law that is 0 is absent.
typedef struct SandMaterial {
    char name[SAND_NAME]; // unique in the world
    double density;       // kg/m^3; more makes bodies of the material heavier
    double mu;            // friction coefficient; a pair has the geometric mean of its two unless sand_world_set_pair says
    double restitution;   // part of the normal speed that an impact gives back, 0 to 1; pairs as for mu
    double cohesion;      // N, the largest pull of a contact; pairs as for mu
    double rolling;       // m, coefficient of rolling friction; pairs as for mu
    double spinning;      // m, coefficient of spinning friction; pairs as for mu
    SandLook look;        // of its bodies; boundaries are glass or ground
    SandVec3 color;       // red, green and blue in linear light, 0 to 1; black: that of the look
} SandMaterial;
SAND_API SandMaterial sand_default_material(void); // without a name: 2500 kg/m^3, mu 0.5, no other law

// The laws of a contact between two materials.
typedef struct SandPair {
    double mu;          // friction coefficient
    double restitution; // Newton's: an impact of speed u parts with this times u; from 0 to 1
    double cohesion;    // N, the pull that a closed contact withstands before it opens
    double rolling;     // m: the largest torque against rolling, over the normal force; more stops a ball sooner
    double spinning;    // m: the same against spinning about the normal
} SandPair;

// A spring from a point of a body to a point of the world: the mouse dragging a body. It is critically damped and integrated
// implicitly, so that it is stable however stiff.
typedef struct SandSpring {
    int body;        // index, -1: no spring
    SandVec3 point;  // m, where it is attached, in the body frame
    SandVec3 target; // m, where it pulls to, in the world frame
    double rate;     // 1/s, how fast the point approaches the target; more is stiffer
} SandSpring;

// A periodic box that is squeezed from all sides: below the pressure that is asked for it shrinks, faster with each step up
// to `rate`; above it widens, at half the speed at which it came there. So it ends close about the place where the bodies
// jam.
typedef struct SandSqueeze {
    double rate;     // 1/s, of each length; 0: the box stays as it is
    double pressure; // Pa, wanted
    double now;      // Pa, of the contacts in the last step
    double speed;    // 1/s, at which it shrinks now
} SandSqueeze;

// How a joint holds body b to body a, which may be the world. Hinge, slider and distance leave one motion free, the
// coordinate of the joint: the angle of b about the axis (rad), how far it has moved along it (m), both zero where it was
// made, or the distance of the two anchors (m). A rod keeps that distance as it was; a rope lets it be less.
typedef enum SandJointKind {
    SAND_JOINT_BALL,      // the anchors coincide
    SAND_JOINT_HINGE,     // the same, and b turns about the axis alone
    SAND_JOINT_SLIDER,    // b moves along the axis and does not turn
    SAND_JOINT_UNIVERSAL, // the anchors coincide, and the axis of a stays at a right angle to that of b
    SAND_JOINT_FIXED,     // b keeps its place and its rotation
    SAND_JOINT_DISTANCE,
    SAND_JOINT_ROD,
    SAND_JOINT_ROPE,
    SAND_JOINT_KINDS
} SandJointKind;

typedef enum SandMotor { SAND_MOTOR_NONE, SAND_MOTOR_SPEED, SAND_MOTOR_POSITION } SandMotor;

// What acts on the coordinate of a joint: limits, a motor, and a spring with a damper.
typedef struct SandDrive {
    double low, high; // limits; -INFINITY and INFINITY: none. Equal: the coordinate is held
    SandMotor motor;
    double target;    // of the motor: a speed, or a coordinate
    double rate;      // 1/s, a motor that goes to a position wants this times what is left as its speed; more is quicker,
                      // and overshoots where the motor is too weak to brake
    double speed;     // m/s or rad/s, the largest speed on the way there
    double strength;  // N or N m, the largest force or torque of the motor; INFINITY: it is never overcome
    double stiffness; // N/m or N m/rad, of the spring; it is integrated implicitly, and stable however stiff
    double damping;   // N s/m or N m s/rad, of the damper
    double rest;      // coordinate at which the spring is at rest; of a joint to add NAN stands for where the bodies are
} SandDrive;

// A joint as the world keeps it, in the frames of its bodies. `drive` may be changed between steps.
typedef struct SandJoint {
    SandJointKind kind;
    int a, b;                    // bodies; a -1: the world
    char name[SAND_NAME];        // unique in the world, or empty
    SandVec3 anchor_a, anchor_b; // m
    SandVec3 axis_a, axis_b;     // unit
    SandQuat rest;               // rotation of b in the frame of a when the joint was made
    SandDrive drive;
} SandJoint;

enum {
    SAND_MAX_OUTLETS = 16, // of a world
    SAND_MAX_JOINT_PASSES = 10,
    SAND_MAX_LOOKS = 4,
    SAND_MAX_INLETS = 16,
    SAND_LEFT_BY = 2, // SandWorld.gone of a body that left through outlet 0
};

// A region in which bodies are taken out of the world and counted: what is in the box and behind the plane. Made by
// sand_outlet_box or sand_outlet_plane; a body is where its center of mass is.
typedef struct SandOutlet {
    char name[SAND_NAME];  // for people; the caller's to set
    SandVec3 lower, upper; // m, the box; of a plane: everything
    SandVec3 normal;       // the plane: bodies are taken out where normal . position <= offset
    double offset;         // of a box both are 0: everything is behind it
    int64_t bodies;        // that left through it so far
    double mass;           // kg, theirs
} SandOutlet;

// A box through which bodies enter at a rate. All of them are bodies of the world from the beginning, and enter in
// the order of their indices. The box is divided into cells that each hold the largest of them: a body enters in a cell that
// nothing reaches into, so that it overlaps nothing, and waits while there is none. Which cell, and where in it, follows
// from the seed.
typedef struct SandInlet {
    char name[SAND_NAME];  // for people
    SandVec3 lower, upper; // m, the box
    double rate;           // bodies per second
    double start;          // s, when it opens
    int first, count;      // its bodies: indices of the world, from `first` on
    uint64_t seed;
    // Filled by sand_world_add_inlet.
    int cells[3]; // along each axis
    int stride;   // cells are tried in steps of this many
    int entered;  // bodies so far
} SandInlet;

// The arrays of bodies, which SandWorld has as members: type of an entry, and name. Everything that keeps, copies,
// sends or uploads bodies goes over these lists, so that an array is one line here; hashes and keys of a world name theirs.
// clang-format off
#define SAND_BODY_STATE(ARRAY) /* what a step changes */ \
    ARRAY(SandVec3, position) /* m, center of mass */ \
    ARRAY(SandQuat, rotation) /* unit, body frame to world frame */ \
    ARRAY(SandVec3, velocity) /* m/s, of the center of mass */ \
    ARRAY(SandVec3, spin)     /* rad/s, angular velocity in the world frame */ \
    ARRAY(uint16_t, sleep)    /* steps in a row that it was slower than sleep_speed, and a flag */ \
    ARRAY(uint8_t, gone)      /* 1: left the world's box or became non-finite and was reported, or was removed; is inactive \
                                 from then on; SAND_LEFT_BY + k: left through outlet k */
#define SAND_BODY_PROPERTIES(ARRAY) /* what stays */ \
    ARRAY(double, mass)       /* kg */ \
    ARRAY(SandVec3, inertia)  /* kg m^2, principal moments, body frame */ \
    ARRAY(double, scale)      /* size of the shape; a sphere's radius in m */ \
    ARRAY(double, enter)      /* s, the body is active from this time on; 0: from the start; infinity: waits for an inlet */ \
    ARRAY(int, shape)         /* index into shapes */ \
    ARRAY(int, material)      /* index into materials */
// clang-format on
#define SAND_BODY_ARRAYS(ARRAY) SAND_BODY_STATE(ARRAY) SAND_BODY_PROPERTIES(ARRAY)
#define SAND_BODY_POINTER(type, name) type *name;
#define SAND_BODY_CAPACITY(type, name) size_t name;

// Settings of a world that are one number each, which SandWorld has as members: type, name, value in a new world, least and
// greatest value, unit. They are keys of a scene under these names, are checked before a step, wake what sleeps when they
// change, and are part of what a world is known by: a setting is one line here.
// clang-format off
#define SAND_WORLD_SETTINGS(SETTING) \
    SETTING(double, step, 0.01, 1e-9, 10, "s")         /* length of a step; a larger one is faster and coarser */ \
    SETTING(double, recovery, 1, 0, 1e6, "m/s")        /* the largest speed at which a penetration is pushed apart; 0: never */ \
    SETTING(double, recovery_fraction, 0.3, 0, 1, "")  /* of a penetration up to what a body falls in a step, the part that \
                                                          a step undoes; 1: all */ \
    SETTING(double, sleep_speed, 0, 0, 1e6, "m/s")     /* a body slower than this for half a second falls asleep, and is \
                                                          not solved; 0: none does */ \
    SETTING(double, bounce_speed, 0.2, 0, 1e6, "m/s")  /* an impact that is slower does not bounce, so that what comes to \
                                                          rest does */ \
    SETTING(double, envelope, 0, 0, 1e7, "m")          /* the least gap within which a pair is a contact; more finds more */ \
    SETTING(int, joint_passes, 1, 1, SAND_MAX_JOINT_PASSES, "") /* solves of a step with joints; from the second on they \
                                                          move on the arcs that the last one found */ \
    SETTING(int, looks, -1, -1, SAND_MAX_LOOKS, "")    /* at most, of a step behind its solve, for what spins in \
                                                          (docs/problem.md); -1: 4 on the CPU, none on CUDA */
// clang-format on
#define SAND_SETTING_MEMBER(type, name, ...) type name;

typedef struct SandWorld {
    // Bodies: arrays of body_count entries. The index of a body never changes.
    int body_count;
    SAND_BODY_ARRAYS(SAND_BODY_POINTER)
    struct {
        SAND_BODY_ARRAYS(SAND_BODY_CAPACITY)
    } body_capacity; // entries, of each array above

    int shape_count, boundary_count, material_count;
    SandShape *shapes;        // owned
    SandBoundary *boundaries; // owned
    SandMaterial *materials;
    size_t shape_capacity, boundary_capacity, material_capacity, pair_capacity;
    SandPair *pairs; // material_count x material_count, symmetric, always complete

    int joint_count;
    SandJoint *joints;
    int apart_count;
    uint64_t *apart; // pairs of bodies that do not collide, sorted: the lower index << 32 | the higher one
    size_t joint_capacity, apart_capacity;

    int outlet_count, inlet_count;
    SandOutlet *outlets;
    SandInlet *inlets;
    size_t outlet_capacity, inlet_capacity;

    int probe_count;
    SandProbe *probes;
    double *probe_values; // of all probes, as of their last samples
    size_t probe_capacity, probe_value_capacity;

    // What acts on each body in the coming step, beside gravity and contacts; NULL: nothing does. The simulation owns the
    // two arrays, fills them (sand_simulation_apply_force) and clears them after the step.
    const SandVec3 *force, *torque; // N, and N m about the center of mass; world frame

    SandVec3 gravity;      // m/s^2
    SandSpring spring;     // at most one
    SandVec3 lower, upper; // m, the world's box: a body whose center leaves it is reported and deactivated
    bool periodic[3];      // along x, y, z: the box repeats; what leaves it on one side comes in on the other
    SandSqueeze squeeze;   // of a box that repeats along all three
    double time;           // s, now
    uint64_t step_index;   // steps done
    SAND_WORLD_SETTINGS(SAND_SETTING_MEMBER)
} SandWorld;

// Makes an empty world: gravity 9.81 m/s^2 along -z, a box of 20 km, and the settings that the list above has.
SAND_API void sand_world_init(SandWorld *world);
SAND_API void sand_world_free(SandWorld *world); // frees everything the world owns, not `world` itself
// Copies a world with all that it owns. On failure the copy is empty.
SAND_API bool sand_world_copy(SandWorld *to, const SandWorld *from, SandError *error);

// Adds a material. Its pairs with all others have the geometric means of the laws of the two. The name must be new, the
// density above 0, the restitution from 0 to 1, and no law below 0. Refuses more than SAND_MAX_MATERIALS.
SAND_API int sand_world_add_material(SandWorld *world, const SandMaterial *material, SandError *error);
// Puts another in the place of a material: its pairs with all others become the geometric means again. Bodies that were
// added keep their mass. Refuses what sand_world_add_material does.
SAND_API bool sand_world_set_material(SandWorld *world, int index, const SandMaterial *material, SandError *error);
// Add a shape or boundary. The world takes ownership of what it owns, unless the call fails.
SAND_API int sand_world_add_shape(SandWorld *world, const SandShape *shape, SandError *error);
SAND_API int sand_world_add_boundary(SandWorld *world, const SandBoundary *boundary, SandError *error);

// An outlet in a box, or behind a plane through `point`: on the side that `normal`, of any length, does not point to.
SAND_API SandOutlet sand_outlet_box(SandVec3 lower, SandVec3 upper);
SAND_API SandOutlet sand_outlet_plane(SandVec3 point, SandVec3 normal);
// Adds an outlet. Refuses a box without volume, a normal of length 0, and more than SAND_MAX_OUTLETS.
SAND_API int sand_world_add_outlet(SandWorld *world, const SandOutlet *outlet, SandError *error);

// Adds an inlet for bodies of the world that no other inlet has; they wait from now on, with the velocity and rotation that
// they have. Refuses a box too small for the largest of them, one of more than 100,000 cells, a rate that is not above 0,
// and more than SAND_MAX_INLETS.
SAND_API int sand_world_add_inlet(SandWorld *world, const SandInlet *inlet, SandError *error);

// Describes a body to add; start from sand_default_body().
typedef struct SandBodyDef {
    int shape;         // index into the world's shapes
    int material;      // index into the world's materials
    double scale;      // size of the shape; a sphere's radius in m
    double mass;       // kg; 0: from the material's density and the shape's volume
    SandPose pose;     // of the center of mass and principal axes; the rotation is normalized
    SandVec3 velocity; // m/s
    SandVec3 spin;     // rad/s, world frame
    double enter;      // s, when it becomes active; 0: at the start
} SandBodyDef;
SAND_API SandBodyDef sand_default_body(void); // shape and material 0, scale 1, mass from the density, at rest at the origin
// Adds a body. Refuses indices out of range, numbers that are not finite, and masses beyond the range of the solvers.
SAND_API int sand_world_add_body(SandWorld *world, const SandBodyDef *def, SandError *error);
// Takes a body out for good: its number stays, and it takes part in nothing from now on, nor do joints that hold it. Refuses
// a body that is not there; one that is gone stays gone.
SAND_API bool sand_world_remove_body(SandWorld *world, int body, SandError *error);
// Makes room for this many bodies in all, where it is known before how many will be added: arrays that grow body by body
// take up to half as much again.
SAND_API bool sand_world_reserve(SandWorld *world, int bodies, SandError *error);
// Counts a body that another process has: it is checked and gets a number here, and its place in the arrays stays zero.
// Functions over all bodies, such as those of energies, take it for one without mass at the origin; sand_world_has tells.
SAND_API bool sand_world_skip_body(SandWorld *world, const SandBodyDef *def, SandError *error);
static inline bool sand_world_has(const SandWorld *world, int body) { return world->mass[body] > 0; }

// Describes a joint to add, in the world frame and with the bodies where they are now; start from sand_default_joint().
typedef struct SandJointDef {
    SandJointKind kind;
    int a, b;          // bodies; a -1: the world
    SandVec3 anchor;   // m, the point that they share; of distance, rod and rope the end on a
    SandVec3 anchor_b; // m, the end on b; of these three alone
    SandVec3 axis;     // of hinge and slider, and that of a in a universal joint; any length but 0
    SandVec3 axis_b;   // that of b in a universal joint, at a right angle to the other
    SandDrive drive;   // of hinge, slider and distance; rod and rope set its limits
    bool collide;      // whether a and b still collide; false: they pass through each other
    char name[SAND_NAME];
} SandJointDef;
// A ball joint of body 0 to the world at the origin, axes z and x, nothing driven; a spring rests where the bodies are.
SAND_API SandJointDef sand_default_joint(void);
// Adds a joint. Refuses bodies that are not there, axes of length 0, limits that cross, numbers that are not finite, and a
// name that another joint has.
SAND_API int sand_world_add_joint(SandWorld *world, const SandJointDef *def, SandError *error);
// Lets two bodies pass through each other from now on, as bodies that a joint holds do. False with a sentence where there
// are no such two.
SAND_API bool sand_world_keep_apart(SandWorld *world, int body_a, int body_b, SandError *error);
// In m or rad; 0 where the joint or a body of it is missing.
SAND_API double sand_joint_coordinate(const SandWorld *world, int joint);
// How fast that changes, in m/s or rad/s; 0 likewise.
SAND_API double sand_joint_speed(const SandWorld *world, int joint);
SAND_API const char *sand_joint_kind_name(SandJointKind kind);
// Finds by its name a joint, or the first boundary that has it; -1: there is none.
SAND_API int sand_world_find_joint(const SandWorld *world, const char *name);
SAND_API int sand_world_find_boundary(const SandWorld *world, const char *name);

// Whether two bodies are joined and do not collide.
SAND_HOST_DEVICE bool sand_world_apart(const SandWorld *world, int body_a, int body_b) {
    if (!world->apart_count) return false;
    uint64_t low = (uint64_t)(body_a < body_b ? body_a : body_b), high = (uint64_t)(body_a < body_b ? body_b : body_a);
    uint64_t pair = low << 32 | high;
    int begin = 0, end = world->apart_count;
    while (begin < end) {
        int middle = (begin + end) / 2;
        if (world->apart[middle] < pair)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < world->apart_count && world->apart[begin] == pair;
}

// Replaces the motion of a boundary from now on, or from its start where that is later: it goes on from where it is.
SAND_API void sand_world_set_motion(SandWorld *world, int boundary, const SandMotion *motion);
// The same by half a turn about an axis through `center` (m), in `seconds`.
SAND_API void sand_world_flip(SandWorld *world, int boundary, SandVec3 center, SandVec3 axis, double seconds);

// Sets and gets the laws of a pair of materials. Materials added later leave them as they are.
SAND_API void sand_world_set_pair(SandWorld *world, int material_a, int material_b, const SandPair *pair);
SAND_HOST_DEVICE const SandPair *sand_world_pair(const SandWorld *world, int material_a, int material_b) {
    return &world->pairs[material_a * world->material_count + material_b];
}
SAND_API bool sand_world_bounces(const SandWorld *world); // whether a pair has restitution
SAND_API bool sand_world_coheres(const SandWorld *world); // whether a pair has cohesion
SAND_API bool sand_world_rolls(const SandWorld *world);   // whether a pair has rolling or spinning friction

// Whether the world repeats along any axis, and its period along each (m, 0: it does not repeat).
SAND_HOST_DEVICE bool sand_world_repeats(const SandWorld *world) {
    return world->periodic[0] || world->periodic[1] || world->periodic[2];
}
SAND_HOST_DEVICE SandVec3 sand_world_period(const SandWorld *world) {
    SandVec3 size = v3_sub(world->upper, world->lower);
    return v3_make(world->periodic[0] ? size.x : 0, world->periodic[1] ? size.y : 0, world->periodic[2] ? size.z : 0);
}

// Checks the finished world: settings, boundaries, laws of the pairs, joints, the mouse spring, and every body.
SAND_API bool sand_world_check(const SandWorld *world, SandError *error);

// Whether a body takes part in the coming step: it has entered and is not gone.
SAND_HOST_DEVICE bool sand_world_active(const SandWorld *world, int body) {
    return !world->gone[body] && world->enter[body] <= world->time + 1e-9 * world->step;
}

// Returns the angular momentum (kg m^2/s) of a body about its center of mass, world frame.
SAND_HOST_DEVICE SandVec3 sand_body_spin_momentum(const SandWorld *world, int i) {
    SandMat3 r = q_matrix(world->rotation[i]);
    SandVec3 w = m3_apply_transposed(r, world->spin[i]), inertia = world->inertia[i];
    return m3_apply(r, v3_make(inertia.x * w.x, inertia.y * w.y, inertia.z * w.z));
}
// Energies of a body (J); the potential is 0 at the origin. A step moves positions with the velocity after it, which belongs
// to its middle: the sum that steps keep has the potential half a step back (docs/problem.md#free-rotation).
SAND_HOST_DEVICE double sand_body_kinetic_energy(const SandWorld *world, int i) {
    return 0.5 * (world->mass[i] * v3_dot(world->velocity[i], world->velocity[i]) +
                  v3_dot(world->spin[i], sand_body_spin_momentum(world, i)));
}
SAND_HOST_DEVICE double sand_body_potential_energy(const SandWorld *world, int i) {
    return -world->mass[i] * v3_dot(world->gravity, world->position[i]);
}

// Totals over the active bodies.
SAND_API double sand_world_kinetic_energy(const SandWorld *world);     // J
SAND_API double sand_world_potential_energy(const SandWorld *world);   // J, 0 at the origin
SAND_API SandVec3 sand_world_momentum(const SandWorld *world);         // kg m/s
SAND_API SandVec3 sand_world_angular_momentum(const SandWorld *world); // kg m^2/s, about the origin

// Returns a hash of the bits of time, poses and velocities: equal hashes mean, for practical purposes, equal states.
SAND_API uint64_t sand_world_hash(const SandWorld *world);
SAND_API uint64_t sand_world_hash_block(const SandWorld *world, int first, int end); // the same of some bodies, by number

#ifdef __cplusplus
}
#endif
