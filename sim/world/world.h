// The world: bodies as arrays, shapes, boundaries, materials, and what one step needs of its settings.
#pragma once
#include "sim/core/error.h"
#include "sim/geometry/boundary.h"
#include "sim/geometry/shape.h"
#include "sim/core/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandMaterial {
    char name[SAND_NAME];
    double density; // kg/m^3
    double mu;      // friction of the material; a pair takes the geometric mean unless the table names it
} SandMaterial;

// A spring from a point of a body to a point of the world: a person's hand. It is damped, and integrated implicitly, so
// that it is stable however stiff.
typedef struct SandSpring {
    int body;        // -1: none
    SandVec3 point;  // m, on the body, in its frame
    SandVec3 target; // m, in the world
    double rate;     // 1/s, how fast the point is drawn to the target; the spring is critically damped
} SandSpring;

typedef struct SandWorld {
    // Bodies. A body's number is its index here and never changes.
    int body_count;
    SandVec3 *position; // m, of the center of mass
    SandQuat *rotation;
    SandVec3 *velocity; // m/s
    SandVec3 *spin;     // rad/s, world frame
    double *mass;       // kg
    SandVec3 *inertia;  // kg m^2, principal, body frame
    double *scale;      // size of the shape; the radius of a sphere
    int *shape;         // index into shapes
    int *material;
    double *enter; // s, the body takes part from this time on (0: from the start)
    uint8_t *gone; // 1: it left the world or became non-finite, was reported, and takes no part any more
    size_t body_capacity[12];

    int shape_count, boundary_count, material_count;
    SandShape *shapes;
    SandBoundary *boundaries;
    SandMaterial *materials;
    size_t shape_capacity, boundary_capacity, material_capacity, friction_capacity;
    double *friction; // material_count^2 table of pairs, symmetric, complete

    SandVec3 gravity; // m/s^2
    SandSpring spring;
    SandVec3 lower, upper; // m, the world's box: a body outside it is reported and taken out
    double step;           // s
    double time;           // s
    uint64_t step_index;
    double recovery; // m/s, the largest speed at which a penetration is pushed apart
    double envelope; // m, the least gap within which a contact is kept
} SandWorld;

void sand_world_init(SandWorld *world); // an empty world with sane settings
void sand_world_free(SandWorld *world);

// Each returns the new index, or -1 with a sentence.
int sand_world_add_material(SandWorld *world, const char *name, double density, double mu, SandError *error);
int sand_world_add_shape(SandWorld *world, const SandShape *shape, SandError *error);          // takes ownership
int sand_world_add_boundary(SandWorld *world, const SandBoundary *boundary, SandError *error); // takes ownership

typedef struct SandBodyDef {
    int shape;         // index
    int material;      // index
    double scale;      // size; a sphere's radius
    double mass;       // kg; 0: from the material's density
    SandPose pose;     // of the center of mass
    SandVec3 velocity; // m/s
    SandVec3 spin;     // rad/s
    double enter;      // s, when it enters; 0: at the start
} SandBodyDef;
SandBodyDef sand_default_body(void);
int sand_world_add_body(SandWorld *world, const SandBodyDef *def, SandError *error);

// Turns a boundary by half a turn about an axis through its middle, in `seconds` from now on.
void sand_world_flip(SandWorld *world, int boundary, SandVec3 center, SandVec3 axis, double seconds);

void sand_world_set_pair(SandWorld *world, int material_a, int material_b, double mu); // an entry of the table
SAND_HOST_DEVICE double sand_world_pair(const SandWorld *world, int material_a, int material_b) {
    return world->friction[material_a * world->material_count + material_b];
}

// Checks what only the whole world shows: boxes and cylinders that could meet each other, or lie on a convex
// boundary, are refused with a sentence.
bool sand_world_check(const SandWorld *world, SandError *error);

SAND_HOST_DEVICE bool sand_world_active(const SandWorld *world, int body) {
    return !world->gone[body] && world->enter[body] <= world->time + 1e-9 * world->step;
}

// The angular momentum of a body about its own center.
SAND_HOST_DEVICE SandVec3 sand_body_spin_momentum(const SandWorld *world, int i) {
    SandMat3 r = q_matrix(world->rotation[i]);
    SandVec3 w = m3_apply_transposed(r, world->spin[i]), inertia = world->inertia[i];
    return m3_apply(r, v3_make(inertia.x * w.x, inertia.y * w.y, inertia.z * w.z));
}
SAND_HOST_DEVICE double sand_body_kinetic_energy(const SandWorld *world, int i) {
    return 0.5 * (world->mass[i] * v3_dot(world->velocity[i], world->velocity[i]) +
                  v3_dot(world->spin[i], sand_body_spin_momentum(world, i)));
}
SAND_HOST_DEVICE double sand_body_potential_energy(const SandWorld *world, int i) {
    return -world->mass[i] * v3_dot(world->gravity, world->position[i]);
}

double sand_world_kinetic_energy(const SandWorld *world);
double sand_world_potential_energy(const SandWorld *world);
SandVec3 sand_world_momentum(const SandWorld *world);
SandVec3 sand_world_angular_momentum(const SandWorld *world); // about the origin
uint64_t sand_world_hash(const SandWorld *world);             // of the bits of time, poses and velocities

#ifdef __cplusplus
}
#endif
