// The CUDA backend: the functions of the SandBackend table, which is filled at the end of the file. It creates and destroys
// the device, uploads a world or a standalone problem, and enqueues the stages of a step, each in a file of its own that
// cuda/device.h declares.
//
// A step takes no round trip to the host: collide, warm_start, build, solve and integrate enqueue kernels sized by
// capacities, and finish() waits and reads the counters. If a buffer was too small for what the step found, the kernels
// behind that point do nothing, finish() chooses larger capacities and reports `again`, and the caller repeats the step.
#include "cuda/backend.h"

#include "cuda/device.h"
#include "sim/core/array.h"
#include "sim/geometry/mesh.h"
#include "sim/geometry/revolution.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>

extern "C" int sand_cuda_devices(SandError *why) {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count); // leaves the count as it was when there is no driver
    if (error != cudaSuccess) {
        cudaGetLastError();
        return sand_fail(why, "no CUDA device: %s", cudaGetErrorString(error)), 0;
    }
    int cooperative = 0;
    if (count > 0) cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
    if (!cooperative) return sand_fail(why, "no CUDA device that can launch a cooperative kernel"), 0;
    return count;
}

// --- the device -------------------------------------------------------------------------------------------

static void destroy(SandDevice *m);

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    (void)def; // threads and precision are the CPU's
    if (sand_cuda_devices(error) == 0) return NULL;
    SandDevice *m = new SandDevice();
    m->code = cudaSuccess;
    cudaDeviceProp about;
    device_check(m, cudaGetDeviceProperties(&about, 0), "querying the device");
    if (m->code == cudaSuccess) {
        m->processors = about.multiProcessorCount;
        snprintf(m->about, sizeof m->about, "%.100s, %.0f GB", about.name, 1e-9 * (double)about.totalGlobalMem);
    }
    device_check(m, cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking), "making a stream");
    for (int k = 0; k < SIDE_STREAMS; k++) {
        device_check(m, cudaStreamCreateWithFlags(&m->side_stream[k], cudaStreamNonBlocking), "making a stream");
        device_check(m, cudaEventCreateWithFlags(&m->joined[k], cudaEventDisableTiming), "making an event");
    }
    device_check(m, cudaEventCreateWithFlags(&m->forked, cudaEventDisableTiming), "making an event");
    for (int k = 0; k < MARK_COUNT; k++) device_check(m, cudaEventCreate(&m->mark[k]), "making an event");
    device_check(m, cudaMalloc(&m->counts, sizeof *m->counts), "the counts");
    device_check(m, cudaMallocHost(&m->host_counts, sizeof *m->host_counts), "the counts");
    if (m->code == cudaSuccess) device_check(m, cudaMemset(m->counts, 0, sizeof *m->counts), "the counts");
    if (m->code != cudaSuccess) {
        device_fail(m, error);
        destroy(m);
        return NULL;
    }
    return m;
}

static void free_geometry(SandDevice *m) {
    for (void *p : m->geometry) cudaFree(p);
    m->geometry.clear();
}

static void destroy(SandDevice *m) {
    if (!m) return;
    cudaStreamSynchronize(m->stream);
    free_geometry(m);
    sand_collision_free(&m->host_collision);
#define BUFFER(type, name) release(m, m->name);
#define SCRATCH(name) release(m, m->name);
#include "cuda/device_buffers.inl"
    cudaFree(m->counts);
    cudaFreeHost(m->host_counts);
    cudaFreeHost(m->boundary_staging);
    for (int k = 0; k < MARK_COUNT; k++)
        if (m->mark[k]) cudaEventDestroy(m->mark[k]);
    for (int k = 0; k < SIDE_STREAMS; k++) {
        if (m->joined[k]) cudaEventDestroy(m->joined[k]);
        if (m->side_stream[k]) cudaStreamDestroy(m->side_stream[k]);
    }
    if (m->forked) cudaEventDestroy(m->forked);
    if (m->stream) cudaStreamDestroy(m->stream);
    delete m;
}

static const char *describe(const SandDevice *m) { return m->about; }

// --- the world --------------------------------------------------------------------------------------------

