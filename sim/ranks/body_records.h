// SPDX-License-Identifier: MIT
// The record of a body, as ranks send it to each other: a struct of fixed size, then the impact margins of its spheres, then
// the contacts that it owned in the last step, with their impulses. Contacts name bodies by global_id.
#pragma once
#include "sim/core/array.h"
#include "sim/ranks/messages.h"
#include "sim/step/backend.h"
#include "sim/world/body_arrays.h"

#ifdef __cplusplus
extern "C" {
#endif

// What ranks on the CPU and on GPUs send of a body: all arrays of bodies, its global_id and its rank.
#define SAND_SENT_ARRAYS(ARRAY) SAND_BODY_ARRAYS(ARRAY) ARRAY(int, number) ARRAY(uint8_t, owner)

typedef struct SandBodyRecord {
    int bytes;             // of the whole record, with margins and contacts
    int spheres, contacts; // how many margins and contacts follow
    int order;             // solver index in the last step, among the bodies of all ranks; -1: none
    int row;               // its row in the warm start of the receiver, which sets it
    bool active;           // takes part in the step
    SAND_SENT_ARRAYS(SAND_BODY_MEMBER)
    SandVec3 low, high; // m, the box of everything that it may reach in the step
} SandBodyRecord;

// A contact of the last step, as the warm start has it.
typedef struct SandKeptContact {
    SandContactKey key;
    SandVec3 impulse, torque;
    double approach;
} SandKeptContact;

static inline double *sand_record_margins(SandBodyRecord *r) { return (double *)(void *)(r + 1); }
static inline SandKeptContact *sand_record_contacts(SandBodyRecord *r) {
    return (SandKeptContact *)(void *)(sand_record_margins(r) + r->spheres);
}

// The source of records.
typedef struct SandRecordSource {
    const SandHostState *state; // its warm start names bodies by global_id
    const int *id;              // global_id of each body of the state; NULL: its index
    const int *order;           // as SandBodyRecord.order, of each body; NULL: sand_last_index
} SandRecordSource;

// The solver index of body i of the state in the last step, as in the warm start of the state; -1: none.
int sand_last_index(const SandHostState *state, int i);
size_t sand_record_bytes(const SandRecordSource *from, int i); // of body i of the state
// Appends the record of body i to the message for a rank. The caller sets owner, active, low, high and the margins. NULL
// when memory runs out.
SandBodyRecord *sand_record_put(SandMessages *messages, int rank, const SandRecordSource *from, int i, SandError *error);

// A list of records, which point into the messages that they came in.
typedef struct SandRecords {
    SAND_ARRAY(SandBodyRecord *) list, scratch;
    int count;
} SandRecords;
void sand_records_free(SandRecords *records);
void sand_records_clear(SandRecords *records);
// Appends the records in these bytes to the list.
bool sand_records_add(SandRecords *records, uint8_t *bytes, size_t count, SandError *error);
bool sand_records_sort(SandRecords *records, SandError *error); // by global_id

// Merges records with bodies, which keep their order: the new body i is the old body from[i], or, where that is negative,
// record -1 - from[i].
bool sand_bodies_merge(SandWorld *world, const int *from, int count, const SandRecords *records, SandError *error);

// The rows of a warm start that are kept in a merge: `first` to `end` - 1. Their bodies had consecutive solver indices in
// the last step, from `order` on, among the bodies of all ranks.
typedef struct SandKeptRows {
    int first, end, order;
} SandKeptRows;
// Fills the warm start of merged bodies from the kept rows of the one before and from the records. `local`: 1 + the local id
// of each body of the world, 0 where it is not held; NULL: contacts still name bodies by global_id.
bool sand_records_to_warm_start(SandRecords *records, const SandWarmStart *kept, const SandKeptRows *rows, const int *from,
                                int count, const int *local, SandWarmStart *to, SandError *error);

// A body as it is read back: what a step changes of it.
typedef struct SandReadBody {
    SandBodyEntry entry;
    int number, index; // global_id; solver index in the last step, -1: none, or not known
} SandReadBody;
// Puts received bodies, which must be those from `first` to `end` - 1 in any order, into the world. `index`: NULL, or
// receives their solver indices.
bool sand_read_bodies(SandWorld *world, const SandMessages *messages, int first, int end, int *index, SandError *error);

#ifdef __cplusplus
}
#endif
