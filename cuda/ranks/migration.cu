// SPDX-License-Identifier: MIT
// Migration of bodies and impulses, and exchange of ghosts: records are packed on the GPU, sent through memory of the host,
// unpacked and merged on the GPU. The order of records in a message does not matter, and differs from run to run: they are
// merged by the numbers of bodies.
#include "cuda/ranks/subdomain.h"

#include <algorithm>

bool subdomain_meet(SandDevice *device, SandError *error) {
    const SandRanks *ranks = subdomain_of(device)->ranks;
    if (!device_check(device, cudaGetLastError(), "a rank's part") || !device_wait(device))
        return device_fail(device, error);
    return ranks->agree(ranks->user, 0, error);
}

// --- packing ------------------------------------------------------------------------------------------------

// The arrays of the device that are sent with a body: the members of BodyRecord.
struct BodyArrays {
    RECORD_ARRAYS(SAND_BODY_POINTER)
    uint8_t *is_ghost;
};

static BodyArrays arrays_of(const SandDevice *device) {
    BodyArrays arrays;
#define BIND(type, name) arrays.name = device->name.data;
    RECORD_ARRAYS(BIND)
#undef BIND
    arrays.is_ghost = device->is_ghost.data;
    return arrays;
}

static __device__ BodyRecord record_of(const BodyArrays &from, int64_t i) {
    BodyRecord r;
#define PACK(type, name) r.name = from.name[i];
    RECORD_ARRAYS(PACK)
#undef PACK
    return r;
}

// Calls put(rank, place) for each rank in a mask; next[rank] is the next free place in the message for it.
template <class Put> static __device__ void put_in_all(uint64_t mask, int *next, Put put) {
    for (; mask; mask &= mask - 1) {
        int rank = __ffsll((long long)mask) - 1;
        put(rank, atomicAdd(&next[rank], 1));
    }
}

static __global__ void pack_records(BodyArrays bodies, const uint64_t *mask, int count, int *next, BodyRecord *out) {
    EACH(i, count) put_in_all(mask[i], next, [&](int, int at) { out[at] = record_of(bodies, i); });
}

static __global__ void pack_spheres(const SandCollision *collision, const uint64_t *mask, int count, int *next,
                                    SandSphereProxy *out) {
    EACH(i, count) {
        SandSphereProxy sphere = collision->broad_phase.spheres[i];
        sphere.body = -1; // the receiver does not hold its body
        put_in_all(mask[i], next, [&](int, int at) { out[at] = sphere; });
    }
}

// --- sending ------------------------------------------------------------------------------------------------

// Sets first[r] to the index of the first record for rank r, and the last entry to the end, from the counts in
// message_counts. Then uploads first[] to message_counts, where packing finds the next free place for each rank.
static bool begin_records(SandDevice *device, int *first) {
    int ranks = subdomain_of(device)->ranks->count, counts[SAND_CHUNKS];
    if (!download(device, counts, device->message_counts.data, (size_t)ranks) || !device_wait(device)) return false;
    first[0] = 0;
    for (int r = 0; r < ranks; r++) first[r + 1] = first[r] + counts[r];
    return upload(device, device->message_counts, first, (size_t)ranks) && device_wait(device);
}

// Buffers of pinned memory above this size are freed after use. Smaller ones are kept, because pinning takes long.
constexpr size_t KEPT_PINNED = (size_t)1 << 28; // bytes

static void free_pinned(PinnedBytes &memory) {
    if (memory.data) cudaFreeHost(memory.data);
    memory = PinnedBytes();
}

static bool reserve_pinned(PinnedBytes &memory, size_t bytes, SandError *error) {
    if (bytes <= memory.capacity) return true;
    free_pinned(memory);
    size_t wanted = std::max(bytes, std::min(bytes + bytes / 4, KEPT_PINNED));
    if (cudaMallocHost((void **)&memory.data, wanted) != cudaSuccess) {
        cudaGetLastError();
        memory.data = NULL;
        return sand_fail(error, "the host has no memory left for %.0f MB of messages between ranks", 1e-6 * (double)wanted);
    }
    memory.capacity = wanted;
    return true;
}