// Copies an array that belongs to a shape or a boundary to the device.
template <class T> static T *geometry_copy(SandDevice *m, const T *host, size_t count) {
    void *p = NULL;
    if (!host) return NULL;
    if (!device_check(m, cudaMalloc(&p, (count + 1) * sizeof(T)), "the scene's shapes")) return NULL;
    m->geometry.push_back(p);
    device_check(m, cudaMemcpy(p, host, count * sizeof(T), cudaMemcpyHostToDevice), "copying to the GPU");
    return (T *)p;
}

static SandTriangleMesh *mesh_copy(SandDevice *m, const SandTriangleMesh *host) {
    if (!host) return NULL;
    SandTriangleMesh mesh = *host;
    size_t vertices = (size_t)mesh.vertex_count, faces = (size_t)mesh.face_count, edges = (size_t)mesh.edge_count;
    size_t cells = (size_t)mesh.dim[0] * mesh.dim[1] * mesh.dim[2];
    mesh.vertices = geometry_copy(m, host->vertices, vertices);
    mesh.faces = geometry_copy(m, host->faces, faces);
    mesh.normals = geometry_copy(m, host->normals, faces);
    mesh.planes = geometry_copy(m, host->planes, faces);
    mesh.face_edges = geometry_copy(m, host->face_edges, faces);
    mesh.edges = geometry_copy(m, host->edges, edges);
    mesh.vertex_normals = geometry_copy(m, host->vertex_normals, vertices);
    mesh.vertex_owner = geometry_copy(m, host->vertex_owner, vertices);
    mesh.vertex_rim = geometry_copy(m, host->vertex_rim, vertices);
    mesh.star_start = geometry_copy(m, host->star_start, vertices + 1);
    mesh.star = geometry_copy(m, host->star, (size_t)host->star_start[vertices]);
    mesh.cell_start = geometry_copy(m, host->cell_start, cells + 1);
    mesh.cell_faces = geometry_copy(m, host->cell_faces, (size_t)host->cell_start[cells]);
    return geometry_copy(m, &mesh, 1);
}

// Uploads shapes and friction; the boundaries are kept on the host, with their geometry on the device.
static bool upload_shapes(SandDevice *m, const SandWorld *w) {
    free_geometry(m);
    std::vector<SandShape> shapes(w->shapes, w->shapes + w->shape_count);
    for (SandShape &s : shapes) s.spheres = geometry_copy(m, s.spheres, (size_t)s.sphere_count);
    m->host_boundaries.assign(w->boundaries, w->boundaries + w->boundary_count);
    for (SandBoundary &b : m->host_boundaries) {
        b.profile = geometry_copy(m, b.profile, (size_t)b.profile_count);
        b.segments = geometry_copy(m, b.segments, (size_t)b.profile_count);
        b.bands = geometry_copy(m, b.bands, 1);
        b.mesh = mesh_copy(m, b.mesh);
    }
    size_t materials = (size_t)w->material_count;
    return upload(m, m->shapes, shapes.data(), shapes.size()) &&
           upload(m, m->friction, w->friction, materials * materials) && device_wait(m);
}

// Derives what the stages need to know of the bodies: numbers of spheres, boxes and cylinders, extremes of friction.
static void summarize_bodies(SandDevice *m, const SandWorld *w) {
    int64_t spheres = 0;
    m->single_spheres = m->all_spheres = true;
    m->convex_bodies.clear();
    m->convex_enter.clear();
    m->convex_gone.clear();
    for (int i = 0; i < w->body_count; i++) {
        const SandShape *shape = &w->shapes[w->shape[i]];
        spheres += shape->sphere_count;
        if (shape->sphere_count > 1) m->single_spheres = false;
        if (shape->sphere_count == 0) {
            m->convex_bodies.push_back(i);
            m->convex_enter.push_back(w->enter[i]);
            m->convex_gone.push_back(w->gone[i]);
        }
    }
    for (int k = 0; k < w->shape_count; k++) m->all_spheres = m->all_spheres && w->shapes[k].kind == SAND_SPHERE;
    m->sphere_total = (int)spheres;
    m->least_mu = w->material_count ? INFINITY : 0;
    m->largest_mu = 0;
    for (int k = 0; k < w->material_count * w->material_count; k++) {
        m->least_mu = std::min(m->least_mu, w->friction[k]);
        m->largest_mu = std::max(m->largest_mu, w->friction[k]);
    }
}

