// SPDX-License-Identifier: MIT
// Sleeping bodies on the GPU, by the rules of sim/step/sleep.inl. Before the solve the contacts are divided:
//   choose_contacts          chooses the contacts that are solved, and marks their bodies
//   choose_bodies            marks bodies that a solved contact touched in the last step
//   divide_contacts          after a scan of the choice: compacts the solved contacts, in their order, and adds the
//                            impulses of the others to the sums of their bodies
//   divide_rows              makes the rows of the solved contacts
// The solver sees the reduced problem. After it
//   merge_impulses           merges the impulses of both kinds in the order of all contacts
// and the integration decides which bodies wake or fall asleep (sleep_update).
#include "cuda/device.h"

#include "sim/step/sleep.inl"

static __global__ void choose_contacts(const __grid_constant__ SandWorld w, const SandCollision *collision, const int *order,
                                       bool leaves_out, SleepArrays sleep, int *chosen, int64_t capacity,
                                       const Counts *counts) {
    if (counts->retry) return;
    EACH(i, capacity + 1) {
        chosen[i] =
            i < counts->contacts && !(leaves_out && contact_is_asleep(&w, collision, &collision->contacts[order[i]]));
        if (chosen[i]) sleep_touch(collision, &collision->contacts[order[i]], sleep);
    }
}

static __global__ void choose_bodies(const __grid_constant__ SandWorld w, const SandCollision *collision, bool leaves_out,
                                     SleepArrays sleep, const Counts *counts) {
    if (counts->retry) return;
    EACH(k, counts->bodies)
        if (!leaves_out || w.sleep[collision->body[k]] & SLEEP_TOUCHED) sleep.touches[k] |= TOUCHES_AWAKE;
}

// What the solver reads of a contact, in the order of all contacts and in that of the solved ones.
struct ContactLists {
    const int *order;
    const Impulse *start, *torque; // NULL: there are no torques
    const uint32_t *second;
    int *solved_order;
    Impulse *solved_start, *solved_torque;
    uint32_t *solved_second;
};

static __device__ SandVec3 torque_at(const Impulse *torque, int64_t i) {
    return torque ? impulse_vector(torque[i]) : v3_make(0, 0, 0);
}

static __global__ void divide_contacts(const __grid_constant__ SandWorld w, const SandCollision *collision,
                                       ContactLists lists, SleepArrays sleep, const int *chosen, const int *place,
                                       const Counts *counts) {
    if (counts->retry) return;
    EACH(i, counts->contacts) {
        int to = place[i];
        if (!chosen[i]) {
            sleep_add_contact(&w, collision, &collision->contacts[lists.order[i]], impulse_vector(lists.start[i]),
                              torque_at(lists.torque, i), sleep);
            continue;
        }
        lists.solved_order[to] = lists.order[i];
        lists.solved_start[to] = lists.start[i];
        if (lists.torque) lists.solved_torque[to] = lists.torque[i];
        lists.solved_second[to] = lists.second[i];
    }
}

static __global__ void divide_rows(const int *first, const int *place, int *solved_first, Counts *counts) {
    if (counts->retry) return;
    EACH(k, counts->bodies + 1) solved_first[k] = place[first[k]];
}

static __global__ void count_solved(const int *place, Counts *counts) {
    if (counts->retry) return;
    counts->contacts = place[counts->found];
}

static bool sleep_reserve(SandDevice *device) {
    size_t contacts = (size_t)device->contact_capacity + 2, bodies = (size_t)device->world.body_count + 2;
    return reserve(device, device->touches, bodies) && reserve(device, device->sleep_sum, bodies) &&
           reserve(device, device->chosen, contacts) && reserve(device, device->solved_place, contacts) &&
           reserve(device, device->solved_order, contacts) && reserve(device, device->solved_start, contacts) &&
           reserve(device, device->solved_second, contacts) && reserve(device, device->solved_first, bodies + 1) &&
           (!device->torques ||
            (reserve(device, device->solved_start_torque, contacts) && reserve(device, device->solved_torque, contacts))) &&
           reserve(device, device->solved_impulse, contacts) && reserve_scratch(device, device->scratch, (int64_t)contacts);
}

