// SPDX-License-Identifier: MIT
// The CUDA backend: the functions of the SandBackend table, which is filled at the end of the file. It creates and destroys
// the device, uploads a world or a standalone problem, and enqueues the stages of a step, each in a file of its own that
// cuda/device.h declares.
//
// Alone, a step takes no round trip to the host: collide, warm_start, build, solve and integrate enqueue kernels sized by
// capacities, and finish() waits and reads the counters. If a buffer was too small for what the step found, or
// impacts were not looked for, the kernels behind that point do nothing, finish() chooses larger capacities and reports
// `again`, and the caller repeats the step.
#include "cuda/backend.h"
#include "cuda/batch/batch.h"
#include "cuda/hooks.h"
#include "cuda/ranks/kept_contact.h"

#include "sim/core/array.h"
#include "sim/geometry/convex.inl"
#include "sim/geometry/mesh.h"
#include "sim/geometry/revolution.h"
#include "sim/step/build_problem.inl"
#include "sim/step/energy_bound.h"
#include "sim/step/sleep.h"
#include "sim/step/second_look.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>

// --- the device -------------------------------------------------------------------------------------------

static void destroy(SandDevice *device);

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    if (sand_cuda_devices(error) == 0) return NULL;
    SandDevice *device = new SandDevice();
    device->code = cudaSuccess;
    device->hooks = &hooks_alone;
    cudaDeviceProp about;
    int which = 0;
    device_check(device, cudaGetDevice(&which), "querying the device");
    device_check(device, cudaGetDeviceProperties(&about, which), "querying the device");
    if (device->code == cudaSuccess) {
        device->processors = about.multiProcessorCount;
        device->memory = def->memory ? def->memory : about.totalGlobalMem;
        snprintf(device->about, sizeof device->about, "%.100s, %.0f GB", about.name, 1e-9 * (double)about.totalGlobalMem);
    }
    device_check(device, cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking), "making a stream");
    for (int k = 0; k < SIDE_STREAMS; k++) {
        device_check(device, cudaStreamCreateWithFlags(&device->side_stream[k], cudaStreamNonBlocking), "making a stream");
        device_check(device, cudaEventCreateWithFlags(&device->joined[k], cudaEventDisableTiming), "making an event");
    }
    device_check(device, cudaEventCreateWithFlags(&device->forked, cudaEventDisableTiming), "making an event");
    for (int k = 0; k < MARK_COUNT; k++) device_check(device, cudaEventCreate(&device->mark[k]), "making an event");
    device_check(device, cudaMalloc(&device->counts, sizeof *device->counts), "the counts");
    device_check(device, cudaMallocHost(&device->host_counts, sizeof *device->host_counts), "the counts");
    if (device->code == cudaSuccess)
        device_check(device, cudaMemset(device->counts, 0, sizeof *device->counts), "the counts");
    if (device->code != cudaSuccess) {
        device_fail(device, error);
        destroy(device);
        return NULL;
    }
    return device;
}

static void free_geometry(SandDevice *device) {
    for (void *p : device->geometry) cudaFree(p);
    device->geometry.clear();
}

static void destroy(SandDevice *device) {
    if (!device) return;
    cudaStreamSynchronize(device->stream);
    free_geometry(device);
    device->hooks->free(device);
    sand_collision_free(&device->host_collision);
#define BUFFER(type, name) release(device, device->name);
#define SHARED(type, name)
#define SCRATCH(name) release(device, device->name);
#include "cuda/device_buffers.inl"
    cudaFree(device->counts);
    cudaFreeHost(device->host_counts);
    cudaFreeHost(device->settings_staging);
    rank_free(device);
    for (int k = 0; k < MARK_COUNT; k++)
        if (device->mark[k]) cudaEventDestroy(device->mark[k]);
    for (int k = 0; k < SIDE_STREAMS; k++) {
        if (device->joined[k]) cudaEventDestroy(device->joined[k]);
        if (device->side_stream[k]) cudaStreamDestroy(device->side_stream[k]);
    }
    if (device->forked) cudaEventDestroy(device->forked);
    if (device->stream) cudaStreamDestroy(device->stream);
    delete device;
}

static const char *describe(const SandDevice *device) { return device->about; }

// --- the world --------------------------------------------------------------------------------------------

