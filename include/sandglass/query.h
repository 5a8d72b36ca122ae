// SPDX-License-Identifier: MIT
// Questions to a simulation between two steps: what a ray meets, what is nearest to a point, what a shape overlaps, which
// forces act on bodies and boundaries, and who has touched whom since one last asked.
//
//     SandRay ray = sand_ray_between(v3_make(0, 0, 5), v3_make(0, 0, 0));
//     SandHit hit;
//     if (sand_simulation_raycast(sim, &ray, 1, &hit, &error) && hit.body >= 0) ...
//
// Bodies and boundaries are where they are now. Batches are divided among the threads of the simulation, and answers do not
// depend on how many there are. Answers come from the host: where a device has the bodies they are fetched, once for all
// questions between two steps. Of several processes rank 0 asks.
#pragma once
#include "sandglass/simulation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandRay {
    SandVec3 from;  // m
    SandVec3 along; // its direction, of any length but 0
    double reach;   // m, how far it goes; INFINITY: without end
    int passes;     // a body that it passes through, such as the one that carries a sensor; -1: none
} SandRay;
SAND_API SandRay sand_ray_between(SandVec3 from, SandVec3 to); // from a point to another, which must not be the same

// What a ray meets, or what is nearest to a point.
typedef struct SandHit {
    double distance; // m, INFINITY: there is nothing; then what follows is -1 and 0
    int body;        // -1: none
    int boundary;    // -1: none
    SandVec3 point;  // m, on the surface
    SandVec3 normal; // unit, out of the body, or to the side of the boundary on which bodies are
} SandHit;

// Finds what each of `count` rays meets first. A ray that starts in a body meets it there, at distance 0, with a normal
// against the ray. Boundaries are met from the side on which bodies are: from behind, as from outside of a vessel, a ray
// passes through. Where the box of the world repeats, bodies that reach across a border are met on both sides of it, and
// rays do not go around. Of equally near bodies the one with the lower number counts, and a body before a boundary. Refuses
// rays that are not finite or have no direction.
SAND_API bool sand_simulation_raycast(SandSimulation *sim, const SandRay *rays, int count, SandHit *hits, SandError *error);

// Finds the body or boundary whose surface is nearest to each of `count` points, within `reach` (m, INFINITY: however far).
// A distance is negative in a body (of a clump or a compound: in one of its parts) and behind a boundary; the most negative
// one counts.
SAND_API bool sand_simulation_closest(SandSimulation *sim, const SandVec3 *points, int count, double reach, SandHit *hits,
                                      SandError *error);

// Finds the bodies that a shape of this scale and pose overlaps, or touches: a sphere (sand_shape_sphere) has its radius as
// scale. Returns how many there are, and writes the first `capacity` of them in the order of their numbers; -1 on failure.
SAND_API int sand_simulation_overlap(SandSimulation *sim, const SandShape *shape, double scale, SandPose pose, int *bodies,
                                     int capacity, SandError *error);

// Fills the force (N) and the torque (N m, about the center of mass; NULL: not wanted) of the contacts of the last step on
// each body of the world, means over the step. Joints are not among them. All zero before the first step and after the state
// was restored. Brings the contacts to the host.
SAND_API bool sand_simulation_contact_forces(SandSimulation *sim, SandVec3 *force, SandVec3 *torque, SandError *error);
// The same of each boundary of the world; torques are about its position.
SAND_API bool sand_simulation_boundary_forces(SandSimulation *sim, SandVec3 *force, SandVec3 *torque, SandError *error);

// What happened between a pair since it was last asked for. A pair touches in a step in which a contact of the two carries
// an impulse.
typedef struct SandContactEvent {
    int a, b;        // bodies, a < b; boundary k is -1 - k, and stands second
    int begins;      // how often they began to touch
    int ends;        // how often they parted
    bool touching;   // in the last step
    double first;    // s, end of the first step in which they touched; since it was last asked for
    double last;     // s, end of the last such step
    double impulse;  // N s, of all their contacts in the step in which it was largest
    double hardest;  // s, end of that step
    SandVec3 point;  // m, the contact with the largest share of that impulse
    SandVec3 normal; // unit, from a to b, of that contact
} SandContactEvent;

// Whether the steps that follow keep events. On a GPU the contacts of each of them then come to the host. `false` drops what
// has been kept. What touches already when it begins, or after the state was restored, begins with the next step.
SAND_API bool sand_simulation_keep_events(SandSimulation *sim, bool keep, SandError *error);
// Fills the events of all pairs that touched since the last call, in the order of a and b, and begins anew. Returns how many
// there are; where they are more than `capacity`, or events is NULL, nothing is filled and nothing lost.
SAND_API int sand_simulation_contact_events(SandSimulation *sim, SandContactEvent *events, int capacity);

#ifdef __cplusplus
}
#endif
