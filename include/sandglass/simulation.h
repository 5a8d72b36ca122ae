// SPDX-License-Identifier: MIT
// A simulation: a world, the device that steps it, and what the last step did. simulation.c walks through a step.
//
// Threads and processes. Different simulations may be used by different threads at once, one simulation by one at a time: a
// step, or another call that works on the state, is refused with a sentence while one is under way. So is every use in a
// process that was forked from the one that created it; there it may be freed, and others may be created.
#pragma once
#include "sandglass/problem.h"
#include "sandglass/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// A backend takes the steps on a device: sandglass/backend.h.
typedef struct SandBackend SandBackend;

// Messages between ranks, the processes that solve a step together, in the last solve; all zero for a single process. See
// docs/ranks.md.
typedef struct SandTraffic {
    int ranks;
    int64_t exchanges;  // of velocities between neighbors: one for each product with N
    int64_t allgathers; // operations of all ranks: one for each reduction, and those for the solution
    int64_t ghosts;     // copies of bodies that other ranks own, summed over all ranks
    int64_t messages;   // of all exchanges, summed over all ranks
    int64_t bytes;      // in these messages
} SandTraffic;

// Times of the phases of the last step, in milliseconds.
typedef struct SandProfile {
    double collide, warm_start, build, solve, integrate, step;
    // Bytes of bodies and contacts that came to the host, from the end of the step before to that of this.
    uint64_t downloaded;
    SandTraffic traffic;
} SandProfile;

// What the last step did. Panel, log and benchmark read this and the profile.
typedef struct SandCounters {
    int bodies;          // active
    int contacts;        // of bodies with each other and with boundaries; rows of joints are not among them
    int joint_rows;      // blocks of three rows that hold and drive joints; the problem has them among its contacts
    int asleep;          // sleeping bodies (sleep_speed of the world)
    int solved_contacts; // contacts that were solved: all but those between sleeping bodies
    int warm_started;    // contacts, and rows of joints, that found their impulse of the previous step
    int iterations;
    SandStatus status;
    SandMetrics metrics;      // residual and objective; for complementarity see want_metrics of sand_cpu_solve
    SandIslandReport islands; // parts that were solved directly, where the definition asks for it
    double solved;            // percent of the step that is solved, 0 to 100
    double penetration_max;   // m, of the gaps the step began with
    double penetration_walls; // m, the same into boundaries alone: below a radius no body has passed one
    double penetration_p99;   // m, 99th percentile of the penetrating contacts; filled by sand_simulation_measure
    double penetration_all;   // m, that of all contacts, open ones counting as 0; likewise
    uint64_t growths;         // arrays that grew in this step
    uint64_t held;            // bytes held on the device; 0 on the CPU
    int lost_total;           // bodies that left the world or became non-finite, since the start
    int infeasible_total;     // steps that ended infeasible, since the start
    int64_t entered_total;    // bodies that entered through inlets, since time 0; of each inlet: SandInlet
    int64_t left_total;       // bodies that left through outlets, since time 0; of each outlet: SandOutlet
    double left_mass;         // kg, theirs
} SandCounters;

typedef struct SandSimulationDef {
    int threads;             // 0: one for each core
    SandPrecision precision; // of the solver
    SandSolveDef solve;
    const SandBackend *backend; // that takes the steps; NULL: the CPU
    size_t device_memory;       // bytes of a GPU that are to suffice; where they do not, contacts are not kept after a step,
                                // so that only bodies can be read. 0: all that the GPU has
} SandSimulationDef;
SAND_API SandSimulationDef sand_default_simulation(void);

typedef struct SandSimulation SandSimulation;

// Called with one sentence, without a newline, for a person to read: a lost body, an infeasible step.
typedef void SandMessageCallback(void *user, const char *sentence);

// Takes ownership of the world, also when it fails: NULL with a sentence.
SAND_API SandSimulation *sand_simulation_create(SandWorld *world, const SandSimulationDef *def, SandError *error);
SAND_API void sand_simulation_free(SandSimulation *sim);
SAND_API void sand_simulation_on_message(SandSimulation *sim, SandMessageCallback *callback, void *user);

