// SPDX-License-Identifier: MIT
// Copying the chosen columns of a simulation into a frame, on several cores, at once or from a snapshot that a device
// completes later.
#include "app/io/export/frame.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "sim/core/array.h"
#include "sim/step/contact_forces.h"

ExportType export_type(const ExportColumn *column, bool exact) {
    if (column->kind == EXPORT_INTEGER) return EXPORT_I32;
    return exact || column->kind == EXPORT_PLACE ? EXPORT_F64 : EXPORT_F32;
}

size_t export_type_bytes(ExportType type) { return type == EXPORT_F64 ? 8 : 4; }

size_t export_array_bytes(const ExportArray *array, int items) {
    return (size_t)items * (size_t)array->column->width * export_type_bytes(array->type);
}

double export_number(const ExportArray *array, size_t index) {
    switch (array->type) {
    case EXPORT_I32: return ((const int32_t *)array->data)[index];
    case EXPORT_F32: return (double)((const float *)array->data)[index];
    case EXPORT_F64: break;
    }
    return ((const double *)array->data)[index];
}

const ExportArray *export_array(const ExportTable *table, const char *name) {
    for (int k = 0; k < table->array_count; k++)
        if (!strcmp(table->arrays[k].column->name, name)) return &table->arrays[k];
    return NULL;
}

void export_frame_free(ExportFrame *frame) {
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++)
        for (int k = 0; k < EXPORT_MAX_COLUMNS; k++) sand_free(frame->tables[subject].arrays[k].data);
    SAND_FREE_ARRAYS(&frame->poses);
    if (frame->snapshot.slot) frame->snapshot.backend->slot_free(frame->snapshot.slot);
    *frame = (ExportFrame){0};
}

void export_scratch_free(ExportScratch *s) {
    SAND_FREE_ARRAYS(&s->items, &s->results, &s->force, &s->contacts, &s->worst);
    *s = (ExportScratch){0};
}

// --- what the columns are read from -------------------------------------------------------------------------

// Counts contact i for one of its bodies.
static void add_contact(ExportScratch *s, const ExportSource *source, int i, int index) {
    if (index >= source->problem->dynamic_count) return; // a boundary
    int body = source->order[index];
    s->contacts.data[body] += source->results[i].status != SAND_CONTACT_OPEN;
    if (source->residuals) s->worst.data[body] = fmax(s->worst.data[body], source->residuals[i]);
}

static bool sum_contacts(ExportScratch *s, ExportSource *source, int contacts, SandError *error) {
    int n = source->world->body_count;
    if (!SAND_RESERVE(s->results, contacts + 1, "export", error) || !SAND_RESERVE(s->force, n, "export", error) ||
        !SAND_RESERVE(s->contacts, n, "export", error) || !SAND_RESERVE(s->worst, n, "export", error))
        return false;
    memset(s->force.data, 0, (size_t)n * sizeof *s->force.data);
    memset(s->contacts.data, 0, (size_t)n * sizeof *s->contacts.data);
    memset(s->worst.data, 0, (size_t)n * sizeof *s->worst.data);
    source->results = s->results.data;
    source->force = s->force.data;
    source->contacts = s->contacts.data;
    source->worst = s->worst.data;
    if (!contacts) return true;
    sand_contact_results(source->problem, source->solution, s->results.data);
    for (int i = 0; i < contacts; i++) {
        if (s->results.data[i].status == SAND_CONTACT_JOINT) continue;
        add_contact(s, source, i, source->problem->contacts[i].a);
        add_contact(s, source, i, source->problem->contacts[i].b);
    }
    sand_contact_forces_add(source->problem, source->solution, contacts, 0, source->problem->dynamic_count, source->order,
                            s->force.data, NULL);
    return true;
}

// Brings everything that is needed to the host.
static bool open_source(ExportSource *source, SandSimulation *sim, unsigned needs, ExportScratch *s, SandError *error) {
    *source = (ExportSource){.world = sand_simulation_world(sim)};
    if (!sand_simulation_fetch(sim, error)) return false;
    if (!(needs & EXPORT_NEEDS_CONTACTS)) return true;
    if (!sand_simulation_fetch_contacts(sim, error)) return false;
    source->problem = sand_simulation_problem(sim);
    source->solution = sand_simulation_solution(sim);
    source->order = sand_simulation_order(sim);
    if (needs & EXPORT_NEEDS_RESIDUALS && !(source->residuals = sand_simulation_residuals(sim, error))) return false;
    return sum_contacts(s, source, sand_simulation_solved_contacts(sim), error);
}

