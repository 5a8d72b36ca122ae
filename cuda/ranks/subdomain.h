// One rank of several on a GPU: what sim/step/ranks/subdomain.h is on the CPU. The rank has its own bodies and its ghosts in
// the arrays of the device, in the order of their numbers in the world, and grids that all ranks share; so its solver
// indices and its contacts are a part of those of one process, in the same order. In every step
//   1. the ranks size the grids together; the order of solver indices is that of the cells of one of them, and a range of
//      cells is a chunk, whatever the number of ranks: sums go over chunks (cuda/solver/spmd_cuda.h). A rank owns
//      consecutive chunks
//   2. a body is sent to its owner, with the impulses of all its contacts
//   3. owners say where their bodies reach, and send each to the ranks that it reaches
//   4. what is held is merged by number, and contacts of own bodies are found as one process does
// Bodies go through memory of the host, since MPI need not know of GPUs; only those that move are sent, and those at a
// border.
//
// A rank keeps the impulses of all contacts that it held, also of those that another rank owns, which has the same bits: so
// only bodies that come bring impulses with them.
#pragma once
#include "cuda/device.h"
#include "cuda/solver/rank_problem.h"
#include "sim/core/messages.h"
#include "sim/step/ranks/subdomain.h"
#include "sim/world/body_arrays.h"

enum {
    RANK_CHUNK_BODIES = 256, // bodies a chunk, while there are fewer than RANK_CHUNKS
    NO_CHUNK = 0xffff,       // of a body that takes no part
    REACH_BOXES = 64,        // that say where the bodies of a rank reach: layer by layer of chunks
};

// A body as ranks send it.
#define RECORD_ARRAYS(ARRAY) \
    SAND_BODY_ARRAYS(ARRAY) ARRAY(double, margin) ARRAY(float, reach) ARRAY(int, number) ARRAY(uint8_t, owner)
struct BodyRecord {
    RECORD_ARRAYS(SAND_BODY_MEMBER)
};

// Memory of the host that is copied to the GPU and from it without a detour.
struct PinnedBytes {
    uint8_t *data;
    size_t capacity;
};

struct DeviceSubdomain {
    const SandRanks *ranks;
    SandHostState *host; // its world has the settings
    int held;            // bodies in the arrays: its own, and ghosts of the last step
    bool known;          // every host has the bodies and impulses of the last step
    bool gathered[2];    // that of rank 0 has its bodies; its impulses
    SandBroadPhase grid; // of all ranks; levels lie in the sorted order as this rank holds them
    int64_t all_spheres; // of all ranks
    int near_spheres;    // spheres of others that fit beside its own, while impacts are looked for
    ReachBox all;        // where its own bodies reach
    double most;         // m, the greatest extent of all
    int chunks, first_chunk[SAND_CHUNKS + 1];
    int cut;                              // chunks that first_chunk is of; 0: none
    int own_begin, own_end, own_contacts; // own bodies by solver index; contacts that they own
    int64_t table_cells;                  // cells of the grids that its table is made for
    bool again;                           // this step must be repeated
    int arrived;                          // impulses that came with bodies in this step
    PinnedBytes sent, received;           // bodies and impulses on their way
    SandMessages messages;
};

// Bodies that arrays are made for where `held` of them are held: ghosts come and go, and memory may not suffice to grow.
inline size_t subdomain_capacity(size_t held) { return held + held / 32 + 4096; }

void subdomain_free(SandDevice *device);
int64_t subdomain_all_spheres(const SandDevice *device);
int64_t subdomain_table_cells(const SandDevice *device);
#ifdef __CUDACC__
// Whether body i stays on rank `me` in this step: it has just arrived (from `earlier` on), or it is its own and has no other
// owner now. Ghosts of the last step never stay.
inline __device__ bool subdomain_has(const uint8_t *is_ghost, const uint8_t *owner, int me, int earlier, int64_t i) {
    return i >= earlier || (!is_ghost[i] && owner[i] == me);
}
#endif
// The order of kept contacts in which they are looked for.
inline __host__ __device__ bool kept_before(const KeptContact &a, const KeptContact &b) {
    if (a.a != b.a) return a.a < b.a;
    return a.key.other != b.key.other ? a.key.other < b.key.other : a.key.feature < b.key.feature;
}

int subdomain_chunks(const SandDevice *device); // of its own, of the last step
// Which of the held bodies is this one of the world; INT_MAX: none.
bool subdomain_find(SandDevice *device, int number, int *body);

// cuda/ranks/subdomain_upload.cu: takes the bodies that this rank begins with from its host.
bool subdomain_upload(SandDevice *device, SandHostState *host, SandError *error);
// Refuses what ranks on GPUs cannot do.
bool subdomain_check(const SandDevice *device, const SandWorld *w, SandError *error);

// --- a step ---
bool subdomain_move(SandDevice *device, SandError *error); // steps 1 to 3, and the merge
bool subdomain_place(SandDevice *device);                  // sorts what is held into the grids
bool subdomain_share(SandDevice *device,
                     SandError *error);      // after the contacts are found: what the solver is to know of the ranks
bool subdomain_recall(SandDevice *device);   // the warm start
bool subdomain_energies(SandDevice *device); // of own bodies, chunk by chunk
void subdomain_stepped(SandDevice *device);  // the step has ended well
// Turns the report of this rank into that of all.
bool subdomain_report(SandDevice *device, SandStepReport *report, SandError *error);
// Gives the hosts of all ranks all bodies and impulses.
bool subdomain_read(SandDevice *device, SandError *error);
// Gives the host of rank 0 all bodies, or all impulses.
bool subdomain_gather(SandDevice *device, bool impulses, SandError *error);

// --- cuda/ranks/migration.cu ---
// Waits for the GPU, and for all ranks. False where one of them has failed.
bool subdomain_meet(SandDevice *device, SandError *error);
// Sends bodies to the ranks of device->mask; how many for each is in device->message_counts. Those that come are appended to
// the arrays, as own ones or as ghosts.
bool subdomain_send_bodies(SandDevice *device, bool ghosts, int *held, SandError *error);
// Sends the impulses of those that leave; those that come are sorted in device->arrived. Takes the arena.
bool subdomain_send_impulses(SandDevice *device, SandError *error);
void subdomain_free_messages(DeviceSubdomain *subdomain);
// Sends proxies to the ranks of device->mask; they come to device->messages_in.
bool subdomain_send_spheres(SandDevice *device, int *received, SandError *error);
// Puts the bodies, of which `held` are in the arrays, in the order of their numbers, without those that are not held any
// more. Takes the arena.
bool subdomain_merge(SandDevice *device, int held);