void subdomain_free_messages(DeviceSubdomain *p) {
    free_pinned(p->sent);
    free_pinned(p->received);
    sand_messages_free(&p->messages);
}

// Exchanges the records in messages_out, of `bytes` each, from first[r] on for rank r; those received are in messages_in.
static bool exchange(SandDevice *device, const int *first, size_t bytes, int *received, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    const SandRanks *ranks = p->ranks;
    size_t sent[SAND_CHUNKS], coming[SAND_CHUNKS], all = (size_t)first[ranks->count] * bytes, come = 0;
    uint8_t *out[SAND_CHUNKS];
    if (!reserve_pinned(p->sent, all + 1, error)) return false;
    if (!download(device, p->sent.data, device->messages_out.data, all) || !device_wait(device))
        return device_fail(device, error);
    for (int r = 0; r < ranks->count; r++) {
        sent[r] = (size_t)(first[r + 1] - first[r]) * bytes;
        out[r] = p->sent.data + (size_t)first[r] * bytes;
    }
    if (!sand_messages_announce(ranks, sent, coming, error)) return false;
    for (int r = 0; r < ranks->count; r++) come += coming[r];
    if (!reserve_pinned(p->received, come + 1, error) || !ranks->agree(ranks->user, 0, error)) return false;
    sand_messages_deliver(ranks, out, sent, p->received.data, coming);
    if (!upload(device, device->messages_in, p->received.data, come) || !device_wait(device))
        return device_fail(device, error);
    if (p->sent.capacity > KEPT_PINNED) free_pinned(p->sent);
    if (p->received.capacity > KEPT_PINNED) free_pinned(p->received);
    *received = (int)(come / bytes);
    return true;
}

bool subdomain_send_spheres(SandDevice *device, int *received, SandError *error) {
    int first[SAND_CHUNKS + 1], own = subdomain_of(device)->grid.sphere_count;
    if (!begin_records(device, first) ||
        !reserve(device, device->messages_out,
                 (size_t)first[subdomain_of(device)->ranks->count] * sizeof(SandSphereProxy) + 1))
        return device_fail(device, error);
    LAUNCH(device, pack_spheres, own, device->device_collision.data, device->mask.data, own, device->message_counts.data,
           (SandSphereProxy *)device->messages_out.data);
    return exchange(device, first, sizeof(SandSphereProxy), received, error);
}

// --- unpacking ----------------------------------------------------------------------------------------------

static __global__ void unpack_records(BodyArrays to, const BodyRecord *in, int count, int at, bool ghosts) {
    EACH(k, count) {
        const BodyRecord r = in[k];
        int64_t i = at + k;
#define UNPACK(type, name) to.name[i] = r.name;
        RECORD_ARRAYS(UNPACK)
#undef UNPACK
        to.is_ghost[i] = ghosts;
    }
}

// Reserves the arrays for this many bodies, and keeps their contents.
static bool reserve_bodies(SandDevice *device, size_t n) {
    bool ok = reserve(device, device->is_ghost, n, true);
#define RESERVE(type, name) ok = ok && reserve(device, device->name, n, true);
    RECORD_ARRAYS(RESERVE)
#undef RESERVE
    return ok;
}

bool subdomain_send_bodies(SandDevice *device, bool ghosts, int *held, SandError *error) {
    int first[SAND_CHUNKS + 1], received;
    if (!begin_records(device, first) ||
        !reserve(device, device->messages_out, (size_t)first[subdomain_of(device)->ranks->count] * sizeof(BodyRecord) + 1))
        return device_fail(device, error);
    LAUNCH(device, pack_records, *held, arrays_of(device), device->mask.data, *held, device->message_counts.data,
           (BodyRecord *)device->messages_out.data);
    if (!exchange(device, first, sizeof(BodyRecord), &received, error)) return false;
    if (!reserve_bodies(device, (size_t)*held + (size_t)received + 2)) return device_fail(device, error);
    LAUNCH(device, unpack_records, received, arrays_of(device), (const BodyRecord *)device->messages_in.data, received,
           *held, ghosts);
    *held += received;
    return device_check(device, cudaGetLastError(), "bodies of other ranks") || device_fail(device, error);
}

