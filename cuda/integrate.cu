// Warm start and motion on the device, with the texts of sim: match before the solve, integrate after it.
#include "cuda/device.h"

#include "sim/collision/warm_start.inl"
#include "sim/step/integrate.inl"

static __device__ int warp_sum(int v) {
    for (int s = 16; s; s >>= 1) v += __shfl_down_sync(0xffffffffu, v, s);
    return v;
}

// Where each contact starts, the key that it will be found by in the next step, and its body b for the lists (that
// of a boundary is below 0, which is no row).
static __global__ void match_contacts(const SandWarmStart memory, const SandCollision *d, const int *order, double ratio,
                                      const Impulse *kept, Impulse *start, SandContactKey *key, uint32_t *second,
                                      Counts *counts) {
    if (counts->again) return;
    int warm_started = 0;
    EACH(i, counts->contacts) {
        const SandContactCandidate *found = &d->contacts[order[i]];
        bool turned = false;
        int was = memory.step > 0 ? warm_start_recall(&memory, d, found, &turned) : -1;
        if (was >= 0) warm_started++;
        start[i] = was < 0 ? Impulse() : impulse_make(v3_scale(turned ? -ratio : ratio, impulse_vector(kept[was])));
        key[i] = found->key;
        second[i] = (uint32_t)found->b;
    }
    warm_started = warp_sum(warm_started);
    if ((threadIdx.x & 31) == 0 && warm_started) atomicAdd(&counts->warm_started, warm_started);
}

bool warm_start_enqueue(SandDevice *m) {
    size_t contacts = (size_t)m->contact_capacity + 1;
    if (!reserve(m, m->start, contacts) || !reserve(m, m->key, contacts)) return false;
    SandWarmStart memory = {0};
    memory.body_count = m->kept_bodies, memory.world_count = m->kept_world, memory.step = m->kept_step;
    memory.solver_index = m->kept_solver_index.data, memory.first = m->kept_first.data;
    memory.key = m->kept_key.data;
    double ratio = m->kept_step > 0 ? m->world.step / m->kept_step : 0;
    match_contacts<<<device_blocks(m, m->contact_capacity, CUDA_THREADS, 8), CUDA_THREADS, 0, m->stream>>>(
        memory, m->collision_copy.data, m->found_order.data, ratio, m->kept_impulse.data, m->start.data, m->key.data,
        m->keys.data, m->counts);
    return device_check(m, cudaGetLastError(), "warm starting");
}

// --- integrate --------------------------------------------------------------------------------------------

struct Change { // a Body of the solver
    float v[4], w[4];
};

// Boundaries have the last word, in the order of ranks: there the contacts of a body lie side by side. `b` are their second
// bodies, boundaries behind all that move.
static __global__ void stop_at_boundaries(const __grid_constant__ SandWorld w, const SandCollision *d, const int *order,
                                          const int *b, const SandProblemBody *free, Change *change, const Counts *counts) {
    if (counts->again) return;
    EACH(k, counts->bodies)
    for (int i = d->first[k]; i < d->first[k + 1]; i++) {
        if (b[i] < counts->bodies) continue;
        Change *c = &change[k];
        SandVec3 velocity = v3_add(free[k].velocity, v3_make(c->v[0], c->v[1], c->v[2]));
        SandVec3 stopped = stop_at_boundary(&w, d, &d->contacts[order[i]], velocity);
        SandVec3 by = v3_sub(stopped, velocity);
        c->v[0] += (float)by.x, c->v[1] += (float)by.y, c->v[2] += (float)by.z;
    }
}

static __device__ void report_loss(Counts *counts, int body, SandLoss loss) {
    int at = atomicAdd(&counts->lost, 1);
    if (at < SAND_MAX_LOST) counts->lost_bodies[at].body = body, counts->lost_bodies[at].loss = loss;
}

// Adds up the energies of all blocks, in a fixed order: one warp for each of the two.
static __device__ void add_energies(const double *energies, Counts *counts) {
    int lane = threadIdx.x & 31, which = threadIdx.x >> 5;
    double sum = 0;
    for (int k = lane; k < (int)gridDim.x; k += 32) sum += energies[2 * k + which];
    for (int s = 16; s; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (lane == 0) *(which ? &counts->potential : &counts->kinetic) = sum;
}

// Moves the bodies, takes out those that are lost, and adds up the energy of the others, in a fixed order. In the order of
// the world: more of its numbers are read and written than of those that are in the order of ranks.
static __global__ void __launch_bounds__(CUDA_THREADS)
    move_bodies(SandWorld w, const SandCollision *d, const SandProblemBody *free, const Change *change, Counts *counts,
                double *energies) {
    __shared__ double shared[2][CUDA_THREADS / 32];
    if (counts->again) return;
    double kinetic = 0, potential = 0;
    EACH(i, w.body_count) {
        int body = (int)i, k = d->solver_index[i];
        if (k < 0) continue; // does not take part
        const Change c = change[k];
        SandVec3 velocity = v3_add(free[k].velocity, v3_make(c.v[0], c.v[1], c.v[2]));
        SandVec3 spin = v3_add(free[k].spin, v3_make(c.w[0], c.w[1], c.w[2]));
        move_body(&w, body, velocity, spin);
        SandLoss loss = body_loss(&w, body);
        if (loss != SAND_PRESENT) {
            remove_body(&w, body, loss);
            report_loss(counts, body, loss);
            continue;
        }
        kinetic += sand_body_kinetic_energy(&w, body);
        potential += sand_body_potential_energy(&w, body);
    }
    for (int s = 16; s; s >>= 1) {
        kinetic += __shfl_down_sync(0xffffffffu, kinetic, s);
        potential += __shfl_down_sync(0xffffffffu, potential, s);
    }
    if ((threadIdx.x & 31) == 0) shared[0][threadIdx.x >> 5] = kinetic, shared[1][threadIdx.x >> 5] = potential;
    __syncthreads();
    if (threadIdx.x < 2) {
        double sum = 0;
        for (int k = 0; k < CUDA_THREADS / 32; k++) sum += shared[threadIdx.x][k];
        energies[2 * blockIdx.x + threadIdx.x] = sum;
    }
    __syncthreads();
    if (__syncthreads_or(threadIdx.x == 0 && last_block_done(counts)) && threadIdx.x < 64) add_energies(energies, counts);
}

bool integrate_enqueue(SandDevice *m) {
    size_t contacts = (size_t)m->contact_capacity + 1, bodies = (size_t)m->world.body_count + 2;
    int blocks = device_blocks(m, m->world.body_count, CUDA_THREADS, 8);
    // What is kept stays when these grow: the step may have to be taken again, and then looks for it once more.
    if (!reserve(m, m->kept_impulse, contacts, true) || !reserve(m, m->kept_solver_index, bodies, true) ||
        !reserve(m, m->kept_first, bodies + 1, true) || !reserve(m, m->energies, 2 * (size_t)blocks))
        return false;
    if (!device_fork(m, 1)) return false;
    m->kernel->impulses(m->arrays, m->counts, m->kept_impulse.data, m->side_stream[0]);
    LAUNCH(stop_at_boundaries, m->world.body_count, m->world, m->collision_copy.data, m->found_order.data, m->arrays.b,
           m->bodies.data, (Change *)m->arrays.body, m->counts);
    move_bodies<<<blocks, CUDA_THREADS, 0, m->stream>>>(m->world, m->collision_copy.data, m->bodies.data,
                                                        (const Change *)m->arrays.body, m->counts, m->energies.data);
    return device_join(m, 0) && device_check(m, cudaGetLastError(), "integrating");
}
