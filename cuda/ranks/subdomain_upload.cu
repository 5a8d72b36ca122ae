// SPDX-License-Identifier: MIT
// Uploading the bodies and impulses that a rank starts with from its host (cuda/ranks/subdomain.h). The first step then
// migrates bodies to their owners.
#include "cuda/ranks/subdomain.h"

#include "sim/core/exact_sum.inl"

#include <algorithm>
#include <math.h>
#include <numeric>

// The bodies of the rank's block: at the start of a scene its host has no others.
static std::vector<int> block_bodies(const SandWorld *w, const SandRanks *ranks) {
    int first = sand_block_first(w->body_count, ranks->count, ranks->rank);
    std::vector<int> mine((size_t)(sand_block_first(w->body_count, ranks->count, ranks->rank + 1) - first));
    std::iota(mine.begin(), mine.end(), first);
    return mine;
}

// The bodies to start with where the host has impulses of an earlier step, and so all bodies: those of a layer between two
// heights. The layers of all ranks have about equally many bodies; subdomains are slabs, too, so that few bodies must
// migrate in the first step.
static std::vector<int> layer_bodies(const SandWorld *w, const SandRanks *ranks) {
    enum { LAYERS = 1 << 16 };
    std::vector<int64_t> count(LAYERS + 1);
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < w->body_count; i++) {
        low = fmin(low, w->position[i].z);
        high = fmax(high, w->position[i].z);
    }
    double scale = high > low ? (LAYERS - 1) / (high - low) : 0;
    auto layer_of = [&](int i) { return (size_t)((w->position[i].z - low) * scale); };
    for (int i = 0; i < w->body_count; i++) count[layer_of(i) + 1]++;
    std::partial_sum(count.begin(), count.end(), count.begin());
    std::vector<int> mine;
    mine.reserve((size_t)(w->body_count / ranks->count) + (size_t)w->body_count / 8);
    for (int i = 0; i < w->body_count; i++)
        if (count[layer_of(i)] * ranks->count / w->body_count == ranks->rank) mine.push_back(i);
    return mine;
}

// Uploads the items of these bodies of an array of the host.
template <class T> static bool upload_some(SandDevice *device, Array<T> &to, const T *from, const std::vector<int> &bodies) {
    std::vector<T> some(bodies.size());
    if (!reserve(device, to, subdomain_capacity(bodies.size()))) return false;
    std::transform(bodies.begin(), bodies.end(), some.begin(), [&](int i) { return from[i]; });
    return upload(device, to, some.data(), some.size()) && device_wait(device);
}

// Uploads all impulses of the host's warm start as arrived ones, since owners are not known yet.
static bool recall_from_host(SandDevice *device, const SandWarmStart *warm) {
    std::vector<KeptContact> all;
    for (int i = 0; i < warm->world_count; i++) {
        int k = warm->solver_index[i];
        for (int c = k < 0 ? 0 : warm->first[k]; k >= 0 && c < warm->first[k + 1]; c++)
            all.push_back(
                {(uint32_t)i, warm->key[c], impulse_make(warm->impulse[c]), warm->bounces ? warm->approach[c] : 0});
    }
    std::sort(all.begin(), all.end(), kept_before);
    subdomain_of(device)->arrived = (int)all.size();
    return upload(device, device->arrived, all.data(), all.size()) && device_wait(device);
}

// Computes the mass of the bodies of all ranks, by an exact sum, which does not depend on which rank has which body.
static bool weigh(SandDevice *device, const SandWorld *w, const std::vector<int> &mine, SandError *error) {
    const SandRanks *ranks = subdomain_of(device)->ranks;
    SandExactSum mass = {};
    for (int i : mine) exact_add(&mass, w->mass[i], false);
    exact_carry(&mass);
    if (!ranks->agree(ranks->user, 0, error)) return false;
    ranks->sum(ranks->user, (int64_t *)&mass, EXACT_LIMBS + 1);
    if (mass.refused) return sand_fail(error, "bodies of 4e18 kg and more are too heavy for ranks on GPUs");
    flow_weigh(device, exact_value(&mass));
    return true;
}

// Finds how large bodies are: that their spheres are several follows from the shapes, which every host has.
static bool measure_bodies(SandDevice *device, const SandWorld *w, const std::vector<int> &mine, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    const SandRanks *ranks = p->ranks;
    std::vector<double> widest((size_t)ranks->count);
    std::vector<int> first((size_t)ranks->count + 1);
    std::iota(first.begin(), first.end(), 0);
    p->widest = 0;
    p->most_spheres = 1;
    for (int k = 0; k < w->shape_count; k++) p->most_spheres = std::max(p->most_spheres, w->shapes[k].sphere_count);
    device->single_spheres = p->most_spheres == 1;
    if (device->single_spheres) return true;
    for (int i : mine)
        widest[(size_t)ranks->rank] = fmax(widest[(size_t)ranks->rank], w->scale[i] * w->shapes[w->shape[i]].bound);
    if (!ranks->agree(ranks->user, 0, error)) return false;
    ranks->allgather(ranks->user, widest.data(), first.data(), sizeof(double));
    p->widest = *std::max_element(widest.begin(), widest.end());
    return true;
}

bool subdomain_upload(SandDevice *device, SandHostState *host, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    const SandWorld *w = &host->world;
    std::vector<int> mine = host->warm_start.step > 0 ? layer_bodies(w, p->ranks) : block_bodies(w, p->ranks);
    std::vector<uint8_t> owner(mine.size() + 1, (uint8_t)p->ranks->rank), is_ghost(mine.size() + 1, 0);
    size_t n = mine.size();
    for (int i : mine)
        if (!sand_world_has(w, i)) return sand_fail(error, "rank %d lacks body %d", p->ranks->rank, i);
    p->host = host;
    device->body_total = (int)n;
    if (!measure_bodies(device, w, mine, error)) return false;
    device->sphere_total = subdomain_spheres(device);
    p->known = true;
    p->gathered[0] = p->gathered[1] = false;
    device->left_out = false;
    p->cut = 0;
    p->arrived = 0;
    if (host->warm_start.step > 0 && !recall_from_host(device, &host->warm_start)) return device_fail(device, error);
    device->kept_step = host->warm_start.step;
    device->kept_settings = host->warm_start.settings;
    device->kept_world = device->kept_bodies = device->kept_contacts = 0;
    device->kept_spent = false;
    size_t most = subdomain_capacity(n);
    bool ok = reserve(device, device->number, most) && reserve(device, device->owner, most) &&
              reserve(device, device->is_ghost, most) && upload(device, device->number, mine.data(), n) &&
              upload(device, device->owner, owner.data(), n) && upload(device, device->is_ghost, is_ghost.data(), n);
#define UPLOAD(type, name) ok = ok && upload_some(device, device->name, w->name, mine);
    SAND_BODY_ARRAYS(UPLOAD)
#undef UPLOAD
    ok = ok && device_wait(device);
    return ok ? weigh(device, w, mine, error) : device_fail(device, error);
}
