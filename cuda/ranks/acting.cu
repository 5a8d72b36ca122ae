// SPDX-License-Identifier: MIT
// What acts on the bodies of a rank beside contacts and gravity: forces, and inlets, by which bodies enter; and the pairs of
// them that do not collide. The host has all of it by the numbers of the world, and decides there, by the functions that
// ranks on CPUs use (sim/ranks/subdomain.c); the GPU gets what concerns the held bodies.
#include "cuda/ranks/subdomain.h"

#include "sim/step/inlet.inl"

#include <algorithm>

// Reads the numbers of the held bodies, which ascend.
static bool read_numbers(SandDevice *device, std::vector<int> *number) {
    number->resize((size_t)device->body_total + 1);
    return download(device, number->data(), device->number.data, (size_t)device->body_total) && device_wait(device);
}

// --- forces and pairs ---------------------------------------------------------------------------------------

static bool push(SandDevice *device, const std::vector<int> &number, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    SandWorld held = {};
    held.body_count = device->body_total;
    if (!sand_forces_take(&p->forces, &held, &p->host->world, number.data(), error)) return false;
    bool ok = forces_upload(device, held.force, held.torque, (size_t)held.body_count) && device_wait(device);
    return ok || device_fail(device, error);
}

bool subdomain_push(SandDevice *device, SandError *error) {
    std::vector<int> number;
    if (!subdomain_of(device)->host->world.force) return true;
    if (!read_numbers(device, &number)) return device_fail(device, error);
    return push(device, number, error);
}

// The index of a held body; -1: it is not held.
static int64_t index_of(const std::vector<int> &number, int count, uint64_t body) {
    auto end = number.begin() + count, at = std::lower_bound(number.begin(), end, (int)body);
    return at < end && *at == (int)body ? at - number.begin() : -1;
}

// Names the pairs of held bodies that do not collide by their indices. These ascend with the numbers, so that the list stays
// sorted; it takes the place of the one that was uploaded with the settings, which is not shorter.
static bool rename_apart(SandDevice *device, const std::vector<int> &number) {
    const SandWorld *all = &subdomain_of(device)->host->world;
    std::vector<uint64_t> apart;
    for (int k = 0; k < all->apart_count; k++) {
        int64_t a = index_of(number, device->body_total, all->apart[k] >> 32),
                b = index_of(number, device->body_total, all->apart[k] & 0xffffffff);
        if (a >= 0 && b >= 0) apart.push_back((uint64_t)a << 32 | (uint64_t)b);
    }
    device->world.apart_count = (int)apart.size();
    return device_check(device,
                        cudaMemcpyAsync(device->world.apart, apart.data(), apart.size() * sizeof(uint64_t),
                                        cudaMemcpyHostToDevice, device->stream),
                        "copying to the GPU") &&
           device_wait(device);
}

bool subdomain_rename(SandDevice *device, SandError *error) {
    const SandWorld *all = &subdomain_of(device)->host->world;
    std::vector<int> number;
    if (!all->force && !all->apart_count) return true;
    if (!read_numbers(device, &number)) return device_fail(device, error);
    if (all->apart_count && !rename_apart(device, number)) return device_fail(device, error);
    return !all->force || push(device, number, error);
}

// --- inlets -------------------------------------------------------------------------------------------------

// The bodies whose time to enter a step may change, by their numbers: for each inlet those that may be next.
struct Entering {
    int first[SAND_MAX_INLETS], end[SAND_MAX_INLETS], count;
};

// A body that enters, or waits.
struct Entry {
    SandVec3 position;
    double enter;
};

static Entering entering_of(const SandWorld *w) {
    Entering e = {};
    e.count = w->inlet_count;
    for (int k = 0; k < w->inlet_count; k++) {
        const SandInlet *in = &w->inlets[k];
        e.first[k] = in->first + in->entered;
        e.end[k] = std::min(e.first[k] + inlet_cells(in), in->first + in->count);
    }
    return e;
}

static __global__ void take_entries(SandWorld w, const int *number, const __grid_constant__ Entering entering,
                                    const Entry *entries) {
    EACH(i, w.body_count) {
        int before = 0;
        for (int k = 0; k < entering.count; before += entering.end[k] - entering.first[k], k++) {
            if (number[i] < entering.first[k] || number[i] >= entering.end[k]) continue;
            const Entry *entry = &entries[before + number[i] - entering.first[k]];
            w.position[i] = entry->position;
            w.enter[i] = entry->enter;
        }
    }
}

// Copies to the held bodies what the host has decided.
static bool upload_entries(SandDevice *device, const SandWorld *all) {
    Entering entering = entering_of(all);
    std::vector<Entry> entries;
    for (int k = 0; k < entering.count; k++)
        for (int i = entering.first[k]; i < entering.end[k]; i++) entries.push_back({all->position[i], all->enter[i]});
    size_t bytes = entries.size() * sizeof(Entry);
    if (!upload(device, device->messages_in, (const uint8_t *)entries.data(), bytes)) return false;
    LAUNCH(device, take_entries, device->body_total, device->world, device->number.data, entering,
           (const Entry *)device->messages_in.data);
    return device_check(device, cudaGetLastError(), "letting bodies enter") && device_wait(device);
}

bool subdomain_enter(SandDevice *device, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    SandWorld *all = &p->host->world;
    size_t cells;
    std::fill(p->entered, p->entered + SAND_MAX_INLETS, 0);
    if (!all->inlet_count) return true;
    if (!sand_inlets_begin(&p->inlets, all, true, &cells, error)) return false;
    if (!inlets_block_enqueue(device, all, device->number.data, device->is_ghost.data) ||
        !download(device, p->inlets.blocked.data, device->blocked.data, cells))
        return device_fail(device, error);
    if (!subdomain_meet(device, error)) return false;
    sand_inlets_share(&p->inlets, all, p->ranks);
    sand_inlets_let_in(&p->inlets, all, p->entered);
    return upload_entries(device, all) || device_fail(device, error);
}
