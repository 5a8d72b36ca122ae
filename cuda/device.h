// SPDX-License-Identifier: MIT
// The shared definitions of the CUDA backend: SandDevice, which owns the streams, buffers and counters of one simulation on
// the GPU; the interface of the solver kernels; helpers to reserve, copy and launch; and the stages of a step.
//
// A step runs without waiting for the host: every stage enqueues its kernels on one stream, sized by capacities. How many
// spheres, contacts and colors there are is known on the device alone, in Counts; the host reads it once, at the end. One
// rank of several also waits wherever it meets the others (cuda/ranks/subdomain.h). Start reading at cuda/backend.cu, which
// drives the stages.
#pragma once
#include "sim/core/limits.h"
#include "sim/geometry/manifold.h"
#include "sim/solver/block_grid.h"
#include "sim/solver/cell_grid.h"
#include "sim/solver/kernel/block_parts.h"
#include "sim/solver/status.h"
#include "sim/step/backend.h"
#include "sim/step/laws.inl"
#include "sim/step/sleep.inl"
#include "sandglass/world.h"
#include "cuda/arena.h"
#include "cuda/solver/rank_problem.h"
#include "cuda/sort.h"

#include <cuda_runtime.h>
#include <vector>

#define ALL_LANES 0xffffffffu                  // of a warp, as a mask
enum { BLOCK_THREADS = 256 };                  // of a thread block, where nothing else is said
enum { PACK_BLOCKS = 1024 };                   // most thread blocks of the kernel that sums the diagonals
enum { BATCH_COLOR = 2 * SAND_HIGH_DEGREE };   // of the contacts of high-degree bodies: see cuda/solver/coloring.cu
enum { MAX_CONTACTS = INT32_MAX - (1 << 20) }; // a solver kernel counts by ints, and past them by less than a launch
enum { MAX_BODIES = INT32_MAX / 8 };           // the same, times the numbers of a body
enum { SMALL_BODIES = 512 }; // bodies and boundaries of a world that one thread block solves, alone and in a batch

// A buffer on the device that grows when it is too small.
template <class T> struct Array {
    T *data = nullptr;
    size_t capacity = 0;
};

// A part of the arena: it is lent to a stage, and its contents are lost when the next one begins.
template <class T> struct Lent {
    T *data = nullptr;
    size_t bytes = 0;
};

// The parts that a stage asks for.
struct Lending {
    int count = 0;
    void **data[ARENA_PARTS];
    size_t *given[ARENA_PARTS];
    size_t bytes[ARENA_PARTS];
};
template <class T> void lend(Lending &parts, Lent<T> &to, size_t count) {
    parts.data[parts.count] = (void **)&to.data;
    parts.given[parts.count] = &to.bytes;
    parts.bytes[parts.count++] = count * sizeof(T);
}

// Temporary storage of sorts and scans.
struct Scratch {
    Array<uint8_t> bytes;
    int64_t scanned = 0, sorted = 0; // items that it suffices for
};

// An impulse as the device stores it: solvers work in float there.
struct Impulse {
    float x, y, z;
};
inline __host__ __device__ SandVec3 impulse_vector(Impulse i) { return v3_make(i.x, i.y, i.z); }
inline __host__ __device__ Impulse impulse_make(SandVec3 v) { return {(float)v.x, (float)v.y, (float)v.z}; }

// What may touch: two convex bodies, by their sorted proxies, or one and a triangle of a mesh.
struct NearPair {
    int proxy, other;   // -1: a triangle
    int boundary, face; // of a triangle, else -1
};

// Why a step must be repeated.
enum Retry {
    RETRY_CONTACTS = 1, // more contacts, or pairs of convex bodies, than fit
    RETRY_IMPACT = 2,   // spheres are of several levels, and impacts were not looked for
    RETRY_WALLS = 4,    // more contacts with boundaries than fit, where these are copied
    RETRY_RANKS = 8,    // another rank must repeat it
    RETRY_LOOK = 16,    // its solution lacks contacts
};