SAND_API bool sand_simulation_step(SandSimulation *sim, SandError *error);
// A step on the CPU ends soon after another thread sets this to nonzero: it fails, and nothing has moved. NULL: it runs to
// its end.
SAND_API void sand_simulation_cancel_by(SandSimulation *sim, const int *stop);

// Builds the problem of the coming step (collision, warm start) without taking the step.
SAND_API bool sand_simulation_build(SandSimulation *sim, SandError *error);
SAND_API const SandProblem *sand_simulation_problem(const SandSimulation *sim);   // of the last build
SAND_API const SandSolution *sand_simulation_solution(const SandSimulation *sim); // of the last step
// The number of contacts of that problem, blocks of joints among them (sand_problem_joint), whose impulses are in that
// solution: 0 when a device with memory of its own took the step and its contacts were not fetched.
SAND_API int sand_simulation_solved_contacts(const SandSimulation *sim);
SAND_API const int *sand_simulation_order(const SandSimulation *sim); // the world's number of each body of the problem
// The force (N) or torque (N m) that the motor of a joint gave b in the last step; NAN where the joint has no motor, or
// where the contacts of that step are not on the host.
SAND_API double sand_simulation_motor(const SandSimulation *sim, int joint);
// A block of three rows of a joint in the last step (docs/problem.md).
typedef struct SandJointRow {
    int contact;      // its number among the contacts of problem and solution
    int joint, block; // of the world; block of that joint: first those that hold it, then limits, motor and spring
    int a, b;         // bodies of the joint; a -1: the world
    bool angular;     // it holds or drives an angle: the impulse is one of a torque
    SandVec3 axis;    // unit, world frame: along it limits, motor and spring act
    SandVec3 impulse; // N s, or N m s where it is angular, on b, world frame
} SandJointRow;
// Fills `rows`, at most `capacity`, and returns how many blocks of joints the last step had: 0 where its contacts are not on
// the host.
SAND_API int sand_simulation_joint_rows(const SandSimulation *sim, SandJointRow *rows, int capacity);
// Each contact's share of the residual of the last step, m/s; NULL when memory is out. Costs about an iteration.
SAND_API const double *sand_simulation_residuals(SandSimulation *sim, SandError *error);

// Brings the bodies to the host, where a device has a newer copy. Settings, time and boundaries are always on the host.
SAND_API bool sand_simulation_fetch(SandSimulation *sim, SandError *error);
typedef struct SandBodyState {
    SandVec3 position, velocity; // m, m/s, of its center
    SandVec3 spin;               // rad/s, world frame
    SandQuat rotation;
} SandBodyState;

// Where one body is and how it moves. Of the bodies that a device has it alone is brought to the host.
SAND_API bool sand_simulation_read_body(SandSimulation *sim, int body, SandBodyState *to, SandError *error);
// The bodies and the impulses of the last step where a device with memory of its own has them, for programs that compute
// there too. They are addresses on that device, to be read and not written. Those of bodies hold until bodies are added,
// those of impulses until the next step.
typedef struct SandDeviceArrays {
    int bodies, contacts;
    const SandVec3 *position, *velocity, *spin; // m, m/s, rad/s in the world frame
    const SandQuat *rotation;
    const float *impulse; // N s, three numbers for each contact, in the order of sand_simulation_problem
} SandDeviceArrays;
// Refused where the steps are taken on the host.
SAND_API bool sand_simulation_device_arrays(SandSimulation *sim, SandDeviceArrays *to, SandError *error);
// Brings the bodies to the host with the contacts of the last step, as problem and solution;
// sand_simulation_solved_contacts is 0 until then.
SAND_API bool sand_simulation_fetch_contacts(SandSimulation *sim, SandError *error);
// Hands the problem and the solution of the last step over to the caller, who frees them: for arrays that are still read
// when the next step comes. The simulation makes new ones; until then it has no contacts.
SAND_API void sand_simulation_release_contacts(SandSimulation *sim, SandProblem *problem, SandSolution *solution);
// Moves the simulation to another backend (NULL: the CPU), from the same state. On failure nothing has changed.
SAND_API bool sand_simulation_move(SandSimulation *sim, const SandBackend *backend, SandError *error);
SAND_API const SandBackend *sand_simulation_backend(const SandSimulation *sim); // that takes the steps
SAND_API const char *sand_simulation_device_name(const SandSimulation *sim); // the device that takes the steps, for people
SAND_API SandPrecision sand_simulation_precision(const SandSimulation *sim); // of the solver

