// What one rank of several has of a world: its own bodies, and ghosts, the bodies of others that one of its own may touch in
// the step. It has them in the order of their numbers in the world, in grids that all ranks share, so that its solver
// indices and its contacts are a part of those of one process, in the same order (broad_phase.h, subdomain.h).
//
// A body belongs to the rank that owns its solver index, and so wanders from rank to rank. In every step
//   1. the ranks size the grids together, and find the cells in which each of them begins, in the order of solver indices:
//      from that follows the owner of every body (owners.h)
//   2. a body is sent to its owner, with all that is known of it and the impulses of the contacts that it owned
//   3. owners tell each other the cells that their bodies reach, and send every body to the ranks whose marks it meets
//   4. each rank sorts what it holds, and finds the contacts of its own bodies
#pragma once
#include "sim/collision/ghost_search.h"
#include "sim/core/exact_sum.inl"
#include "sim/solver/subproblem.h"
#include "sim/step/backend.h"
#include "sim/step/checkpoint_file.h"
#include "sim/step/inlet.h"

typedef struct SandSubdomain SandSubdomain;

SandSubdomain *sand_subdomain_create(const SandRanks *ranks, SandError *error);
void sand_subdomain_free(SandSubdomain *subdomain);

// Takes the bodies and impulses that it begins with from the host, which has all of them, or at the start those of its
// block, and goes on with those of its own. The host has the settings and the boundaries of the world from then on.
bool sand_subdomain_upload(SandSubdomain *subdomain, SandHostState *host, SandError *error);
// Gives every host all bodies and impulses.
bool sand_subdomain_read(SandSubdomain *subdomain, SandError *error);
// Gives every host the bodies of its block: the bodies of the world by number, cut into as many blocks as there are ranks.
// `index`: NULL, or for each body of the block its solver index in the last step, -1: it had none.
bool sand_subdomain_read_block(SandSubdomain *subdomain, int *index, SandError *error);
// Gives the host of rank 0 all bodies, or those and all impulses.
bool sand_subdomain_gather(SandSubdomain *subdomain, SandError *error);
bool sand_subdomain_gather_state(SandSubdomain *subdomain, SandError *error);
// The contacts of the last step, with problem and solution, for the host of rank 0.
bool sand_subdomain_read_step(SandSubdomain *subdomain, SandHostState *host, SandError *error);
// Brings the ghosts that contacts of the last step touch to where their owners have them now. All ranks call it.
bool sand_subdomain_move_ghosts(SandSubdomain *subdomain, SandError *error);
// Gives the ghosts of this rank the velocities that the solve gave them where they are at home. All ranks call it.
bool sand_subdomain_share_motion(SandSubdomain *subdomain, SandError *error);
bool sand_subdomain_known(const SandSubdomain *subdomain); // it has them: no step was taken since

// All ranks write one checkpoint, each its block of the bodies and the contacts that it owns. `request`: that of rank 0. A
// file that cannot be written is no failure of the run: `fault` then has a sentence, and is empty otherwise.
bool sand_subdomain_write_checkpoint(SandSubdomain *subdomain, const SandCheckpointRequest *request, SandError *fault,
                                     SandError *error);

// The bodies that this rank owns, as they are now: none is on two ranks, and none on no rank.
typedef struct SandOwnBodies {
    SandWorld world; // a view of the held bodies and of the settings, not to be changed or freed
    int first;       // global id of the first one, where `global_id` is NULL
    const int *global_id;
    const uint8_t *is_ghost; // of each held body: it is another rank's; NULL: none is
    // The last step, with all contacts of its own bodies; NULL: none was taken since the upload.
    const SandHostState *state;
    int first_contact, end_contact; // those of them that its bodies own: every contact is one rank's
} SandOwnBodies;
SandOwnBodies sand_subdomain_own(const SandSubdomain *subdomain);
static inline int sand_own_global_id(const SandOwnBodies *own, int i) {
    return own->global_id ? own->global_id[i] : own->first + i;
}
static inline bool sand_own_has(const SandOwnBodies *own, int i) { return !own->is_ghost || !own->is_ghost[i]; }

SandHostState *sand_subdomain_host(SandSubdomain *subdomain);
SandHostState *sand_subdomain_state(SandSubdomain *subdomain);                 // the bodies that it holds
const SandPartition *sand_subdomain_partition(const SandSubdomain *subdomain); // after sand_subdomain_collide
int sand_subdomain_global_id(const SandSubdomain *subdomain, int body); // the number in the world of one that it holds
int sand_subdomain_local_id(const SandSubdomain *subdomain, int body);  // the inverse; INT_MAX: it holds no such body
const SandRanks *sand_subdomain_ranks(const SandSubdomain *subdomain);
const SandMessages *
sand_subdomain_ghosts(const SandSubdomain *subdomain); // the records of own bodies that other ranks got for this step
uint64_t sand_subdomain_settings(const SandSubdomain *subdomain); // that the impulses of the last step belong to

// Lets bodies enter through inlets, and finds the contacts of the coming step.
bool sand_subdomain_collide(SandSubdomain *subdomain, SandInletScratch *inlets, int *entered, SandThreadPool *pool,
                            SandError *error);
// The impulses of the step have been stored in the state: they belong to these settings. Comes between any two collides.
void sand_subdomain_keep(SandSubdomain *subdomain);

// A body that was taken out in the step.
typedef struct SandTakenOut {
    int body, outlet;
    SandLoss loss;
    double mass; // kg
} SandTakenOut;
// Gathers what all ranks took out, in the order of solver indices. The list is the part's.
bool sand_subdomain_gather_lost(SandSubdomain *subdomain, const SandTakenOut *mine, int count, const SandTakenOut **all,
                                int *all_count, SandError *error);