// Uploads impulses: the device stores them in float, the host in double.
static bool upload_impulses(SandDevice *m, Array<Impulse> &array, const SandVec3 *host, size_t count) {
    std::vector<Impulse> rounded(count);
    std::transform(host, host + count, rounded.begin(), impulse_make);
    return upload(m, array, rounded.data(), count) && device_wait(m);
}

static bool upload_warm_start(SandDevice *m, const SandWarmStart *cache) {
    m->kept_step = cache ? cache->step : 0;
    if (m->kept_step == 0) return true;
    m->kept_world = cache->world_count;
    m->kept_bodies = cache->body_count;
    m->kept_contacts = cache->first[cache->body_count];
    return upload(m, m->kept_solver_index, cache->solver_index, (size_t)cache->world_count) &&
           upload(m, m->kept_first, cache->first, (size_t)cache->body_count + 1) &&
           upload(m, m->kept_key, cache->key, (size_t)m->kept_contacts) &&
           upload_impulses(m, m->kept_impulse, cache->impulse, (size_t)m->kept_contacts);
}

// Uploads where the instances of each body begin in a picture.
static bool upload_instance_layout(SandDevice *m, const SandWorld *w) {
    std::vector<int> first((size_t)w->body_count + 1);
    m->instance_total = sand_instance_total(sand_instance_places(w, first.data()));
    return upload(m, m->instance_first, first.data(), first.size()) && device_wait(m);
}

static bool upload_world(SandDevice *m, SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    size_t n = (size_t)w->body_count;
    bool ok = upload(m, m->position, w->position, n) && upload(m, m->rotation, w->rotation, n) &&
              upload(m, m->velocity, w->velocity, n) && upload(m, m->spin, w->spin, n) && upload(m, m->mass, w->mass, n) &&
              upload(m, m->inertia, w->inertia, n) && upload(m, m->scale, w->scale, n) && upload(m, m->shape, w->shape, n) &&
              upload(m, m->material, w->material, n) && upload(m, m->enter, w->enter, n) && upload(m, m->gone, w->gone, n) &&
              upload_shapes(m, w) && upload_instance_layout(m, w) && upload_warm_start(m, &host->warm_start) &&
              device_wait(m);
    if (!ok) return device_fail(m, error);
    summarize_bodies(m, w);
    m->standalone = m->solved = m->integrated = false;
    m->check_impacts = true; // until a step shows that there is only one level
    int64_t likely = (int64_t)m->sphere_total * 5 + 4096;
    m->contact_capacity =
        std::max(m->contact_capacity, std::max(likely, (int64_t)m->kept_contacts) / SAND_LANES * SAND_LANES + SAND_LANES);
    return true;
}

// The world as kernels see it: settings of the host, arrays of the device.
static SandWorld device_view(const SandDevice *m, const SandWorld *w) {
    SandWorld d = *w;
    d.position = m->position.data;
    d.rotation = m->rotation.data;
    d.velocity = m->velocity.data;
    d.spin = m->spin.data;
    d.mass = m->mass.data;
    d.inertia = m->inertia.data;
    d.scale = m->scale.data;
    d.shape = m->shape.data;
    d.material = m->material.data;
    d.enter = m->enter.data;
    d.gone = m->gone.data;
    d.shapes = m->shapes.data;
    d.friction = m->friction.data;
    d.boundaries = NULL;
    d.materials = NULL;
    return d;
}

