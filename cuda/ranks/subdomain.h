// SPDX-License-Identifier: MIT
// The subdomain of a rank on a GPU, as sim/ranks/subdomain.h is on the CPU. The arrays of the device have the held
// bodies, own ones and ghosts, in ascending global_id (`number`), and the grids are shared by all ranks; so solver indices
// and contacts of a rank are a part of those of a single process, in the same order. In every step
//   1. owners: the ranks size the grids together. The cells of one of them give the order of solver indices; a chunk is a
//      range of these cells that does not depend on the number of ranks, and sums go over chunks
//      (cuda/solver/spmd_cuda.h). A rank owns consecutive chunks
//   2. migration: a body is sent to its new owner, with the impulses of all its contacts
//   3. ghosts: ranks share boxes around what their bodies reach, and send each body to the ranks whose boxes it meets
//   4. contacts: the held bodies are merged by number, and contacts of own bodies are found as in a single process
// Messages go through memory of the host, so that MPI need not support GPUs. Only bodies that migrate and those at a border
// are sent.
//
// A rank keeps the impulses of all contacts that it held in the last step, including those that another rank owns, which
// have the same bits there. So a ghost is sent without impulses, and a migrating body brings those that its new owner may
// lack.
#pragma once
#include "cuda/hooks.h"
#include "cuda/ranks/kept_contact.h"
#include "cuda/solver/rank_problem.h"
#include "sim/ranks/messages.h"
#include "sim/ranks/body_records.h"
#include "sim/ranks/subdomain.h"
#include "sim/step/forces.h"
#include "sim/step/inlet.h"
#include "sim/world/body_arrays.h"

enum {
    RANK_CHUNK_BODIES = 256, // bodies for each chunk, while there are fewer than RANK_CHUNKS chunks
    NO_CHUNK = 0xffff,       // chunk of a body that takes no part in the step
    REACH_BOXES = 64,        // boxes of a rank around what its bodies reach: one for each range of chunks
};

// A body as ranks send it.
#define RECORD_ARRAYS(ARRAY) SAND_SENT_ARRAYS(ARRAY) ARRAY(double, margin) ARRAY(float, reach)
struct BodyRecord {
    RECORD_ARRAYS(SAND_BODY_MEMBER)
};

// Pinned memory of the host, which the GPU copies from and to directly.
struct PinnedBytes {
    uint8_t *data;
    size_t capacity;
};

struct DeviceSubdomain {
    const SandRanks *ranks;
    SandHostState *host; // its world has the settings
    bool known;          // every host has the bodies and impulses of the last step
    bool gathered[2];    // the host of rank 0 has the bodies, [0], or impulses, [1], of the last step
    SandBroadPhase grid; // sized for the bodies of all ranks; cell_count and the cells of levels are those of this rank
    int near_spheres;    // capacity for spheres of other ranks behind own ones, in the search for impacts
    ReachBox all;        // box around everything that own bodies reach
    double most;         // m, the largest extent of any sphere of any rank
    double widest;       // m, how far any part of a body is from its center; 0: every body is one sphere
    int most_spheres;    // of a body
    int chunks;          // of all ranks together
    int first_chunk[SAND_CHUNKS + 1];     // of each rank, and the end
    int cut;                              // value of `chunks` when first_chunk was made; 0: it was not yet
    int own_begin, own_end, own_contacts; // range of own bodies by solver index; contacts that they own
    int arrived;                          // impulses received with migrated bodies in this step
    PinnedBytes sent, received;           // messages: bodies, spheres or impulses
    SandMessages messages;
    SandForceArrays forces;       // on the held bodies in this step
    SandInletScratch inlets;      // cells that bodies of any rank reach into
    int entered[SAND_MAX_INLETS]; // bodies that entered by each inlet in this step
};

// Capacity of arrays for `held` bodies, with a margin: the number of ghosts varies, and once memory is nearly full no array
// can grow.
inline size_t subdomain_capacity(size_t held) { return held + held / 32 + 4096; }

