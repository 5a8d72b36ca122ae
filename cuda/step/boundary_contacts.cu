// What is read of contacts after the solve, where the solve takes their memory (cuda/arena.h): before that,
//   copy_walls    copies those with boundaries, which have the last word in the integration
//   place_walls   says where their copies are, when the adjacency needs `keys` no longer
//   keep_keys     keeps the keys of all for the next warm start; elsewhere this waits for the integration
#include "cuda/device.h"

#include "sim/step/probe.inl"

#include <algorithm>

// Whether nothing else reads contacts after the solve, and packing writes one vector of four numbers at most.
static bool can_give_up(const SandDevice *device, const SandWorld *w) {
    bool reads = device->bounces || device->rolls || w->sleep_speed > 0 || w->joint_count > 0;
    for (int k = 0; k < w->probe_count; k++) reads = reads || probe_reads_contacts(w->probes[k].kind);
    return !reads;
}

bool step_gives_up(const SandDevice *device, const SandWorld *w) {
    double bodies = device->world.body_count, contacts = (double)device->contact_capacity;
    return arena_gives_up(bodies, contacts, (double)device->memory) && can_give_up(device, w);
}

// The copies remember which contacts they are of in place of the other body, which is a boundary.
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

// `number`: NULL, or of each body of a rank, which one it is of the world.
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
              device->subdomain ? device->number.data : NULL, device->kept_key.data, device->counts);
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
