#include "sim/step/body_records.h"

#include "sim/core/array.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// --- packing ------------------------------------------------------------------------------------------------

static int world_number(const SandRecordSource *from, int i) { return from->id ? from->id[i] : i; }

// The solver index of a body in the last step among those of the state, or -1.
static int last_index(const SandWarmStart *warm, int i) {
    return warm->step > 0 && i < warm->world_count ? warm->solver_index[i] : -1;
}

static SandKeptContact kept_contact(const SandRecordSource *from, int e) {
    const SandWarmStart *warm = &from->state->warm_start;
    int stored = warm->first[warm->body_count];
    SandKeptContact c = {.key = warm->key[e], .impulse = warm->impulse[e]};
    if (warm->rolls) c.torque = warm->impulse[stored + e];
    if (warm->bounces) c.approach = warm->approach[e];
    if (!(c.key.other & (SAND_BOUNDARY_BIT | SAND_JOINT_BIT))) c.key.other = (uint32_t)world_number(from, (int)c.key.other);
    return c;
}

static void fill_record(SandBodyRecord *r, const SandRecordSource *from, int i, int index) {
    const SandWorld *w = &from->state->world;
    r->id = world_number(from, i);
    r->order = index < 0 ? -1 : index + from->shift;
    r->shape = w->shape[i];
    r->material = w->material[i];
    r->rest = w->rest[i];
    r->gone = w->gone[i];
    r->position = w->position[i];
    r->velocity = w->velocity[i];
    r->spin = w->spin[i];
    r->inertia = w->inertia[i];
    r->rotation = w->rotation[i];
    r->mass = w->mass[i];
    r->scale = w->scale[i];
    r->enter = w->enter[i];
}

