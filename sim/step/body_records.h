// Bodies as ranks send them to each other: a record of fixed size, the impact margins of its spheres, and the impulses of
// the contacts that it owned in the last step. Bodies and boundaries are named by their numbers in the world.
#pragma once
#include "sim/core/mail.h"
#include "sim/step/backend.h"

typedef struct SandBodyRecord {
    int bytes; // with what follows it: SandVec3 ... margins, SandKeptContact ... contacts
    int id;    // of the body in the world
    int owner; // rank
    int spheres, contacts;
    int order; // solver index in the last step, -1: none
    int shape, material;
    uint16_t rest;
    uint8_t gone, active; // active: takes part in the step
    SandVec3 position, velocity, spin, inertia;
    SandQuat rotation;
    double mass, scale, enter;
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

// Where bodies are packed from: numbers in the world of those of the state (NULL: they are those), and the solver index in
// the whole world of the first one of the state.
typedef struct SandRecordSource {
    const SandHostState *state;
    const int *id;
    int shift;
} SandRecordSource;

size_t sand_record_bytes(const SandRecordSource *from, int i); // of body i of the state
// Appends it to what is sent to a rank.
bool sand_record_put(SandMail *mail, int rank, const SandRecordSource *from, int i, SandError *error);

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

// Fills the bodies of a world, whose other members stay.
bool sand_records_to_world(const SandRecords *records, SandWorld *world, SandError *error);
// Fills the warm start of those bodies. local[id]: which one of the records a body of the world is, -1: none. The members
// that are the same for all bodies stay.
bool sand_records_to_warm_start(SandRecords *records, const int *local, SandWarmStart *warm, SandError *error);