// The counters and results of a step. They stay on the device, where later kernels read them; the host gets a copy at the
// end. When `retry` is set, the kernels of the rest of the step return at once, but for those of the broad phase, which do
// not look at it, and of cuda/csr.cu, which look at RETRY_CONTACTS alone.
struct Counts {
    int retry; // bits of Retry
    int spheres, bodies, levels;
    int found, contacts; // contacts: all, and those that are solved, which are fewer where bodies rest
    int joint_first;     // number of the candidate that is the first block of a joint
    int walls;           // contacts with boundaries, where they are copied
    int asleep;          // bodies, after the step
    int further_pieces;  // of compounds, beside the first of each
    int convex_pairs;    // near each other
    int missing;         // contacts that the solution lacks
    int convex_close, convex_touching, convex_overlapping; // of these, as PairWork in cuda/collision/convex_pairs.cu lists
    int crowded;          // spheres with more neighbors than NEIGHBOR_SLOTS in cuda/collision/collide.cu
    int mesh_overflow[3]; // a body, a boundary, and the number of places where they touch, when there are too many
    int warm_started;
    unsigned long long high_degree; // bodies of many contacts, and in the lower half the segments that they are summed in
    int colors;
    int uncolored;                             // a flag while contacts are colored: some have no color yet
    unsigned blocks_done;                      // thread blocks that have finished: see last_block_done
    unsigned long long min_extent, max_extent; // of all spheres, as the bits of positive doubles
    double deepest, deepest_wall;              // penetration; that into a boundary
    double diagonal_sum;                       // of the mean diagonals of the blocks of N
    SandVec3 box_low, box_high;                // around the centers of the moving bodies, for the grids
    SandCellGrid grid;                         // of the coarse correction
    SandBlockGrid block_grid;
    double kinetic, potential;
    double kept; // the share of the impulses that velocities keep (sim/step/energy_bound.inl)
    int lost;
    SandLost lost_bodies[SAND_MAX_LOST];
    int left[SAND_MAX_OUTLETS];                     // bodies that left by each outlet
    unsigned long long left_mass[SAND_MAX_OUTLETS]; // theirs, in units of SandDevice.mass_unit: sums keep no order
    int entered[SAND_MAX_INLETS];                   // bodies that entered by each inlet
    // Of the solve.
    SandEvidence evidence;
    SandEnd end;
    int iterations, curve;
    double seconds, complementarity, least_energy;
};

// Bounding box and number of the spheres of each level of the grid.
struct LevelTally {
    double least, most;                                                   // extents of all spheres
    unsigned long long low[SAND_MAX_LEVELS][3], high[SAND_MAX_LEVELS][3]; // as ordered_bits
    int count[SAND_MAX_LEVELS];
};

// A box that something may reach in the step.
struct ReachBox {
    double low[3], high[3]; // m; while it is found, as the bits of ordered_bits
};

// Parameters of collision detection beside the world's.
struct SearchParams {
    double least_mu, largest_mu, fall;
    bool single_spheres; // no two spheres are of one body
};

// The sorted spheres in few bytes, rounded to float: see cuda/collision/float_cull.h.
struct CullArrays {
    float4 *bounds; // where a sphere may be in the step: center and extent
    float4 *motion; // velocity, and the speed of its rotating surface
    float2 *size;   // radius and impact margin
};

// The device arrays behind a solver's operator (Op), for all variants of the kernel. A Body is eight floats.
struct KernelArrays {
    int *a, *b;
    float *constant, *impulse, *record, *arm_a_record, *arm_b_record;
    float *bounce; // NULL: no contact has one
    float *vectors, *reference;
    float *bound, *de_saxce; // of friction, where impulses are in the contact frame
    float *mass, *inertia;
    void *free, *body, *scratch, *measured, *still, *segment_sum;
    int *first, *second, *list, *high_degree, *high_degree_segment, *segment_body, *color_first, *color_list;
    float *batch_step;
    float *place, *field, *moments, *coarse; // of the coarse correction; NULL: the method has none
    int *cell_first, *cell_list;
    int *block_color_first; // blocks; the rest of them is in parts
    double *block_sum;
    void *last; // velocities before the last extrapolation
    BlockParts parts;
    void *launch_shared; // LaunchShared
    void *solve_state;   // SolveState
    SandCurvePoint *curve;
    int64_t capacity; // contacts that fit, a multiple of SAND_LANES
    int64_t bodies;   // with boundaries
};

