// SPDX-License-Identifier: MIT
// A simulation alone on its GPU: what the stages leave to the one who holds the bodies (DeviceHooks). It has all of them.
#include "cuda/hooks.h"

#include "sim/collision/broad_phase.inl"

static void free_nothing(SandDevice *) {}
static bool check(const SandDevice *, const SandWorld *, SandError *) { return true; }

static bool upload_all(SandDevice *device, SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    size_t n = (size_t)w->body_count;
    double mass = 0;
    for (int i = 0; i < w->body_count; i++) mass += w->mass[i];
    flow_weigh(device, mass);
    device->body_total = w->body_count;
#define UPLOAD(type, name) &&upload(device, device->name, w->name, n)
    bool ok = true SAND_BODY_ARRAYS(UPLOAD) && upload_warm_start(device, &host->warm_start);
#undef UPLOAD
    return ok || device_fail(device, error);
}

// The forces and torques on bodies: those that the device was given, or the host's.
static bool take_forces(SandDevice *device, const SandWorld *w) {
    device->world.force = device->given_force;
    device->world.torque = device->given_torque;
    return !w->force || forces_upload(device, w->force, w->torque, (size_t)w->body_count);
}

static bool begin(SandDevice *device, const SandWorld *w, SandError *error) {
    device->grid_spheres = device->sphere_total;
    device->table_cells = grid_most_cells(device->sphere_total);
    bool ok = take_forces(device, w) && inlets_block_enqueue(device, w, NULL, NULL) && inlets_enter_enqueue(device);
    return ok || device_fail(device, error);
}

static bool share(SandDevice *, SandError *) { return true; }
static bool laws(SandDevice *device, SandError *error) {
    bool ok = (!device->coheres || pulls_enqueue(device)) && (!device->bounces || impacts_enqueue(device));
    return ok || device_fail(device, error);
}

static bool bound(SandDevice *device, SandError *error) { return bound_enqueue(device) || device_fail(device, error); }
static bool integrated(SandDevice *) { return true; }
static void repeats(SandDevice *, bool) {} // kernels know, and do nothing
static bool report(SandDevice *, SandStepReport *, SandError *) { return true; }
static int probe_blocks(const SandDevice *, int alone) { return alone; }
static bool find(SandDevice *, int number, int *body) { return *body = number, true; }
static bool measured(SandDevice *, SandProbeBatch *, SandError *) { return true; }

const DeviceHooks hooks_alone = {
    .marks_chunks = false,
    .free = free_nothing,
    .check = check,
    .upload = upload_all,
    .begin = begin,
    .place = broad_phase_enqueue,
    .share = share,
    .warm_start = warm_start_enqueue,
    .laws = laws,
    .divide = sleep_divide_enqueue,
    .bound = bound,
    .integrated = integrated,
    .repeats = repeats,
    .report = report,
    .probe_blocks = probe_blocks,
    .find = find,
    .measured = measured,
};
