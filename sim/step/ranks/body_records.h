// Bodies as ranks send them to each other: a record of fixed size, the impact margins of its spheres, and the impulses of
// the contacts that it owned in the last step. Bodies and boundaries are named by their numbers in the world.
#pragma once
#include "sim/core/messages.h"
#include "sim/step/backend.h"
#include "sim/world/body_arrays.h"

typedef struct SandBodyRecord {
    int bytes; // with what follows it: SandVec3 ... margins, SandKeptContact ... contacts
    int id;    // of the body in the world
    int owner; // rank
    int spheres, contacts;
    int order;   // solver index in the last step, in the whole world, -1: none
    int row;     // of its contacts in the warm start of who received it
    bool active; // takes part in the step
    SAND_BODY_ARRAYS(SAND_BODY_MEMBER)
    SandVec3 low, high; // m, the box of all that it may reach in the step
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

// What bodies are packed from: a state whose stored contacts name bodies by their numbers in the world; the number in the
// world of each of its bodies (NULL: the same); and their solver indices in the last step of the world (NULL: the same).
typedef struct SandRecordSource {
    const SandHostState *state;
    const int *id, *order;
} SandRecordSource;

// The solver index of body i of the state in the last step, as the warm start of the state numbers it, or -1.
int sand_last_index(const SandHostState *state, int i);
size_t sand_record_bytes(const SandRecordSource *from, int i); // of body i of the state
// Appends it to what is sent to a rank; who it belongs to and how far it reaches is for the caller to fill in. NULL when
// memory runs out.
SandBodyRecord *sand_record_put(SandMessages *messages, int rank, const SandRecordSource *from, int i, SandError *error);

// Records one behind the other, and where each begins.
typedef struct SandRecords {
    SandBodyRecord **list;
    int count;
    SandBodyRecord **scratch;
    size_t capacity, scratch_capacity;
} SandRecords;
void sand_records_free(SandRecords *records);
void sand_records_clear(SandRecords *records);
// Lists the records in these bytes behind those listed already.
bool sand_records_add(SandRecords *records, uint8_t *bytes, size_t count, SandError *error);
bool sand_records_sort(SandRecords *records, SandError *error); // by the number of the body

// Puts records between bodies, which keep their order: body i is then the one that was body from[i], or that of record
// -1 - from[i].
bool sand_bodies_merge(SandWorld *world, const int *from, int count, const SandRecords *records, SandError *error);

// Contacts of a warm start that stay: those of rows `first` to `end` - 1, whose bodies had the solver indices `order` and
// following in the whole world.
typedef struct SandKeptRows {
    int first, end, order;
} SandKeptRows;
// Fills the warm start of merged bodies from those rows of the one there was and from the records. local[id]: which one of
// the bodies a body of the world is, from 1 on, 0: none; NULL: contacts go on naming bodies by their numbers in the world.
bool sand_records_to_warm_start(SandRecords *records, const SandWarmStart *kept, const SandKeptRows *rows, const int *from,
                                int count, const int *local, SandWarmStart *to, SandError *error);
