// What the files of the CUDA backend share: device arrays, the counts that a step keeps on the device, and the machine.
#pragma once
#include "sim/step/backend.h"
#include "sim/world/world.h"
#include "cuda/sort.h"

#include <cuda_runtime.h>
#include <vector>

enum { CUDA_THREADS = 256 };                 // of a block, where nothing else is said
enum { PACK_BLOCKS = 1024 };                 // of the kernel that adds up diagonals
enum { BATCH_COLOR = 2 * SAND_HIGH_DEGREE }; // of the contacts of high-degree bodies: see cuda/coloring.cu
enum { MOST_NUMBERS = 16 };                  // of a contact in one array: a solver text counts them all in an int

// An array on the device that grows when it is too small.
template <class T> struct Array {
    T *data = nullptr;
    size_t capacity = 0;
};

// What sorts and scans work in.
struct Scratch {
    Array<uint8_t> bytes;
    int64_t items = 0; // that it suffices for
};

// An impulse as it is kept on the device, where solvers work in float.
struct Impulse {
    float x, y, z;
};
inline __host__ __device__ SandVec3 impulse_vector(Impulse i) { return v3_make(i.x, i.y, i.z); }
inline __host__ __device__ Impulse impulse_make(SandVec3 v) { return {(float)v.x, (float)v.y, (float)v.z}; }

// What a step finds out and the kernels after it need. It stays on the device; the host gets a copy at the end. When
// `again` is set the rest of the step does nothing.
struct Counts {
    int again; // bits of Again
    int spheres, bodies, contacts, levels;
    int crowded;    // balls with more partners than the count kept: see HITS in detect.cu
    int trouble[3]; // a body, a boundary, and the number of places where they touch, when there are too many
    int warm_started;
    unsigned long long high_degree; // bodies of many contacts, and in the lower half the pieces they are summed in
    int colors;
    unsigned blocks_done;           // blocks of a kernel that are done: see last_block_done
    unsigned long long least, most; // extents, as the bits of positive numbers
    double deepest, deepest_wall;   // penetration, that into a boundary
    double diagonals;               // sum of the mean diagonals of N's blocks
    double kinetic, potential;
    int lost;
    SandLost lost_bodies[SAND_MAX_LOST];
    // Of the solve.
    int status, iterations, curve;
    double seconds, residual, objective, complementarity;
};

enum Again { AGAIN_CONTACTS = 1, AGAIN_IMPACT = 2 };

// Boxes and counts of the balls of each level of the grid.
struct LevelTally {
    unsigned long long low[SAND_MAX_LEVELS][3], high[SAND_MAX_LEVELS][3]; // in the order of ordered_bits
    int count[SAND_MAX_LEVELS];
};

// What a search for contacts has beside the world and the detection.
struct Search {
    double least_mu, largest_mu, fall;
    int convex_body;
    bool single; // no two balls are of one body
};

// The sorted balls in few bytes, rounded to float: see sight.h.
struct CullArrays {
    float4 *near; // where a ball may be in the step: center and extent
    float4 *move; // velocity, and the speed of its turning surface
    float2 *size; // radius and room
};

// The arrays behind a solver's operator, whatever its text. A Body is eight floats.
struct KernelArrays {
    int *a, *b;
    float *block, *impulse, *record, *arm_a_record, *arm_b_record;
    float *vectors, *reference;
    float *bound, *de_saxce; // of friction, where impulses are in the frame of their contact
    float *mass, *inertia;
    void *free, *body, *scratch, *measured, *still, *segment_sum;
    int *first, *second, *list, *high_degree, *high_degree_segment, *segment_body, *color_first, *color_list;
    float *batch_step;
    void *launch; // what the blocks of a solve share
    void *run;
    SandCurvePoint *curve;
    int64_t capacity; // blocks that fit, a multiple of SAND_LANES
    int64_t bodies;   // with boundaries
};

// What the problem is laid out from: a world with its detection, or a problem that was given.
struct PackSource {
    SandWorld world;
    const SandCollision *collision;
    const SandContactCandidate *found; // NULL: from the problem
    const int *order;                  // of the found
    const SandContact *contacts;       // of the problem
    SandProblemBody *bodies;           // written, or those of the problem
    const Impulse *start;
    Counts *counts;
    int boundaries; // bodies behind the moving ones
    double *partials;
};

