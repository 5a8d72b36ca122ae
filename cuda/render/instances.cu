// SPDX-License-Identifier: MIT
// Render instances of the bodies, written on the device by the code that the CPU uses (sim/world/render_instance.inl), so
// that both draw the same picture. Also the slots that they are written to: see cuda/render/instance_slot.h.
#include "cuda/device.h"
#include "cuda/csr.h"
#include "cuda/render/instance_slot.h"

#include "sim/world/render_instance.inl"
#include "sim/core/array.h"

bool slot_fail(cudaError_t code, const char *doing, SandError *error) {
    cudaGetLastError(); // reported here: the next call that asks is not to find it
    return sand_fail(error, "CUDA failed in %s: %s", doing, cudaGetErrorString(code));
}

SandSlot *slot_create(SandError *error) {
    SandSlot *slot = new SandSlot();
    cudaError_t code = cudaEventCreateWithFlags(&slot->written, cudaEventDisableTiming);
    if (code == cudaSuccess) code = cudaEventCreateWithFlags(&slot->copied, cudaEventDisableTiming);
    if (code == cudaSuccess) return slot;
    slot_fail(code, "making a slot", error);
    slot_free(slot);
    return NULL;
}

void slot_free(SandSlot *slot) {
    cudaFree(slot->data); // waits for the streams that write or read it
    cudaFreeHost(slot->host);
    if (slot->written) cudaEventDestroy(slot->written);
    if (slot->copied) cudaEventDestroy(slot->copied);
    delete slot;
}

bool slot_read(SandSlot *slot, void *to, size_t bytes, SandError *error) {
    cudaError_t code = cudaEventSynchronize(slot->written);
    if (code == cudaSuccess) code = cudaMemcpy(to, slot->data, bytes, cudaMemcpyDeviceToHost);
    if (code != cudaSuccess) return slot_fail(code, "copying a slot to the host", error);
    sand_count_downloaded(bytes);
    return true;
}

// Grows the memory on the host. It is pinned: the driver copies to other memory by way of a buffer of its own, at a fraction
// of the speed of the bus and on the time of a core.
static bool slot_reserve_host(SandSlot *slot, size_t bytes, SandError *error) {
    if (bytes <= slot->host_capacity) return true;
    cudaFreeHost(slot->host);
    slot->host = NULL;
    slot->host_capacity = 0;
    cudaError_t code = cudaMallocHost(&slot->host, bytes);
    if (code != cudaSuccess) return slot_fail(code, "growing a slot on the host", error);
    slot->host_capacity = bytes;
    return true;
}

uint8_t *snapshot_read(SandSlot *slot, size_t bytes, SandError *error) {
    if (!slot_reserve_host(slot, bytes + 1, error) || !slot_read(slot, slot->host, bytes, error)) return NULL;
    return (uint8_t *)slot->host;
}

// Grows a slot; its contents are lost.
static bool slot_reserve(SandSlot *slot, size_t bytes, SandError *error) {
    if (bytes <= slot->capacity) return true;
    cudaFree(slot->data);
    slot->data = NULL;
    slot->capacity = 0;
    size_t capacity = bytes + bytes / 8;
    cudaError_t code = cudaMalloc(&slot->data, capacity);
    if (code != cudaSuccess) return slot_fail(code, "growing a slot", error);
    slot->capacity = capacity;
    return true;
}

// The contacts of the last step, by the solver indices of their bodies.
struct ContactRows {
    const int *body, *first, *second, *list;
    const Impulse *impulse;
    const Counts *counts;
};

// Sums a value over the contacts of each body: those where it is the second body before those that it owns, which is the
// order of the host, where the loop goes over the contacts.
static __global__ void sum_contacts(ContactRows rows, SandShade shade, double step, float *values) {
    EACH(k, rows.counts->bodies) {
        float sum = 0;
        for (int e = rows.second[k]; e < rows.second[k + 1]; e++)
            sum += instance_contact_value(shade, impulse_vector(rows.impulse[rows.list[e]]), step);
        for (int i = rows.first[k]; i < rows.first[k + 1]; i++)
            sum += instance_contact_value(shade, impulse_vector(rows.impulse[i]), step);
        values[rows.body[k]] = sum;
    }
}