// Places the boundaries for the coming step and uploads them.
static bool upload_boundaries(SandDevice *m, const SandWorld *w, SandError *error) {
    if (!sand_collision_place_boundaries(&m->host_collision, w, error)) return false;
    size_t n = (size_t)w->boundary_count;
    for (size_t b = 0; b < n; b++) {
        m->host_boundaries[b].pose = w->boundaries[b].pose;
        m->host_boundaries[b].motion = w->boundaries[b].motion;
        m->host_boundaries[b].moves = w->boundaries[b].moves;
    }
    // All arrays one after the other in pinned memory, then one copy.
    size_t at[6] = {0, n * sizeof(SandBoundary)};
    at[2] = at[1] + n * sizeof(SandPose);
    at[3] = at[2] + n * sizeof(SandGuard);
    at[4] = at[3] + n * sizeof(SandVec3);
    at[5] = at[4] + n * sizeof(SandVec3);
    if (at[5] > m->boundary_staging_capacity) {
        cudaFreeHost(m->boundary_staging);
        m->boundary_staging = NULL;
        if (!device_check(m, cudaMallocHost(&m->boundary_staging, at[5]), "the boundaries")) return device_fail(m, error);
        m->boundary_staging_capacity = at[5];
    }
    memcpy(m->boundary_staging + at[0], m->host_boundaries.data(), n * sizeof(SandBoundary));
    memcpy(m->boundary_staging + at[1], m->host_collision.pose, n * sizeof(SandPose));
    memcpy(m->boundary_staging + at[2], m->host_collision.guard, n * sizeof(SandGuard));
    memcpy(m->boundary_staging + at[3], m->host_collision.velocity, n * sizeof(SandVec3));
    memcpy(m->boundary_staging + at[4], m->host_collision.spin, n * sizeof(SandVec3));
    if (!upload(m, m->boundary_data, m->boundary_staging, at[5])) return device_fail(m, error);
    m->world.boundaries = (SandBoundary *)(m->boundary_data.data + at[0]);
    m->collision.pose = (SandPose *)(m->boundary_data.data + at[1]);
    m->collision.guard = (SandGuard *)(m->boundary_data.data + at[2]);
    m->collision.velocity = (SandVec3 *)(m->boundary_data.data + at[3]);
    m->collision.spin = (SandVec3 *)(m->boundary_data.data + at[4]);
    return true;
}

// --- the step ---------------------------------------------------------------------------------------------

// Marks the end of a stage on the stream.
static bool mark(SandDevice *m, int k) { return device_check(m, cudaEventRecord(m->mark[k], m->stream), "a step"); }

static bool collide(SandDevice *m, const SandWorld *w, SandError *error) {
    mark(m, MARK_BEGIN);
    m->world = device_view(m, w);
    if (!upload_boundaries(m, w, error)) return false;
    m->search.least_mu = m->least_mu;
    m->search.largest_mu = m->largest_mu;
    m->search.single_spheres = m->single_spheres;
    m->search.fall = w->step * v3_length(w->gravity);
    m->search.convex_body = -1;
    for (size_t k = 0; k < m->convex_bodies.size(); k++) {
        if (m->convex_gone[k] || m->convex_enter[k] > w->time + 1e-9 * w->step) continue;
        if (m->search.convex_body >= 0)
            return sand_fail(error, "bodies %d and %d are boxes or cylinders, which may not meet", m->search.convex_body,
                             m->convex_bodies[k]);
        m->search.convex_body = m->convex_bodies[k];
    }
    m->solved = m->integrated = false;
    return (collide_enqueue(m) && mark(m, MARK_COLLIDED)) || device_fail(m, error);
}

static bool warm_start(SandDevice *m, SandError *error) {
    return (warm_start_enqueue(m) && mark(m, MARK_WARM_STARTED)) || device_fail(m, error);
}