// What the problem is packed from: a world with its contact candidates, or a standalone problem.
struct PackSource {
    SandWorld world;
    const SandCollision *collision;
    const SandContactCandidate *candidates; // NULL: a standalone problem
    const int *candidate_order;
    const SandContact *contacts; // of a standalone problem
    SandProblemBody *bodies;     // written, or those of a standalone problem
    const Impulse *start;
    const Impulse *start_torque; // NULL: no contact has a torque
    Counts *counts;
    int boundaries;            // bodies behind the moving ones, the world that joints hold on to among them
    bool leaves_out;           // sleeping bodies have infinite mass
    const SandImpact *impacts; // of each candidate; NULL: nothing bounces
    const FixedSum *pulls;     // of each moving body; NULL: nothing coheres
    double *partials;
    double step; // s
    // Joints, for the variant that has them.
    bool frictionless; // by the model, whatever the contacts say
    SandRecovery recovery;
    const int *joint;            // of a standalone problem: as in SandProblem
    const SandContact *blocks;   // of a world: each block as a contact
    const SandJointRows *joints; // of each block
};

// The contacts that are solved, by owner: all of a step, or all but those between sleeping bodies.
struct SolvedContacts {
    const int *order;            // their numbers among the candidates
    const Impulse *start;        // impulses to start from
    const Impulse *start_torque; // the same of torques; NULL: there are none
    const uint32_t *second;      // second bodies
    int *first;                  // rows of their owners
};

// A solver kernel (cuda/solver/solve_kernel.cu): one variant for each number of rows, kind of arms and frame of an impulse.
struct SolverKernel {
    int row_size;     // of a contact in a vector
    int impulse_size; // numbers of a stored world impulse
    bool local, radial, joints;
    bool stores_impulses; // beside its vectors, for every method; else for those that relax contacts one by one alone
    int constant_count, inertia_size;
    size_t state_bytes, launch_bytes;
    size_t coarse_size, moment_count; // numbers that the coarse correction works in; of each body
    bool (*has)(int solver);          // whether this variant has the method
    // Packs bodies and contacts; the adjacency follows from them.
    void (*pack)(const PackSource &from, const KernelArrays &to, int64_t bodies, cudaStream_t stream);
    // Computes the relaxation steps of the Jacobi batch of colored gauss-seidel.
    void (*pack_batch)(const PackSource &from, const KernelArrays &to, cudaStream_t stream);
    // Solves in slices of at most `slice` iterations, a launch each, all enqueued at once; with a `stop`, one after the
    // other until it is not 0.
    cudaError_t (*solve)(const KernelArrays &arrays, const SandSolveDef &def, double step, SandRecovery recovery,
                         Counts *counts, bool metrics, bool curve, int slice, const int *stop, cudaStream_t stream);
    // Writes the impulses as vectors of the world, and the torques, where `torque` is not NULL.
    void (*impulses)(const KernelArrays &arrays, const Counts *counts, Impulse *out, Impulse *torque, cudaStream_t stream);
    // Of the variants that are one rank of several, which have no `solve`. First sums RANK_FACTS of each own chunk into the
    // mailbox and gets everything ready; then solves in one launch of `blocks` thread blocks, which the host serves.
    cudaError_t (*begin_rank)(const KernelArrays &arrays, const SandSolveDef &def, const RankView &rank,
                              const Counts *counts, cudaStream_t stream);
    cudaError_t (*solve_rank)(const KernelArrays &arrays, const SandSolveDef &def, double step, SandRecovery recovery,
                              Counts *counts, bool metrics, bool curve, const RankView &rank, int blocks,
                              cudaStream_t stream);
};
extern const SolverKernel kernel_normal_full, kernel_normal_radial, kernel_active_full, kernel_active_radial,
    kernel_world_full, kernel_world_radial, kernel_local_full, kernel_local_radial, kernel_joints_full, kernel_rolling_full,
    kernel_world_full_ranks, kernel_world_radial_ranks;