// Copies an array that belongs to a shape or a boundary to the device.
template <class T> static T *geometry_copy(SandDevice *device, const T *host, size_t count) {
    void *p = NULL;
    if (!host) return NULL;
    if (!device_check(device, cudaMalloc(&p, (count + 1) * sizeof(T)), "the scene's shapes")) return NULL;
    device->geometry.push_back(p);
    device_check(device, cudaMemcpy(p, host, count * sizeof(T), cudaMemcpyHostToDevice), "copying to the GPU");
    return (T *)p;
}

static SandTriangleMesh *mesh_copy(SandDevice *device, const SandTriangleMesh *host) {
    if (!host) return NULL;
    SandTriangleMesh mesh = *host;
    size_t vertices = (size_t)mesh.vertex_count, faces = (size_t)mesh.face_count, edges = (size_t)mesh.edge_count;
    size_t cells = (size_t)mesh.dim[0] * mesh.dim[1] * mesh.dim[2];
    mesh.vertices = geometry_copy(device, host->vertices, vertices);
    mesh.faces = geometry_copy(device, host->faces, faces);
    mesh.normals = geometry_copy(device, host->normals, faces);
    mesh.planes = geometry_copy(device, host->planes, faces);
    mesh.face_edges = geometry_copy(device, host->face_edges, faces);
    mesh.edges = geometry_copy(device, host->edges, edges);
    mesh.vertex_normals = geometry_copy(device, host->vertex_normals, vertices);
    mesh.vertex_owner = geometry_copy(device, host->vertex_owner, vertices);
    mesh.vertex_rim = geometry_copy(device, host->vertex_rim, vertices);
    mesh.star_start = geometry_copy(device, host->star_start, vertices + 1);
    mesh.star = geometry_copy(device, host->star, (size_t)host->star_start[vertices]);
    mesh.cell_start = geometry_copy(device, host->cell_start, cells + 1);
    mesh.cell_faces = geometry_copy(device, host->cell_faces, (size_t)host->cell_start[cells]);
    return geometry_copy(device, &mesh, 1);
}

// The device copy of the pieces of a compound.
static SandPiece *pieces_copy(SandDevice *device, const SandShape *shape) {
    std::vector<SandPiece> pieces(shape->pieces, shape->pieces + shape->piece_count);
    for (SandPiece &p : pieces) p.shape.core = geometry_copy(device, p.shape.core, 1);
    return geometry_copy(device, pieces.data(), pieces.size());
}

// Uploads shapes and the laws of pairs of materials; the boundaries are kept on the host, with their geometry on the device.
static bool upload_shapes(SandDevice *device, const SandWorld *w) {
    free_geometry(device);
    std::vector<SandShape> shapes(w->shapes, w->shapes + w->shape_count);
    for (SandShape &s : shapes) {
        s.spheres = geometry_copy(device, s.spheres, (size_t)s.sphere_count);
        s.core = geometry_copy(device, s.core, 1);
        s.pieces = pieces_copy(device, &s);
    }
    device->host_boundaries.assign(w->boundaries, w->boundaries + w->boundary_count);
    for (SandBoundary &b : device->host_boundaries) {
        b.profile = geometry_copy(device, b.profile, (size_t)b.profile_count);
        b.segments = geometry_copy(device, b.segments, (size_t)b.profile_count);
        b.bands = geometry_copy(device, b.bands, 1);
        b.core = geometry_copy(device, b.core, 1);
        b.mesh = mesh_copy(device, b.mesh);
    }
    size_t materials = (size_t)w->material_count;
    return upload(device, device->shapes, shapes.data(), shapes.size()) &&
           upload(device, device->laws, w->pairs, materials * materials) && device_wait(device);
}

// Derives what the stages need to know of the bodies: numbers of spheres and convex bodies, extremes of friction.
static void summarize_bodies(SandDevice *device, const SandWorld *w) {
    int64_t spheres = 0, convex = 0;
    device->single_spheres = device->all_spheres = true;
    for (int i = 0; i < w->body_count; i++) {
        const SandShape *shape = &w->shapes[w->shape[i]];
        spheres += shape->sphere_count;
        if (shape->sphere_count > 1) device->single_spheres = false;
        if (shape->sphere_count == 0) convex += shape_proxies(shape);
    }
    for (int k = 0; k < w->shape_count; k++) device->all_spheres = device->all_spheres && w->shapes[k].kind == SAND_SPHERE;
    device->sphere_total = (int)spheres;
    device->convex_total = (int)convex;
    device->bounces = sand_world_bounces(w);
    device->coheres = sand_world_coheres(w);
    device->rolls = sand_world_rolls(w);
    device->least_mu = w->material_count ? INFINITY : 0;
    device->largest_mu = 0;
    for (int k = 0; k < w->material_count * w->material_count; k++) {
        device->least_mu = std::min(device->least_mu, w->pairs[k].mu);
        device->largest_mu = std::max(device->largest_mu, w->pairs[k].mu);
    }
}