// --- sorting ------------------------------------------------------------------------------------------------

// Scratch memory of a sort, in the arena.
struct SortSpace {
    uint32_t *keys, *sorted_keys;
    int *index, *order, *chosen, *place, *source, *before;
    uint8_t *permuted;
    void *scratch;
    size_t scratch_bytes;
};

static bool find_space(SandDevice *device, size_t n, SortSpace *space) {
    size_t sorting = sort_scratch((int64_t)n), scanning = scan_scratch((int64_t)n + 1), words = arena_aligned((n + 2) * 4);
    space->scratch_bytes = std::max(sorting, scanning);
    if (!reserve(device, device->arena, 8 * words + arena_aligned(space->scratch_bytes) + (n + 2) * sizeof(SandQuat)))
        return false;
    uint8_t *at = device->arena.data;
    int **arrays[] = {(int **)&space->keys, (int **)&space->sorted_keys,
                      &space->index,        &space->order,
                      &space->chosen,       &space->place,
                      &space->source,       &space->before};
    for (int **array : arrays) {
        *array = (int *)at;
        at += words;
    }
    space->scratch = at;
    space->permuted = at + arena_aligned(space->scratch_bytes);
    return true;
}

static __global__ void number_items(int *index, int count) {
    EACH(i, count) index[i] = (int)i;
}

template <class T> static __global__ void gather(const T *from, const int *source, T *to, int count) {
    EACH(i, count) to[i] = from[source[i]];
}

template <class T> static bool permute(SandDevice *device, Array<T> &array, const SortSpace &space, int count) {
    LAUNCH(device, gather<T>, count, array.data, space.source, (T *)space.permuted, count);
    return device_check(
        device,
        cudaMemcpyAsync(array.data, space.permuted, (size_t)count * sizeof(T), cudaMemcpyDeviceToDevice, device->stream),
        "sorting");
}

// --- impulses -----------------------------------------------------------------------------------------------

// The kept contacts: those of the last step, by the solver indices of that step.
struct KeptContacts {
    const int *solver_index, *body, *first, *second, *list, *number;
    const SandContactKey *key;
    const Impulse *impulse;
    const double *approach; // NULL: nothing bounces
    int bodies, world;
};

// The solver index of the owner of contact i: the last row that begins at it or before it.
static __device__ int owner_of(const KeptContacts &kept, int i) {
    int low = 0, high = kept.bodies;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(kept.first[middle] <= i ? &low : &high) = middle;
    }
    return low;
}

static __device__ int kept_index(const KeptContacts &kept, int64_t i) { return i < kept.world ? kept.solver_index[i] : -1; }

// Calls put(contact, owner) for each kept contact of body i, those that it owned and the others. Not for a repeated step:
// its first attempt has overwritten the rows, and has already migrated all bodies.
template <class Put> static __device__ void each_kept(const KeptContacts &kept, int64_t i, Put put) {
    int k = kept_index(kept, i);
    if (k < 0) return;
    for (int c = kept.first[k]; c < kept.first[k + 1]; c++) put(c, k);
    for (int e = kept.second[k]; e < kept.second[k + 1]; e++) put(kept.list[e], owner_of(kept, kept.list[e]));
}

static __global__ void count_impulses(KeptContacts kept, const uint64_t *mask, int count, int *counts) {
    EACH(i, count) {
        if (!mask[i]) continue;
        int rank = __ffsll((long long)mask[i]) - 1;
        each_kept(kept, i, [&](int, int) { atomicAdd(&counts[rank], 1); });
    }
}

