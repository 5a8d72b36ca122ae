// SPDX-License-Identifier: MIT
// What the host may change between two steps, and the device therefore gets anew for each: the boundaries with their poses,
// the joints with their drives, and what pushes bodies.
#include "cuda/hooks.h"

#include "sim/world/joint.h"

#include <string.h>

// An array of the host.
struct Part {
    const void *data;
    size_t bytes;
};
enum { PART_BOUNDARIES, PART_POSES, PART_GUARDS, PART_VELOCITIES, PART_SPINS, PART_JOINTS, PART_APART, PARTS };

static bool reserve_staging(SandDevice *device, size_t bytes) {
    if (bytes <= device->settings_staging_capacity) return true;
    cudaFreeHost(device->settings_staging);
    device->settings_staging = NULL;
    device->settings_staging_capacity = 0;
    if (!device_check(device, cudaMallocHost(&device->settings_staging, bytes), "boundaries and joints")) return false;
    device->settings_staging_capacity = bytes;
    return true;
}

// Uploads all arrays one after the other, through pinned memory and by one copy; `at` is where they are on the device.
static bool upload_parts(SandDevice *device, const Part *parts, uint8_t **at) {
    size_t begin[PARTS + 1] = {0};
    for (int k = 0; k < PARTS; k++) begin[k + 1] = begin[k] + parts[k].bytes;
    if (!reserve_staging(device, begin[PARTS])) return false;
    for (int k = 0; k < PARTS; k++)
        if (parts[k].bytes) memcpy(device->settings_staging + begin[k], parts[k].data, parts[k].bytes);
    if (!upload(device, device->settings_data, device->settings_staging, begin[PARTS])) return false;
    for (int k = 0; k < PARTS; k++) at[k] = device->settings_data.data + begin[k];
    return true;
}

// Takes over what moves a boundary; its geometry is on the device.
static void update_boundaries(SandDevice *device, const SandWorld *w) {
    for (int b = 0; b < w->boundary_count; b++) {
        SandBoundary &boundary = device->host_boundaries[(size_t)b];
        boundary.pose = w->boundaries[b].pose;
        boundary.motion = w->boundaries[b].motion;
        boundary.moves = w->boundaries[b].moves;
    }
}

int64_t joint_block_total(const SandWorld *w) {
    int64_t total = 0;
    for (int k = 0; k < w->joint_count; k++) total += sand_joint_blocks(&w->joints[k]);
    return total;
}

bool upload_settings(SandDevice *device, const SandWorld *w, SandError *error) {
    const SandCollision *placed = &device->host_collision;
    if (!sand_collision_place_boundaries(&device->host_collision, w, error)) return false;
    update_boundaries(device, w);
    device->block_total = joint_block_total(w);
    size_t n = (size_t)w->boundary_count;
    const Part parts[PARTS] = {{device->host_boundaries.data(), n * sizeof(SandBoundary)},
                               {placed->pose, n * sizeof(SandPose)},
                               {placed->guard, n * sizeof(SandGuard)},
                               {placed->velocity, n * sizeof(SandVec3)},
                               {placed->spin, n * sizeof(SandVec3)},
                               {w->joints, (size_t)w->joint_count * sizeof(SandJoint)},
                               {w->apart, (size_t)w->apart_count * sizeof(uint64_t)}};
    uint8_t *at[PARTS];
    if (!upload_parts(device, parts, at)) return device_fail(device, error);
    device->world.boundaries = (SandBoundary *)at[PART_BOUNDARIES];
    device->collision.pose = (SandPose *)at[PART_POSES];
    device->collision.guard = (SandGuard *)at[PART_GUARDS];
    device->collision.velocity = (SandVec3 *)at[PART_VELOCITIES];
    device->collision.spin = (SandVec3 *)at[PART_SPINS];
    device->world.joints = (SandJoint *)at[PART_JOINTS];
    device->world.apart = (uint64_t *)at[PART_APART];
    return true;
}

bool forces_upload(SandDevice *device, const SandVec3 *force, const SandVec3 *torque, size_t bodies) {
    if (!upload(device, device->push_force, force, bodies) || !upload(device, device->push_torque, torque, bodies))
        return false;
    device->world.force = device->push_force.data;
    device->world.torque = device->push_torque.data;
    return true;
}