// What the memory of a solve depends on, beside the number of contacts.
struct SolverShape {
    const SolverKernel *kernel; // NULL: there was none yet
    int vectors;                // with one more than the method has, for the driver
    int64_t bodies;             // with boundaries
    bool stores_impulses, bounces;
    bool one_scratch; // measurements take the array of products
    bool blocks;      // the method sweeps by blocks, and keeps the velocities of its last pass
};

// Points of a step on the stream, between which its stages are timed.
enum { MARK_BEGIN, MARK_COLLIDED, MARK_WARM_STARTED, MARK_BUILT, MARK_SOLVED, MARK_INTEGRATED, MARK_COUNT };

struct DeviceHooks; // cuda/hooks.h
struct KeptContact; // cuda/ranks/kept_contact.h

enum { SIDE_STREAMS = 3 };
struct SandDevice {
    // The GPU, its streams, and the first failure.
    char about[160];
    int processors; // streaming multiprocessors
    cudaStream_t stream;
    cudaStream_t side_stream[SIDE_STREAMS]; // for work that is independent of what follows on the stream: see device_fork
    cudaEvent_t forked, joined[SIDE_STREAMS];
    cudaEvent_t mark[MARK_COUNT];
    cudaError_t code;  // of the first call that failed
    const char *doing; // what that call was for
    uint64_t growths;  // of buffers since the last report
    size_t bytes;      // of all buffers
    size_t memory;     // bytes, of the GPU or what there is leave to use

    // World: what the host knows of it.
    SandWorld world;             // settings of the host, arrays of the device
    const SandVec3 *given_force; // on each body in the coming step, in memory of the caller; NULL: none, as is the next
    const SandVec3 *given_torque;
    SandRecovery recovery;        // of the step under way
    std::vector<void *> geometry; // device copies of the shapes' spheres, and of the boundaries' profiles and meshes
    std::vector<SandBoundary> host_boundaries;
    uint8_t *settings_staging; // pinned; uploaded to settings_data
    size_t settings_staging_capacity;
    int64_t block_total; // blocks of all joints, whether or not their bodies take part
    int sphere_total;    // of all bodies
    int convex_total;    // bodies that are boxes, cylinders, capsules or hulls, and the pieces of compounds
    bool single_spheres; // every body is one sphere, or convex
    bool all_spheres;    // every shape is a sphere: arms are radial
    double least_mu, largest_mu;
    double mass_unit;      // kg, of Counts.left_mass: the sum of all bodies is 2^62 of them
    bool bounces, coheres; // whether pairs of materials have restitution, cohesion
    bool rolls;            // whether they have rolling or spinning friction

    // Rendering.
    size_t instance_total;
    bool instances_placed; // instance_first is of this world

    const DeviceHooks *hooks;
    void *holder;         // of the bodies
    int body_total;       // bodies in the arrays: of a rank those that it holds
    int64_t grid_spheres; // spheres that the grids are sized for: of all ranks
    int64_t table_cells;  // cells of the grids that the table of cells is allocated for
    bool left_out;        // ranks have agreed to repeat the step under way: nothing is solved

    // Broad and narrow phase.
    SandCollision host_collision; // poses and velocities of the boundaries in this step, on the host
    SandCollision collision;      // the host's copy of device_collision: pointers into device buffers
    int64_t contact_capacity;
    int64_t near_capacity; // pairs of convex bodies and of triangles
    bool check_impacts;    // spheres are of several levels
    SearchParams search;
    int64_t indexed; // spheres or convex bodies that index_scratch suffices for, with index_bytes
    size_t index_bytes;
    bool gives_up;         // in this step the solve takes the memory of the contacts: see cuda/arena.h
    int64_t wall_capacity; // contacts with boundaries that are copied then