// Uploads where the instances of each body begin in a picture, before the first of a world.
static bool upload_instance_layout(SandDevice *device, const SandWorld *w) {
    std::vector<int> first((size_t)w->body_count + 1), hulls((size_t)w->shape_count + 1);
    device->instance_total = sand_instance_total(sand_instance_first(w, first.data(), hulls.data()));
    return upload(device, device->instance_first, first.data(), first.size()) && device_wait(device);
}

enum { LARGE_SPHERES = 16000000, LARGE_CONTACTS = 80000000 }; // above these numbers memory is scarce

static bool upload_world(SandDevice *device, SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    summarize_bodies(device, w);
    if (!device->hooks->check(device, w, error) || !device->hooks->upload(device, host, error)) return false;
    if (!flow_upload(device, w) || !upload_shapes(device, w) || !device_wait(device)) return device_fail(device, error);
    device->standalone = device->solved = device->integrated = false;
    device->looks = device->missing_count = 0;
    device->instances_placed = false;
    device->check_impacts = true;                                // until a step shows that there is only one level
    int64_t each = device->sphere_total > LARGE_SPHERES ? 1 : 5; // five where they lie together
    int64_t likely = (int64_t)device->sphere_total * each + (int64_t)device->convex_total * 24 + joint_block_total(w) + 4096;
    device->near_capacity = std::max(device->near_capacity, (int64_t)device->convex_total * 16 + 1024);
    device->contact_capacity = std::max(
        device->contact_capacity, std::max(likely, (int64_t)device->kept_contacts) / SAND_LANES * SAND_LANES + SAND_LANES);
    return true;
}

// Points a world to the bodies on the device.
static void bind_bodies(const SandDevice *device, SandWorld *d) {
    d->body_count = device->body_total;
#define BIND(type, name) d->name = device->name.data;
    SAND_BODY_ARRAYS(BIND)
#undef BIND
}

// The world as kernels see it: settings of the host, arrays of the device.
static SandWorld device_view(const SandDevice *device, const SandWorld *w) {
    SandWorld d = *w;
    bind_bodies(device, &d);
    d.shapes = device->shapes.data;
    d.pairs = device->laws.data;
    d.outlets = device->outlets.data;
    d.boundaries = NULL;
    d.materials = NULL;
    d.joints = NULL;
    d.apart = NULL;
    d.probes = NULL;
    d.probe_values = NULL;
    d.force = d.torque = NULL;
    return d;
}

static void take_forces(SandDevice *device, const SandVec3 *force, const SandVec3 *torque) {
    device->given_force = force;
    device->given_torque = torque;
}

// --- the step ---------------------------------------------------------------------------------------------

// Marks the end of a stage on the stream.
static bool mark(SandDevice *device, int k) {
    return device_check(device, cudaEventRecord(device->mark[k], device->stream), "a step");
}

static bool collide(SandDevice *device, const SandWorld *w, SandError *error) {
    if (sand_world_repeats(w)) return sand_fail(error, "a periodic world does not run on CUDA");
    if (w->joint_count && w->joint_passes > 1)
        return sand_fail(error, "joint_passes of %d do not run on CUDA; 1 does", w->joint_passes);
    mark(device, MARK_BEGIN);
    device->world = device_view(device, w);
    device->recovery = problem_recovery(w);
    device->sleep_settings = sand_sleep_settings(w);
    device->leaves_out = w->sleep_speed > 0 && device->kept_step > 0 && device->kept_settings == device->sleep_settings;
    if (!upload_settings(device, w, error)) return false;
    device->search.least_mu = device->least_mu;
    device->search.largest_mu = device->largest_mu;
    device->search.single_spheres = device->single_spheres;
    device->search.fall = sand_fall_in_a_step(w);
    device->energy_bound = sand_energy_is_bound(w) && (device->bounces || !device->all_spheres);
    device->most_looks = sand_second_looks(w, true);
    device->solved = device->integrated = false;
    device->gives_up = step_gives_up(device, w);
    if (!device->hooks->check(device, w, error) || !device->hooks->begin(device, w, error)) return false;
    bind_bodies(device, &device->world); // bodies may have come and gone
    if (!collide_enqueue(device)) return device_fail(device, error);
    if (!device->hooks->share(device, error)) return false;
    return mark(device, MARK_COLLIDED) || device_fail(device, error);
}

