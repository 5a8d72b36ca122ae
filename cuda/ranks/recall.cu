// SPDX-License-Identifier: MIT
// What a rank knows of the contacts of the last step, for those of the coming one: where their impulses start, and how fast
// they bounce. And the pulls of cohesion on its ghosts, which their owners know (cuda/ranks/subdomain.h).
#include "cuda/ranks/subdomain.h"

#include "sim/collision/warm_start.inl"
#include "sim/step/laws.inl"

// The contacts of the last step.
struct Recollection {
    SandWarmStart kept;         // contacts that this rank held
    const Impulse *impulse;     // of these
    const int *number;          // of each held body
    const KeptContact *arrived; // of bodies that have migrated here since, in the order of kept_before
    int arrived_count;
};

// What is known of one of them.
struct Recalled {
    Impulse impulse;
    double approach;
};

static __device__ const KeptContact *find_arrived(const Recollection &from, uint32_t a, SandContactKey key) {
    const KeptContact wanted = {a, key, Impulse(), 0};
    int low = 0, high = from.arrived_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (kept_before(from.arrived[middle], wanted))
            low = middle + 1;
        else
            high = middle;
    }
    return low < from.arrived_count && !kept_before(wanted, from.arrived[low]) ? &from.arrived[low] : NULL;
}

// Finds the contact with this key that body `a` owned in the last step, with solver index `index`. False: none is stored.
static __device__ bool find_kept(const Recollection &from, int index, uint32_t a, SandContactKey key, Recalled *to) {
    int at = index < 0 ? -1 : warm_start_find(&from.kept, index, key);
    if (at >= 0) {
        *to = {from.impulse[at], from.kept.bounces ? from.kept.approach[at] : 0};
        return true;
    }
    const KeptContact *k = from.arrived_count ? find_arrived(from, a, key) : NULL;
    if (k) *to = {k->impulse, k->approach};
    return k != NULL;
}

static __device__ bool recall(const Recollection &from, const SandCollision *collision, const SandContactCandidate *contact,
                              Recalled *to, bool *swapped) {
    int body = collision->body[contact->index_a], index = warm_start_index(&from.kept, body);
    uint32_t a = (uint32_t)from.number[body];
    *swapped = false;
    if (contact->b < 0) return find_kept(from, index, a, contact->key, to);
    int other = collision->body[contact->b];
    uint32_t b = (uint32_t)from.number[other];
    if (find_kept(from, index, a, {b, contact->key.feature}, to)) return true;
    *swapped = true;
    return find_kept(from, warm_start_index(&from.kept, other), b, {a, swapped_feature(contact->key.feature)}, to);
}

static Recollection recollection_of(const SandDevice *device) {
    return {kept_cache(device), device->kept_impulse.data, device->number.data, device->arrived.data,
            subdomain_of(device)->arrived};
}

// --- warm start ---------------------------------------------------------------------------------------------

static __global__ void recall_contacts(Recollection from, const SandCollision *collision, const int *order, double ratio,
                                       Impulse *start, uint32_t *second, Counts *counts) {
    if (counts->retry) return;
    int found = 0; // own contacts with an impulse
    EACH(i, counts->contacts) {
        const SandContactCandidate *contact = &collision->contacts[order[i]];
        bool swapped;
        Recalled old;
        bool has = ratio > 0 && recall(from, collision, contact, &old, &swapped);
        start[i] = has ? impulse_make(v3_scale(swapped ? -ratio : ratio, impulse_vector(old.impulse))) : Impulse();
        second[i] = (uint32_t)contact->b;
        found += has && !collision->is_ghost[collision->body[contact->index_a]];
    }
    found = __reduce_add_sync(ALL_LANES, found);
    if ((threadIdx.x & 31) == 0 && found) atomicAdd(&counts->warm_started, found);
}

