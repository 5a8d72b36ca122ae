// SPDX-License-Identifier: MIT
// Packing bodies into records, sorting the records received from several ranks, and merging them with the bodies that stay:
// in the arrays of the world, and in the warm start.
#include "sim/ranks/body_records.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// --- packing ------------------------------------------------------------------------------------------------

int sand_last_index(const SandHostState *state, int i) {
    const SandWarmStart *warm = &state->warm_start;
    return warm->step > 0 && i < warm->world_count ? warm->solver_index[i] : -1;
}

static SandKeptContact kept_contact(const SandWarmStart *warm, int e) {
    SandKeptContact c = {.key = warm->key[e], .impulse = warm->impulse[e]};
    if (warm->rolls) c.torque = warm->impulse[warm->first[warm->body_count] + e];
    if (warm->bounces) c.approach = warm->approach[e];
    return c;
}

static void fill_record(SandBodyRecord *r, const SandRecordSource *from, int i) {
    const SandWorld *w = &from->state->world;
    r->number = from->id ? from->id[i] : i;
    r->order = from->order ? from->order[i] : sand_last_index(from->state, i);
#define FILL(type, name) r->name = w->name[i];
    SAND_BODY_ARRAYS(FILL)
#undef FILL
}

// The contacts that body i owned in the last step: returns how many, and sets the first.
static int contacts_of(const SandRecordSource *from, int i, int *first) {
    const SandWarmStart *warm = &from->state->warm_start;
    int index = sand_last_index(from->state, i);
    *first = index < 0 ? 0 : warm->first[index];
    return index < 0 ? 0 : warm->first[index + 1] - *first;
}

static int spheres_of(const SandRecordSource *from, int i) {
    const SandWorld *w = &from->state->world;
    return w->shapes[w->shape[i]].sphere_count;
}

size_t sand_record_bytes(const SandRecordSource *from, int i) {
    int first;
    return sizeof(SandBodyRecord) + (size_t)spheres_of(from, i) * sizeof(double) +
           (size_t)contacts_of(from, i, &first) * sizeof(SandKeptContact);
}

SandBodyRecord *sand_record_put(SandMessages *messages, int rank, const SandRecordSource *from, int i, SandError *error) {
    size_t at = messages->sent_bytes[rank], bytes = sand_record_bytes(from, i);
    int first, spheres = spheres_of(from, i), contacts = contacts_of(from, i, &first);
    if (!sand_messages_reserve(messages, rank, bytes, error)) return NULL;
    SandBodyRecord *r = (SandBodyRecord *)(void *)(messages->sent[rank] + at);
    memset(r, 0, sizeof *r + (size_t)spheres * sizeof(double));
    r->bytes = (int)bytes;
    r->spheres = spheres;
    r->contacts = contacts;
    fill_record(r, from, i);
    for (int e = 0; e < contacts; e++) sand_record_contacts(r)[e] = kept_contact(&from->state->warm_start, first + e);
    messages->sent_bytes[rank] = at + bytes;
    return r;
}

// --- lists --------------------------------------------------------------------------------------------------

void sand_records_free(SandRecords *records) {
    SAND_FREE_ARRAYS(&records->list, &records->scratch);
    *records = (SandRecords){0};
}

void sand_records_clear(SandRecords *records) { records->count = 0; }

bool sand_records_add(SandRecords *records, uint8_t *bytes, size_t count, SandError *error) {
    for (uint8_t *at = bytes, *end = bytes + count; at < end;) {
        SandBodyRecord *r = (SandBodyRecord *)(void *)at;
        if (!SAND_RESERVE(records->list, records->count + 1, "bodies", error)) return false;
        records->list.data[records->count++] = r;
        at += r->bytes;
    }
    return true;
}

// The end of the run of ascending ids that begins at `from`.
static int run_end(SandBodyRecord *const *list, int from, int count) {
    int end = from < count ? from + 1 : count;
    while (end < count && list[end - 1]->number < list[end]->number) end++;
    return end;
}

// Merges the runs [first, middle) and [middle, end).
static void merge_runs(SandBodyRecord *const *list, int first, int middle, int end, SandBodyRecord **to) {
    for (int a = first, b = middle; a < middle || b < end; to++)
        *to = b == end || (a < middle && list[a]->number < list[b]->number) ? list[a++] : list[b++];
}