static bool warm_start(SandDevice *device, SandError *error) {
    return (device->hooks->warm_start(device) && mark(device, MARK_WARM_STARTED)) || device_fail(device, error);
}

// Chooses the kernel: a problem without friction takes one row a contact, the circular cone three in the world frame, any
// other friction model three in the contact frame. Without friction the active-set methods have a kernel of their own.
// Where there are joints one kernel does all, and another where contacts have torques.
static const SolverKernel *kernel_for(const SandSolveDef *def, bool frictional, bool radial, bool joints, bool rolls) {
    if (rolls && def->friction != SAND_FRICTIONLESS) return &kernel_rolling_full;
    if (joints) return &kernel_joints_full;
    if (def->friction == SAND_FRICTIONLESS || !frictional) {
        if (kernel_normal_full.has(def->solver)) return radial ? &kernel_normal_radial : &kernel_normal_full;
        return radial ? &kernel_active_radial : &kernel_active_full;
    }
    if (def->friction == SAND_FRICTION_CONE) return radial ? &kernel_world_radial : &kernel_world_full;
    return radial ? &kernel_local_radial : &kernel_local_full;
}

// The same for this device, which may be one rank of several.
static bool choose_kernel(SandDevice *device, const SandSolveDef *def, bool frictional, bool radial, bool joints, bool rolls,
                          SandError *error) {
    device->kernel = device->is_rank ? rank_kernel(def, radial, joints, rolls, error)
                                     : kernel_for(def, frictional, radial, joints, rolls);
    return device->kernel != NULL;
}

// Packs bodies and contacts for the kernel, with their adjacency on a side stream.
static bool pack_enqueue(SandDevice *device, const SandSolveDef *def, int64_t bodies, SandError *error) {
    if (device->arrays.capacity > MAX_CONTACTS)
        return sand_fail(error, "%lld contacts are more than CUDA can number", (long long)device->arrays.capacity);
    if (bodies > MAX_BODIES) return sand_fail(error, "%lld bodies are more than CUDA can number", (long long)bodies);
    device->pack_source.partials = device->partials.data;
    device->pack_source.bodies = device->bodies.data;
    device->pack_source.counts = device->counts;
    device->pack_source.recovery = device->recovery;
    device->pack_source.step = device->world.step;
    device->pack_source.frictionless = def->friction == SAND_FRICTIONLESS;
    if (!walls_begin(device) || !adjacency_begin(device)) return device_fail(device, error);
    // What joints pull at a body is summed over its contacts: then the bodies wait for the adjacency.
    if (device->pack_source.blocks && !device_join(device, 0)) return device_fail(device, error);
    device->kernel->pack(device->pack_source, device->arrays, bodies + 1, device->stream);
    bool ok = device_check(device, cudaGetLastError(), "packing the problem") && adjacency_finish(device, def) &&
              walls_finish(device) && mark(device, MARK_BUILT);
    return ok || device_fail(device, error);
}

// `blocks` of joints are among the contacts, and rolling friction where `rolls`.
static bool can_solve(const SandSolveDef *def, int64_t blocks, bool rolls, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (!solver->on_cuda) return sand_fail(error, "solver %s does not run on CUDA", solver->name);
    if (def->islands > 0)
        return sand_fail(error, "islands are solved on the CPU, and not on CUDA; give islands of 0 contacts");
    if (blocks && solver->friction & SAND_CONTACTS_ONLY)
        return sand_fail(error, "%s cannot do joints, and this problem has %lld blocks of them", solver->name,
                         (long long)blocks);
    return sand_solve_check(def, error) && (!rolls || sand_solve_check_rolling(def, error));
}

