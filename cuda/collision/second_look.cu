// SPDX-License-Identifier: MIT
// The second look on the device, by the code of sim/step/second_look.inl. A step that lacks contacts is repeated with
// them: the kernels behind the look do nothing, finish() keeps what was found, and collision detection appends it to what it
// finds itself (cuda/collision/collide.cu). The kernels in order:
//
//   place_bodies, place_boundaries    where the solution moves them
//   look_at_convex, look_at_spheres   what then overlaps, in any order; the host sorts it
//   ask_for_look                      whether the step is to be repeated
#include "cuda/device.h"

#include "sim/step/integrate.inl"
#include "sim/step/second_look.h"

#include <algorithm>

// Where missing contacts go.
typedef struct SandSink {
    const struct SandPreview *look;
    SandContactCandidate *out;
    int capacity;
    int *count;
    double tolerance; // m: look_misses
} SandSink;
SAND_HOST_DEVICE void sink_put(SandSink *sink, const SandContactCandidate *found);

// The next step reports it, where it is still so.
SAND_HOST_DEVICE void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    (void)sink, (void)body, (void)boundary, (void)count;
}

#define SAND_SINK
#include "sim/step/second_look.inl"

SAND_HOST_DEVICE void sink_put(SandSink *sink, const SandContactCandidate *found) {
    if (!look_misses(sink->look, found, sink->tolerance)) return;
#ifdef __CUDA_ARCH__
    int at = atomicAdd(sink->count, 1);
    if (at < sink->capacity) sink->out[at] = look_back(sink->look, found);
#endif
}

struct FoundMotion { // what the impulses make of a body: a Body of the solver kernels
    float v[4], w[4];
};

// All that a look needs.
struct LookArrays {
    const SandCollision *collision, *end; // at the beginning, and with the boundaries at the end of the step
    const int *order, *first;             // contacts by owner
    SandVec3 *velocity, *spin;            // of the solve, by solver index
    SandContactCandidate *out;
    int capacity;
};

static __global__ void place_bodies(const __grid_constant__ SandWorld w, SandWorld end, LookArrays arrays,
                                    const SandProblemBody *free, const FoundMotion *change, const Counts *counts) {
    if (counts->retry) return;
    EACH(k, counts->bodies) {
        int body = arrays.collision->body[k];
        const FoundMotion c = change[k];
        arrays.velocity[k] = v3_add(free[k].velocity, v3_make(c.v[0], c.v[1], c.v[2]));
        arrays.spin[k] = v3_add(free[k].spin, v3_make(c.w[0], c.w[1], c.w[2]));
        end.position[body] = w.position[body];
        end.rotation[body] = w.rotation[body];
        end.velocity[body] = w.velocity[body];
        end.spin[body] = w.spin[body];
        if (!body_is_asleep(&w, body)) move_body(&end, body, &free[k], arrays.velocity[k], arrays.spin[k], 1);
    }
}

static __global__ void place_boundaries(const SandCollision *collision, int boundaries, double step, SandPose *pose,
                                        SandCollision *end) {
    EACH(b, boundaries) pose[b] = look_pose(collision, (int)b, step);
    if (blockIdx.x == 0 && threadIdx.x == 0) end->pose = pose;
}

static __device__ SandPreview preview_of(const SandWorld *w, const SandWorld *end, const LookArrays &arrays, double mu) {
    SandPreview look = {{end, arrays.end, mu, 0}, w, arrays.collision};
    look.contacts = {arrays.collision->contacts, arrays.order, arrays.first};
    look.velocity = arrays.velocity;
    look.spin = arrays.spin;
    return look;
}

enum { LOOK_THREADS = 64 };

static __global__ void __launch_bounds__(LOOK_THREADS)
    look_at_convex(const __grid_constant__ SandWorld w, const __grid_constant__ SandWorld end, LookArrays arrays, double mu,
                   Counts *counts) {
    if (counts->retry) return;
    SandPreview look = preview_of(&w, &end, arrays, mu);
    SandSink sink = {&look, arrays.out, arrays.capacity, &counts->missing, 0};
    EACH(i, arrays.collision->convex_phase.sphere_count) look_around(&look, &sink, (int)i);
}

static __global__ void __launch_bounds__(LOOK_THREADS)
    look_at_spheres(const __grid_constant__ SandWorld w, const __grid_constant__ SandWorld end, LookArrays arrays, double mu,
                    Counts *counts) {
    if (counts->retry) return;
    SandPreview look = preview_of(&w, &end, arrays, mu);
    SandSink sink = {&look, arrays.out, arrays.capacity, &counts->missing, 0};
    EACH(i, counts->found) look_at_sphere(&look, &sink, (int)i);
}

static __global__ void ask_for_look(Counts *counts) {
    if (!counts->retry && counts->missing) counts->retry |= RETRY_LOOK;
}

// --- the stages -------------------------------------------------------------------------------------------