// Forces and torques on bodies, world frame. A body may come several times.
typedef struct SandForces {
    int count;              // entries of each array
    const int *body;        // numbers of bodies; NULL: 0 to count - 1
    const SandVec3 *force;  // N; NULL: none
    const SandVec3 *torque; // N m; NULL: none beside those of the forces
    const SandVec3 *at;     // m, where each force acts; NULL: at the center of mass
} SandForces;
// Adds forces and torques to what acts in the coming step; after that step they are gone. A body that sleeps wakes; one that
// takes no part in the step feels nothing. Where `at` is given the bodies are brought to the host. Of several processes each
// makes the same call. Refuses a body that is not there and numbers that are not finite: then nothing was added.
SAND_API bool sand_simulation_apply_force(SandSimulation *sim, const SandForces *forces, SandError *error);
// The same by two arrays in the memory of the device, an entry for each body, which are read where they are and must stay as
// they are until the step has ended; NULL: no such array. They take the place of those of an earlier call, and are gone
// where the simulation moves to another backend. Nothing is checked: a body that gets a number that is not finite is lost.
// Refused where the steps are taken on the host or by several processes, and beside sand_simulation_apply_force.
SAND_API bool sand_simulation_apply_device_force(SandSimulation *sim, const SandVec3 *force, const SandVec3 *torque,
                                                 SandError *error);

// The coordinate of a joint, and what moves it.
typedef struct SandJointState {
    double position; // m or rad; sand_joint_coordinate
    double speed;    // m/s or rad/s
    double motor;    // N or N m; sand_simulation_motor
} SandJointState;
// Of the bodies that a device has the two of the joint are brought to the host. Drives are set through
// sand_simulation_change.
SAND_API bool sand_simulation_read_joint(SandSimulation *sim, int joint, SandJointState *to, SandError *error);

typedef struct SandEnergy {
    double kinetic, potential; // J
} SandEnergy;
SAND_API SandEnergy sand_simulation_energy(const SandSimulation *sim);

// The world, to be changed between two steps: gravity, the mouse spring, drives of joints, the motion of boundaries
// (sand_world_set_motion). Call it again for changes after the next step.
//
// What was changed is checked before the next step, and only then. A number that no step can be taken with (not finite, a
// mass below 0, a shape or material that is not there, a velocity that crosses the world a thousand times in a step) lets
// the step fail with a sentence that names the body and the field, or the setting; nothing has moved, and once it is mended
// steps go on. A body outside of the world's box, however far, is taken out and reported. A rotation of any length but 0 is
// scaled to length 1.
SAND_API SandWorld *sand_simulation_change(SandSimulation *sim);
// The same with the bodies: to change them, or to add some. NULL, with a sentence, when they could not be fetched.
SAND_API SandWorld *sand_simulation_change_bodies(SandSimulation *sim, SandError *error);

SAND_API const SandWorld *sand_simulation_world(const SandSimulation *sim);
SAND_API const SandProfile *sand_simulation_profile(const SandSimulation *sim);
SAND_API const SandCounters *sand_simulation_counters(const SandSimulation *sim);
SAND_API void sand_simulation_want_curve(SandSimulation *sim, bool want); // keep the residual curve of each solve
SAND_API void sand_simulation_measure(SandSimulation *sim);               // fills what costs time: the percentile
// The method and its budget from the next step on. Refuses a solver that is not there and settings out of their ranges; then
// nothing has changed.
SAND_API bool sand_simulation_set_solve(SandSimulation *sim, const SandSolveDef *solve, SandError *error);

#ifdef __cplusplus
}
#endif