    // Second look: cuda/collision/second_look.cu.
    int looks;         // that have found something in the step under way
    int most_looks;    // of a step
    int missing_count; // contacts that they have found
    int64_t missing_capacity;

    // Warm start: what is kept of the last step.
    double kept_step; // s, 0: nothing is kept
    int kept_world;   // bodies of the world then
    int kept_bodies;  // solver indices
    int kept_contacts;
    bool kept_bounces; // kept_approach is filled
    bool kept_rolls;   // kept_torque is filled
    bool energy_bound; // of steps: sim/step/energy_bound.h
    bool kept_spent;   // by the step under way, which gives contacts up: keys and impulses are of no use until it ends

    // What rests (sim/step/sleep.inl).
    bool leaves_out;         // in this step
    uint64_t sleep_settings; // of this step: sand_sleep_settings
    uint64_t kept_settings;  // of the last

    // Problem and solver.
    SolvedContacts problem;
    const SolverKernel *kernel;
    SolverShape solver_shape; // of the last solve
    KernelArrays arrays;
    PackSource pack_source;
    bool torques;    // its contacts have torques, zero where there is no friction
    bool standalone; // a problem was uploaded, not a world
    int standalone_bodies;
    double iteration_ms;     // of the last solve
    bool solved, integrated; // how far the last step went

    // Of a rank: cuda/solver/rank_solve.cu.
    bool is_rank; // the next solve is that of rank_problem, together with other ranks
    RankProblem rank_problem;
    bool broken;               // its kernel failed in a solve, and other ranks wait for it
    int sharers;               // ranks whose kernels share the GPU; 0: 1
    double rank_contacts;      // of all ranks, in the last solve
    SandSubproblem subproblem; // of a standalone problem
    Mailbox *mailbox;          // memory of the host that the device sees, as are the next two
    float *outgoing, *incoming;
    size_t outgoing_capacity, incoming_capacity;

    // Results.
    Counts *counts;      // on the device
    Counts *host_counts; // pinned

    // The buffers of all stages.
#define BUFFER(type, name) Array<type> name;
#define SHARED(type, name) Lent<type> name;
#define SCRATCH(name) Scratch name;
#include "cuda/device_buffers.inl"
};

// --- buffers, errors and streams: cuda/buffer.cu ---

bool device_check(SandDevice *device, cudaError_t code, const char *doing); // remembers the first failure
bool device_fail(SandDevice *device, SandError *error); // reports the first failure as a sentence, and clears it; false
bool device_reserve(SandDevice *device, void **data, size_t *capacity, size_t count, size_t size, bool keep);
void device_release(SandDevice *device, void **data, size_t *capacity, size_t size);

// Grows a buffer to `count` items. New memory is zero; the old contents are lost unless they are to be kept.
template <class T> bool reserve(SandDevice *device, Array<T> &array, size_t count, bool keep = false) {
    return device_reserve(device, (void **)&array.data, &array.capacity, count, sizeof(T), keep);
}
template <class T> void release(SandDevice *device, Array<T> &array) {
    device_release(device, (void **)&array.data, &array.capacity, sizeof(T));
}
inline void release(SandDevice *device, Scratch &scratch) { release(device, scratch.bytes); }
template <class T> bool upload(SandDevice *device, Array<T> &array, const T *host, size_t count) {
    return reserve(device, array, count + 1) &&
           device_check(device, cudaMemcpyAsync(array.data, host, count * sizeof(T), cudaMemcpyHostToDevice, device->stream),
                        "copying to the GPU");
}
template <class T> bool download(SandDevice *device, T *host, const T *from, size_t count) {
    return device_check(device, cudaMemcpyAsync(host, from, count * sizeof(T), cudaMemcpyDeviceToHost, device->stream),
                        "copying from the GPU");
}
template <class T> bool upload(SandDevice *device, Lent<T> &lent, const T *host, size_t count) {
    return device_check(device, cudaMemcpyAsync(lent.data, host, count * sizeof(T), cudaMemcpyHostToDevice, device->stream),
                        "copying to the GPU");
}
bool device_wait(SandDevice *device);
// Lets the first `side_streams` side streams go on after what is on the stream so far.
bool device_fork(SandDevice *device, int side_streams);
// Makes what follows on the stream wait for a side stream.
bool device_join(SandDevice *device, int side_stream);
bool reserve_scratch(SandDevice *device, Scratch &scratch, int64_t items); // for scans
bool reserve_sorting(SandDevice *device, Scratch &scratch, int64_t items); // for sorts
bool reserve_iota(SandDevice *device, size_t count);                       // 0, 1, 2, ...