// Reserves the operator and the vectors of the kernel, for `bodies` with boundaries and the capacity of contacts, and binds
// m->arrays to them.
static bool reserve_kernel(SandDevice *m, const SandSolveDef *def, int64_t bodies) {
    const SolverKernel *kernel = m->kernel;
    KernelArrays &t = m->arrays;
    size_t n = (size_t)(m->contact_capacity + SAND_LANES - 1) / SAND_LANES * SAND_LANES, b = (size_t)bodies + 2;
    size_t vectors = (size_t)sand_solver_table[def->solver].vectors;
    size_t for_bounds = (size_t)sand_solver_table[sand_solver_default].vectors; // of the solver that finds the bounds
    if (kernel->local && vectors < for_bounds) vectors = for_bounds;
    bool ok = (!kernel->local || (reserve(m, m->bound, n) && reserve(m, m->de_saxce, n))) && reserve(m, m->a, n) &&
              reserve(m, m->b, n) && reserve(m, m->constant, n * kernel->constant_count) && reserve(m, m->impulse, 4 * n) &&
              reserve(m, m->record, 4 * n) &&
              (kernel->radial || (reserve(m, m->arm_a_record, 4 * n) && reserve(m, m->arm_b_record, 4 * n))) &&
              reserve(m, m->vectors, n * kernel->row_size * (vectors + 1)) && reserve(m, m->kernel_mass, b) &&
              reserve(m, m->kernel_inertia, b * kernel->inertia_size) && reserve(m, m->kernel_free, 8 * b) &&
              reserve(m, m->kernel_body, 8 * b) && reserve(m, m->kernel_scratch, 8 * b) &&
              reserve(m, m->kernel_measured, 8 * b) && reserve(m, m->still, 8) && reserve(m, m->bodies, b) &&
              reserve(m, m->partials, PACK_BLOCKS) && reserve(m, m->launch_shared, kernel->launch_bytes) &&
              reserve(m, m->solve_state, kernel->state_bytes);
    t.a = m->a.data;
    t.b = m->b.data;
    t.constant = m->constant.data;
    t.impulse = m->impulse.data;
    t.record = m->record.data;
    t.arm_a_record = m->arm_a_record.data;
    t.arm_b_record = m->arm_b_record.data;
    t.vectors = m->vectors.data;
    t.reference = m->vectors.data + n * kernel->row_size * vectors;
    t.mass = m->kernel_mass.data;
    t.inertia = m->kernel_inertia.data;
    t.free = m->kernel_free.data;
    t.body = m->kernel_body.data;
    t.scratch = m->kernel_scratch.data;
    t.measured = m->kernel_measured.data;
    t.still = m->still.data;
    t.launch_shared = m->launch_shared.data;
    t.solve_state = m->solve_state.data;
    t.bound = m->bound.data;
    t.de_saxce = m->de_saxce.data;
    t.capacity = (int64_t)n;
    t.bodies = bodies;
    return ok;
}

// Chooses the kernel: a problem without friction takes one row a contact, the circular cone three in the world frame, any
// other friction model three in the contact frame.
static const SolverKernel *kernel_for(const SandSolveDef *def, bool frictional, bool radial) {
    if (def->friction == SAND_FRICTIONLESS || !frictional) return radial ? &kernel_normal_radial : &kernel_normal_full;
    if (def->friction == SAND_CONE) return radial ? &kernel_world_radial : &kernel_world_full;
    return radial ? &kernel_local_radial : &kernel_local_full;
}

// Packs bodies and contacts for the kernel, with their adjacency on a side stream.
static bool pack_problem(SandDevice *m, const SandSolveDef *def, int64_t bodies, SandError *error) {
    if (m->arrays.capacity > INT32_MAX / MAX_CONTACT_REALS)
        return sand_fail(error, "%lld contacts are more than CUDA can number", (long long)m->arrays.capacity);
    m->pack_source.partials = m->partials.data;
    m->pack_source.bodies = m->bodies.data;
    m->pack_source.counts = m->counts;
    if (!adjacency_begin(m)) return device_fail(m, error);
    m->kernel->pack(m->pack_source, m->arrays, bodies + 1, m->stream);
    bool ok = device_check(m, cudaGetLastError(), "packing the problem") && adjacency_finish(m, def) && mark(m, MARK_BUILT);
    return ok || device_fail(m, error);
}

static bool can_solve(const SandSolveDef *def, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (!solver->on_cuda) return sand_fail(error, "solver %s does not run on CUDA", solver->name);
    return sand_solve_check(def, error);
}

static bool build(SandDevice *m, const SandSolveDef *def, SandError *error) {
    const SandWorld *w = &m->world;
    if (!can_solve(def, error)) return false;
    bool radial = m->all_spheres;
    for (int b = 0; b < w->boundary_count; b++)
        radial = radial && v3_dot(m->host_collision.spin[b], m->host_collision.spin[b]) == 0;
    m->kernel = kernel_for(def, m->largest_mu > 0, radial);
    int64_t bodies = (int64_t)w->body_count + w->boundary_count;
    if (!reserve_kernel(m, def, bodies)) return device_fail(m, error);
    m->pack_source = PackSource();
    m->pack_source.world = *w;
    m->pack_source.collision = m->device_collision.data;
    m->pack_source.candidates = m->candidates.data;
    m->pack_source.candidate_order = m->candidate_order.data;
    m->pack_source.start = m->start.data;
    m->pack_source.boundaries = w->boundary_count;
    return pack_problem(m, def, bodies, error);
}

