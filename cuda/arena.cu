// SPDX-License-Identifier: MIT
// Lends the arena to the stages, and reserves what a solver works on; the layout is in cuda/arena.h.
#include "cuda/device.h"

#include "sim/solver/method_traits.h"

#include <algorithm>

// Contacts that arrays of the solver have capacity for.
static size_t padded_contacts(const SandDevice *device) {
    return (size_t)(device->contact_capacity + SAND_LANES - 1) / SAND_LANES * SAND_LANES;
}

// Where the contacts of a world are; a standalone problem has none in the arena.
static ArenaContacts contacts_at(const SandDevice *device) {
    if (device->standalone) return ArenaContacts();
    return arena_contacts(padded_contacts(device), sizeof(SandContactCandidate), device->gives_up);
}

// Binds the buffers of the contacts to the arena, which has moved where it grew.
static void bind_contacts(SandDevice *device) {
    ArenaContacts at = contacts_at(device);
    size_t n = padded_contacts(device);
    device->candidate_order = {(int *)(device->arena.data + at.order), n * sizeof(int)};
    device->start = {(Impulse *)(device->arena.data + at.start), n * sizeof(Impulse)};
    device->candidates = {(SandContactCandidate *)(device->arena.data + at.candidates), n * sizeof(SandContactCandidate)};
}

static void bind_parts(SandDevice *device, Lending &parts, const size_t *at) {
    for (int k = 0; k < parts.count; k++) {
        *parts.data[k] = parts.bytes[k] ? device->arena.data + at[k] : NULL;
        *parts.given[k] = parts.bytes[k];
    }
}

// --- the solver -------------------------------------------------------------------------------------------

// Whether a method reads impulses that are stored beside its vectors. Blocks of spheres have arrays of their own.
static bool stores_impulses(const SolverKernel *kernel, const SandSolveDef *def) {
    unsigned needs = sand_solver_table[def->solver].needs;
    return kernel->stores_impulses || needs & SAND_NEEDS_COLORS || (needs & SAND_NEEDS_BLOCKS && !kernel->radial);
}

// Whether measurements may take the velocities of products alone: these have the same boundaries where none moves, and the
// spectral methods are done with them before anything is measured.
static bool one_scratch(const SandDevice *device, const SandSolveDef *def) {
    bool stands = sand_solver_table[def->solver].owns & SAND_OWNS_PAIRS;
    for (int k = 0; k < device->world.boundary_count; k++) {
        SandVec3 v = device->host_collision.velocity[k], w = device->host_collision.spin[k];
        stands = stands && v3_dot(v, v) == 0 && v3_dot(w, w) == 0;
    }
    return stands;
}

static SolverShape shape_of(const SolverKernel *kernel, const SandSolveDef *def, int64_t bodies, bool bounces) {
    int vectors = sand_solver_table[def->solver].vectors;
    int for_bounds = sand_solver_table[sand_solver_default].vectors; // of the solver that finds the bounds
    if (kernel->local && vectors < for_bounds) vectors = for_bounds;
    bool blocks = sand_solver_table[def->solver].needs & SAND_NEEDS_BLOCKS;
    return {kernel, vectors + 1, bodies, stores_impulses(kernel, def), bounces, false, blocks};
}

static size_t vector_numbers(const SolverShape &shape, size_t contacts) {
    return contacts * (size_t)shape.kernel->row_size * (size_t)shape.vectors;
}

// Spends the kept impulses, which are dead from the warm start on, on arrays of the solver: the first bodies and the two
// constants of contacts take the same 12 bytes, and are dead when impulses are kept again. Contents are kept when the buffer
// grows: if the step must be repeated, it is warm started from them a second time.
static bool spend_kept(SandDevice *device) {
    static_assert(sizeof(Impulse) == sizeof(int) + 2 * sizeof(float), "a body and two constants");
    size_t n = padded_contacts(device);
    if (!reserve(device, device->kept_impulse, (size_t)device->contact_capacity + 1, true)) return false;
    device->a = {(int *)device->kept_impulse.data, n * sizeof(int)};
    device->constant = {(float *)(device->a.data + n), 2 * n * sizeof(float)};
    return true;
}

static void lend_contacts(SandDevice *device, const SolverShape &shape, Lending &parts, size_t n) {
    const SolverKernel *kernel = shape.kernel;
    bool spends = device->gives_up; // see spend_kept
    lend(parts, device->a, spends ? 0 : n);
    lend(parts, device->b, n);
    lend(parts, device->constant, spends ? 0 : n * (size_t)kernel->constant_count);
    lend(parts, device->record, 4 * n);
    lend(parts, device->arm_a_record, kernel->radial ? 0 : 4 * n);
    lend(parts, device->arm_b_record, kernel->radial ? 0 : 4 * n);
    lend(parts, device->bounce, shape.bounces ? n : 0);
    lend(parts, device->impulse, shape.stores_impulses ? n * (size_t)kernel->impulse_size : 0);
    lend(parts, device->bound, kernel->local ? n : 0);
    lend(parts, device->de_saxce, kernel->local ? n : 0);
}