inline DeviceSubdomain *subdomain_of(const SandDevice *device) { return (DeviceSubdomain *)device->holder; }
#ifdef __CUDACC__
// Whether body i remains on rank `me` in this step: it has just arrived (i >= earlier), or it is an own body that does not
// migrate. Ghosts of the last step never remain.
inline __device__ bool subdomain_has(const uint8_t *is_ghost, const uint8_t *owner, int me, int earlier, int64_t i) {
    return i >= earlier || (!is_ghost[i] && owner[i] == me);
}
#endif
// The order of arrived impulses, for a binary search: by owner, then key.
inline __host__ __device__ bool kept_before(const KeptContact &a, const KeptContact &b) {
    if (a.a != b.a) return a.a < b.a;
    return a.key.other != b.key.other ? a.key.other < b.key.other : a.key.feature < b.key.feature;
}

int subdomain_chunks(const SandDevice *device);  // number of chunks that this rank owns
int subdomain_spheres(const SandDevice *device); // upper bound of the spheres of the held bodies
// Finds the index of a body by its number; INT_MAX: it is not held.
bool subdomain_find(SandDevice *device, int number, int *body);

// cuda/ranks/subdomain_upload.cu: uploads the bodies that this rank starts with.
bool subdomain_upload(SandDevice *device, SandHostState *host, SandError *error);
// Refuses worlds with features that ranks on GPUs lack.
bool subdomain_check(const SandDevice *device, const SandWorld *w, SandError *error);

// --- a step ---
// Lets bodies enter, then 1 to 3 of the list above, and the merge.
bool subdomain_move(SandDevice *device, const SandWorld *w, SandError *error);
bool subdomain_place(SandDevice *device); // sorts held bodies into the grids
// Once contacts are found: agrees whether the step must be repeated, and lists the chunks, neighbors and ghosts of the
// solve.
bool subdomain_share(SandDevice *device, SandError *error);
// cuda/ranks/recall.cu: warm start, from kept and arrived impulses; cohesion and restitution. Collective.
bool subdomain_recall(SandDevice *device);
bool subdomain_laws(SandDevice *device, SandError *error);
bool subdomain_divide(SandDevice *device); // leaves contacts of what rests out of the solve
// Sets the share of the impulses that velocities keep, from sums over the chunks of all ranks. Collective.
bool subdomain_bound(SandDevice *device, SandError *error);
bool subdomain_energies(SandDevice *device); // of own bodies, a sum for each chunk
void subdomain_stepped(SandDevice *device);  // ends a step that need not be repeated
// Turns the report of this rank into that of all ranks. Collective.
bool subdomain_report(SandDevice *device, SandStepReport *report, SandError *error);
// Reads all bodies and impulses back to every host. Collective.
bool subdomain_read(SandDevice *device, SandError *error);
// Reads all bodies, or all impulses, back to the host of rank 0. Collective.
bool subdomain_gather(SandDevice *device, bool impulses, SandError *error);

// --- cuda/ranks/acting.cu: what acts on the held bodies ---
// Uploads the forces on bodies, which are held at the moment, from those on all bodies that the host has.
bool subdomain_push(SandDevice *device, SandError *error);
// The same for what names bodies of the world by number: forces, and pairs of bodies that do not collide.
bool subdomain_rename(SandDevice *device, SandError *error);
// Lets bodies enter through inlets: all ranks choose the same places. Collective.
bool subdomain_enter(SandDevice *device, SandError *error);

// --- cuda/ranks/migration.cu, collective ---
// Waits for the GPU, and for all ranks. False where one of them has failed.
bool subdomain_meet(SandDevice *device, SandError *error);
// Sends each body to the ranks in its device->mask; device->message_counts has the number of bodies for each rank. Those
// received are appended to the arrays, as own bodies or as ghosts, and counted in *held.
bool subdomain_send_bodies(SandDevice *device, bool ghosts, int *held, SandError *error);
// Sends the impulses of bodies that migrate; those received are sorted into device->arrived. Uses the arena.
bool subdomain_send_impulses(SandDevice *device, SandError *error);
void subdomain_free_messages(DeviceSubdomain *subdomain);
// Sends each proxy to the ranks in its device->mask; those received are in device->messages_in.
bool subdomain_send_spheres(SandDevice *device, int *received, SandError *error);
// Sorts the first `held` bodies of the arrays by number, and drops those that do not remain (subdomain_has). Uses the arena.
bool subdomain_merge(SandDevice *device, int held);
