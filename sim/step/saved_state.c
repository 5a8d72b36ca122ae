// SPDX-License-Identifier: MIT
// Saving a simulation to memory and to files, and restoring it from what may be anything (sandglass/checkpoint.h). The
// format is that of checkpoint_file.h.
#include "sim/core/array.h"
#include "sim/step/checkpoint_file.h"

// The library keeps no notes of its own; the program, which does, sees whose file it is.
static const SandCheckpointNotes of_library = {.origin = "saved by the library\n", .progress = ""};

bool sand_simulation_save(SandSimulation *sim, void **bytes, size_t *size, SandError *error) {
    SandCheckpoint state = {0};
    bool saved = sand_simulation_save_state(sim, &state, error);
    if (saved) sand_checkpoint_mark(&state, sand_simulation_world(sim));
    saved = saved && sand_checkpoint_encode(&state, &of_library, bytes, size, error);
    sand_checkpoint_free(&state);
    return saved;
}

bool sand_simulation_save_file(SandSimulation *sim, const char *path, SandError *error) {
    SandCheckpoint scratch = {0};
    bool written = sand_simulation_write_checkpoint(sim, &scratch, &of_library, path, error);
    sand_checkpoint_free(&scratch);
    return written;
}

// Restores what was read, and frees it.
static bool restore(SandSimulation *sim, bool read, SandCheckpoint *state, SandCheckpointNotes *notes, SandError *error) {
    bool restored = read && sand_simulation_restore_checked(sim, state, error);
    if (restored) sand_simulation_restore_counters(sim, state);
    if (read) sand_checkpoint_notes_free(notes);
    sand_checkpoint_free(state);
    return restored;
}

bool sand_simulation_restore(SandSimulation *sim, const void *bytes, size_t size, SandError *error) {
    SandCheckpoint state = {0};
    SandCheckpointNotes notes;
    return restore(sim, sand_checkpoint_decode(&state, &notes, bytes, size, "the state", error), &state, &notes, error);
}

bool sand_simulation_restore_file(SandSimulation *sim, const char *path, SandError *error) {
    SandCheckpoint state = {0};
    SandCheckpointNotes notes;
    SandError why;
    bool read = sand_checkpoint_read(&state, &notes, path, error);
    if (restore(sim, read, &state, &notes, &why)) return true;
    return read ? sand_fail(error, "%.200s: %s", path, why.text) : false;
}
