// Checkpoints as files, from which a later process goes on with the same bits. A file is a sequence of little-endian 64-bit
// words: a magic number, the version of the format, two notes, the state, and a checksum of all before it. It is written
// under another name and renamed, so that a kill at any moment leaves the last whole one.
#pragma once
#include "sim/step/checkpoint.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SAND_CHECKPOINT_VERSION = 2 }; // of the format: others are refused

// Texts of the program that are kept with the state; the library does not look into them.
typedef struct SandCheckpointNotes {
    char *origin;   // what the run started from: who resumes it compares this with what it has
    char *progress; // what the program itself counts from step to step
} SandCheckpointNotes;
void sand_checkpoint_notes_free(SandCheckpointNotes *notes);

bool sand_checkpoint_write(const SandCheckpoint *checkpoint, const SandCheckpointNotes *notes, const char *path,
                           SandError *error);
// Reads what was written. Refuses a file that is damaged, cut off or of another version; checkpoint and notes then hold
// nothing that can be used, and may be freed.
bool sand_checkpoint_read(SandCheckpoint *checkpoint, SandCheckpointNotes *notes, const char *path, SandError *error);

#ifdef __cplusplus
}
#endif