static void lend_bodies(SandDevice *device, const SolverShape &shape, Lending &parts, size_t n) {
    size_t b = (size_t)shape.bodies + 2;
    if (shape.kernel->joints) b += n; // an entry for the springs of each contact: see sim/solver/kernel/joint.inl
    lend(parts, device->bodies, b);
    lend(parts, device->kernel_mass, b);
    lend(parts, device->kernel_inertia, b * (size_t)shape.kernel->inertia_size);
    lend(parts, device->kernel_free, 8 * b);
    lend(parts, device->kernel_body, 8 * b);
    lend(parts, device->kernel_scratch, 8 * b);
    lend(parts, device->kernel_measured, shape.one_scratch ? 0 : 8 * b);
    lend(parts, device->kernel_last, shape.blocks ? 8 * b : 0);
}

// Asks for all that the solver works on, and says which bytes are taken without asking: the contacts that were found, or the
// vectors that are laid over them.
static ArenaHole lend_solver(SandDevice *device, const SolverShape &shape, Lending &parts) {
    size_t n = padded_contacts(device), numbers = vector_numbers(shape, n);
    ArenaHole hole = contacts_at(device).hole;
    lend_contacts(device, shape, parts, n);
    lend_bodies(device, shape, parts, n);
    if (!device->gives_up) {
        lend(parts, device->vectors, numbers);
        return hole;
    }
    return {0, std::max(numbers * sizeof(float), hole.end)};
}

// Binds the contacts again where the arena has grown under them.
static bool rebind_contacts(SandDevice *device) {
    const int *order = device->candidate_order.data;
    const Impulse *start = device->start.data;
    bind_contacts(device);
    if (order == device->candidate_order.data) return true;
    if (device->problem.order == order) device->problem.order = device->candidate_order.data;
    if (device->problem.start == start) device->problem.start = device->start.data;
    device->collision.contacts = device->candidates.data;
    return device_check(device,
                        cudaMemcpyAsync(&device->device_collision.data->contacts, &device->collision.contacts,
                                        sizeof device->collision.contacts, cudaMemcpyHostToDevice, device->stream),
                        "copying to the GPU");
}

static bool lend_to_solver(SandDevice *device) {
    Lending parts;
    size_t at[ARENA_PARTS];
    ArenaHole hole = lend_solver(device, device->solver_shape, parts);
    size_t bytes = arena_layout(hole, parts.count, parts.bytes, at);
    if (!reserve(device, device->arena, bytes, !device->standalone)) return false;
    bind_parts(device, parts, at);
    if (device->gives_up) device->vectors = {(float *)device->arena.data, hole.end};
    if (device->gives_up && !spend_kept(device)) return false;
    return device->standalone || rebind_contacts(device);
}

bool reserve_kernel(SandDevice *device, const SandSolveDef *def, int64_t bodies, bool bounces) {
    const SolverKernel *kernel = device->kernel;
    KernelArrays &arrays = device->arrays;
    size_t n = padded_contacts(device);
    device->solver_shape = shape_of(kernel, def, bodies, bounces);
    device->solver_shape.one_scratch = device->gives_up && one_scratch(device, def);
    bool ok = lend_to_solver(device) && reserve(device, device->still, 8) &&
              reserve(device, device->partials, PACK_BLOCKS) &&
              reserve(device, device->launch_shared, kernel->launch_bytes) &&
              reserve(device, device->solve_state, kernel->state_bytes);
    arrays.a = device->a.data;
    arrays.b = device->b.data;
    arrays.constant = device->constant.data;
    arrays.bounce = device->bounce.data;
    arrays.impulse = device->impulse.data;
    arrays.record = device->record.data;
    arrays.arm_a_record = device->arm_a_record.data;
    arrays.arm_b_record = device->arm_b_record.data;
    arrays.vectors = device->vectors.data;
    arrays.reference = device->vectors.data + vector_numbers(device->solver_shape, n) - n * (size_t)kernel->row_size;
    arrays.mass = device->kernel_mass.data;
    arrays.inertia = device->kernel_inertia.data;
    arrays.free = device->kernel_free.data;
    arrays.body = device->kernel_body.data;
    arrays.scratch = device->kernel_scratch.data;
    arrays.measured = device->solver_shape.one_scratch ? arrays.scratch : device->kernel_measured.data;
    arrays.last = device->kernel_last.data;
    arrays.still = device->still.data;
    arrays.launch_shared = device->launch_shared.data;
    arrays.solve_state = device->solve_state.data;
    arrays.bound = device->bound.data;
    arrays.de_saxce = device->de_saxce.data;
    arrays.capacity = (int64_t)n;
    arrays.bodies = bodies;
    return ok;
}

// --- collision detection ----------------------------------------------------------------------------------

// Bytes that the solver will ask for, if it is the one of the last step.
static size_t solver_bytes(SandDevice *device) {
    if (!device->solver_shape.kernel) return 0;
    Lending parts;
    SolverShape shape = device->solver_shape;
    shape.bodies = (int64_t)device->world.body_count + device->world.boundary_count + 1;
    size_t at[ARENA_PARTS];
    ArenaHole hole = lend_solver(device, shape, parts);
    return arena_layout(hole, parts.count, parts.bytes, at);
}

bool arena_lend_collision(SandDevice *device, Lending &parts) {
    size_t at[ARENA_PARTS];
    size_t bytes = arena_layout(contacts_at(device).hole, parts.count, parts.bytes, at);
    bytes = std::max(bytes, solver_bytes(device));
    if (!reserve(device, device->arena, bytes)) return false;
    bind_parts(device, parts, at);
    bind_contacts(device);
    return true;
}