// A merge sort of natural runs, of which there are few: every rank sends its bodies in ascending order.
bool sand_records_sort(SandRecords *records, SandError *error) {
    int count = records->count;
    if (!SAND_RESERVE(records->scratch, count + 1, "bodies", error)) return false;
    while (run_end(records->list.data, 0, count) < count) {
        for (int first = 0, end; first < count; first = end) {
            int middle = run_end(records->list.data, first, count);
            end = run_end(records->list.data, middle, count);
            merge_runs(records->list.data, first, middle, end, records->scratch.data + first);
        }
        memcpy(records->list.data, records->scratch.data, (size_t)count * sizeof *records->list.data);
    }
    return true;
}

// --- bodies of a world ----------------------------------------------------------------------------------------

// From the last body on: no body moves to a lower index, so that none is overwritten before it has been moved.
bool sand_bodies_merge(SandWorld *w, const int *from, int count, const SandRecords *records, SandError *error) {
    SandBodyRecord *const *list = records->list.data;
    if (!sand_world_reserve(w, count + 1, error)) return false;
#define MERGE(type, name) \
    for (int i = count; i-- > 0;) w->name[i] = from[i] < 0 ? list[-1 - from[i]]->name : w->name[from[i]];
    SAND_BODY_ARRAYS(MERGE)
#undef MERGE
    w->body_count = count;
    return true;
}

bool sand_read_bodies(SandWorld *w, const SandMessages *messages, int first, int end, int *index, SandError *error) {
    const SandReadBody *read = (const SandReadBody *)(const void *)messages->received;
    size_t count = messages->received_bytes / sizeof *read;
    if (count != (size_t)(end - first)) return sand_fail(error, "the ranks sent %zu bodies, not %d", count, end - first);
    for (size_t k = 0; k < count; k++) {
        sand_body_set_entry(w, read[k].number, &read[k].entry);
        if (index) index[read[k].number - first] = read[k].index;
    }
    return true;
}

// --- warm start -----------------------------------------------------------------------------------------------

// Lists in `scratch` the records with a solver index in the last step, in the order of these indices, and returns how many
// there are. A bucket sort: the indices that one rank receives are close together.
static int list_by_order(SandRecords *records, SandError *error) {
    int low = INT_MAX, high = -1, count = 0;
    for (int i = 0; i < records->count; i++) {
        int order = records->list.data[i]->order;
        low = order >= 0 && order < low ? order : low;
        high = order > high ? order : high;
    }
    if (high < 0) return 0;
    if (!SAND_RESERVE(records->scratch, high - low + 1, "warm start", error)) return -1;
    memset(records->scratch.data, 0, (size_t)(high - low + 1) * sizeof *records->scratch.data);
    for (int i = 0; i < records->count; i++)
        if (records->list.data[i]->order >= 0)
            records->scratch.data[records->list.data[i]->order - low] = records->list.data[i];
    for (int k = 0; k <= high - low; k++)
        if (records->scratch.data[k]) records->scratch.data[count++] = records->scratch.data[k];
    return count;
}

// The key of a contact with local ids. A body that is not held gets the id `nobody`, which no contact of the coming step
// has.
static SandContactKey local_key(SandContactKey key, const int *local) {
    const uint32_t nobody = SAND_JOINT_BIT - 1;
    if (!local || key.other & (SAND_BOUNDARY_BIT | SAND_JOINT_BIT)) return key;
    key.other = local[key.other] ? (uint32_t)local[key.other] - 1 : nobody;
    return key;
}

static bool reserve_warm_start(SandWarmStart *warm, int bodies, int rows, int contacts, SandError *error) {
    return SAND_GROW(warm->solver_index, warm->solver_index_capacity, bodies + 1, "warm start", error) &&
           SAND_GROW(warm->first, warm->first_capacity, rows + 1, "warm start", error) &&
           SAND_GROW(warm->key, warm->key_capacity, contacts + 1, "warm start", error) &&
           SAND_GROW(warm->impulse, warm->impulse_capacity, (warm->rolls ? 2 : 1) * contacts + 1, "warm start", error) &&
           SAND_GROW(warm->approach, warm->approach_capacity, contacts + 1, "warm start", error);
}

