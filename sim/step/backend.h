// SPDX-License-Identifier: MIT
// A backend takes the steps of a simulation on a device: one table of functions, which the CPU (cpu_backend.c), CUDA
// (cuda/backend.cu) and MPI (mpi/backend.c) fill. simulation.c knows no more of a device than this table.
//
//   upload -> [ collide -> warm_start -> build -> solve -> integrate -> finish -> measure ] -> ... -> read_...
//
// The device holds the bodies between steps. The functions of a step only enqueue their work, each after the one before it;
// `finish` waits and reports. The host keeps the settings, and reads bodies when it needs them (residency.h).
#pragma once
#include "sim/collision/warm_start.h"
#include "sandglass/backend.h"
#include "sim/step/probe.h"
#include "sim/world/render_instance.h"

#ifdef __cplusplus
extern "C" {
#endif

// The state of a simulation on the host. A device with memory of its own has a copy of the bodies and of the warm start; the
// CPU backend works on this one.
typedef struct SandHostState {
    SandWorld world;
    SandCollision collision;  // contact candidates of the last step
    SandWarmStart warm_start; // impulses for the next step
    SandProblem problem;      // of the last build
    SandSolution solution;    // of the last step
    double *lift;             // N m s, of each body of the problem: what joints pull at its arms; scratch of the build
    size_t lift_capacity;
} SandHostState;

// Why a body is taken out of the world.
typedef enum SandLoss { SAND_PRESENT, SAND_LEFT, SAND_NON_FINITE, SAND_BY_OUTLET } SandLoss;

enum { SAND_MAX_LOST = 64 }; // lost bodies that one step names; of the others it gives the number

typedef struct SandLost {
    int body;
    SandLoss loss;
} SandLost;

// What `finish` reports of a step.
typedef struct SandStepReport {
    bool again; // a buffer was too small and has grown; nothing moved, and the step must be repeated
    int bodies, contacts, warm_started, iterations; // contacts with the blocks of joints among them
    int joint_rows;                                 // those blocks
    int asleep, solved; // sleeping bodies; contacts that were solved, which are all but those between sleeping bodies
    SandStatus status;
    SandMetrics metrics;
    SandIslandReport islands;
    double penetration_max, penetration_walls; // m; the second into boundaries alone
    double kinetic, potential;                 // J, after the step; not of the CPU, where they are computed on demand
    double collide, warm_start, build, solve, integrate; // ms
    int lost_count, lost_more;                           // bodies named below, and those beyond SAND_MAX_LOST
    SandLost lost[SAND_MAX_LOST];
    int left[SAND_MAX_OUTLETS]; // bodies that left by each outlet; they are not lost
    double left_mass[SAND_MAX_OUTLETS];
    int entered[SAND_MAX_INLETS]; // bodies that entered by each inlet
    uint64_t growths;             // arrays that grew
    uint64_t held;                // bytes on the device, all arrays together; 0 on the CPU
    SandTraffic traffic;          // between ranks
} SandStepReport;

struct SandCheckpointRequest;
typedef struct SandDevice SandDevice; // typed inside the backend
typedef struct SandSlot SandSlot;     // device memory for the instances of one picture, or a snapshot of the bodies
typedef struct SandShare SandShare;   // an OpenGL buffer that the device may write

typedef struct SandBatchDevice SandBatchDevice; // worlds that step together; typed inside the backend

// An array of a device, for the account of its memory.
typedef struct SandHeldArray {
    const char *name;
    uint64_t bytes;
    bool lent; // it is a part of another one, which stages take turns in
} SandHeldArray;
enum { SAND_MAX_HELD = 256 };

typedef struct SandDeviceDef {
    int threads;                // of the CPU; 0: one per core
    SandPrecision precision;    // of the CPU's solver; CUDA solves in float
    size_t memory;              // bytes of a GPU that are to suffice; 0: all that it has
    const SandBackend *backend; // whose `create` it is for; only one with state of its own reads it (mpi/backend.h)
} SandDeviceDef;

struct SandBackend {
    const char *name;
    bool on_host;       // works on the host state itself: nothing is ever uploaded or read back
    bool fails_for_all; // a step that fails ends the run of all ranks: no other device can take over
    SandDevice *(*create)(const SandDeviceDef *def, SandError *error);
    void (*destroy)(SandDevice *device);
    const char *(*describe)(const SandDevice *device); // the device, for people
    // The device that `create` would use. NULL: several processes have one each.
    bool (*about)(SandDeviceInfo *info, SandError *error);

    // Uploads the world with its bodies, and the warm start. The host state must not move or be freed while the device uses
    // it.
    bool (*upload)(SandDevice *device, SandHostState *host, SandError *error);
    // Uploads one problem instead, with no world: `solve`, `finish` and `read_solution` may follow.
    bool (*upload_problem)(SandDevice *device, const SandProblem *problem, const SandSolveDef *def, SandError *error);

    // The step. `world` is the host's, for its settings and boundaries.
    bool (*collide)(SandDevice *device, const SandWorld *world, SandError *error);
    bool (*warm_start)(SandDevice *device, SandError *error);
    bool (*build)(SandDevice *device, const SandSolveDef *def, SandError *error);
    // `stop`: NULL, or set to non-zero by another thread to end the solve with what there is. Where it is given, the
    // function waits for the solve.
    bool (*solve)(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                  SandError *error);
    bool (*integrate)(SandDevice *device, SandError *error);
    bool (*finish)(SandDevice *device, SandStepReport *report, SandError *error);

    // Makes the sums of probes over the bodies and contacts of the step that has just finished, and waits for them. The
    // bodies stay on the device.
    bool (*measure)(SandDevice *device, SandProbeBatch *batch, SandError *error);

    // Pictures. A slot belongs to its creator: the device may be destroyed while it is drawn. `instances` enqueues
    // its work behind the last step, and the slot knows when that is done; a reader, on any thread, waits for that.
    SandSlot *(*slot_create)(SandError *error);
    void (*slot_free)(SandSlot *slot);
    bool (*instances)(SandDevice *device, const SandWorld *world, const SandInstanceDef *def, SandSlot *slot,
                      SandError *error);
    // Copies the bodies of `world`, which is the host's, as they are now into a slot: sand_snapshot_view says how. NULL: on
    // the host.
    bool (*snapshot)(SandDevice *device, const SandWorld *world, SandSlot *slot, SandError *error);
    // Brings a snapshot to memory of the slot on the host, which stays valid until the slot is written again; NULL on
    // failure.
    uint8_t *(*snapshot_read)(SandSlot *slot, size_t bytes, SandError *error);
    bool (*slot_read)(SandSlot *slot, void *to, size_t bytes, SandError *error); // to the host
    // On the thread that draws, with its context current. NULL, with the reason, where OpenGL runs elsewhere or the driver
    // refuses. A buffer that is given new storage must be shared again.
    SandShare *(*share)(unsigned buffer, SandError *error);
    void (*share_free)(SandShare *share);
    bool (*share_copy)(SandShare *share, SandSlot *slot, size_t bytes, SandError *error); // stays on the device

    // Lists the arrays of the device in `to`, at most SAND_MAX_HELD, and returns how many there are. NULL: on the host.
    int (*held)(const SandDevice *device, SandHeldArray *to);
    // Where the device has the bodies of `world`, which is the host's, and impulses; waits for what it is doing. NULL: on
    // the host.
    bool (*arrays)(SandDevice *device, const SandWorld *world, SandDeviceArrays *to, SandError *error);

    // Takes forces and torques on bodies for the coming step, of arrays of the device with an entry for each body; NULL:
    // none. NULL: the host alone has forces.
    void (*take_forces)(SandDevice *device, const SandVec3 *force, const SandVec3 *torque);

    // Reading back.
    bool (*read_bodies)(SandDevice *device, SandWorld *world, int first, int count, SandError *error);
    // Reads bodies and warm start back to the host of every rank, because all hosts are about to change them. Collective.
    // NULL: there is one host, and it uses read_bodies and read_warm_start.
    bool (*share_state)(SandDevice *device, SandError *error);
    // Reads back the block of bodies of this rank, from `*first` to before `*end`. The blocks of all ranks partition the
    // world. Collective. NULL: there is one rank.
    bool (*read_block)(SandDevice *device, int *first, int *end, SandError *error);
    // Writes a checkpoint, each rank its share. Called by rank 0; the others take part when they next agree. NULL: one
    // process writes checkpoints.
    bool (*write_checkpoint)(SandDevice *device, const struct SandCheckpointRequest *request, SandError *error);
    bool (*read_warm_start)(SandDevice *device, SandWarmStart *warm_start, SandError *error);
    // Contacts, problem and solution of the last step, to the host state of the upload, where a device has them as the host
    // does; in place of all that follows but read_curve. NULL: they are read one by one.
    bool (*read_step)(SandDevice *device, SandError *error);
    // The contact candidates of the last step, with solver indices, poses and velocities of boundaries.
    bool (*read_contacts)(SandDevice *device, SandCollision *collision, SandError *error);
    // The blocks of joints among the contacts of the last step, with their rows. NULL: the device has no joints.
    bool (*read_joints)(SandDevice *device, SandProblem *problem, SandError *error);
    bool (*read_start)(SandDevice *device, SandVec3 *start, SandError *error);        // one impulse per contact
    bool (*read_curve)(SandDevice *device, SandSolution *solution, SandError *error); // residuals of the last solve
    bool (*read_bounces)(SandDevice *device, SandProblem *problem,
                         SandError *error); // of its contacts; NULL: they have none
    // The bodies of the problem of the last step, as they went into it, with the boundaries behind them.
    bool (*read_problem_bodies)(SandDevice *device, SandProblemBody *bodies, int count, SandError *error);
    // Impulses, curve and metrics of the last solve.
    bool (*read_solution)(SandDevice *device, SandSolution *solution, SandError *error);

    // Batches: worlds that step together (sim/step/batch.c). NULL: the backend has none. A member is a backend for
    // sand_simulation_move, which has the state of its world and takes no step by itself.
    SandBatchDevice *(*batch_create)(SandHostState *const *hosts, int count, SandError *error);
    void (*batch_free)(SandBatchDevice *batch); // after its members were left
    const SandBackend *(*batch_member)(SandBatchDevice *batch, int world);
    // Takes a step of these worlds. Solves and reports are by the number of a world.
    bool (*batch_step)(SandBatchDevice *batch, const int *worlds, int count, const SandSolveDef *const *solves,
                       SandStepReport *reports, SandError *error);
};

// A step that others take, of several simulations together: what comes before it on the host, and after it, where it was
// taken with this report; NULL: it was not. In between the simulation is in use.
bool sand_simulation_begin_step(SandSimulation *sim, const SandSolveDef **solve, SandError *error);
void sand_simulation_end_step(SandSimulation *sim, const SandStepReport *report);
SandHostState *sand_simulation_host(SandSimulation *sim);
// The device that has the state of the simulation, of its backend.
SandDevice *sand_simulation_device(const SandSimulation *sim);
// Writes the render instances of the bodies into a slot of the device. The bodies stay where they are.
SAND_API bool sand_simulation_instances(SandSimulation *sim, const SandInstanceDef *def, SandSlot *slot, SandError *error);
// Copies the bodies into a slot of a device that has them, which takes little time: they are brought to the host later, by
// snapshot_read, while the simulation goes on.
bool sand_simulation_snapshot(SandSimulation *sim, SandSlot *slot, SandError *error);
// Reads a block of bodies, [*first, *end), back to the host: all bodies in one process, a block of its own on each rank
// (read_block). Collective.
bool sand_simulation_fetch_block(SandSimulation *sim, int *first, int *end, SandError *error);
// Lists what the device holds, the largest first, and returns how many arrays that are; 0 on the host.
int sand_simulation_held(const SandSimulation *sim, SandHeldArray to[SAND_MAX_HELD]);
// The size of a snapshot, and a world whose positions, rotations, velocities, spins and `gone` are those of one that was
// read.
size_t sand_snapshot_bytes(int bodies);
SandWorld sand_snapshot_view(const SandWorld *world, uint8_t *bytes);

#ifdef __cplusplus
}
#endif