// A solver text: once for each number of rows, kind of arms and frame of an impulse.
struct SolverKernel {
    int row_size; // of a block in a vector
    bool local, radial;
    int constant_count, inertia_size;
    size_t run_bytes, launch_bytes;
    // Lays bodies and blocks out; lists follow from them.
    void (*lay)(const PackSource &from, const KernelArrays &to, int64_t bodies, cudaStream_t stream);
    // The relaxation steps of the Jacobi batch of colored gauss-seidel.
    void (*pack_batch)(const PackSource &from, const KernelArrays &to, cudaStream_t stream);
    // Solves in pieces of at most `piece` iterations, which all are enqueued; with a `stop`, one after the other, until it
    // is not 0.
    cudaError_t (*solve)(const KernelArrays &arrays, const SandSolveDef &def, double step, double recovery, Counts *counts,
                         bool metrics, bool curve, int slice, const int *stop, cudaStream_t stream);
    // Impulses as vectors of the world.
    void (*impulses)(const KernelArrays &arrays, const Counts *counts, Impulse *out, cudaStream_t stream);
};
extern const SolverKernel kernel_normal_full, kernel_normal_radial, kernel_world_full, kernel_world_radial,
    kernel_local_full, kernel_local_radial;

enum { SIDE_STREAMS = 3 };
struct SandDevice {
    // The GPU, its streams, and what went wrong on it.
    char about[160];
    int processors;
    cudaStream_t stream;
    cudaStream_t side_stream[SIDE_STREAMS]; // for what need not wait for what is on the stream: see device_fork
    cudaEvent_t forked, joined[SIDE_STREAMS];
    cudaEvent_t mark[6]; // begin, and the ends of collide, warm_start, build, solve, integrate
    cudaError_t code;    // of the first call that failed
    const char *doing;   // what it was to do
    uint64_t growths;    // of buffers since the last report
    size_t bytes;        // of all buffers

    // World: what the host knows of it.
    SandWorld world;              // settings of the host, arrays of the device
    std::vector<void *> geometry; // spheres of shapes, profiles and meshes of boundaries
    std::vector<SandBoundary> host_boundaries;
    uint8_t *walls_host; // pinned staging memory of `walls`
    size_t walls_capacity;
    int sphere_total;               // of all bodies
    bool single;                    // every body is one sphere, a box or a cylinder
    std::vector<int> convex_bodies; // boxes and cylinders
    std::vector<double> convex_enter;
    std::vector<uint8_t> convex_gone;
    double least_mu, largest_mu;
    bool all_spheres;

    // Rendering.
    size_t instance_total;

    // Broad and narrow phase.
    SandCollision placed;    // boundaries of this step, on the host
    SandCollision collision; // as the device sees it: its pointers
    int64_t contact_capacity;
    bool impact; // spheres are of several levels: look for impacts
    Search search;

    // Warm start: what is kept of the last step.
    double kept_step; // s, 0: nothing is kept
    int kept_world;   // bodies of the world then
    int kept_bodies;  // solver indices
    int kept_contacts;

    // Problem and solver.
    const SolverKernel *kernel;
    KernelArrays arrays;
    PackSource pack_source;
    bool given; // a problem was given, not a world
    int given_bodies;
    double iteration_ms; // of the last solve
    bool solved, moved;  // how far the last step went

    // Results.
    Counts *counts;      // on the device
    Counts *host_counts; // pinned

    // The buffers of all stages.
#define BUFFER(type, name) Array<type> name;
#define SCRATCH(name) Scratch name;
#include "cuda/device_buffers.inl"
};

// --- arrays: array.cu ---

bool device_check(SandDevice *m, cudaError_t code, const char *doing); // remembers the first failure
bool device_reserve(SandDevice *m, void **data, size_t *capacity, size_t count, size_t size, bool keep);
void device_release(SandDevice *m, void **data, size_t *capacity, size_t size);
bool device_fail(SandDevice *m, SandError *error); // the sentence of the first failure; false

// Makes room for `count` items; what was there is lost unless it is to be kept. New memory is zero.
template <class T> bool reserve(SandDevice *m, Array<T> &array, size_t count, bool keep = false) {
    return device_reserve(m, (void **)&array.data, &array.capacity, count, sizeof(T), keep);
}
template <class T> void release(SandDevice *m, Array<T> &array) {
    device_release(m, (void **)&array.data, &array.capacity, sizeof(T));
}
inline void release(SandDevice *m, Scratch &scratch) { release(m, scratch.bytes); }
template <class T> bool upload(SandDevice *m, Array<T> &array, const T *host, size_t count) {
    return reserve(m, array, count + 1) &&
           device_check(m, cudaMemcpyAsync(array.data, host, count * sizeof(T), cudaMemcpyHostToDevice, m->stream),
                        "copying to the GPU");
}
template <class T> bool download(SandDevice *m, T *host, const T *device, size_t count) {
    return device_check(m, cudaMemcpyAsync(host, device, count * sizeof(T), cudaMemcpyDeviceToHost, m->stream),
                        "copying from the GPU");
}
bool device_wait(SandDevice *m);
// So many side_streams go on after what is on the stream so far. What comes on the stream after a join waits for an aside.
bool device_fork(SandDevice *m, int side_streams);
bool device_join(SandDevice *m, int side_stream);
bool reserve_scratch(SandDevice *m, Scratch &scratch, int64_t items);
bool reserve_iota(SandDevice *m, size_t count); // 0, 1, 2, ...

