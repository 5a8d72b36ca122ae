// SPDX-License-Identifier: MIT
// What comes before and after the solve, by the code of sim: the warm start (sim/collision/warm_start.inl), which looks up
// the impulse of each contact in the last step, and the integration (sim/step/integrate.inl) of the bodies.
#include "cuda/hooks.h"
#include "cuda/step/solved_motion.h"

#include "sim/collision/warm_start.inl"
#include "sim/step/energy_bound.inl"
#include "sim/step/integrate.inl"
#include "sim/step/joint_rows.inl"

#include <algorithm>

static __device__ int warp_sum(int v) {
    for (int s = 16; s; s >>= 1) v += __shfl_down_sync(ALL_LANES, v, s);
    return v;
}

// The impulse, or torque, of a contact that was the `old` one in the last step; zero where there is none.
static __device__ Impulse recalled(const Impulse *kept, int old, double factor) {
    return old < 0 || !kept ? Impulse() : impulse_make(v3_scale(factor, impulse_vector(kept[old])));
}

// Impulses, or torques: those of the last step, and where this one starts from; NULL: there are none.
struct Recall {
    const Impulse *kept;
    Impulse *start;
};

// Writes for each contact its initial impulse and torque, and its second body for the adjacency (that of a boundary is
// negative, which as an unsigned key has no row).
static __global__ void warm_start_contacts(const SandWarmStart cache, const SandCollision *collision, const int *order,
                                           const int *first, double ratio, Recall impulse, Recall torque, uint32_t *second,
                                           Counts *counts) {
    if (counts->retry) return;
    int warm_started = 0;
    SandNewContacts now = {collision->contacts, order, first};
    EACH(i, counts->contacts) {
        const SandContactCandidate *contact = &collision->contacts[order[i]];
        bool swapped = false;
        int old = cache.step > 0 ? warm_start_recall(&cache, collision, &now, contact, &swapped) : -1;
        if (old >= 0) warm_started++;
        impulse.start[i] = recalled(impulse.kept, old, swapped ? -ratio : ratio);
        if (torque.start) torque.start[i] = recalled(torque.kept, old, swapped ? -ratio : ratio);
        second[i] = (uint32_t)contact->b;
    }
    warm_started = warp_sum(warm_started);
    if ((threadIdx.x & 31) == 0 && warm_started) atomicAdd(&counts->warm_started, warm_started);
}

bool upload_impulses(SandDevice *device, Array<Impulse> &array, const SandVec3 *host, size_t count) {
    std::vector<Impulse> rounded(count);
    std::transform(host, host + count, rounded.begin(), impulse_make);
    return upload(device, array, rounded.data(), count) && device_wait(device);
}

bool upload_warm_start(SandDevice *device, const SandWarmStart *cache) {
    device->kept_spent = false;
    device->kept_step = cache ? cache->step : 0;
    device->kept_settings = cache ? cache->settings : 0;
    device->kept_bounces = cache && cache->bounces;
    device->kept_rolls = cache && cache->rolls;
    if (device->kept_step == 0) return true;
    device->kept_world = cache->world_count;
    device->kept_bodies = cache->body_count;
    device->kept_contacts = cache->first[cache->body_count];
    return upload(device, device->kept_solver_index, cache->solver_index, (size_t)cache->world_count) &&
           upload(device, device->kept_first, cache->first, (size_t)cache->body_count + 1) &&
           upload(device, device->kept_key, cache->key, (size_t)device->kept_contacts) &&
           (!device->kept_bounces ||
            upload(device, device->kept_approach, cache->approach, (size_t)device->kept_contacts)) &&
           (!device->kept_rolls || upload_impulses(device, device->kept_torque, cache->impulse + device->kept_contacts,
                                                   (size_t)device->kept_contacts)) &&
           upload_impulses(device, device->kept_impulse, cache->impulse, (size_t)device->kept_contacts);
}