SleepArrays sleep_arrays(const SandDevice *device) {
    SleepArrays sleep = {device->touches.data, device->sleep_sum.data};
    return sleep;
}

static bool clear_arrays(SandDevice *device) {
    size_t n = (size_t)device->world.body_count;
    return device_check(device, cudaMemsetAsync(device->touches.data, 0, n * sizeof(uint32_t), device->stream), "resting") &&
           device_check(device, cudaMemsetAsync(device->sleep_sum.data, 0, n * sizeof(FixedSum), device->stream), "resting");
}

static const Impulse *start_torque(const SandDevice *device) { return device->torques ? device->start_torque.data : NULL; }

bool sleep_divide_enqueue(SandDevice *device) {
    const SandWorld &w = device->world;
    const SandCollision *collision = device->device_collision.data;
    int64_t capacity = device->contact_capacity;
    if (!sleep_reserve(device) || !clear_arrays(device)) return false;
    SleepArrays sleep = sleep_arrays(device);
    LAUNCH(device, choose_contacts, capacity + 1, w, collision, device->candidate_order.data, device->leaves_out, sleep,
           device->chosen.data, capacity, device->counts);
    LAUNCH(device, choose_bodies, w.body_count, w, collision, device->leaves_out, sleep, device->counts);
    device_check(device,
                 scan_sum(device->scratch.bytes.data, device->scratch.bytes.capacity, device->chosen.data,
                          device->solved_place.data, capacity + 1, device->stream),
                 "counting the contacts that are solved");
    ContactLists lists = {device->candidate_order.data,
                          device->start.data,
                          start_torque(device),
                          device->keys.data,
                          device->solved_order.data,
                          device->solved_start.data,
                          device->solved_start_torque.data,
                          device->solved_second.data};
    LAUNCH(device, divide_contacts, capacity, w, collision, lists, sleep, device->chosen.data, device->solved_place.data,
           device->counts);
    LAUNCH(device, divide_rows, w.body_count + 1, device->first.data, device->solved_place.data, device->solved_first.data,
           device->counts);
    count_solved<<<1, 1, 0, device->stream>>>(device->solved_place.data, device->counts);
    device->problem = {device->solved_order.data, device->solved_start.data, device->solved_start_torque.data,
                       device->solved_second.data, device->solved_first.data};
    return device_check(device, cudaGetLastError(), "leaving out what rests");
}

// Impulses, or torques: where the contacts that are left out started, those that were solved, and all; NULL: none.
struct Merge {
    const Impulse *start, *solved;
    Impulse *all;
};

static __global__ void merge_impulses(const __grid_constant__ SandWorld w, const SandCollision *collision, const int *order,
                                      const int *chosen, const int *place, Merge impulse, Merge torque, bool leaves_out,
                                      SleepArrays sleep, const Counts *counts) {
    if (counts->retry) return;
    EACH(i, counts->found) {
        impulse.all[i] = chosen[i] ? impulse.solved[place[i]] : impulse.start[i];
        if (torque.all) torque.all[i] = chosen[i] ? torque.solved[place[i]] : torque.start[i];
        if (chosen[i] && leaves_out)
            sleep_add_contact(&w, collision, &collision->contacts[order[i]], impulse_vector(impulse.all[i]),
                              torque_at(torque.all, i), sleep);
    }
}

bool sleep_merge_enqueue(SandDevice *device) {
    Merge impulse = {device->start.data, device->solved_impulse.data, device->kept_impulse.data}, torque = {};
    if (device->torques) torque = {device->start_torque.data, device->solved_torque.data, device->kept_torque.data};
    device->kernel->impulses(device->arrays, device->counts, device->solved_impulse.data,
                             device->torques ? device->solved_torque.data : NULL, device->stream);
    LAUNCH(device, merge_impulses, device->contact_capacity, device->world, device->device_collision.data,
           device->candidate_order.data, device->chosen.data, device->solved_place.data, impulse, torque, device->leaves_out,
           sleep_arrays(device), device->counts);
    return device_check(device, cudaGetLastError(), "merging impulses");
}