// --- the arena: cuda/arena.cu ---

// Lends parts of the arena to collision detection, and the candidates. What the solver will ask for is reserved with them,
// as far as it is known from the last step, so that the arena need not grow while it holds candidates.
bool arena_lend_collision(SandDevice *device, Lending &parts);
// Lends what the kernel works on, for `bodies` with boundaries and the capacity of contacts, and binds device->arrays to it.
bool reserve_kernel(SandDevice *device, const SandSolveDef *def, int64_t bodies, bool bounces);

// --- launches ---

// The threads of a launch share 0 .. n-1 in a grid-stride loop.
#define EACH(i, n) \
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < (n); i += (int64_t)gridDim.x * blockDim.x)
// The same by whole thread blocks: `base` is the first index of the block's share, and all its threads are in the loop.
#define EACH_BLOCK(base, n) \
    for (int64_t base = blockIdx.x * (int64_t)blockDim.x; base < (n); base += (int64_t)gridDim.x * blockDim.x)
// Launches a kernel with a thread for each of n items, on the stream of the device, or on another one.
#define LAUNCH(device, kernel, n, ...) LAUNCH_ON((device)->stream, kernel, n, __VA_ARGS__)
#define LAUNCH_ON(stream, kernel, n, ...) kernel<<<launch_blocks(n), BLOCK_THREADS, 0, stream>>>(__VA_ARGS__)

inline int launch_blocks(int64_t n, int threads = BLOCK_THREADS) {
    int64_t blocks = (n + threads - 1) / threads;
    return (int)(blocks < 1 ? 1 : blocks);
}
// The same with a limit of `per_processor` blocks on each multiprocessor, for a kernel with a loop over its items.
inline int device_blocks(const SandDevice *device, int64_t n, int threads, int per_processor) {
    int blocks = launch_blocks(n, threads), most = per_processor * device->processors;
    return blocks < most ? blocks : most;
}
inline int bits_for(int64_t values) { // of a number below `values`
    int bits = 1;
    while (bits < 32 && (int64_t)1 << bits < values) bits++;
    return bits;
}

#ifdef __CUDACC__
// Whether this thread block is the last one of its kernel to get here: then it sees what all others wrote before. Called by
// one thread of each block, in kernels on the main stream only: side streams would count into the same number.
static __device__ bool last_block_done(Counts *counts) {
    __threadfence();
    bool last = atomicAdd(&counts->blocks_done, 1) == gridDim.x - 1;
    if (last) counts->blocks_done = 0; // for the next kernel
    __threadfence();
    return last;
}

// How many contacts body k has: those that it owns, and those where it is the second body.
static __device__ int body_degree(const int *first, const int *second, int64_t k) {
    return first[k + 1] - first[k] + second[k + 1] - second[k];
}

