// SPDX-License-Identifier: MIT
// The host of a batch of small worlds on the GPU (rows.h): their slices of memory, what is uploaded for a step, the reports,
// and each world as a backend of its own, which reads and writes its slice and takes no step alone.
#include "cuda/batch/batch.h"
#include "cuda/backend.h"
#include "cuda/batch/rows.h"

#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"
#include "sim/geometry/convex.inl"
#include "sim/geometry/revolution.h"
#include "sim/step/build_problem.inl"
#include "sim/step/sleep.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>
#include <vector>

struct Member {
    SandBackend backend; // first: a backend is known by its address
    SandBatchDevice *batch;
    int number;
    SandHostState *host;
    RowArrays arrays;
    RowKept kept;
    uint64_t kept_settings;
    std::vector<void *> geometry;    // of its boundaries, on the device
    std::vector<SandBoundary> walls; // with their geometry there
};

struct SandBatchDevice {
    int count = 0;
    Member *members = nullptr;
    char about[160];
    RowSizes sizes;
    size_t stride = 0; // of slices, bytes
    uint8_t *slices = nullptr;
    uint8_t *settings = nullptr; // pinned: what the host gives for a step, of all worlds
    uint8_t *states = nullptr;   // pinned: the state of the bodies of all worlds
    bool states_current = false;
    WorldRow *rows = nullptr;
    uint8_t *tables = nullptr;
    Counts *counts = nullptr; // pinned, of all worlds
    cudaStream_t stream = nullptr;
    SandCollision placed = {}; // the boundaries of a world, for a moment
};

static bool failed(cudaError_t code, const char *doing, SandError *error) {
    return code != cudaSuccess && !sand_fail(error, "the GPU failed at %s: %s", doing, cudaGetErrorString(code));
}

// --- slices ---------------------------------------------------------------------------------------------------

// The parts of a slice: the state of the bodies, all that is uploaded with a world, and what a step is given.
static size_t state_bytes(const RowArrays &a) { return (size_t)((uint8_t *)a.mass - (uint8_t *)a.position); }
static size_t world_bytes(const RowArrays &a) { return (size_t)((uint8_t *)a.collision - (uint8_t *)a.position); }
static size_t settings_bytes(const RowArrays &a) { return (size_t)((uint8_t *)a.kept_index - (uint8_t *)a.collision); }

// Copies what a step has kept of a world to where it is after the slices have grown.
static cudaError_t move_kept(SandBatchDevice *b, const RowArrays &from, const RowArrays &to, const RowKept &kept) {
    size_t bodies = b->sizes.bodies, contacts = (size_t)kept.contacts;
    cudaError_t code = cudaMemcpyAsync(to.position, from.position, world_bytes(from), cudaMemcpyDeviceToDevice, b->stream);
#define MOVE(name, count) \
    if (code == cudaSuccess && (count)) \
        code = cudaMemcpyAsync(to.name, from.name, (count) * sizeof *to.name, cudaMemcpyDeviceToDevice, b->stream);
    if (!(kept.step > 0)) return code;
    MOVE(kept_index, bodies)
    MOVE(kept_first, bodies + 1)
    MOVE(kept_key, contacts)
    MOVE(kept_impulse, contacts)
#undef MOVE
    return code;
}

// Gives every world a slice with room for this many contacts; what is in the slices is kept.
static bool reserve_slices(SandBatchDevice *b, size_t contacts, SandError *error) {
    RowSizes sizes = b->sizes;
    sizes.contacts = (contacts / SAND_LANES + 1) * SAND_LANES;
    RowArrays at_zero = row_arrays((uint8_t *)NULL, sizes);
    size_t stride = (size_t)(at_zero.end - (uint8_t *)NULL);
    uint8_t *slices = NULL;
    if (failed(cudaMalloc((void **)&slices, stride * (size_t)b->count), "reserving memory for a batch", error)) return false;
    cudaError_t code = cudaMemsetAsync(slices, 0, stride * (size_t)b->count, b->stream);
    for (int k = 0; k < b->count; k++) {
        Member &m = b->members[k];
        RowArrays arrays = row_arrays(slices + stride * (size_t)k, sizes);
        if (b->slices && code == cudaSuccess) code = move_kept(b, m.arrays, arrays, m.kept);
        m.arrays = arrays;
    }
    if (code == cudaSuccess) code = cudaStreamSynchronize(b->stream);
    cudaFree(b->slices);
    b->slices = slices;
    b->stride = stride;
    b->sizes = sizes;
    return !failed(code, "making room for contacts", error);
}