static __global__ void pack_impulses(KeptContacts kept, const uint64_t *mask, int count, int *next, KeptContact *out) {
    EACH(i, count) {
        if (!mask[i]) continue;
        int rank = __ffsll((long long)mask[i]) - 1;
        each_kept(kept, i, [&](int c, int k) {
            out[atomicAdd(&next[rank], 1)] = {(uint32_t)kept.number[kept.body[k]], kept.key[c], kept.impulse[c],
                                              kept.approach ? kept.approach[c] : 0};
        });
    }
}

static KeptContacts kept_contacts(const SandDevice *device) {
    return {device->kept_solver_index.data,
            device->body.data,
            device->kept_first.data,
            device->second.data,
            device->list.data,
            device->number.data,
            device->kept_key.data,
            device->kept_impulse.data,
            device->kept_bounces ? device->kept_approach.data : NULL,
            device->kept_bodies,
            device->kept_world};
}

// The keys by which impulses are sorted, the most significant last.
enum { BY_FEATURE, BY_OTHER, BY_OWNER, IMPULSE_KEYS };

static __global__ void take_keys(const KeptContact *in, const int *order, int which, uint32_t *keys, int count) {
    EACH(i, count) {
        const KeptContact *k = &in[order[i]];
        keys[i] = which == BY_FEATURE ? k->key.feature : which == BY_OTHER ? k->key.other : k->a;
    }
}

// Sorts device->arrived in the order of kept_before, by one stable sort for each key. A contact may have come from two
// ranks; both copies have the same bits.
static bool sort_arrived(SandDevice *device) {
    int count = subdomain_of(device)->arrived;
    SortSpace space;
    if (!find_space(device, (size_t)count, &space)) return false;
    LAUNCH(device, number_items, count, space.index, count);
    for (int which = 0; which < IMPULSE_KEYS; which++) {
        LAUNCH(device, take_keys, count, device->arrived.data, space.index, which, space.keys, count);
        if (!device_check(device,
                          sort_pairs(space.scratch, space.scratch_bytes, space.keys, space.sorted_keys, space.index,
                                     space.order, count, 32, device->stream),
                          "sorting impulses"))
            return false;
        std::swap(space.index, space.order);
    }
    space.source = space.index;
    return permute(device, device->arrived, space, count);
}

// Appends received impulses to device->arrived, and sorts. A repeated step keeps those of its first attempt, which are
// sorted already; the first step after an upload keeps those from the host.
static bool append_arrived(SandDevice *device, int received) {
    DeviceSubdomain *p = subdomain_of(device);
    if (!reserve(device, device->arrived, (size_t)p->arrived + (size_t)received + 1, true)) return false;
    bool ok = device_check(device,
                           cudaMemcpyAsync(device->arrived.data + p->arrived, device->messages_in.data,
                                           (size_t)received * sizeof(KeptContact), cudaMemcpyDeviceToDevice, device->stream),
                           "impulses of other ranks");
    p->arrived += received;
    return ok && (!received || sort_arrived(device));
}

bool subdomain_send_impulses(SandDevice *device, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    int first[SAND_CHUNKS + 1], received, held = device->body_total;
    bool keeps = device->kept_step > 0 && !device->left_out;
    size_t ranks = (size_t)p->ranks->count;
    if (!device_check(device, cudaMemsetAsync(device->message_counts.data, 0, ranks * sizeof(int), device->stream),
                      "impulses"))
        return device_fail(device, error);
    if (keeps)
        LAUNCH(device, count_impulses, held, kept_contacts(device), device->mask.data, held, device->message_counts.data);
    if (!begin_records(device, first) ||
        !reserve(device, device->messages_out, (size_t)first[ranks] * sizeof(KeptContact) + 1))
        return device_fail(device, error);
    if (keeps)
        LAUNCH(device, pack_impulses, held, kept_contacts(device), device->mask.data, held, device->message_counts.data,
               (KeptContact *)device->messages_out.data);
    if (!exchange(device, first, sizeof(KeptContact), &received, error)) return false;
    return append_arrived(device, received) || device_fail(device, error);
}