// Writes the records of the threads of a block to out[first], out[first + 1], ..., up to out[count - 1]; where a thread has
// none, the old record stays. Staged in shared memory, so that the writes are coalesced: a record that each thread writes by
// itself costs several times its bytes. All threads of a block call it together.
template <class T> __device__ void write_records(T *out, int64_t first, int64_t count, const T &mine, bool have = true) {
    static_assert(sizeof(T) % sizeof(double2) == 0, "a record is copied by pairs of numbers");
    constexpr int parts = sizeof(T) / sizeof(double2);
    __shared__ double2 staged[parts * BLOCK_THREADS];
    __shared__ bool present[BLOCK_THREADS];
    __syncthreads();
    present[threadIdx.x] = have;
    for (int k = 0; k < parts; k++) staged[parts * threadIdx.x + k] = ((const double2 *)&mine)[k];
    __syncthreads();
    int64_t left = count - first, all = parts * (left < blockDim.x ? left : blockDim.x);
    for (int k = threadIdx.x; k < all; k += blockDim.x)
        if (present[k / parts]) ((double2 *)(out + first))[k] = staged[k];
}
#endif

// --- stages of a step ---

// cuda/step/settings.cu: places the boundaries for the coming step, and uploads them and the joints.
bool upload_settings(SandDevice *device, const SandWorld *w, SandError *error);
int64_t joint_block_total(const SandWorld *w);
bool collide_enqueue(SandDevice *device); // cuda/collision/collide.cu: from the world to contact candidates
bool collide_begin(SandDevice *device);   // its beginning: takes memory, and clears the counters
// cuda/collision/broad_phase.cu: the first part of it, from the world to sorted spheres; and the parts of that for a rank.
bool broad_phase_enqueue(SandDevice *device);
void place_spheres_enqueue(SandDevice *device, const uint8_t *left_out); // proxies, but of bodies that are left out
void tally_levels_enqueue(SandDevice *device);
bool sort_spheres_enqueue(SandDevice *device, int64_t cells);
bool find_impacts_enqueue(SandDevice *device);  // of the sorted spheres
void widen_spheres_enqueue(SandDevice *device); // by the margins that impacts give them
// cuda/collision/convex.cu: the same for convex bodies, then their solver indices.
bool convex_reserve(SandDevice *device);
bool convex_phase_enqueue(SandDevice *device);
bool convex_indices_enqueue(SandDevice *device, cudaStream_t stream);

// cuda/collision/convex_pairs.cu: the numbers of their contacts, and the contacts.
bool convex_pairs_reserve(SandDevice *device);
bool convex_count_enqueue(SandDevice *device, int *count, cudaStream_t stream);       // of each convex body
void convex_write_enqueue(SandDevice *device, const int *first, cudaStream_t stream); // from first[k] on
// cuda/collision/second_look.cu: looks for contacts that the solution lacks, and keeps those that are found; then their
// number, and their candidates.
bool look_enqueue(SandDevice *device);
bool look_finish(SandDevice *device, const Counts *c);
void look_count_enqueue(SandDevice *device, int *count, cudaStream_t stream);
void look_write_enqueue(SandDevice *device, const int *first, cudaStream_t stream);
// cuda/step/joints.cu: the numbers of blocks, their candidates, and their rows.
void joints_count_enqueue(SandDevice *device, int *count, cudaStream_t stream);       // of each joint
void joints_write_enqueue(SandDevice *device, const int *first, cudaStream_t stream); // from first[k] on
bool joints_build_enqueue(SandDevice *device);
bool warm_start_enqueue(SandDevice *device);        // cuda/step/integrate.cu
SandWarmStart kept_cache(const SandDevice *device); // the same: what is kept of the last step, but for the impulses
bool upload_warm_start(SandDevice *device, const SandWarmStart *cache);
// Uploads impulses: the device stores them in float, the host in double.
bool upload_impulses(SandDevice *device, Array<Impulse> &array, const SandVec3 *host, size_t count);
bool fail_given_up(const SandDevice *device, SandError *error); // says that the candidates are; false
// cuda/step/boundary_contacts.cu: copies the contacts with boundaries of a step that gives its candidates up.
bool step_gives_up(const SandDevice *device, const SandWorld *w);
bool walls_begin(SandDevice *device);                       // before contacts are packed
bool walls_finish(SandDevice *device);                      // and after
bool keys_enqueue(SandDevice *device, cudaStream_t stream); // the keys of its contacts, for the next warm start
// cuda/step/laws.cu: what is kept of bounces, after the impulses are.
bool laws_keep_enqueue(SandDevice *device, cudaStream_t stream);
// cuda/step/sleep.cu: leaves contacts of what rests out of device->problem; puts their impulses back into kept_impulse.
bool sleep_divide_enqueue(SandDevice *device);
bool sleep_merge_enqueue(SandDevice *device);
SleepArrays sleep_arrays(const SandDevice *device);
// cuda/solver/adjacency.cu: the contacts of each body, high-degree bodies, colors. Begun beside the packing of the contacts,
// and finished after it.
bool adjacency_begin(SandDevice *device);
bool adjacency_finish(SandDevice *device, const SandSolveDef *def);
bool colors_enqueue(SandDevice *device);                   // cuda/solver/coloring.cu
bool box_enqueue(SandDevice *device);                      // cuda/solver/cells.cu: the box around the bodies
bool cells_enqueue(SandDevice *device);                    // the same: the cells of the coarse correction
bool blocks_enqueue(SandDevice *device, double diameters); // cuda/solver/blocks.cu: with cells of this edge
// cuda/step/integrate.cu: keeps impulses, and stops bodies at boundaries; then moves them.
bool keep_enqueue(SandDevice *device);
bool move_enqueue(SandDevice *device);
// cuda/step/flow.cu: outlets, and the mass of what leaves.
bool flow_upload(SandDevice *device, const SandWorld *w);
void flow_weigh(SandDevice *device, double mass); // kg, of all bodies: what leaves is counted in parts of it
void flow_report(const SandDevice *device, const Counts *counts, SandStepReport *report);