// A warm start while it is filled, row by row.
typedef struct Filling {
    SandWarmStart *to;
    const int *local;
    int rows, contacts; // filled so far
    int all;            // contacts once it is filled: torques follow that many impulses
} Filling;

static void add_record(Filling *f, SandBodyRecord *r) {
    SandWarmStart *to = f->to;
    r->row = f->rows++;
    to->first[r->row] = f->contacts;
    for (int e = 0; e < r->contacts; e++, f->contacts++) {
        const SandKeptContact *c = &sand_record_contacts(r)[e];
        to->key[f->contacts] = local_key(c->key, f->local);
        to->impulse[f->contacts] = c->impulse;
        to->approach[f->contacts] = c->approach;
        if (to->rolls) to->impulse[f->all + f->contacts] = c->torque;
    }
}

static void add_kept(Filling *f, const SandWarmStart *kept, const SandKeptRows *rows) {
    SandWarmStart *to = f->to;
    if (rows->first == rows->end) return;
    int first = kept->first[rows->first], count = kept->first[rows->end] - first, at = f->contacts;
    for (int k = rows->first; k < rows->end; k++) to->first[f->rows++] = kept->first[k] - first + at;
    for (int e = 0; e < count; e++) to->key[at + e] = local_key(kept->key[first + e], f->local);
    memcpy(to->impulse + at, kept->impulse + first, (size_t)count * sizeof *to->impulse);
    if (kept->bounces) memcpy(to->approach + at, kept->approach + first, (size_t)count * sizeof *to->approach);
    if (kept->rolls)
        memcpy(to->impulse + f->all + at, kept->impulse + kept->first[kept->body_count] + first,
               (size_t)count * sizeof *to->impulse);
    f->contacts += count;
}

// Sets the row of each merged body; kept rows have moved by `shift`.
static void number_rows(SandWarmStart *to, const SandWarmStart *kept, int shift, const int *from, int count,
                        const SandRecords *records) {
    for (int i = 0; i < count; i++) {
        int row = from[i] < 0 ? -1 : kept->solver_index[from[i]];
        const SandBodyRecord *r = from[i] < 0 ? records->list.data[-1 - from[i]] : NULL;
        to->solver_index[i] = r ? (r->order < 0 ? -1 : r->row) : row < 0 ? -1 : row + shift;
    }
}

// Whether the contacts of a record are among the kept rows: an own body of the last step that has migrated, and is a ghost
// now.
static bool is_kept(const SandKeptRows *rows, const SandBodyRecord *r) {
    return r->order >= rows->order && r->order - rows->order < rows->end - rows->first;
}

// Counts the contacts of kept rows and of the listed records that are not among them.
static int count_contacts(const SandRecords *records, int listed, const SandWarmStart *kept, const SandKeptRows *rows) {
    int count = rows->first < rows->end ? kept->first[rows->end] - kept->first[rows->first] : 0;
    for (int k = 0; k < listed; k++)
        if (!is_kept(rows, records->scratch.data[k])) count += records->scratch.data[k]->contacts;
    return count;
}

bool sand_records_to_warm_start(SandRecords *records, const SandWarmStart *kept, const SandKeptRows *rows, const int *from,
                                int count, const int *local, SandWarmStart *to, SandError *error) {
    int listed = list_by_order(records, error), k = 0;
    if (listed < 0) return false;
    Filling f = {.to = to, .local = local, .all = count_contacts(records, listed, kept, rows)};
    to->rolls = kept->rolls;
    if (!reserve_warm_start(to, count, listed + rows->end - rows->first, f.all, error)) return false;
    while (k < listed && records->scratch.data[k]->order < rows->order) add_record(&f, records->scratch.data[k++]);
    int lower = f.rows;
    add_kept(&f, kept, rows);
    for (; k < listed && is_kept(rows, records->scratch.data[k]); k++)
        records->scratch.data[k]->row = lower + records->scratch.data[k]->order - rows->order;
    while (k < listed) add_record(&f, records->scratch.data[k++]);
    SAND_ASSERT(f.contacts == f.all);
    to->first[f.rows] = f.contacts;
    number_rows(to, kept, lower - rows->first, from, count, records);
    to->body_count = f.rows;
    to->world_count = count;
    to->step = kept->step;
    to->bounces = kept->bounces;
    return true;
}
