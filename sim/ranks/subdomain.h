// SPDX-License-Identifier: MIT
// The subdomain of a rank: its own bodies, and ghosts, which are bodies of other ranks that one of its own may touch in the
// step. Together they are the held bodies. They lie in ascending global_id and are sorted into grids that all ranks share;
// so solver indices and contacts of a rank are a part of those of a single process, in the same order, and the bits are the
// same (broad_phase.h, sim/solver/subproblem.h).
//
// A body is owned by the rank that has its solver index, and migrates when that changes. In every step
//   1. owners: the ranks size the grids together, and find the cell in which each rank begins in the order of solver
//      indices; the owner of every body follows from these cells (owners.h)
//   2. migration: a body is sent to its new owner, with its state and the impulses of the contacts that it owned
//   3. ghosts: ranks share the cells that their bodies reach, and send each body to the ranks whose marks it meets
//      (sim/ranks/ghost_search.h)
//   4. contacts: each rank sorts the held bodies, and finds the contacts of its own ones
//
// Functions that exchange messages are collective: all ranks call them in the same order.
#pragma once
#include "sim/ranks/ghost_search.h"
#include "sim/solver/subproblem.h"
#include "sim/step/backend.h"
#include "sim/step/checkpoint_file.h"
#include "sim/step/cpu_backend.h"

typedef struct SandSubdomain SandSubdomain;

SandSubdomain *sand_subdomain_create(const SandRanks *ranks, SandError *error);
void sand_subdomain_free(SandSubdomain *subdomain);

// Sets the host, from which the next step takes the bodies and impulses that this rank starts with. A host with impulses
// must have all bodies; one without needs those of the rank's block alone (sand_block_first). Settings and boundaries stay
// on the host, and every step reads them there.
bool sand_subdomain_upload(SandSubdomain *subdomain, SandHostState *host, SandError *error);
// Reads all bodies and impulses back to every host. Collective, as are all reads below.
bool sand_subdomain_read(SandSubdomain *subdomain, SandError *error);
// Reads the block of each rank back to its host. `index`: NULL, or receives for each body of the block its solver index in
// the last step, -1 where it had none.
bool sand_subdomain_read_block(SandSubdomain *subdomain, int *index, SandError *error);
// Reads all bodies, or all bodies and impulses, back to the host of rank 0.
bool sand_subdomain_gather(SandSubdomain *subdomain, SandError *error);
bool sand_subdomain_gather_state(SandSubdomain *subdomain, SandError *error);
// Reads contacts, problem and solution of the last step back to the host of rank 0.
bool sand_subdomain_read_step(SandSubdomain *subdomain, SandHostState *host, SandError *error);
// Copies position and velocity after the step from their owners to the ghosts that contacts of the step touch. Collective.
bool sand_subdomain_move_ghosts(SandSubdomain *subdomain, SandError *error);
// Copies solved velocities and spins from their owners to all ghosts. Collective.
bool sand_subdomain_share_motion(SandSubdomain *subdomain, SandError *error);
bool sand_subdomain_known(const SandSubdomain *subdomain); // the host is up to date: no step since upload or read

// Writes one checkpoint together: each rank its block of the bodies, and the contacts that it owns. Collective. `request` is
// read on rank 0 alone. A file that cannot be written does not end the run: `fault` then has the reason, and is empty
// otherwise.
bool sand_subdomain_write_checkpoint(SandSubdomain *subdomain, const SandCheckpointRequest *request, SandError *fault,
                                     SandError *error);

// The bodies that this rank owns, as they are now. Every body of the world has exactly one owner.
typedef struct SandOwnBodies {
    SandWorld world;                // a view of held bodies and of the settings, not to be changed or freed
    int first;                      // global_id of body 0 where `global_id` is NULL; the others follow it
    const int *global_id;           // of each body of the view
    const uint8_t *is_ghost;        // of each body of the view; NULL: all are own bodies
    const SandHostState *state;     // the last step, with all contacts of own bodies; NULL: no step since the upload
    int first_contact, end_contact; // contacts of the state that own bodies own; every contact has exactly one owner
} SandOwnBodies;
SandOwnBodies sand_subdomain_own(const SandSubdomain *subdomain);
static inline int sand_own_global_id(const SandOwnBodies *own, int i) {
    return own->global_id ? own->global_id[i] : own->first + i;
}
static inline bool sand_own_has(const SandOwnBodies *own, int i) { return !own->is_ghost || !own->is_ghost[i]; }

SandHostState *sand_subdomain_host(SandSubdomain *subdomain);                  // of the last upload
SandHostState *sand_subdomain_state(SandSubdomain *subdomain);                 // of the held bodies
const SandPartition *sand_subdomain_partition(const SandSubdomain *subdomain); // after sand_subdomain_collide
int sand_subdomain_global_id(const SandSubdomain *subdomain, int body);        // of a held body
int sand_subdomain_local_id(const SandSubdomain *subdomain, int body);         // the inverse; INT_MAX: this body is not held
const SandRanks *sand_subdomain_ranks(const SandSubdomain *subdomain);
const SandMessages *sand_subdomain_ghosts(const SandSubdomain *subdomain); // records of own bodies, as sent in this step
// Hash of the settings with which the impulses of the last step were found (sand_sleep_settings).
uint64_t sand_subdomain_settings(const SandSubdomain *subdomain);

// Steps 1 to 4 above, before which bodies enter through inlets. Collective.
bool sand_subdomain_collide(SandSubdomain *subdomain, SandInletScratch *inlets, int *entered, SandThreadPool *pool,
                            SandError *error);
// Keeps the impulses of the step, which have been stored in the state, for the next one: notes their settings and order, and
// names bodies by global_id. Called once between any two calls of sand_subdomain_collide.
void sand_subdomain_keep(SandSubdomain *subdomain);

// Gathers the bodies that all ranks took out, in the order of solver indices. The list is valid until the next call of any
// function here. Collective.
bool sand_subdomain_gather_lost(SandSubdomain *subdomain, const SandTakenOut *mine, int count, const SandTakenOut **all,
                                int *all_count, SandError *error);