// cuda/solver/rank_solve.cu: the kernel for one rank of several, or a sentence that says why there is none; the solve, which
// meets the other ranks and waits for its end.
const SolverKernel *rank_kernel(const SandSolveDef *def, bool radial, bool joints, bool rolls, SandError *error);
bool rank_solve(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, SandError *error);
void rank_free(SandDevice *device);

bool probes_measure(SandDevice *device, SandProbeBatch *batch, SandError *error); // cuda/step/probes.cu: of SandBackend

// --- reading back: cuda/step/read_back.cu; the functions of SandBackend ---

bool device_arrays(SandDevice *device, const SandWorld *w, SandDeviceArrays *to, SandError *error);
bool read_bodies(SandDevice *device, SandWorld *world, int first, int count, SandError *error);
bool read_warm_start(SandDevice *device, SandWarmStart *cache, SandError *error);
bool read_contacts(SandDevice *device, SandCollision *collision, SandError *error);
bool read_joints(SandDevice *device, SandProblem *problem, SandError *error);
bool read_start(SandDevice *device, SandVec3 *start, SandError *error);
bool read_bounces(SandDevice *device, SandProblem *problem, SandError *error);
bool read_curve(SandDevice *device, SandSolution *solution, SandError *error);
bool read_problem_bodies(SandDevice *device, SandProblemBody *bodies, int count, SandError *error);
bool read_solution(SandDevice *device, SandSolution *solution, SandError *error);
SandMetrics metrics_of(const SandDevice *device);

// --- rendering: cuda/render/instances.cu and cuda/render/gl_interop.cu ---

bool snapshot_enqueue(SandDevice *device, const SandWorld *w, SandSlot *slot, SandError *error);
SandSlot *slot_create(SandError *error);
void slot_free(SandSlot *slot);
bool slot_read(SandSlot *slot, void *to, size_t bytes, SandError *error);
uint8_t *snapshot_read(SandSlot *slot, size_t bytes, SandError *error);
// `w` has the settings of the host and the arrays of the device.
bool instances_enqueue(SandDevice *device, const SandWorld *w, const SandInstanceDef *def, SandSlot *slot, SandError *error);
SandShare *share_buffer(unsigned buffer, SandError *error);
void share_free(SandShare *share);
bool share_copy(SandShare *share, SandSlot *slot, size_t bytes, SandError *error);