static __global__ void begin_problem(Counts *counts, int bodies, int contacts) {
    memset(counts, 0, sizeof *counts);
    counts->bodies = bodies;
    counts->contacts = contacts;
}

static bool upload_problem(SandDevice *m, const SandProblem *p, const SandSolveDef *def, SandError *error) {
    if (!can_solve(def, error)) return false;
    m->standalone = true;
    m->solved = m->integrated = false;
    m->standalone_bodies = p->dynamic_count;
    m->contact_capacity = std::max(m->contact_capacity, (int64_t)p->contact_count / SAND_LANES * SAND_LANES + SAND_LANES);
    size_t bodies = (size_t)p->body_count, contacts = (size_t)m->contact_capacity + 2;
    bool frictional = false;
    for (int i = 0; i < p->contact_count; i++) frictional = frictional || p->contacts[i].mu > 0;
    m->kernel = kernel_for(def, frictional, p->radial);
    size_t most = std::max(contacts, bodies + 4);
    mark(m, MARK_BEGIN);
    bool ok = reserve_kernel(m, def, (int64_t)bodies) && upload(m, m->bodies, p->bodies, bodies) &&
              upload(m, m->contacts, p->contacts, (size_t)p->contact_count) &&
              upload_impulses(m, m->start, p->start, (size_t)p->contact_count) && reserve(m, m->keys, contacts) &&
              reserve(m, m->first, bodies + 3) && reserve_scratch(m, m->scratch, (int64_t)most);
    if (!ok) return device_fail(m, error);
    begin_problem<<<1, 1, 0, m->stream>>>(m->counts, p->dynamic_count, p->contact_count);
    mark(m, MARK_COLLIDED);
    mark(m, MARK_WARM_STARTED);
    m->pack_source = PackSource();
    m->pack_source.contacts = m->contacts.data;
    m->pack_source.start = m->start.data;
    m->pack_source.boundaries = p->body_count - p->dynamic_count;
    m->world.step = p->step;
    m->world.recovery = p->recovery;
    return pack_problem(m, def, (int64_t)bodies, error);
}

enum { SLICE_MS = 5 }; // of a launch: the renderer gets the GPU in between, and a solve can be stopped

static bool solve(SandDevice *m, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                  SandError *error) {
    if (want_curve && !reserve(m, m->curve, (size_t)def->iterations + 1)) return device_fail(m, error);
    m->arrays.curve = m->curve.data;
    // As many iterations a launch as fit into SLICE_MS, by the duration of an iteration in the last solve.
    int slice = m->iteration_ms > 0 ? (int)(SLICE_MS / m->iteration_ms) : 64;
    slice = slice < 1 ? 1 : slice > def->iterations ? def->iterations : slice;
    cudaError_t code = m->kernel->solve(m->arrays, *def, m->world.step, m->world.recovery, m->counts, want_metrics,
                                        want_curve, slice < 1 ? 1 : slice, stop, m->stream);
    m->solved = true;
    return (device_check(m, code, "solving") && mark(m, MARK_SOLVED)) || device_fail(m, error);
}

static bool integrate(SandDevice *m, SandError *error) {
    m->integrated = true;
    return (integrate_enqueue(m) && mark(m, MARK_INTEGRATED)) || device_fail(m, error);
}

// Adapts the capacities to this step's counts, and says whether the step must be repeated.
static void plan_next_step(SandDevice *m, const Counts *c, SandStepReport *report) {
    m->check_impacts = c->levels > 1;
    // Not much above the number of contacts: kernels are launched for the capacity, and sorts work on all of it. The buffers
    // grow by more, and do not shrink.
    if (c->contacts > 0.95 * (double)m->contact_capacity || c->contacts < 0.85 * (double)m->contact_capacity - 10000)
        m->contact_capacity = ((int64_t)(1.08 * c->contacts + 1000) / SAND_LANES + 1) * SAND_LANES;
    report->again = c->retry != 0;
}

// Milliseconds between two marks.
static double elapsed(SandDevice *m, int from, int to) {
    float ms = 0;
    cudaEventElapsedTime(&ms, m->mark[from], m->mark[to]);
    return ms;
}