// The contacts that body i owned in the last step: `first` and their number.
static int contacts_of(const SandRecordSource *from, int i, int *first) {
    const SandWarmStart *warm = &from->state->warm_start;
    int index = last_index(warm, i);
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

bool sand_record_put(SandMail *mail, int rank, const SandRecordSource *from, int i, SandError *error) {
    size_t at = mail->sent_bytes[rank], bytes = sand_record_bytes(from, i);
    int first, spheres = spheres_of(from, i), contacts = contacts_of(from, i, &first);
    if (!sand_mail_reserve(mail, rank, bytes, error)) return false;
    SandBodyRecord *r = (SandBodyRecord *)(void *)(mail->sent[rank] + at);
    memset(r, 0, sizeof *r + (size_t)spheres * sizeof(double));
    r->bytes = (int)bytes;
    r->spheres = spheres;
    r->contacts = contacts;
    fill_record(r, from, i, last_index(&from->state->warm_start, i));
    for (int e = 0; e < contacts; e++) sand_record_contacts(r)[e] = kept_contact(from, first + e);
    mail->sent_bytes[rank] = at + bytes;
    return true;
}

// --- lists --------------------------------------------------------------------------------------------------

void sand_records_free(SandRecords *records) {
    sand_free(records->list);
    sand_free(records->scratch);
    *records = (SandRecords){0};
}

void sand_records_clear(SandRecords *records) { records->count = 0; }

bool sand_records_add(SandRecords *records, uint8_t *bytes, size_t count, SandError *error) {
    for (uint8_t *at = bytes, *end = bytes + count; at < end;) {
        SandBodyRecord *r = (SandBodyRecord *)(void *)at;
        if (!SAND_GROW(records->list, records->capacity, records->count + 1, "bodies", error)) return false;
        records->list[records->count++] = r;
        at += r->bytes;
    }
    return true;
}

static int compare_ids(const void *a, const void *b) {
    int x = (*(SandBodyRecord *const *)a)->id, y = (*(SandBodyRecord *const *)b)->id;
    return x < y ? -1 : x > y;
}

// Those that stayed come first, in their order: only the others are sorted, and merged with them from behind.
bool sand_records_sort(SandRecords *records, SandError *error) {
    SandBodyRecord **list = records->list;
    int count = records->count, stayed = count ? 1 : 0;
    while (stayed < count && list[stayed - 1]->id < list[stayed]->id) stayed++;
    int moved = count - stayed, from = stayed - 1, next = moved - 1;
    if (moved == 0) return true;
    if (!SAND_GROW(records->scratch, records->scratch_capacity, moved, "bodies", error)) return false;
    memcpy(records->scratch, list + stayed, (size_t)moved * sizeof *list);
    qsort(records->scratch, (size_t)moved, sizeof *list, compare_ids);
    for (int to = count - 1; next >= 0; to--)
        list[to] = from >= 0 && list[from]->id > records->scratch[next]->id ? list[from--] : records->scratch[next--];
    return true;
}

// --- unpacking ----------------------------------------------------------------------------------------------

static bool reserve_bodies(SandWorld *w, int count, SandError *error) {
    size_t *c = w->body_capacity, n = (size_t)count + 1;
    return SAND_GROW(w->position, c[0], n, "bodies", error) && SAND_GROW(w->rotation, c[1], n, "bodies", error) &&
           SAND_GROW(w->velocity, c[2], n, "bodies", error) && SAND_GROW(w->spin, c[3], n, "bodies", error) &&
           SAND_GROW(w->mass, c[4], n, "bodies", error) && SAND_GROW(w->inertia, c[5], n, "bodies", error) &&
           SAND_GROW(w->scale, c[6], n, "bodies", error) && SAND_GROW(w->shape, c[7], n, "bodies", error) &&
           SAND_GROW(w->material, c[8], n, "bodies", error) && SAND_GROW(w->enter, c[9], n, "bodies", error) &&
           SAND_GROW(w->gone, c[10], n, "bodies", error) && SAND_GROW(w->rest, c[11], n, "bodies", error);
}

bool sand_records_to_world(const SandRecords *records, SandWorld *w, SandError *error) {
    if (!reserve_bodies(w, records->count, error)) return false;
    w->body_count = records->count;
    for (int i = 0; i < records->count; i++) {
        const SandBodyRecord *r = records->list[i];
        w->position[i] = r->position;
        w->rotation[i] = r->rotation;
        w->velocity[i] = r->velocity;
        w->spin[i] = r->spin;
        w->mass[i] = r->mass;
        w->inertia[i] = r->inertia;
        w->scale[i] = r->scale;
        w->shape[i] = r->shape;
        w->material[i] = r->material;
        w->enter[i] = r->enter;
        w->gone[i] = r->gone;
        w->rest[i] = r->rest;
    }
    return true;
}

// Lists the bodies that had a solver index in the last step along it, and returns how many there are. The indices of a part
// are close together: each has a place of its own between the lowest and the highest.
static int list_by_order(SandRecords *records, SandError *error) {
    int low = INT_MAX, high = -1, count = 0;
    for (int i = 0; i < records->count; i++) {
        int order = records->list[i]->order;
        low = order >= 0 && order < low ? order : low;
        high = order > high ? order : high;
    }
    if (high < 0) return 0;
    if (!SAND_GROW(records->scratch, records->scratch_capacity, high - low + 1, "warm start", error)) return -1;
    memset(records->scratch, 0, (size_t)(high - low + 1) * sizeof *records->scratch);
    for (int i = 0; i < records->count; i++)
        if (records->list[i]->order >= 0) records->scratch[records->list[i]->order - low] = records->list[i];
    for (int k = 0; k <= high - low; k++)
        if (records->scratch[k]) records->scratch[count++] = records->scratch[k];
    return count;
}

// A body that is not among the records has no name here: one that no contact of the coming step has.
static SandContactKey local_key(SandContactKey key, const int *local) {
    const uint32_t nobody = SAND_JOINT_BIT - 1;
    if (key.other & (SAND_BOUNDARY_BIT | SAND_JOINT_BIT)) return key;
    key.other = local[key.other] < 0 ? nobody : (uint32_t)local[key.other];
    return key;
}

static bool reserve_warm_start(SandWarmStart *warm, const SandRecords *records, int contacts, SandError *error) {
    return SAND_GROW(warm->solver_index, warm->solver_index_capacity, records->count + 1, "warm start", error) &&
           SAND_GROW(warm->first, warm->first_capacity, records->count + 2, "warm start", error) &&
           SAND_GROW(warm->key, warm->key_capacity, contacts + 1, "warm start", error) &&
           SAND_GROW(warm->impulse, warm->impulse_capacity, 2 * contacts + 1, "warm start", error) &&
           SAND_GROW(warm->approach, warm->approach_capacity, contacts + 1, "warm start", error);
}

// Stores the contacts of one record behind the others; `contacts`: of all records.
static void keep_contacts(SandWarmStart *warm, SandBodyRecord *r, const int *local, int contacts, int *count) {
    for (int e = 0; e < r->contacts; e++, (*count)++) {
        const SandKeptContact *c = &sand_record_contacts(r)[e];
        warm->key[*count] = local_key(c->key, local);
        warm->impulse[*count] = c->impulse;
        warm->approach[*count] = c->approach;
        if (warm->rolls) warm->impulse[contacts + *count] = c->torque;
    }
}

bool sand_records_to_warm_start(SandRecords *records, const int *local, SandWarmStart *warm, SandError *error) {
    int contacts = 0, count = 0, last = list_by_order(records, error);
    for (int i = 0; i < records->count; i++) contacts += records->list[i]->contacts;
    if (last < 0 || !reserve_warm_start(warm, records, contacts, error)) return false;
    for (int i = 0; i < records->count; i++) warm->solver_index[i] = -1;
    for (int k = 0; k < last; k++) {
        SandBodyRecord *r = records->scratch[k];
        warm->solver_index[local[r->id]] = k;
        warm->first[k] = count;
        keep_contacts(warm, r, local, contacts, &count);
    }
    warm->first[last] = count;
    warm->body_count = last;
    warm->world_count = records->count;
    return true;
}