// --- a world --------------------------------------------------------------------------------------------------

// What keeps a world from stepping here; NULL: nothing.
static const char *obstacle(const SandWorld *w) {
    for (int k = 0; k < w->shape_count; k++)
        if (w->shapes[k].kind != SAND_SPHERE) return "shapes other than spheres";
    for (int k = 0; k < w->boundary_count; k++)
        if (w->boundaries[k].mesh) return "meshes";
    double largest_mu = 0;
    for (int k = 0; k < w->material_count * w->material_count; k++) largest_mu = fmax(largest_mu, w->pairs[k].mu);
    return w->joint_count          ? "joints"
           : w->apart_count        ? "bodies that are kept apart"
           : w->inlet_count        ? "inlets"
           : w->outlet_count       ? "outlets"
           : w->probe_count        ? "probes"
           : sand_world_repeats(w) ? "a box that repeats"
           : w->sleep_speed > 0    ? "bodies that sleep"
           : sand_world_bounces(w) ? "restitution"
           : sand_world_coheres(w) ? "cohesion"
           : sand_world_rolls(w)   ? "rolling friction"
           : w->force || w->torque ? "forces"
           : largest_mu == 0       ? "no friction at all"
           : w->looks > 0          ? "second looks"
                                   : NULL;
}

static bool check_world(const SandBatchDevice *b, const SandWorld *w, SandError *error) {
    const char *what = obstacle(w);
    if (what) return sand_fail(error, "a batch on CUDA has worlds of spheres and boundaries, and this one has %s", what);
    if (w->body_count + w->boundary_count > SMALL_BODIES)
        return sand_fail(error, "a batch on CUDA has worlds of at most %d bodies and boundaries, and this one has %d",
                         SMALL_BODIES, w->body_count + w->boundary_count);
    const RowSizes &s = b->sizes;
    if ((size_t)w->body_count <= s.bodies && (size_t)w->boundary_count <= s.boundaries &&
        (size_t)w->shape_count <= s.shapes && (size_t)w->material_count <= s.materials)
        return true;
    return sand_fail(error, "a world of a batch on CUDA has what it began with: nothing can be added to it");
}

static void free_geometry(Member &m) {
    for (void *p : m.geometry) cudaFree(p);
    m.geometry.clear();
    m.walls.clear();
}

// Copies an array of a boundary to the device.
template <class T> static T *copy_geometry(Member &m, const T *from, size_t count, cudaError_t *code) {
    void *to = NULL;
    if (!from || *code != cudaSuccess) return NULL;
    *code = cudaMalloc(&to, (count + 1) * sizeof(T));
    if (*code != cudaSuccess) return NULL;
    m.geometry.push_back(to);
    *code = cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, m.batch->stream);
    return (T *)to;
}

static bool upload_walls(Member &m, const SandWorld *w, SandError *error) {
    cudaError_t code = cudaSuccess;
    if (m.walls.size() == (size_t)w->boundary_count) return true; // none comes or goes, and their shapes stay
    m.walls.assign(w->boundaries, w->boundaries + w->boundary_count);
    for (SandBoundary &wall : m.walls) {
        size_t corners = (size_t)wall.profile_count;
        wall.profile = copy_geometry(m, wall.profile, corners, &code);
        wall.segments = copy_geometry(m, wall.segments, corners, &code);
        wall.bands = copy_geometry(m, wall.bands, 1, &code);
        wall.core = copy_geometry(m, wall.core, 1, &code);
        wall.path = NULL;
    }
    return !failed(code, "copying boundaries", error);
}

