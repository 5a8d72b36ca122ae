// SPDX-License-Identifier: MIT
// Joints on the device: their blocks go the way of contacts, as on the CPU (sim/collision/collide.c,
// sim/step/joint_rows.inl) and in the same order, behind all contacts. Where a world has no joint nothing of this runs. The
// kernels in order:
//
//   count_joints    how many blocks each joint has
//   write_joints    their candidates
//   build_blocks    the rows of each block, and the block as a contact of the problem; packed by cuda/solver/solve_kernel.cu
#include "cuda/device.h"

#include "sim/step/joint_rows.inl"

// Whether both bodies take part. Solver indices say the same, but are made while contacts are counted.
static __device__ bool joint_acts(const SandWorld *w, const SandJoint *j) {
    return sand_world_active(w, j->b) && (j->a < 0 || sand_world_active(w, j->a));
}

static __global__ void count_joints(const __grid_constant__ SandWorld w, int *count) {
    EACH(k, w.joint_count) count[k] = joint_acts(&w, &w.joints[k]) ? sand_joint_blocks(&w.joints[k]) : 0;
}

static __global__ void write_joints(const __grid_constant__ SandWorld w, const SandCollision *collision, const int *first,
                                    SandContactCandidate *candidates, uint32_t *owner, const Counts *counts) {
    if (counts->retry) return;
    EACH(k, w.joint_count)
        for (int i = first[k]; i < first[k + 1]; i++) {
            candidates[i] = sand_joint_candidate(&w, collision->solver_index, (int)k, i - first[k]);
            owner[i] = (uint32_t)candidates[i].index_a;
        }
}

static __global__ void build_blocks(const __grid_constant__ SandWorld w, const SandCollision *collision,
                                    SandRecovery recovery, SandContact *contacts, SandJointRows *rows,
                                    const Counts *counts) {
    if (counts->retry) return;
    int first = counts->joint_first;
    EACH(k, counts->found - first)
        contacts[k] = known_joint_contact(&w, collision, &collision->contacts[first + k], recovery, &rows[k]);
}

void joints_count_enqueue(SandDevice *device, int *count, cudaStream_t stream) {
    if (device->world.joint_count) LAUNCH_ON(stream, count_joints, device->world.joint_count, device->world, count);
}

void joints_write_enqueue(SandDevice *device, const int *first, cudaStream_t stream) {
    if (device->world.joint_count)
        LAUNCH_ON(stream, write_joints, device->world.joint_count, device->world, device->device_collision.data, first,
                  device->candidates.data, device->keys.data, device->counts);
}

bool joints_build_enqueue(SandDevice *device) {
    if (!device->block_total) return true;
    size_t blocks = (size_t)device->block_total;
    if (!reserve(device, device->block_contacts, blocks) || !reserve(device, device->problem_joints, blocks)) return false;
    LAUNCH(device, build_blocks, device->block_total, device->world, device->device_collision.data, device->recovery,
           device->block_contacts.data, device->problem_joints.data, device->counts);
    return device_check(device, cudaGetLastError(), "building joints");
}