static bool build(SandDevice *device, const SandSolveDef *def, SandError *error) {
    const SandWorld *w = &device->world;
    if (!can_solve(def, device->block_total, device->rolls, error)) return false;
    if (!device->hooks->laws(device, error)) return false;
    if (w->sleep_speed > 0 && !device->hooks->divide(device)) return device_fail(device, error);
    bool radial = device->all_spheres && w->joint_count == 0;
    for (int b = 0; b < w->boundary_count; b++)
        radial = radial && v3_dot(device->host_collision.spin[b], device->host_collision.spin[b]) == 0;
    if (!choose_kernel(device, def, device->largest_mu > 0, radial, device->block_total > 0, device->rolls, error))
        return false;
    int fixed = w->boundary_count + (w->joint_count ? 1 : 0); // the last: the world itself
    int64_t bodies = (int64_t)w->body_count + fixed;
    if (!reserve_kernel(device, def, bodies, device->bounces) || !joints_build_enqueue(device))
        return device_fail(device, error);
    device->pack_source = PackSource();
    device->pack_source.world = *w;
    device->pack_source.collision = device->device_collision.data;
    device->pack_source.candidates = device->candidates.data;
    device->pack_source.candidate_order = device->problem.order;
    device->pack_source.start = device->problem.start;
    device->pack_source.start_torque = device->problem.start_torque;
    device->pack_source.leaves_out = device->leaves_out;
    device->pack_source.impacts = device->bounces ? device->impacts.data : NULL;
    device->pack_source.pulls = device->coheres ? device->pulls.data : NULL;
    device->pack_source.boundaries = fixed;
    device->pack_source.blocks = device->block_total ? device->block_contacts.data : NULL;
    device->pack_source.joints = device->problem_joints.data;
    return pack_enqueue(device, def, bodies, error);
}

static __global__ void begin_problem(Counts *counts, int bodies, int contacts) {
    memset(counts, 0, sizeof *counts);
    counts->bodies = bodies;
    counts->found = counts->contacts = contacts;
}

static bool upload_problem(SandDevice *device, const SandProblem *p, const SandSolveDef *def, SandError *error) {
    if (!can_solve(def, p->joint_count, p->rolls, error)) return false;
    device->standalone = true;
    device->gives_up = false;
    device->torques = p->rolls;
    device->solved = device->integrated = false;
    device->standalone_bodies = p->dynamic_count;
    device->contact_capacity =
        std::max(device->contact_capacity, (int64_t)p->contact_count / SAND_LANES * SAND_LANES + SAND_LANES);
    size_t bodies = (size_t)p->body_count, contacts = (size_t)device->contact_capacity + 2;
    bool frictional = false;
    for (int i = 0; i < p->contact_count; i++) frictional = frictional || p->contacts[i].mu > 0;
    if (!choose_kernel(device, def, frictional, p->radial, p->joint_count > 0, p->rolls, error)) return false;
    size_t most = std::max(contacts, bodies + 4);
    mark(device, MARK_BEGIN);
    bool ok = reserve_kernel(device, def, (int64_t)bodies, p->bounces) &&
              upload(device, device->bodies, p->bodies, bodies) &&
              upload(device, device->contacts, p->contacts, (size_t)p->contact_count) &&
              upload_impulses(device, device->problem_start, p->start, (size_t)p->contact_count) &&
              reserve(device, device->keys, contacts) && reserve(device, device->first, bodies + 3) &&
              reserve_scratch(device, device->scratch, (int64_t)most);
    if (p->joint_count)
        ok = ok && upload(device, device->problem_joint, p->joint, (size_t)p->contact_count) &&
             upload(device, device->problem_joints, p->joints, (size_t)p->joint_count);
    if (p->rolls)
        ok = ok && upload_impulses(device, device->start_torque, p->start + p->contact_count, (size_t)p->contact_count);
    if (!ok) return device_fail(device, error);
    begin_problem<<<1, 1, 0, device->stream>>>(device->counts, p->dynamic_count, p->contact_count);
    mark(device, MARK_COLLIDED);
    mark(device, MARK_WARM_STARTED);
    device->pack_source = PackSource();
    device->problem = {NULL, device->problem_start.data, device->start_torque.data, device->keys.data, device->first.data};
    device->pack_source.contacts = device->contacts.data;
    device->pack_source.start = device->problem.start;
    device->pack_source.start_torque = device->problem.start_torque;
    device->pack_source.boundaries = p->body_count - p->dynamic_count;
    device->pack_source.joint = p->joint_count ? device->problem_joint.data : NULL;
    device->pack_source.joints = device->problem_joints.data;
    device->world.step = p->step;
    device->recovery = p->recovery;
    return pack_enqueue(device, def, (int64_t)bodies, error);
}

enum { SLICE_MS = 5 }; // of a launch: the renderer gets the GPU in between, and a solve can be stopped

