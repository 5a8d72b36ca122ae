// SPDX-License-Identifier: MIT
// Copies of contacts with boundaries, for steps whose solve reuses the memory of contacts (cuda/arena.h), so that what is
// read of contacts after the solve must be copied before it:
//   copy_walls    copies contacts with boundaries, at which the integration stops bodies (stop_at_boundary)
//   place_walls   notes where the copies are, in `keys`, which the adjacency no longer needs
//   keep_keys     keeps the keys of all contacts for the next warm start; in other steps this is done after the integration
#include "cuda/device.h"

#include "sim/step/probe.inl"

#include <algorithm>

// Whether the solve may reuse the memory of contacts: nothing but these copies reads contacts after it, and packing writes
// one vector of four numbers at most.
static bool can_give_up(const SandDevice *device, const SandWorld *w) {
    bool reads = device->bounces || device->rolls || w->sleep_speed > 0 || w->joint_count > 0;
    for (int k = 0; k < w->probe_count; k++) reads = reads || probe_reads_contacts(w->probes[k].kind);
    return !reads;
}

bool step_gives_up(const SandDevice *device, const SandWorld *w) {
    double bodies = device->world.body_count, contacts = (double)device->contact_capacity;
    return arena_gives_up(bodies, contacts, (double)device->memory) && can_give_up(device, w);
}

// Copies contacts with boundaries. A copy has the index of its contact in place of that of the other body.
static __global__ void copy_walls(const SandCollision *collision, const int *order, SandContactCandidate *walls,
                                  int64_t capacity, Counts *counts) {
    if (counts->retry) return;
    EACH(i, counts->contacts) {
        const SandContactCandidate *contact = &collision->contacts[order[i]];
        if (contact->b >= 0) continue;
        int at = atomicAdd(&counts->walls, 1);
        if (at >= capacity) continue;
        walls[at] = *contact;
        walls[at].key.other = (uint32_t)i;
    }
}

// Asks for a retry where the copies do not fit. One thread.
static __global__ void check_walls(int64_t capacity, Counts *counts) {
    if (counts->walls > capacity) counts->retry |= RETRY_WALLS;
}

static __global__ void place_walls(const SandContactCandidate *walls, uint32_t *place, const Counts *counts) {
    if (counts->retry) return;
    EACH(at, counts->walls) place[walls[at].key.other] = (uint32_t)at;
}

// `number`: global_id of each held body of a rank; NULL of a simulation alone.
static __global__ void keep_keys(const SandCollision *collision, const int *order, const int *number, SandContactKey *key,
                                 const Counts *counts) {
    if (counts->retry) return;
    EACH(i, counts->found) {
        SandContactKey mine = collision->contacts[order[i]].key;
        if (number && !(mine.other & SAND_BOUNDARY_BIT)) mine.other = (uint32_t)number[mine.other];
        key[i] = mine;
    }
}

bool keys_enqueue(SandDevice *device, cudaStream_t stream) {
    LAUNCH_ON(stream, keep_keys, device->contact_capacity, device->device_collision.data, device->candidate_order.data,
              device->number.data, device->kept_key.data, device->counts);
    return device_check(device, cudaGetLastError(), "keeping the keys of contacts");
}

static int64_t wall_capacity(const SandDevice *device) { return std::min(device->wall_capacity, device->contact_capacity); }

bool walls_begin(SandDevice *device) {
    if (!device->gives_up) return true;
    if (!device->wall_capacity) device->wall_capacity = device->world.body_count / 16 + 64;
    if (!reserve(device, device->walls, (size_t)wall_capacity(device))) return false;
    device->kept_spent = true;
    LAUNCH(device, copy_walls, device->contact_capacity, device->device_collision.data, device->problem.order,
           device->walls.data, wall_capacity(device), device->counts);
    check_walls<<<1, 1, 0, device->stream>>>(wall_capacity(device), device->counts);
    return device_check(device, cudaGetLastError(), "copying contacts with boundaries");
}

bool walls_finish(SandDevice *device) {
    if (!device->gives_up) return true;
    // Keys are kept when the buffer grows: if the step must be repeated, it is warm started by them a second time.
    if (!reserve(device, device->kept_key, (size_t)device->contact_capacity + 1, true)) return false;
    LAUNCH(device, place_walls, wall_capacity(device), device->walls.data, device->keys.data, device->counts);
    return keys_enqueue(device, device->stream);
}