// --- merging ------------------------------------------------------------------------------------------------

static __global__ void choose_held(const uint8_t *is_ghost, const uint8_t *owner, int me, int earlier, const int *order,
                                   int *chosen, int count) {
    EACH(i, count + 1) chosen[i] = i < count && subdomain_has(is_ghost, owner, me, earlier, order[i]);
}

// For each body that the merge keeps: `source`, its index in the arrays, and `before`, its index in the last step (-1: not
// held), by which its kept contacts are found. A body that was held, as a ghost or an own body, and has been received again
// has two entries in the arrays. Sorted by number these are neighbors, that of the last step first.
static __global__ void find_sources(const uint32_t *keys, const int *order, const int *chosen, const int *place, int earlier,
                                    int *source, int *before, int count) {
    EACH(i, count) {
        if (!chosen[i]) continue;
        int from = order[i], was = from < earlier ? from : -1;
        for (int64_t k = i - 1; was < 0 && k >= 0 && keys[k] == keys[i]; k--)
            if (order[k] < earlier) was = order[k];
        source[place[i]] = from;
        before[place[i]] = was;
    }
}

static __global__ void gather_kept(const int *from, const int *before, int world, int *to, int count) {
    EACH(i, count) to[i] = before[i] >= 0 && before[i] < world ? from[before[i]] : -1;
}

static bool permute_all(SandDevice *device, const SortSpace &space, int count) {
    bool ok = permute(device, device->is_ghost, space, count);
#define PERMUTE(type, name) ok = ok && permute(device, device->name, space, count);
    RECORD_ARRAYS(PERMUTE)
#undef PERMUTE
    return ok;
}

// Renumbers the rows of kept contacts for the merged bodies.
static bool permute_kept(SandDevice *device, const SortSpace &space, int count) {
    if (device->kept_step == 0) return true;
    if (!reserve(device, device->kept_solver_index, (size_t)count + 2, true)) return false;
    LAUNCH(device, gather_kept, count, device->kept_solver_index.data, space.before, device->kept_world,
           (int *)space.permuted, count);
    device->kept_world = count;
    return device_check(device,
                        cudaMemcpyAsync(device->kept_solver_index.data, space.permuted, (size_t)count * sizeof(int),
                                        cudaMemcpyDeviceToDevice, device->stream),
                        "merging bodies");
}

bool subdomain_merge(SandDevice *device, int held) {
    DeviceSubdomain *p = subdomain_of(device);
    SortSpace space;
    int count = 0, earlier = device->body_total;
    size_t n = (size_t)held;
    if (!find_space(device, n, &space)) return false;
    LAUNCH(device, number_items, held, space.index, held);
    bool ok = device_check(device,
                           sort_pairs(space.scratch, space.scratch_bytes, (const uint32_t *)device->number.data,
                                      space.sorted_keys, space.index, space.order, held,
                                      bits_for((int64_t)p->host->world.body_count + 1), device->stream),
                           "merging bodies");
    LAUNCH(device, choose_held, held + 1, device->is_ghost.data, device->owner.data, p->ranks->rank, earlier, space.order,
           space.chosen, held);
    ok = ok &&
         device_check(device,
                      scan_sum(space.scratch, space.scratch_bytes, space.chosen, space.place, held + 1, device->stream),
                      "merging bodies") &&
         download(device, &count, space.place + held, 1) && device_wait(device);
    if (!ok) return false;
    LAUNCH(device, find_sources, held, space.sorted_keys, space.order, space.chosen, space.place, earlier, space.source,
           space.before, held);
    device->body_total = count;
    return permute_all(device, space, count) && permute_kept(device, space, count) && device_wait(device);
}