static bool reserve_look(SandDevice *device) {
    size_t bodies = (size_t)device->world.body_count + 1, boundaries = (size_t)device->world.boundary_count + 1;
    device->missing_capacity = std::max(device->missing_capacity, (int64_t)device->convex_total + 1024);
    return reserve(device, device->end_position, bodies) && reserve(device, device->end_rotation, bodies) &&
           reserve(device, device->end_velocity, bodies) && reserve(device, device->end_spin, bodies) &&
           reserve(device, device->found_velocity, bodies) && reserve(device, device->found_spin, bodies) &&
           reserve(device, device->end_pose, boundaries) && reserve(device, device->end_collision, 1) &&
           reserve(device, device->missing, (size_t)device->missing_capacity, true);
}

// The world as it is at the end of the step.
static SandWorld end_world(const SandDevice *device) {
    SandWorld end = device->world;
    end.position = device->end_position.data;
    end.rotation = device->end_rotation.data;
    end.velocity = device->end_velocity.data;
    end.spin = device->end_spin.data;
    return end;
}

bool look_enqueue(SandDevice *device) {
    if (!device->convex_total || device->gives_up || device->looks >= device->most_looks) return true;
    if (!reserve_look(device)) return false;
    const SandWorld &w = device->world;
    SandWorld end = end_world(device);
    const SandCollision *collision = device->device_collision.data;
    LookArrays arrays = {collision,
                         device->end_collision.data,
                         device->candidate_order.data,
                         device->first.data,
                         device->found_velocity.data,
                         device->found_spin.data,
                         device->missing.data + device->missing_count,
                         (int)device->missing_capacity - device->missing_count};
    if (!device_check(device,
                      cudaMemcpyAsync(device->end_collision.data, collision, sizeof *collision, cudaMemcpyDeviceToDevice,
                                      device->stream),
                      "copying on the GPU"))
        return false;
    LAUNCH(device, place_boundaries, w.boundary_count, collision, w.boundary_count, w.step, device->end_pose.data,
           device->end_collision.data);
    LAUNCH(device, place_bodies, w.body_count, w, end, arrays, device->bodies.data, (const FoundMotion *)device->arrays.body,
           device->counts);
    end.step = end.envelope = 0; // nothing moves on
    look_at_convex<<<launch_blocks(device->convex_total, LOOK_THREADS), LOOK_THREADS, 0, device->stream>>>(
        w, end, arrays, device->largest_mu, device->counts);
    look_at_spheres<<<device_blocks(device, device->contact_capacity, LOOK_THREADS, 32), LOOK_THREADS, 0, device->stream>>>(
        w, end, arrays, device->largest_mu, device->counts);
    ask_for_look<<<1, 1, 0, device->stream>>>(device->counts);
    return device_check(device, cudaGetLastError(), "looking for contacts");
}

// Sorts what a look has found, which its threads have written in any order.
static bool sort_missing(SandDevice *device, int count) {
    std::vector<SandContactCandidate> found((size_t)count);
    SandContactCandidate *at = device->missing.data + device->missing_count;
    size_t bytes = found.size() * sizeof found[0];
    if (!download(device, found.data(), at, found.size()) || !device_wait(device)) return false;
    std::sort(found.begin(), found.end(),
              [](const SandContactCandidate &p, const SandContactCandidate &q) { return missing_before(&p, &q); });
    return device_check(device, cudaMemcpyAsync(at, found.data(), bytes, cudaMemcpyHostToDevice, device->stream),
                        "copying to the GPU") &&
           device_wait(device);
}

bool look_finish(SandDevice *device, const Counts *c) {
    if (!c->retry) device->looks = device->missing_count = 0;
    if (!(c->retry & RETRY_LOOK)) return true;
    if (device->missing_count + c->missing > device->missing_capacity) { // the same look once more
        device->missing_capacity = 2 * ((int64_t)device->missing_count + c->missing);
        return true;
    }
    device->looks++;
    if (!sand_status_keeps(sand_status_of(c->end, c->evidence))) { // that solution shows nothing
        device->looks = SAND_MAX_LOOKS;
        return true;
    }
    if (!sort_missing(device, c->missing)) return false;
    device->missing_count += c->missing;
    return true;
}

// --- the contacts of earlier looks ------------------------------------------------------------------------

static __global__ void count_missing(int missing, int *count) { *count = missing; }

static __global__ void write_missing(const SandContactCandidate *missing, int count, const int *first,
                                     SandContactCandidate *candidates, uint32_t *owner, const Counts *counts) {
    if (counts->retry) return;
    EACH(i, count) {
        candidates[*first + i] = missing[i];
        owner[*first + i] = (uint32_t)missing[i].index_a;
    }
}

void look_count_enqueue(SandDevice *device, int *count, cudaStream_t stream) {
    if (device->convex_total) count_missing<<<1, 1, 0, stream>>>(device->missing_count, count);
}

void look_write_enqueue(SandDevice *device, const int *first, cudaStream_t stream) {
    if (device->missing_count)
        LAUNCH_ON(stream, write_missing, device->missing_count, device->missing.data, device->missing_count, first,
                  device->candidates.data, device->keys.data, device->counts);
}