// --- copying ------------------------------------------------------------------------------------------------

static void store(ExportArray *array, size_t at, const double *numbers) {
    for (int k = 0; k < array->column->width; k++) {
        if (array->type == EXPORT_I32) ((int32_t *)array->data)[at + (size_t)k] = (int32_t)numbers[k];
        if (array->type == EXPORT_F32) ((float *)array->data)[at + (size_t)k] = (float)numbers[k];
        if (array->type == EXPORT_F64) ((double *)array->data)[at + (size_t)k] = numbers[k];
    }
}

// Where the simulation waits for the copy, every core takes part. Where it goes on, half of them do: it polls a device, and
// the frame before is being written.
static int all_cores(void) { return omp_get_max_threads(); }
static int some_cores(void) { return (omp_get_max_threads() + 1) / 2; }

// On several cores, where it is worth it. Parts are small: a thread that has to share its core holds up the others less.
static void fill_array(ExportArray *array, const ExportSource *source, const int *items, int count, int threads) {
    size_t width = (size_t)array->column->width;
#pragma omp parallel for if (count > 10000) num_threads(threads) schedule(dynamic, 4096)
    for (int i = 0; i < count; i++) {
        double numbers[EXPORT_MAX_WIDTH];
        array->column->read(source, items[i], numbers);
        store(array, (size_t)i * width, numbers);
    }
}

static bool fill_table(ExportTable *table, const ExportSource *source, const ExportChoice *choice, const int *items,
                       int count, bool exact, int threads, SandError *error) {
    table->count = count;
    table->array_count = choice->count;
    for (int k = 0; k < choice->count; k++) {
        ExportArray *array = &table->arrays[k];
        array->column = choice->columns[k];
        array->type = export_type(array->column, exact);
        if (!sand_grow((void *)&array->data, &array->capacity, export_array_bytes(array, count) + 1, 1, "export", error))
            return false;
        fill_array(array, source, items, count, threads);
    }
    return true;
}

static int list_bodies(const SandWorld *world, int first, int end, int *items) {
    int count = 0;
    for (int i = first; i < end; i++)
        if (sand_world_active(world, i)) items[count++] = i;
    return count;
}

static int list_contacts(const ExportSource *source, int contacts, int *items) {
    int count = 0;
    for (int i = 0; i < contacts; i++)
        if (source->results[i].status != SAND_CONTACT_JOINT) items[count++] = i;
    return count;
}

// Copies the active ones of these bodies of the world.
static bool fill_block(ExportFrame *frame, const ExportSource *source, int first, int end, const ExportChoice *choice,
                       bool exact, int threads, ExportScratch *s, SandError *error) {
    if (!SAND_RESERVE(s->items, end - first, "export", error)) return false;
    int bodies = list_bodies(source->world, first, end, s->items.data);
    return fill_table(&frame->tables[EXPORT_BODIES], source, choice, s->items.data, bodies, exact, threads, error);
}

static bool fill_bodies(ExportFrame *frame, const ExportSource *source, const ExportChoice *choice, bool exact, int threads,
                        ExportScratch *s, SandError *error) {
    return fill_block(frame, source, 0, source->world->body_count, choice, exact, threads, s, error);
}

// --- snapshots ----------------------------------------------------------------------------------------------

// Whether nothing but bodies on a device is asked for. Inlets change more of the bodies than a snapshot has.
static bool can_wait(const SandSimulation *sim, unsigned needs) {
    return sand_simulation_backend(sim)->snapshot && !needs && !sand_simulation_world(sim)->inlet_count;
}

static bool take_snapshot(ExportSnapshot *shot, SandSimulation *sim, SandError *error) {
    shot->backend = sand_simulation_backend(sim);
    if (!shot->slot && !(shot->slot = shot->backend->slot_create(error))) return false;
    shot->world = *sand_simulation_world(sim);
    shot->pending = sand_simulation_snapshot(sim, shot->slot, error);
    return shot->pending;
}