static __global__ void write_instances(SandWorld w, SandInstanceDef def, const float *values, const int *first,
                                       SandInstance *to) {
    EACH(i, w.body_count) {
        float value = def.shade == SAND_SHADE_NONE    ? 0
                      : def.shade == SAND_SHADE_SPEED ? instance_speed(&w, (int)i)
                                                      : values[i];
        instance_write(&w, (int)i, &def, instance_place_on_map(&def, value), to + first[i]);
    }
}

// The second bodies of all contacts of the step.
static __global__ void list_seconds(const SandCollision *collision, const int *order, uint32_t *second,
                                    const Counts *counts) {
    EACH(i, counts->found) second[i] = (uint32_t)collision->contacts[order[i]].b;
}

// Lists the contacts by their second body once more, where the solver's list has only those that were solved.
static bool list_all_contacts(SandDevice *device) {
    LAUNCH(device, list_seconds, device->contact_capacity, device->device_collision.data, device->candidate_order.data,
           device->keys.data, device->counts);
    CsrKeys seconds = {device->keys.data, &device->counts->found, device->contact_capacity, device->world.body_count};
    return csr_count(device, seconds, device->row_counts.data, device->stream) &&
           csr_build(device, seconds, device->row_counts.data, device->second.data, device->list.data, device->stream);
}

// Sums the values of contacts: zero for bodies without contacts, and for all if no step was taken since the upload.
static bool sum_enqueue(SandDevice *device, const SandWorld *w, SandShade shade) {
    size_t n = (size_t)w->body_count;
    if (!reserve(device, device->instance_values, n + 1) ||
        !device_check(device, cudaMemsetAsync(device->instance_values.data, 0, n * sizeof(float), device->stream),
                      "clearing the values of bodies"))
        return false;
    if (!device->integrated) return true;
    if (device->world.sleep_speed > 0 && !list_all_contacts(device)) return false;
    ContactRows rows = {device->body.data, device->kept_first.data,   device->second.data,
                        device->list.data, device->kept_impulse.data, device->counts};
    LAUNCH(device, sum_contacts, (int64_t)n, rows, shade, device->world.step, device->instance_values.data);
    return device_check(device, cudaGetLastError(), "summing the contacts");
}

bool instances_enqueue(SandDevice *device, const SandWorld *w, const SandInstanceDef *def, SandSlot *slot,
                       SandError *error) {
    bool sums = def->shade == SAND_SHADE_CONTACTS || def->shade == SAND_SHADE_FORCE;
    if (sums && !sum_enqueue(device, w, def->shade)) return device_fail(device, error);
    if (!slot_reserve(slot, device->instance_total * sizeof(SandInstance), error)) return false;
    device_check(device, cudaStreamWaitEvent(device->stream, slot->copied, 0), "waiting for a slot");
    LAUNCH(device, write_instances, w->body_count, *w, *def, device->instance_values.data, device->instance_first.data,
           (SandInstance *)slot->data);
    bool ok = device_check(device, cudaGetLastError(), "writing instances") &&
              device_check(device, cudaEventRecord(slot->written, device->stream), "writing instances");
    return ok || device_fail(device, error);
}

// Copies one array of the bodies behind what the slot has already.
template <class T>
static bool snapshot_array(SandDevice *device, SandSlot *slot, size_t &at, const Array<T> &from, size_t count) {
    void *to = (uint8_t *)slot->data + at;
    at += count * sizeof(T);
    return device_check(device, cudaMemcpyAsync(to, from.data, count * sizeof(T), cudaMemcpyDeviceToDevice, device->stream),
                        "copying bodies to a slot");
}

bool snapshot_enqueue(SandDevice *device, const SandWorld *w, SandSlot *slot, SandError *error) {
    size_t at = 0, n = (size_t)w->body_count;
    if (!slot_reserve(slot, sand_snapshot_bytes(w->body_count), error)) return false;
    bool ok = device_check(device, cudaStreamWaitEvent(device->stream, slot->copied, 0), "waiting for a slot") &&
              snapshot_array(device, slot, at, device->position, n) &&
              snapshot_array(device, slot, at, device->rotation, n) &&
              snapshot_array(device, slot, at, device->velocity, n) && snapshot_array(device, slot, at, device->spin, n) &&
              snapshot_array(device, slot, at, device->gone, n) &&
              device_check(device, cudaEventRecord(slot->written, device->stream), "copying bodies to a slot");
    return ok || device_fail(device, error);
}