// Every thread of a kernel takes its share of 0 .. n-1.
#define EACH(i, n) \
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < (n); i += (int64_t)gridDim.x * blockDim.x)
// A kernel with a thread for each of n items, on the stream of the machine m, or on another one.
#define LAUNCH(kernel, n, ...) LAUNCH_ON(m->stream, kernel, n, __VA_ARGS__)
#define LAUNCH_ON(stream, kernel, n, ...) kernel<<<launch_blocks(n), CUDA_THREADS, 0, stream>>>(__VA_ARGS__)

inline int launch_blocks(int64_t n, int threads = CUDA_THREADS) {
    int64_t blocks = (n + threads - 1) / threads;
    return (int)(blocks < 1 ? 1 : blocks);
}
// The same for a kernel whose threads take turns: no more blocks than so many on each processor.
inline int device_blocks(const SandDevice *m, int64_t n, int threads, int on_each) {
    int blocks = launch_blocks(n, threads), most = on_each * m->processors;
    return blocks < most ? blocks : most;
}
inline int bits_for(int64_t values) { // of a number below `values`
    int bits = 1;
    while (bits < 32 && (int64_t)1 << bits < values) bits++;
    return bits;
}

#ifdef __CUDACC__
// Whether this block is the last one of its kernel to come here: then it sees what all others wrote before. SolveRequest by
// one thread of each block, of kernels that are on the stream of the machine and not on an aside.
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
#endif

// Writes the records that the threads of a block have for out[first], out[first + 1], ..., `count` of them in all; a place
// that a thread has none for stays as it is. Staged, so that threads write side by side: a record that each writes for
// itself costs several times its bytes. All threads of a block call it together.
#ifdef __CUDACC__
template <class T> __device__ void write_records(T *out, int64_t first, int64_t count, const T &mine, bool have = true) {
    static_assert(sizeof(T) % sizeof(double2) == 0, "a record is copied by pairs of numbers");
    constexpr int segments = sizeof(T) / sizeof(double2);
    __shared__ double2 staged[segments * CUDA_THREADS];
    __shared__ bool there[CUDA_THREADS];
    __syncthreads();
    there[threadIdx.x] = have;
    for (int k = 0; k < segments; k++) staged[segments * threadIdx.x + k] = ((const double2 *)&mine)[k];
    __syncthreads();
    int64_t left = count - first, all = segments * (left < blockDim.x ? left : blockDim.x);
    for (int k = threadIdx.x; k < all; k += blockDim.x)
        if (there[k / segments]) ((double2 *)(out + first))[k] = staged[k];
}
#endif
// The blocks of a kernel take turns with blocks of 0 .. n-1, all threads of a block together.
#define EACH_BLOCK(base, n) \
    for (int64_t base = blockIdx.x * (int64_t)blockDim.x; base < (n); base += (int64_t)gridDim.x * blockDim.x)

// --- stages ---

bool collide_enqueue(SandDevice *m);     // collide.cu
bool broad_phase_enqueue(SandDevice *m); // broad_phase.cu: the part of it up to the sorted grid
// lists.cu: which contacts a body has, hubs, colors. Begun beside the laying out of the blocks, and ended after it.
bool adjacency_begin(SandDevice *m);
bool adjacency_finish(SandDevice *m, const SandSolveDef *def);
bool colors_enqueue(SandDevice *m);     // coloring.cu
bool warm_start_enqueue(SandDevice *m); // motion.cu
bool integrate_enqueue(SandDevice *m);  // motion.cu

// --- pictures: instances.cu and interop.cu ---

SandSlot *slot_create(SandError *error);
void slot_free(SandSlot *slot);
bool slot_read(SandSlot *slot, void *to, size_t bytes, SandError *error);
// `w` has the settings of the host and the arrays of the device.
bool instances_enqueue(SandDevice *m, const SandWorld *w, const SandInstanceDef *def, SandSlot *slot, SandError *error);
SandShare *share_buffer(unsigned buffer, SandError *error);
void share_free(SandShare *share);
bool share_copy(SandShare *share, SandSlot *slot, size_t bytes, SandError *error);