bool export_complete(ExportFrame *frame, const ExportChoice choice[EXPORT_SUBJECTS], bool exact, ExportScratch *s,
                     SandError *error) {
    ExportSnapshot *shot = &frame->snapshot;
    if (!shot->pending) return true;
    shot->pending = false;
    uint8_t *bytes = shot->backend->snapshot_read(shot->slot, sand_snapshot_bytes(shot->world.body_count), error);
    if (!bytes) return false;
    SandWorld world = sand_snapshot_view(&shot->world, bytes);
    ExportSource source = {.world = &world};
    return fill_bodies(frame, &source, &choice[EXPORT_BODIES], exact, some_cores(), s, error);
}

// --- frames -------------------------------------------------------------------------------------------------

static bool begin_frame(ExportFrame *frame, const SandSimulation *sim, SandError *error) {
    const SandWorld *world = sand_simulation_world(sim);
    frame->step = world->step_index;
    frame->time = world->time;
    frame->tables[EXPORT_CONTACTS].count = 0;
    if (!SAND_RESERVE(frame->poses, world->boundary_count + 1, "export", error)) return false;
    for (int k = 0; k < world->boundary_count; k++)
        frame->poses.data[k] = sand_boundary_pose(&world->boundaries[k], world->time);
    return true;
}

bool export_capture_block(ExportFrame *frame, SandSimulation *sim, const ExportChoice choice[EXPORT_SUBJECTS], bool exact,
                          ExportScratch *s, SandError *error) {
    ExportSource source = {.world = sand_simulation_world(sim)};
    int first, end;
    return begin_frame(frame, sim, error) && sand_simulation_fetch_block(sim, &first, &end, error) &&
           fill_block(frame, &source, first, end, &choice[EXPORT_BODIES], exact, all_cores(), s, error);
}

bool export_capture(ExportFrame *frame, SandSimulation *sim, const ExportChoice choice[EXPORT_SUBJECTS], bool exact,
                    ExportScratch *s, SandError *error) {
    ExportSource source;
    if (!begin_frame(frame, sim, error)) return false;
    if (can_wait(sim, export_needs(choice))) return take_snapshot(&frame->snapshot, sim, error);
    if (!open_source(&source, sim, export_needs(choice), s, error)) return false;
    int contacts = choice[EXPORT_CONTACTS].count ? sand_simulation_solved_contacts(sim) : 0;
    if (!fill_bodies(frame, &source, &choice[EXPORT_BODIES], exact, all_cores(), s, error) ||
        !SAND_RESERVE(s->items, contacts, "export", error))
        return false;
    contacts = list_contacts(&source, contacts, s->items.data);
    return fill_table(&frame->tables[EXPORT_CONTACTS], &source, &choice[EXPORT_CONTACTS], s->items.data, contacts, exact,
                      all_cores(), error);
}

// Lists the bodies that move, then the contacts, and copies both.
static bool fill_solution(ExportFrame *frame, ExportSource *source, ExportScratch *s, SandError *error) {
    const SandProblem *p = source->problem;
    ExportChoice choice[EXPORT_SUBJECTS];
    int most = p->dynamic_count > p->contact_count ? p->dynamic_count : p->contact_count;
    export_choose_solution(choice);
    if (!SAND_RESERVE(s->items, most + 1, "export", error) ||
        !SAND_RESERVE(s->results, p->contact_count + 1, "export", error))
        return false;
    sand_contact_results(p, source->solution, s->results.data);
    source->results = s->results.data;
    for (int i = 0; i < p->dynamic_count; i++) s->items.data[i] = i;
    if (!fill_table(&frame->tables[EXPORT_BODIES], source, &choice[EXPORT_BODIES], s->items.data, p->dynamic_count, true,
                    all_cores(), error))
        return false;
    int contacts = list_contacts(source, p->contact_count, s->items.data);
    return fill_table(&frame->tables[EXPORT_CONTACTS], source, &choice[EXPORT_CONTACTS], s->items.data, contacts, true,
                      all_cores(), error);
}

bool export_capture_solution(ExportFrame *frame, const SandProblem *problem, const SandSolution *solution,
                             SandError *error) {
    ExportSource source = {.problem = problem, .solution = solution};
    ExportScratch scratch = {0};
    frame->step = 0;
    frame->time = 0;
    bool filled = fill_solution(frame, &source, &scratch, error);
    export_scratch_free(&scratch);
    return filled;
}
