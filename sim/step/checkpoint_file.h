// SPDX-License-Identifier: MIT
// Checkpoints as bytes, in files and in memory, from which a later process goes on with the same bits: those of the program,
// of the library (sandglass/checkpoint.h) and of the Python package are the same. They are a sequence of little-endian
// 64-bit words: a magic number, the version of the format, two notes, the state, and a checksum of all before it. A file is
// written under another name and renamed, so that a kill at any moment leaves the last whole one. Several processes may
// write one file together, each its share; it has the same bytes then.
#pragma once
#include "sim/step/checkpoint.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SAND_CHECKPOINT_VERSION = 5 }; // of the format: others are refused

// Texts of the program that are kept with the state; the library does not look into them.
typedef struct SandCheckpointNotes {
    char *origin;   // what the run started from: who resumes it compares this with what it has
    char *progress; // what the program itself counts from step to step
} SandCheckpointNotes;
void sand_checkpoint_notes_free(SandCheckpointNotes *notes);

bool sand_checkpoint_write(const SandCheckpoint *checkpoint, const SandCheckpointNotes *notes, const char *path,
                           SandError *error);
// Writes the state of a simulation, with `scratch` where one process does it. Of several ranks each writes its share.
bool sand_simulation_write_checkpoint(SandSimulation *sim, SandCheckpoint *scratch, const SandCheckpointNotes *notes,
                                      const char *path, SandError *error);
// Reads what was written. Refuses a file that is damaged, cut off or of another version; checkpoint and notes then hold
// nothing that can be used, and may be freed.
bool sand_checkpoint_read(SandCheckpoint *checkpoint, SandCheckpointNotes *notes, const char *path, SandError *error);

// --- in memory ----------------------------------------------------------------------------------------------

// The bytes of the file, in memory: *bytes is the caller's, to be freed with sand_free.
bool sand_checkpoint_encode(const SandCheckpoint *checkpoint, const SandCheckpointNotes *notes, void **bytes, size_t *size,
                            SandError *error);
// Reads them, as sand_checkpoint_read does. `name`: what a sentence begins with.
bool sand_checkpoint_decode(SandCheckpoint *checkpoint, SandCheckpointNotes *notes, const void *bytes, size_t size,
                            const char *name, SandError *error);

// --- in shares ----------------------------------------------------------------------------------------------

typedef struct SandRange {
    int first, end;
} SandRange;

// The share of a file that one process writes: ranges of the arrays. The arrays of its checkpoint begin with the first items
// of these ranges, while their counts are those of the whole file.
typedef struct SandCheckpointShare {
    bool leads;         // writes everything but the arrays, too
    SandRange bodies;   // by global_id
    SandRange firsts;   // entries of `first` of the warm start, which has one more than bodies
    SandRange contacts; // by index in the file
    int contact_count;  // of the whole file
    SandVec3 *torque;   // of contacts in the range, with rolling friction
} SandCheckpointShare;

// What a checkpoint file has beside the state.
typedef struct SandCheckpointRequest {
    const char *path;
    const SandCheckpointNotes *notes;
    const SandCounters *counters;
} SandCheckpointRequest;

// Words that were written, and the sum of their terms.
typedef struct SandCheckpointSum {
    uint64_t words, checksum;
} SandCheckpointSum;

// The term of a word in the checksum, which depends on its place in the file. The checksum is the sum of all terms, so that
// each process can sum those that it writes. Every bit of word and place changes half of the bits of the term (the finalizer
// of splitmix64, Steele et al. 2014).
static inline uint64_t sand_checkpoint_term(uint64_t at, uint64_t word) {
    uint64_t x = word + (at + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// In this order: one process creates the file under a temporary name, all put their shares, and one finishes it with the sum
// of the checksums, which replaces the file of that path, or drops it.
bool sand_checkpoint_create(const char *path, SandError *error);
bool sand_checkpoint_put(const SandCheckpoint *checkpoint, const SandCheckpointNotes *notes,
                         const SandCheckpointShare *share, const char *path, SandCheckpointSum *sum, SandError *error);
bool sand_checkpoint_finish(const char *path, SandCheckpointSum sum, SandError *error);
void sand_checkpoint_drop(const char *path);

#ifdef __cplusplus
}
#endif