static bool solve(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                  SandError *error) {
    if (want_curve && !reserve(device, device->curve, (size_t)sand_curve_points(def->iterations)))
        return device_fail(device, error);
    if (device->left_out) return device->solved = true;
    device->arrays.curve = device->curve.data;
    device->solved = true;
    if (device->is_rank)
        return rank_solve(device, def, want_curve, want_metrics, error) &&
               (mark(device, MARK_SOLVED) || device_fail(device, error));
    // As many iterations a launch as fit into SLICE_MS, by the duration of an iteration in the last solve.
    int slice = device->iteration_ms > 0 ? (int)(SLICE_MS / device->iteration_ms) : 64;
    slice = std::max(1, std::min(slice, def->iterations));
    cudaError_t code = device->kernel->solve(device->arrays, *def, device->world.step, device->recovery, device->counts,
                                             want_metrics, want_curve, slice, stop, device->stream);
    return (device_check(device, code, "solving") && mark(device, MARK_SOLVED)) || device_fail(device, error);
}

static bool integrate(SandDevice *device, SandError *error) {
    device->integrated = true;
    if (!look_enqueue(device) || !keep_enqueue(device)) return device_fail(device, error);
    if (device->energy_bound && !device->hooks->bound(device, error)) return false;
    return (move_enqueue(device) && mark(device, MARK_INTEGRATED)) || device_fail(device, error);
}

// Adapts the capacities to this step's counts, and says whether the step must be repeated.
static void plan_next_step(SandDevice *device, const Counts *c, SandStepReport *report) {
    device->check_impacts = c->levels > 1;
    bool near_fit = c->convex_pairs <= device->near_capacity; // else not all contacts were found
    if (c->convex_pairs > 0.95 * (double)device->near_capacity)
        device->near_capacity = 5 * (int64_t)c->convex_pairs / 4 + 1000;
    if (!near_fit) {
        report->again = true;
        return;
    }
    // Not much above the number of contacts: kernels are launched for the capacity, and sorts work on all of it. The buffers
    // grow by more where there is memory, and do not shrink.
    bool scarce = device->gives_up || c->found > LARGE_CONTACTS;
    double full = scarce ? 0.995 : 0.95, spare = scarce ? 1.01 : 1.08;
    if (c->found > full * (double)device->contact_capacity || c->found < 0.85 * (double)device->contact_capacity - 10000)
        device->contact_capacity = ((int64_t)(spare * c->found + 1000) / SAND_LANES + 1) * SAND_LANES;
    if (c->walls > device->wall_capacity) device->wall_capacity = 5 * (int64_t)c->walls / 4 + 1000;
    report->again = c->retry != 0;
}

// Milliseconds between two marks.
static double elapsed(SandDevice *device, int from, int to) {
    float ms = 0;
    cudaEventElapsedTime(&ms, device->mark[from], device->mark[to]);
    return ms;
}

// Names the lost bodies in the report, sorted.
static void report_lost(const Counts *c, SandStepReport *r) {
    r->lost_count = std::min(c->lost, (int)SAND_MAX_LOST);
    r->lost_more = c->lost - r->lost_count;
    for (int k = 0; k < r->lost_count; k++) r->lost[k] = c->lost_bodies[k];
    std::sort(r->lost, r->lost + r->lost_count, [](const SandLost &a, const SandLost &b) { return a.body < b.body; });
}

// Keeps solver indices and rows of this step beside its keys: the next one looks the kept impulses up by them. Impulses of a
// solve that failed are not worth starting from.
static void keep_for_warm_start(SandDevice *device, const Counts *c, bool keep) {
    device->kept_step = keep ? device->world.step : 0;
    device->kept_settings = device->sleep_settings;
    device->kept_bounces = device->bounces;
    device->kept_rolls = device->torques;
    device->kept_world = device->world.body_count;
    device->kept_bodies = c->bodies;
    device->kept_contacts = c->found;
    std::swap(device->kept_solver_index, device->solver_index);
    std::swap(device->kept_first, device->first);
    device->kept_spent = false;
}

