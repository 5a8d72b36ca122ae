// A machine that takes the steps of a simulation: one table of verbs. The CPU is built into simulation.c; another machine
// stands behind this table, and sim knows no more of it.
//
// The machine holds the bodies between steps. The verbs of a step only enqueue their work, each after the one before it;
// `finish` waits and tells what came out. The world of the host keeps the settings, and gets the bodies when it asks.
#pragma once
#include "sim/collision/collide.h"
#include "sim/world/render_instance.h"
#include "sim/collision/warm_start.h"
#include "sim/step/integrate.inl"
#include "sim/solver/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SAND_MAX_LOST = 64 }; // lost bodies that one step names; of more it tells the number

typedef struct SandLost {
    int body;
    SandLoss loss;
} SandLost;

// What `finish` tells of a step.
typedef struct SandStepReport {
    bool again; // a buffer was too small and has grown; nothing moved, and the step is to be taken again
    int bodies, contacts, warm_started, iterations;
    SandStatus status;
    SandMetrics metrics;
    double penetration_max, penetration_walls;           // m; the second into boundaries alone
    double kinetic, potential;                           // J, after the step
    double collide, warm_start, build, solve, integrate; // ms
    int lost_count, lost_more;                           // named here, and beside them
    SandLost lost[SAND_MAX_LOST];
    uint64_t growths; // arrays that grew
    uint64_t held;    // bytes on the machine, all arrays together
} SandStepReport;

typedef struct SandDevice SandDevice; // typed inside the backend
typedef struct SandSlot SandSlot;     // memory of the device for the instances of one picture
typedef struct SandShare SandShare;   // a buffer of OpenGL that the device may write

typedef struct SandBackend {
    const char *name;
    SandDevice *(*create)(SandError *error);
    void (*destroy)(SandDevice *device);
    const char *(*describe)(const SandDevice *device); // the device, for people

    // Gives the machine the world with its bodies, and what is kept for the warm start.
    bool (*give)(SandDevice *device, const SandWorld *world, const SandWarmStart *memory, SandError *error);
    // Gives it one problem instead, with no world: `solve` and `read_solution` may follow.
    bool (*give_problem)(SandDevice *device, const SandProblem *problem, const SandSolveDef *def, SandError *error);

    // The step. `world` is the host's, for its settings and boundaries.
    bool (*collide)(SandDevice *device, const SandWorld *world, SandError *error);
    bool (*warm_start)(SandDevice *device, SandError *error);
    bool (*build)(SandDevice *device, const SandSolveDef *def, SandError *error);
    // `stop`: NULL, or made other than 0 by another thread that wants the solve to end with what there is. Where it is given
    // the verb waits for the solve.
    bool (*solve)(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                  SandError *error);
    bool (*integrate)(SandDevice *device, SandError *error);
    bool (*finish)(SandDevice *device, SandStepReport *report, SandError *error);

    // Pictures. A slot belongs to who made it: the machine may go while it is drawn. `instances` enqueues its work behind
    // the last step, and the slot knows when that is done; whoever reads it, on any thread, waits for that.
    SandSlot *(*slot_create)(SandError *error);
    void (*slot_free)(SandSlot *slot);
    bool (*instances)(SandDevice *device, const SandWorld *world, const SandInstanceDef *def, SandSlot *slot,
                      SandError *error);
    bool (*slot_read)(SandSlot *slot, void *to, size_t bytes, SandError *error); // to the host
    // On the thread that draws, with its context current. NULL, with the reason, where OpenGL runs elsewhere or the driver
    // refuses. A buffer that is given new storage must be shared anew.
    SandShare *(*share)(unsigned buffer, SandError *error);
    void (*share_free)(SandShare *share);
    bool (*share_copy)(SandShare *share, SandSlot *slot, size_t bytes, SandError *error); // stays on the device

    // Reading back.
    bool (*read_bodies)(SandDevice *device, SandWorld *world, int first, int count, SandError *error);
    bool (*read_warm_start)(SandDevice *device, SandWarmStart *memory, SandError *error);
    // The contacts of the last detection; ranks, poses and velocities with them.
    bool (*read_contacts)(SandDevice *device, SandCollision *collision, SandError *error);
    bool (*read_start)(SandDevice *device, SandVec3 *start, SandError *error);        // one for each contact
    bool (*read_curve)(SandDevice *device, SandSolution *solution, SandError *error); // residuals of the last solve
    // The bodies of the problem of the last step, as they went into it, with the boundaries behind them.
    bool (*read_problem_bodies)(SandDevice *device, SandProblemBody *bodies, int count, SandError *error);
    // Impulses, curve and the figures of the last solve.
    bool (*read_solution)(SandDevice *device, SandSolution *solution, SandError *error);
} SandBackend;

#ifdef __cplusplus
}
#endif