// Names the lost bodies in the report, sorted.
static void report_lost(SandDevice *m, const Counts *c, SandStepReport *r) {
    r->lost_count = std::min(c->lost, (int)SAND_MAX_LOST);
    r->lost_more = c->lost - r->lost_count;
    for (int k = 0; k < r->lost_count; k++) {
        r->lost[k] = c->lost_bodies[k];
        for (size_t s = 0; s < m->convex_bodies.size(); s++)
            if (m->convex_bodies[s] == r->lost[k].body) m->convex_gone[s] = 1;
    }
    std::sort(r->lost, r->lost + r->lost_count, [](const SandLost &a, const SandLost &b) { return a.body < b.body; });
}

// Keeps solver indices, rows and keys of this step: the next one looks the kept impulses up by them. Impulses of a solve
// that failed are not worth starting from.
static void keep_for_warm_start(SandDevice *m, const Counts *c, bool keep) {
    m->kept_step = keep ? m->world.step : 0;
    m->kept_world = m->world.body_count;
    m->kept_bodies = c->bodies;
    m->kept_contacts = c->contacts;
    std::swap(m->kept_solver_index, m->solver_index);
    std::swap(m->kept_first, m->first);
    std::swap(m->kept_key, m->key);
}

// Waits for the step and reports it.
static bool finish(SandDevice *m, SandStepReport *r, SandError *error) {
    memset(r, 0, sizeof *r);
    const Counts *c = m->host_counts;
    if (!download(m, m->host_counts, m->counts, 1) || !device_wait(m)) return device_fail(m, error);
    if (c->mesh_overflow[2])
        return sand_fail(error, "body %d touches boundary %s in %d places at once; the mesh is too fine for it",
                         c->mesh_overflow[0], m->host_boundaries[(size_t)c->mesh_overflow[1]].name, c->mesh_overflow[2]);
    if (c->contacts < 0) return sand_fail(error, "there are more contacts than CUDA can number");
    if (!m->standalone) plan_next_step(m, c, r);
    r->growths = m->growths;
    m->growths = 0;
    if (r->again) return true;
    r->bodies = c->bodies;
    r->contacts = c->contacts;
    r->warm_started = c->warm_started;
    r->penetration_walls = c->deepest_wall;
    r->penetration_max = c->deepest;
    r->status = (SandStatus)c->status;
    r->iterations = c->iterations;
    r->metrics = metrics_of(c);
    r->held = m->bytes;
    r->kinetic = c->kinetic;
    r->potential = c->potential;
    if (!m->solved) return true;

    r->collide = elapsed(m, MARK_BEGIN, MARK_COLLIDED);
    r->warm_start = elapsed(m, MARK_COLLIDED, MARK_WARM_STARTED);
    r->build = elapsed(m, MARK_WARM_STARTED, MARK_BUILT);
    r->solve = elapsed(m, MARK_BUILT, MARK_SOLVED);
    if (c->iterations > 0) m->iteration_ms = r->solve / c->iterations;
    if (!m->integrated) return true;
    r->integrate = elapsed(m, MARK_SOLVED, MARK_INTEGRATED);
    report_lost(m, c, r);
    keep_for_warm_start(m, c, r->status == SAND_SOLVED || r->status == SAND_BUDGET);
    return true;
}

// --- rendering --------------------------------------------------------------------------------------------

static bool instances(SandDevice *m, const SandWorld *w, const SandInstanceDef *def, SandSlot *slot, SandError *error) {
    SandWorld world = device_view(m, w);
    return instances_enqueue(m, &world, def, slot, error);
}

extern "C" const SandBackend *sand_cuda_backend(void) {
    static const SandBackend backend = {
        .name = "cuda",
        .create = create,
        .destroy = destroy,
        .describe = describe,
        .upload = upload_world,
        .upload_problem = upload_problem,
        .collide = collide,
        .warm_start = warm_start,
        .build = build,
        .solve = solve,
        .integrate = integrate,
        .finish = finish,
        .slot_create = slot_create,
        .slot_free = slot_free,
        .instances = instances,
        .slot_read = slot_read,
        .share = share_buffer,
        .share_free = share_free,
        .share_copy = share_copy,
        .read_bodies = read_bodies,
        .read_warm_start = read_warm_start,
        .read_contacts = read_contacts,
        .read_start = read_start,
        .read_curve = read_curve,
        .read_problem_bodies = read_problem_bodies,
        .read_solution = read_solution,
    };
    return &backend;
}