// Waits for the step and reports it.
static bool finish(SandDevice *device, SandStepReport *r, SandError *error) {
    memset(r, 0, sizeof *r);
    const Counts *c = device->host_counts;
    if (!download(device, device->host_counts, device->counts, 1) || !device_wait(device)) return device_fail(device, error);
    if (c->mesh_overflow[2])
        return sand_fail(error, "body %d touches boundary %s in %d places at once; the mesh is too fine for it",
                         c->mesh_overflow[0], device->host_boundaries[(size_t)c->mesh_overflow[1]].name,
                         c->mesh_overflow[2]);
    if (c->found < 0) return sand_fail(error, "there are more contacts than CUDA can number");
    if (!device->standalone && !look_finish(device, c)) return device_fail(device, error);
    if (!device->standalone) plan_next_step(device, c, r);
    r->growths = device->growths;
    device->growths = 0;
    device->hooks->repeats(device, r->again);
    if (r->again) {
        device->kept_spent = false; // nothing was kept
        return true;
    }
    r->bodies = c->bodies;
    r->contacts = c->found;
    r->joint_rows = device->world.joint_count ? c->found - c->joint_first : 0;
    r->solved = c->contacts;
    r->asleep = c->asleep;
    r->warm_started = c->warm_started;
    r->penetration_walls = c->deepest_wall;
    r->penetration_max = c->deepest;
    r->status = sand_status_of(c->end, c->evidence);
    r->iterations = c->iterations;
    r->metrics = metrics_of(device);
    r->held = device->bytes;
    r->kinetic = c->kinetic;
    r->potential = c->potential;
    if (!device->solved) return true;

    r->collide = elapsed(device, MARK_BEGIN, MARK_COLLIDED);
    r->warm_start = elapsed(device, MARK_COLLIDED, MARK_WARM_STARTED);
    r->build = elapsed(device, MARK_WARM_STARTED, MARK_BUILT);
    r->solve = elapsed(device, MARK_BUILT, MARK_SOLVED);
    if (c->iterations > 0) device->iteration_ms = r->solve / c->iterations;
    if (!device->integrated) return true;
    r->integrate = elapsed(device, MARK_SOLVED, MARK_INTEGRATED);
    report_lost(c, r);
    flow_report(device, c, r);
    keep_for_warm_start(device, c, sand_status_keeps(r->status));
    return device->hooks->report(device, r, error);
}

// Lists every buffer.
static int held(const SandDevice *device, SandHeldArray *to) {
    const SandHeldArray all[] = {
#define BUFFER(type, name) {#name, device->name.capacity * sizeof(type), false},
#define SHARED(type, name) {#name, device->name.bytes, true},
#define SCRATCH(name) {#name, device->name.bytes.capacity, false},
#include "cuda/device_buffers.inl"
    };
    int count = sizeof all / sizeof *all;
    static_assert(sizeof all / sizeof *all <= SAND_MAX_HELD, "the account lists all");
    std::copy(all, all + count, to);
    return count;
}

// --- rendering --------------------------------------------------------------------------------------------

static bool instances(SandDevice *device, const SandWorld *w, const SandInstanceDef *def, SandSlot *slot, SandError *error) {
    if (!device->instances_placed && !upload_instance_layout(device, w)) return device_fail(device, error);
    device->instances_placed = true;
    SandWorld world = device_view(device, w);
    return instances_enqueue(device, &world, def, slot, error);
}

extern "C" const SandBackend *sand_cuda_backend(void) {
    static const SandBackend backend = {
        .name = "cuda",
        .create = create,
        .destroy = destroy,
        .describe = describe,
        .about = sand_cuda_about,
        .upload = upload_world,
        .upload_problem = upload_problem,
        .collide = collide,
        .warm_start = warm_start,
        .build = build,
        .solve = solve,
        .integrate = integrate,
        .finish = finish,
        .measure = probes_measure,
        .slot_create = slot_create,
        .slot_free = slot_free,
        .instances = instances,
        .snapshot = snapshot_enqueue,
        .snapshot_read = snapshot_read,
        .slot_read = slot_read,
        .share = share_buffer,
        .share_free = share_free,
        .share_copy = share_copy,
        .held = held,
        .arrays = device_arrays,
        .take_forces = take_forces,
        .read_bodies = read_bodies,
        .read_warm_start = read_warm_start,
        .read_contacts = read_contacts,
        .read_joints = read_joints,
        .read_start = read_start,
        .read_curve = read_curve,
        .read_bounces = read_bounces,
        .read_problem_bodies = read_problem_bodies,
        .read_solution = read_solution,
        .batch_create = cuda_batch_create,
        .batch_free = cuda_batch_free,
        .batch_member = cuda_batch_member,
        .batch_step = cuda_batch_step,
    };
    return &backend;
}
