// SPDX-License-Identifier: MIT
// Restitution and cohesion on the GPU, by the rules of sim/step/laws.inl. Nothing is launched in a world without them.
//   find_impacts      before the problem is packed: which contacts bounce, and how fast
//   add_pulls         the same: what cohesion does to the free motion of each body
//   keep_approaches   after the solve: what the next step must know of contacts that met
#include "cuda/hooks.h"

#include "sim/collision/warm_start.inl"

static __global__ void find_impacts(const __grid_constant__ SandWorld w, const SandWarmStart cache,
                                    const SandCollision *collision, const int *order, const int *first, SandImpact *impacts,
                                    const Counts *counts) {
    if (counts->retry) return;
    SandNewContacts now = {collision->contacts, order, first};
    EACH(i, counts->found) {
        const SandContactCandidate *c = &collision->contacts[order[i]];
        bool swapped, keeps = cache.step > 0 && cache.bounces;
        int old = keeps ? warm_start_recall(&cache, collision, &now, c, &swapped) : -1;
        impacts[order[i]] = impact_of(&w, collision, c, old < 0 ? 0 : cache.approach[old]);
    }
}

static __global__ void add_pulls(const __grid_constant__ SandWorld w, const SandCollision *collision, FixedSum *sums,
                                 const Counts *counts) {
    if (counts->retry) return;
    EACH(i, counts->found) pull_add_contact(&w, collision, &collision->contacts[i], sums);
}

bool pulls_enqueue(SandDevice *device) {
    size_t bodies = (size_t)device->world.body_count + 1;
    if (!reserve(device, device->pulls, bodies)) return false;
    device_check(device, cudaMemsetAsync(device->pulls.data, 0, bodies * sizeof(FixedSum), device->stream), "cohesion");
    LAUNCH(device, add_pulls, device->contact_capacity, device->world, device->device_collision.data, device->pulls.data,
           device->counts);
    return device_check(device, cudaGetLastError(), "cohesion");
}

bool impacts_enqueue(SandDevice *device) {
    if (!reserve(device, device->impacts, (size_t)device->contact_capacity + 1)) return false;
    LAUNCH(device, find_impacts, device->contact_capacity, device->world, kept_cache(device), device->device_collision.data,
           device->candidate_order.data, device->first.data, device->impacts.data, device->counts);
    return device_check(device, cudaGetLastError(), "restitution");
}

static __global__ void keep_approaches(const SandCollision *collision, const int *order, const SandImpact *impacts,
                                       const Impulse *impulse, double *approach, const Counts *counts) {
    if (counts->retry) return;
    EACH(i, counts->found)
        approach[i] = impact_kept(impacts[order[i]], &collision->contacts[order[i]], impulse_vector(impulse[i]));
}

bool laws_keep_enqueue(SandDevice *device, cudaStream_t stream) {
    if (!device->bounces) return true;
    LAUNCH_ON(stream, keep_approaches, device->contact_capacity, device->device_collision.data, device->candidate_order.data,
              device->impacts.data, device->kept_impulse.data, device->kept_approach.data, device->counts);
    return device_check(device, cudaGetLastError(), "restitution");
}