SandWarmStart kept_cache(const SandDevice *device) {
    SandWarmStart cache = {0};
    cache.body_count = device->kept_bodies;
    cache.world_count = device->kept_world;
    cache.step = device->kept_step;
    cache.solver_index = device->kept_solver_index.data;
    cache.first = device->kept_first.data;
    cache.key = device->kept_key.data;
    cache.approach = device->kept_approach.data;
    cache.bounces = device->kept_bounces;
    return cache;
}

bool warm_start_enqueue(SandDevice *device) {
    size_t contacts = (size_t)device->contact_capacity + 1;
    device->torques = device->rolls;
    if (device->kept_spent) device->kept_step = 0; // of a step that did not end
    device->kept_spent = false;
    if (device->torques && !reserve(device, device->start_torque, contacts)) return false;
    Recall impulse = {device->kept_impulse.data, device->start.data};
    Recall torque = {device->kept_rolls ? device->kept_torque.data : NULL,
                     device->torques ? device->start_torque.data : NULL};
    double ratio = device->kept_step > 0 ? device->world.step / device->kept_step : 0;
    warm_start_contacts<<<device_blocks(device, device->contact_capacity, BLOCK_THREADS, 8), BLOCK_THREADS, 0,
                          device->stream>>>(kept_cache(device), device->device_collision.data, device->candidate_order.data,
                                            device->first.data, ratio, impulse, torque, device->keys.data, device->counts);
    device->problem = {device->candidate_order.data, device->start.data, device->start_torque.data, device->keys.data,
                       device->first.data};
    return device_check(device, cudaGetLastError(), "warm starting");
}

// --- integrate --------------------------------------------------------------------------------------------

// Takes back the velocities that would carry bodies through a boundary: boundaries have the last word, whatever the solver's
// accuracy. In the order of solver indices, where the contacts of a body are contiguous. `b` are their second bodies,
// boundaries behind all that move, and behind those the world, which joints hold on to and which stops nobody. Where the
// candidates were given up, contact i is `walls[place[i]]`.
static __global__ void stop_at_boundaries(const __grid_constant__ SandWorld w, const SandCollision *collision,
                                          const int *first, const int *order, const int *b,
                                          const SandContactCandidate *walls, const uint32_t *place,
                                          const SandProblemBody *free, VelocityChange *change, const Counts *counts) {
    if (counts->retry) return;
    EACH(k, counts->bodies)
        for (int i = first[k]; i < first[k + 1]; i++) {
            if (b[i] < counts->bodies || b[i] == counts->bodies + w.boundary_count) continue;
            VelocityChange *c = &change[k];
            SandVec3 velocity = v3_add(free[k].velocity, v3_make(c->v[0], c->v[1], c->v[2]));
            const SandContactCandidate *contact = walls ? &walls[place[i]] : &collision->contacts[order[i]];
            SandVec3 stopped = stop_at_boundary(&w, collision, contact, velocity);
            SandVec3 by = v3_sub(stopped, velocity);
            c->v[0] += (float)by.x;
            c->v[1] += (float)by.y;
            c->v[2] += (float)by.z;
        }
}

static __device__ void report_loss(Counts *counts, int body, SandLoss loss) {
    int at = atomicAdd(&counts->lost, 1);
    if (at < SAND_MAX_LOST) {
        counts->lost_bodies[at].body = body;
        counts->lost_bodies[at].loss = loss;
    }
}

// Counts a body that left by an outlet.
static __device__ void count_left(Counts *counts, int outlet, double mass, double mass_unit) {
    atomicAdd(&counts->left[outlet], 1);
    atomicAdd(&counts->left_mass[outlet], (unsigned long long)(mass / mass_unit));
}

// Two sums over the threads of a block, written behind those of the blocks before it. All of its threads call it.
static __device__ void put_block_sums(double first, double second, double *sums) {
    __shared__ double shared[2][BLOCK_THREADS / 32];
    for (int s = 16; s; s >>= 1) {
        first += __shfl_down_sync(ALL_LANES, first, s);
        second += __shfl_down_sync(ALL_LANES, second, s);
    }
    if ((threadIdx.x & 31) == 0) {
        shared[0][threadIdx.x >> 5] = first;
        shared[1][threadIdx.x >> 5] = second;
    }
    __syncthreads();
    if (threadIdx.x < 2) {
        double sum = 0;
        for (int k = 0; k < BLOCK_THREADS / 32; k++) sum += shared[threadIdx.x][k];
        sums[2 * blockIdx.x + threadIdx.x] = sum;
    }
    __syncthreads();
}