bool subdomain_recall(SandDevice *device) {
    double ratio = device->kept_step > 0 ? device->world.step / device->kept_step : 0;
    device->torques = false;
    recall_contacts<<<device_blocks(device, device->contact_capacity, BLOCK_THREADS, 8), BLOCK_THREADS, 0, device->stream>>>(
        recollection_of(device), device->device_collision.data, device->candidate_order.data, ratio, device->start.data,
        device->keys.data, device->counts);
    device->problem = {device->candidate_order.data, device->start.data, device->start_torque.data, device->keys.data,
                       device->first.data};
    return device_check(device, cudaGetLastError(), "warm starting");
}

// --- restitution --------------------------------------------------------------------------------------------

static __global__ void recall_impacts(const __grid_constant__ SandWorld w, Recollection from, bool keeps,
                                      const SandCollision *collision, const int *order, SandImpact *impacts,
                                      const Counts *counts) {
    if (counts->retry) return;
    EACH(i, counts->found) {
        const SandContactCandidate *c = &collision->contacts[order[i]];
        bool swapped;
        Recalled old;
        bool has = keeps && recall(from, collision, c, &old, &swapped);
        impacts[order[i]] = impact_of(&w, collision, c, has ? old.approach : 0);
    }
}

static bool find_impacts(SandDevice *device) {
    if (!reserve(device, device->impacts, (size_t)device->contact_capacity + 1)) return false;
    LAUNCH(device, recall_impacts, device->contact_capacity, device->world, recollection_of(device), device->kept_step > 0,
           device->device_collision.data, device->candidate_order.data, device->impacts.data, device->counts);
    return device_check(device, cudaGetLastError(), "restitution");
}

// --- cohesion -----------------------------------------------------------------------------------------------

static __global__ void pack_pulls(const FixedSum *pulls, const int *list, int count, FixedSum *out) {
    EACH(e, count) out[e] = pulls[list[e]];
}

static __global__ void unpack_pulls(const FixedSum *in, const int *list, int count, FixedSum *pulls) {
    EACH(e, count) pulls[list[e]] = in[e];
}

// Gives the pulls on own bodies to the ranks that have contacts with them: a rank finds those on its own bodies alone, since
// it lacks contacts of its ghosts. Collective.
static bool share_pulls(SandDevice *device, SandError *error) {
    const RankProblem &problem = device->rank_problem;
    size_t sent = (size_t)problem.send_count, received = (size_t)problem.receive_count, each = sizeof(FixedSum);
    std::vector<FixedSum> out(sent + 1), in(received + 1);
    SandMessage messages[SAND_CHUNKS];
    if (!reserve(device, device->messages_out, sent * each + 1)) return device_fail(device, error);
    LAUNCH(device, pack_pulls, problem.send_count, device->pulls.data, problem.send, problem.send_count,
           (FixedSum *)device->messages_out.data);
    if (!download(device, out.data(), (const FixedSum *)device->messages_out.data, sent)) return device_fail(device, error);
    if (!subdomain_meet(device, error)) return false;
    for (int j = 0; j < problem.neighbor_count; j++) {
        const SandNeighbor &n = problem.neighbors[j];
        messages[j] = {n.rank, out.data() + n.first_send, in.data() + n.first_receive, each * (size_t)n.send_count,
                       each * (size_t)n.receive_count};
    }
    problem.ranks->exchange(problem.ranks->user, messages, problem.neighbor_count);
    bool ok = upload(device, device->messages_in, (const uint8_t *)in.data(), received * each);
    LAUNCH(device, unpack_pulls, problem.receive_count, (const FixedSum *)device->messages_in.data, problem.receive,
           problem.receive_count, device->pulls.data);
    return (ok && device_check(device, cudaGetLastError(), "cohesion") && device_wait(device)) || device_fail(device, error);
}

bool subdomain_laws(SandDevice *device, SandError *error) {
    if (device->left_out) return true;
    if (device->bounces && !find_impacts(device)) return device_fail(device, error);
    if (device->coheres && !pulls_enqueue(device)) return device_fail(device, error);
    return !device->coheres || share_pulls(device, error);
}