static bool upload_kept(Member &m, const SandWarmStart *from, SandError *error) {
    cudaStream_t stream = m.batch->stream;
    size_t contacts = from->step > 0 ? (size_t)from->first[from->body_count] : 0;
    m.kept = {from->step, from->body_count, (int)contacts};
    m.kept_settings = from->settings;
    if (!(from->step > 0)) return true;
    if (contacts > m.batch->sizes.contacts && !reserve_slices(m.batch, contacts, error)) return false;
    std::vector<Impulse> rounded(contacts);
    std::transform(from->impulse, from->impulse + contacts, rounded.begin(), impulse_make);
    const RowArrays &a = m.arrays;
    cudaError_t code = cudaSuccess;
#define SEND(to, data, count) \
    if (code == cudaSuccess && (count)) \
        code = cudaMemcpyAsync(to, data, (count) * sizeof *(to), cudaMemcpyHostToDevice, stream);
    SEND(a.kept_index, from->solver_index, (size_t)from->world_count)
    SEND(a.kept_first, from->first, (size_t)from->body_count + 1)
    SEND(a.kept_key, from->key, contacts)
    SEND(a.kept_impulse, rounded.data(), contacts)
#undef SEND
    if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
    return !failed(code, "copying impulses", error);
}

static Member &member_of(SandDevice *device) { return *(Member *)(void *)device; }