// Sums those of all thread blocks in a fixed order: a warp has the first of the two, or the second. In its lane 0.
static __device__ double sum_of_blocks(const double *sums, int blocks, int which) {
    double sum = 0;
    for (int k = threadIdx.x & 31; k < blocks; k += 32) sum += sums[2 * k + which];
    for (int s = 16; s; s >>= 1) sum += __shfl_down_sync(ALL_LANES, sum, s);
    return sum;
}

// The energies of all thread blocks, one warp for each of the two.
static __device__ void add_energies(const double *energies, Counts *counts) {
    int which = threadIdx.x >> 5;
    double sum = sum_of_blocks(energies, (int)gridDim.x, which);
    if ((threadIdx.x & 31) == 0) *(which ? &counts->potential : &counts->kinetic) = sum;
}

// --- the bound on the energy (sim/step/energy_bound.inl) ------------------------------------------------------

static __global__ void __launch_bounds__(BLOCK_THREADS)
    work_of_bodies(const __grid_constant__ SandWorld w, const SandCollision *collision, const SandProblemBody *free,
                   const VelocityChange *change, const Counts *counts, double *sums) {
    if (counts->retry) return;
    SandImpulseWork work = {0, 0};
    EACH(i, w.body_count) {
        int k = collision->solver_index[i];
        if (k < 0) continue;
        BodyMotion motion = solved_motion(free, change, k);
        SandImpulseWork one = body_work(&w, (int)i, &free[k], motion.velocity, motion.spin);
        work.along += one.along;
        work.square += one.square;
    }
    put_block_sums(work.along, work.square, sums);
}

// One warp.
static __global__ void choose_share(const double *sums, int blocks, Counts *counts) {
    if (counts->retry) return;
    SandImpulseWork work = {sum_of_blocks(sums, blocks, 0), sum_of_blocks(sums, blocks, 1)};
    if (threadIdx.x == 0) counts->kept = kept_share(work);
}

// Thread blocks of the kernels that sum over the bodies.
static int summing_blocks(const SandDevice *device) {
    return device_blocks(device, device->world.body_count, BLOCK_THREADS, 8);
}

bool bound_enqueue(SandDevice *device) {
    int blocks = summing_blocks(device);
    if (!reserve(device, device->energies, 2 * (size_t)blocks)) return false;
    work_of_bodies<<<blocks, BLOCK_THREADS, 0, device->stream>>>(
        device->world, device->device_collision.data, device->bodies.data, (const VelocityChange *)device->arrays.body,
        device->counts, device->energies.data);
    choose_share<<<1, 32, 0, device->stream>>>(device->energies.data, blocks, device->counts);
    return device_check(device, cudaGetLastError(), "the bound on the energy");
}

// --- motion -------------------------------------------------------------------------------------------------

// Updates the sleep of a body, from its solved velocity, or, where it sleeps, from the velocity that all impulses on it
// would give. Returns whether it stands still in this step.
static __device__ bool stands_still(SandWorld *w, int body, uint32_t touches, const FixedSum *sum, bool leaves_out,
                                    const SandProblemBody *free, SandVec3 velocity, SandVec3 spin) {
    if (leaves_out && body_is_asleep(w, body)) sleep_motion(w, body, sum, free, &velocity, &spin);
    if (!sleep_update(w, body, touches, velocity, spin)) return false;
    w->velocity[body] = w->spin[body] = v3_make(0, 0, 0);
    return true;
}

// Moves the bodies, removes those that are lost, and sums the energy of the others in a fixed order. `number`: NULL, or of
// each body of a rank, which one it is of the world; then it leaves the bodies of others alone. In the order of the world,
// since more of its arrays are read and written than of those in the order of solver indices.
static __global__ void __launch_bounds__(BLOCK_THREADS)
    move_bodies(SandWorld w, const SandCollision *collision, const SandProblemBody *free, const VelocityChange *change,
                SleepArrays sleep, bool leaves_out, double mass_unit, const int *number, bool bound, Counts *counts,
                double *energies) {
    if (counts->retry) return;
    double kept = bound ? counts->kept : 1;
    double kinetic = 0, potential = 0;
    int asleep = 0;
    EACH(i, w.body_count) {
        int body = (int)i, k = collision->solver_index[i];
        if (k < 0 || (number && collision->is_ghost[i])) continue; // does not take part
        BodyMotion motion = solved_motion(free, change, k);
        if (sleep.touches &&
            stands_still(&w, body, sleep.touches[k], &sleep.sum[k], leaves_out, &free[k], motion.velocity, motion.spin)) {
            asleep += body_is_asleep(&w, body);
            potential += sand_body_potential_energy(&w, body);
            continue;
        }
        move_body(&w, body, &free[k], motion.velocity, motion.spin, kept);
        int outlet = -1;
        SandLoss loss = body_loss(&w, body, &outlet);
        if (loss != SAND_PRESENT) {
            remove_body(&w, body, loss, outlet);
            if (loss == SAND_BY_OUTLET)
                count_left(counts, outlet, w.mass[body], mass_unit);
            else
                report_loss(counts, number ? number[body] : body, loss);
            continue;
        }
        kinetic += sand_body_kinetic_energy(&w, body);
        potential += sand_body_potential_energy(&w, body);
    }
    asleep = warp_sum(asleep);
    if ((threadIdx.x & 31) == 0 && asleep) atomicAdd(&counts->asleep, asleep);
    put_block_sums(kinetic, potential, energies);
    if (__syncthreads_or(threadIdx.x == 0 && last_block_done(counts)) && threadIdx.x < 64) add_energies(energies, counts);
}

bool keep_enqueue(SandDevice *device) {
    size_t contacts = (size_t)device->contact_capacity + 1, bodies = (size_t)device->world.body_count + 2;
    // Contents are kept when these grow: if the step must be repeated, it is warm started from them a second time.
    if (!reserve(device, device->kept_impulse, contacts, true) ||
        (device->torques && !reserve(device, device->kept_torque, contacts, true)) ||
        (device->bounces && !reserve(device, device->kept_approach, contacts, true)) ||
        !reserve(device, device->kept_key, contacts, true) || !reserve(device, device->kept_solver_index, bodies, true) ||
        !reserve(device, device->kept_first, bodies + 1, true))
        return false;
    bool rests = device->world.sleep_speed > 0;
    if ((rests && !sleep_merge_enqueue(device)) || !device_fork(device, 1)) return false;
    if (!rests)
        device->kernel->impulses(device->arrays, device->counts, device->kept_impulse.data,
                                 device->torques ? device->kept_torque.data : NULL, device->side_stream[0]);
    if (!device->gives_up && !keys_enqueue(device, device->side_stream[0])) return false;
    if (!laws_keep_enqueue(device, device->side_stream[0])) return false;
    LAUNCH(device, stop_at_boundaries, device->world.body_count, device->world, device->device_collision.data,
           device->problem.first, device->problem.order, device->arrays.b, device->gives_up ? device->walls.data : NULL,
           device->keys.data, device->bodies.data, (VelocityChange *)device->arrays.body, device->counts);
    return device_check(device, cudaGetLastError(), "stopping at boundaries");
}

bool move_enqueue(SandDevice *device) {
    int blocks = summing_blocks(device);
    bool rests = device->world.sleep_speed > 0;
    if (!reserve(device, device->energies, 2 * (size_t)blocks)) return false;
    move_bodies<<<blocks, BLOCK_THREADS, 0, device->stream>>>(
        device->world, device->device_collision.data, device->bodies.data, (const VelocityChange *)device->arrays.body,
        rests ? sleep_arrays(device) : SleepArrays(), device->leaves_out, device->mass_unit, device->number.data,
        device->energy_bound, device->counts, device->energies.data);
    if (!device->hooks->integrated(device)) return false;
    return device_join(device, 0) && device_check(device, cudaGetLastError(), "integrating");
}