static bool upload_member(SandDevice *device, SandHostState *host, SandError *error) {
    Member &m = member_of(device);
    SandBatchDevice *b = m.batch;
    const SandWorld *w = &host->world;
    m.host = host;
    if (!check_world(b, w, error) || !upload_walls(m, w, error) || !upload_kept(m, &host->warm_start, error)) return false;
    std::vector<uint8_t> image(world_bytes(m.arrays));
    size_t n = (size_t)w->body_count;
#define PUT(type, name) \
    if (n) memcpy(image.data() + ((uint8_t *)m.arrays.name - (uint8_t *)m.arrays.position), w->name, n * sizeof(type));
    SAND_BODY_ARRAYS(PUT)
#undef PUT
    cudaError_t code = cudaMemcpyAsync(m.arrays.position, image.data(), image.size(), cudaMemcpyHostToDevice, b->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(b->stream);
    b->states_current = false;
    return !failed(code, "copying bodies", error);
}

// Brings the bodies of all worlds to the host, once for all that ask between two steps.
static bool read_states(SandBatchDevice *b, SandError *error) {
    size_t width = state_bytes(b->members[0].arrays);
    if (b->states_current) return true;
    cudaError_t code = cudaMemcpy2DAsync(b->states, width, b->slices, b->stride, width, (size_t)b->count,
                                         cudaMemcpyDeviceToHost, b->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(b->stream);
    if (failed(code, "reading bodies", error)) return false;
    sand_count_downloaded(width * (size_t)b->count);
    return b->states_current = true;
}

static bool read_member(SandDevice *device, SandWorld *w, int first, int count, SandError *error) {
    Member &m = member_of(device);
    if (!read_states(m.batch, error)) return false;
    const uint8_t *state = m.batch->states + state_bytes(m.arrays) * (size_t)m.number;
#define GET(type, name) \
    memcpy(w->name + first, \
           state + ((uint8_t *)m.arrays.name - (uint8_t *)m.arrays.position) + sizeof(type) * (size_t)first, \
           sizeof(type) * (size_t)count);
    SAND_BODY_STATE(GET)
#undef GET
    return true;
}

static bool read_kept(SandDevice *device, SandWarmStart *to, SandError *error) {
    Member &m = member_of(device);
    size_t world = (size_t)m.host->world.body_count, bodies = (size_t)m.kept.bodies, contacts = (size_t)m.kept.contacts;
    to->step = 0;
    if (!(m.kept.step > 0)) return true;
    if (!SAND_GROW(to->solver_index, to->solver_index_capacity, world, "warm start", error) ||
        !SAND_GROW(to->first, to->first_capacity, bodies + 1, "warm start", error) ||
        !SAND_GROW(to->key, to->key_capacity, contacts, "warm start", error) ||
        !SAND_GROW(to->impulse, to->impulse_capacity, contacts, "warm start", error))
        return false;
    std::vector<Impulse> rounded(contacts);
    cudaError_t code = cudaSuccess;
#define FETCH(data, from, count) \
    if (code == cudaSuccess && (count)) \
        code = cudaMemcpyAsync(data, from, (count) * sizeof *(from), cudaMemcpyDeviceToHost, m.batch->stream);
    FETCH(to->solver_index, m.arrays.kept_index, world)
    FETCH(to->first, m.arrays.kept_first, bodies + 1)
    FETCH(to->key, m.arrays.kept_key, contacts)
    FETCH(rounded.data(), m.arrays.kept_impulse, contacts)
#undef FETCH
    if (code == cudaSuccess) code = cudaStreamSynchronize(m.batch->stream);
    if (failed(code, "reading impulses", error)) return false;
    std::transform(rounded.begin(), rounded.end(), to->impulse, impulse_vector);
    to->bounces = to->rolls = false;
    to->step = m.kept.step;
    to->settings = m.kept_settings;
    to->body_count = m.kept.bodies;
    to->world_count = (int)world;
    return true;
}

// --- what a member does not do --------------------------------------------------------------------------------

static bool refuse(SandError *error) {
    return sand_fail(error, "a world of a batch on CUDA is stepped with its batch, and shows bodies and counters alone");
}
static SandDevice *create_member(const SandDeviceDef *def, SandError *) { return (SandDevice *)(void *)def->backend; }
static void leave_member(SandDevice *) {}
static const char *describe_member(const SandDevice *device) { return ((const Member *)(const void *)device)->batch->about; }
static bool refuse_collide(SandDevice *, const SandWorld *, SandError *error) { return refuse(error); }
static bool refuse_step(SandDevice *, SandError *error) { return refuse(error); }
static bool refuse_curve(SandDevice *, SandSolution *, SandError *error) { return refuse(error); }
static bool refuse_measure(SandDevice *, SandProbeBatch *, SandError *error) { return refuse(error); }
static SandSlot *refuse_slot(SandError *error) { return refuse(error), nullptr; }
static bool refuse_instances(SandDevice *, const SandWorld *, const SandInstanceDef *, SandSlot *, SandError *error) {
    return refuse(error);
}
static bool refuse_snapshot(SandDevice *, const SandWorld *, SandSlot *, SandError *error) { return refuse(error); }
static bool refuse_arrays(SandDevice *, const SandWorld *, SandDeviceArrays *, SandError *error) { return refuse(error); }

static SandBackend member_backend() {
    SandBackend backend = {};
    backend.name = "cuda";
    backend.fails_for_all = true; // a step that fails is not taken by the CPU instead
    backend.create = create_member;
    backend.destroy = leave_member;
    backend.describe = describe_member;
    backend.upload = upload_member;
    backend.collide = refuse_collide;
    backend.measure = refuse_measure;
    backend.slot_create = refuse_slot;
    backend.instances = refuse_instances;
    backend.snapshot = refuse_snapshot;
    backend.arrays = refuse_arrays;
    backend.read_bodies = read_member;
    backend.read_warm_start = read_kept;
    backend.read_step = refuse_step;
    backend.read_curve = refuse_curve;
    return backend;
}

// --- the batch ------------------------------------------------------------------------------------------------

void cuda_batch_free(SandBatchDevice *b) {
    if (!b) return;
    for (int k = 0; k < b->count; k++) free_geometry(b->members[k]);
    cudaFree(b->slices);
    cudaFree(b->rows);
    cudaFree(b->tables);
    cudaFreeHost(b->settings);
    cudaFreeHost(b->states);
    cudaFreeHost(b->counts);
    if (b->stream) cudaStreamDestroy(b->stream);
    sand_collision_free(&b->placed);
    delete[] b->members;
    delete b;
}

// What all worlds need of everything.
static RowSizes sizes_of(SandHostState *const *hosts, int count) {
    const SolverKernel *kernel = &kernel_world_radial;
    RowSizes s = {};
    for (int k = 0; k < count; k++) {
        const SandWorld *w = &hosts[k]->world;
        s.bodies = std::max(s.bodies, (size_t)w->body_count);
        s.boundaries = std::max(s.boundaries, (size_t)w->boundary_count);
        s.shapes = std::max(s.shapes, (size_t)w->shape_count);
        s.materials = std::max(s.materials, (size_t)w->material_count);
    }
    for (int k = 0; k < sand_solver_count(); k++) s.vectors = std::max(s.vectors, (size_t)sand_solver_table[k].vectors + 1);
    s.cells = (size_t)grid_most_cells((int64_t)s.bodies);
    s.constants = (size_t)kernel->constant_count;
    s.launch_bytes = kernel->launch_bytes;
    return s;
}

static bool reserve_batch(SandBatchDevice *b, SandError *error) {
    size_t n = (size_t)b->count;
    if (!reserve_slices(b, 6 * b->sizes.bodies + 64, error)) return false;
    const RowArrays &a = b->members[0].arrays;
    cudaError_t code = cudaMalloc((void **)&b->rows, n * sizeof *b->rows);
    if (code == cudaSuccess) code = cudaMalloc((void **)&b->tables, rows_table_bytes(b->count));
    if (code == cudaSuccess) code = cudaMallocHost((void **)&b->settings, n * settings_bytes(a));
    if (code == cudaSuccess) code = cudaMallocHost((void **)&b->states, n * state_bytes(a));
    if (code == cudaSuccess) code = cudaMallocHost((void **)&b->counts, n * sizeof *b->counts);
    return !failed(code, "reserving memory for a batch", error);
}

SandBatchDevice *cuda_batch_create(SandHostState *const *hosts, int count, SandError *error) {
    SandDeviceInfo info;
    if (!sand_cuda_about(&info, error)) return nullptr;
    SandBatchDevice *b = new SandBatchDevice();
    b->count = count;
    b->members = new Member[(size_t)count];
    snprintf(b->about, sizeof b->about, "%.100s, with %d other worlds", info.name, count - 1);
    for (int k = 0; k < count; k++) {
        b->members[k].backend = member_backend();
        b->members[k].batch = b;
        b->members[k].number = k;
        b->members[k].host = hosts[k];
        b->members[k].kept = {};
        b->members[k].kept_settings = 0;
    }
    b->sizes = sizes_of(hosts, count);
    if (failed(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking), "making a stream", error) ||
        !reserve_batch(b, error))
        return cuda_batch_free(b), nullptr;
    return b;
}

const SandBackend *cuda_batch_member(SandBatchDevice *b, int world) { return &b->members[world].backend; }

// --- the step -------------------------------------------------------------------------------------------------

// The place in what is uploaded for a step of an array of a world.
template <class T> static T *staged(const Member &m, const T *array) {
    size_t at = (size_t)((const uint8_t *)array - (const uint8_t *)m.arrays.collision);
    return (T *)(m.batch->settings + settings_bytes(m.arrays) * (size_t)m.number + at);
}

// The collision of a world as the kernels find it: its arrays, and the boundaries in the coming step.
static SandCollision collision_of(const RowArrays &a) {
    SandCollision c = {};
    c.broad_phase.spheres = a.spheres;
    c.broad_phase.sorted = a.sorted;
    c.broad_phase.order = a.sphere_order;
    c.broad_phase.starts = a.cell_starts + 1; // where the spheres of a cell end
    c.solver_index = a.solver_index;
    c.body = a.body;
    c.first = a.first;
    c.contacts = a.candidates;
    c.pose = a.pose;
    c.guard = a.guard;
    c.velocity = a.wall_velocity;
    c.spin = a.wall_spin;
    return c;
}

// Stages what a world is given for the coming step.
static bool stage(Member &m, SandError *error) {
    const SandWorld *w = &m.host->world;
    SandCollision *placed = &m.batch->placed;
    if (!check_world(m.batch, w, error) || !sand_collision_place_boundaries(placed, w, error)) return false;
    *staged(m, m.arrays.collision) = collision_of(m.arrays);
    for (int k = 0; k < w->boundary_count; k++) {
        if (v3_dot(placed->spin[k], placed->spin[k]) > 0)
            return sand_fail(error, "a batch on CUDA has no boundary that spins, as %s does", w->boundaries[k].name);
        staged(m, m.arrays.pose)[k] = placed->pose[k];
        staged(m, m.arrays.guard)[k] = placed->guard[k];
        staged(m, m.arrays.wall_velocity)[k] = placed->velocity[k];
        staged(m, m.arrays.wall_spin)[k] = placed->spin[k];
        SandBoundary &wall = m.walls[(size_t)k];
        wall.pose = w->boundaries[k].pose;
        wall.motion = w->boundaries[k].motion;
        wall.moves = w->boundaries[k].moves;
        staged(m, m.arrays.wall)[k] = wall;
    }
    for (int k = 0; k < w->shape_count; k++) {
        staged(m, m.arrays.shape_sphere)[k] = w->shapes[k].spheres[0];
        SandShape *shape = &staged(m, m.arrays.shape_table)[k];
        *shape = w->shapes[k];
        shape->spheres = m.arrays.shape_sphere + k;
        shape->core = NULL;
        shape->pieces = NULL;
    }
    std::copy(w->pairs, w->pairs + w->material_count * w->material_count, staged(m, m.arrays.laws));
    return true;
}

// The world as kernels see it.
static SandWorld view_of(const Member &m) {
    SandWorld w = m.host->world;
#define BIND(type, name) w.name = m.arrays.name;
    SAND_BODY_ARRAYS(BIND)
#undef BIND
    w.shapes = m.arrays.shape_table;
    w.pairs = m.arrays.laws;
    w.boundaries = m.arrays.wall;
    w.materials = NULL;
    w.joints = NULL;
    w.apart = NULL;
    w.outlets = NULL;
    w.inlets = NULL;
    w.probes = NULL;
    w.probe_values = NULL;
    w.force = w.torque = NULL;
    return w;
}

static KernelArrays kernel_of(const RowArrays &a, const RowSizes &s, const SandSolveDef *def, int64_t bodies) {
    KernelArrays k = KernelArrays();
    k.a = a.a;
    k.b = a.b;
    k.constant = a.constant;
    k.record = a.record;
    k.vectors = a.solver_vectors;
    k.reference = a.solver_vectors + 4 * s.contacts * (size_t)sand_solver_table[def->solver].vectors;
    k.mass = a.kernel_mass;
    k.inertia = a.kernel_inertia;
    k.free = a.kernel_free;
    k.body = a.kernel_body;
    k.scratch = a.kernel_scratch;
    k.measured = a.kernel_measured;
    k.still = a.still;
    k.segment_sum = a.segment_sum;
    k.first = a.first;
    k.second = a.second;
    k.list = a.list;
    k.high_degree = a.high_degree;
    k.high_degree_segment = a.high_degree_segment;
    k.segment_body = a.segment_body;
    k.launch_shared = a.launch_shared;
    k.capacity = (int64_t)s.contacts;
    k.bodies = bodies;
    return k;
}

static WorldRow row_of(const Member &m, const SandSolveDef *def) {
    const SandWorld *w = &m.host->world;
    const RowArrays &a = m.arrays;
    WorldRow row = WorldRow();
    row.arrays = a;
    row.kept = m.kept;
    row.kernel = kernel_of(a, m.batch->sizes, def, (int64_t)w->body_count + w->boundary_count);
    row.search.largest_mu = 0;
    for (int k = 0; k < w->material_count * w->material_count; k++)
        row.search.largest_mu = fmax(row.search.largest_mu, w->pairs[k].mu);
    row.search.least_mu = 0; // not asked for
    row.search.fall = sand_fall_in_a_step(w);
    row.search.single_spheres = true;
    row.source.world = view_of(m);
    row.source.collision = a.collision;
    row.source.candidates = a.candidates;
    row.source.candidate_order = a.order;
    row.source.bodies = a.problem_body;
    row.source.start = a.start;
    row.source.counts = a.counts;
    row.source.boundaries = w->boundary_count;
    row.source.partials = a.partials;
    row.source.step = w->step;
    row.source.recovery = problem_recovery(w);
    return row;
}

static SandMetrics metrics_of(const Counts &c) {
    const SandEvidence &e = c.evidence;
    SandMetrics m = {};
    m.residual = e.residual;
    m.residual_rms = c.contacts > 0 ? e.residual / sqrt((double)c.contacts) : 0;
    m.objective = e.objective;
    m.complementarity = c.complementarity;
    m.relative = e.relative;
    m.r_norm = e.r_norm;
    return m;
}

static void report_row(const Counts &c, SandStepReport *r) {
    *r = SandStepReport();
    r->bodies = c.bodies;
    r->contacts = c.found;
    r->solved = c.contacts;
    r->warm_started = c.warm_started;
    r->penetration_max = c.deepest;
    r->penetration_walls = c.deepest_wall;
    r->status = sand_status_of(c.end, c.evidence);
    r->iterations = c.iterations;
    r->metrics = metrics_of(c);
    r->kinetic = c.kinetic;
    r->potential = c.potential;
    r->lost_count = std::min(c.lost, (int)SAND_MAX_LOST);
    r->lost_more = c.lost - r->lost_count;
    for (int k = 0; k < r->lost_count; k++) r->lost[k] = c.lost_bodies[k];
    std::sort(r->lost, r->lost + r->lost_count, [](const SandLost &p, const SandLost &q) { return p.body < q.body; });
}

// Takes the step of these worlds, of which some may not have had the room for their contacts.
static bool step_rows(SandBatchDevice *b, const std::vector<int> &worlds, const SandSolveDef *const *solves,
                      SandError *error) {
    std::vector<WorldRow> rows;
    size_t width = settings_bytes(b->members[0].arrays), n = (size_t)b->count;
    for (size_t k = 0; k < worlds.size(); k++) {
        SandError why;
        if (!stage(b->members[worlds[k]], &why)) return sand_fail(error, "world %d: %.460s", worlds[k], why.text);
        rows.push_back(row_of(b->members[worlds[k]], solves[worlds[k]]));
    }
    std::vector<const SandSolveDef *> defs;
    for (int k : worlds) defs.push_back(solves[k]);
    const RowArrays &a = b->members[0].arrays;
    cudaError_t code =
        cudaMemcpy2DAsync(a.collision, b->stride, b->settings, width, width, n, cudaMemcpyHostToDevice, b->stream);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(b->rows, rows.data(), rows.size() * sizeof rows[0], cudaMemcpyHostToDevice, b->stream);
    if (code == cudaSuccess) code = rows_step(rows.data(), b->rows, (int)rows.size(), defs.data(), b->tables, b->stream);
    if (code == cudaSuccess)
        code = cudaMemcpy2DAsync(b->counts, sizeof *b->counts, a.counts, b->stride, sizeof *b->counts, n,
                                 cudaMemcpyDeviceToHost, b->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(b->stream);
    b->states_current = false;
    return !failed(code, "a step of a batch", error);
}

static bool check_solves(const int *worlds, int count, const SandSolveDef *const *solves, SandError *error) {
    const SandSolveDef *first = solves[worlds[0]];
    const char *name = sand_solver_table[first->solver].name;
    for (int k = 1; k < count; k++)
        if (solves[worlds[k]]->solver != first->solver || solves[worlds[k]]->iterations != first->iterations)
            return sand_fail(error, "a batch on CUDA has one method and one number of iterations for all worlds");
    if (first->friction != SAND_FRICTION_CONE) return sand_fail(error, "a batch on CUDA has the circular cone alone");
    if (first->islands > 0) return sand_fail(error, "islands are solved on the CPU, and not on CUDA");
    return rows_have(first->solver) || sand_fail(error, "the solver %s does not run in a batch on CUDA", name);
}

bool cuda_batch_step(SandBatchDevice *b, const int *worlds, int count, const SandSolveDef *const *solves,
                     SandStepReport *reports, SandError *error) {
    if (count == 0) return true;
    if (!check_solves(worlds, count, solves, error)) return false;
    std::vector<int> left(worlds, worlds + count);
    while (!left.empty()) {
        if (!step_rows(b, left, solves, error)) return false;
        std::vector<int> again;
        size_t most = 0;
        for (int k : left) {
            Member &m = b->members[k];
            const Counts &c = b->counts[k];
            if (c.retry) {
                again.push_back(k);
                most = std::max(most, (size_t)c.found);
                continue;
            }
            report_row(c, &reports[k]);
            m.kept = {sand_status_keeps(reports[k].status) ? m.host->world.step : 0, c.bodies, c.found};
            m.kept_settings = sand_sleep_settings(&m.host->world);
        }
        if (!again.empty() && !reserve_slices(b, most + most / 4, error)) return false;
        left = again;
    }
    return true;
}
