// SPDX-License-Identifier: MIT
// The bridge to Python: a few functions of the program under names that the shared library exports.
#include "python/bridge.h"

#include "app/engine/backends.h"
#include "app/engine/settled.h"
#include "sim/core/array.h"
#include "sim/core/suggestion.h"
#include "sim/step/checkpoint_file.h"

#include <string.h>

void sand_python_enable(void) {
#ifdef SAND_REFERENCE
    sand_reference_enable();
#endif
}

bool sand_python_build(SandScene *scene, int threads, SandError *error) {
    SettledDef settle = {.threads = threads};
    return settled_build(scene, &settle, error);
}

bool sand_python_backend(const char *name, const SandSolveDef *solve, SandPrecision precision, const SandBackend **backend,
                         SandError *error) {
    SandSuggestion names = sand_suggestion(name);
    for (int i = 0; i < BACKEND_COUNT; i++) {
        if (strcmp(backend_names[i], name) == 0) return backends_choose((Backend)i, solve, precision, backend, error);
        sand_suggestion_add(&names, backend_names[i]);
    }
    return sand_fail(error, "%.60s: there is no such backend; %s", name, sand_suggestion_text(&names));
}

// The larger copy of an array of bodies.
static bool outgrow(void **array, size_t *capacity, size_t used, size_t wanted, size_t size, SandError *error) {
    void *larger = NULL;
    size_t grown = 0;
    if (!sand_grow(&larger, &grown, wanted, size, "bodies", error)) return false;
    if (used) memcpy(larger, *array, used * size);
    *array = larger;
    *capacity = grown;
    return true;
}

bool sand_python_reserve(SandWorld *w, int bodies, void **retired, int *count, SandError *error) {
    size_t used = (size_t)w->body_count, wanted = (size_t)bodies + (size_t)bodies / 2;
    *count = 0;
#define OUTGROW(type, name) \
    if (w->body_capacity.name < (size_t)bodies) { \
        void *array = w->name; \
        if (!outgrow(&array, &w->body_capacity.name, used, wanted, sizeof(type), error)) return false; \
        if (w->name) retired[(*count)++] = w->name; \
        w->name = array; \
    }
    SAND_BODY_ARRAYS(OUTGROW)
#undef OUTGROW
#define COUNT(type, name) +1
    _Static_assert(0 SAND_BODY_ARRAYS(COUNT) <= SAND_PYTHON_ARRAYS, "the caller has an entry for each");
#undef COUNT
    return true;
}

bool sand_python_on_host(const SandSimulation *sim) { return sand_simulation_backend(sim)->on_host; }

bool sand_python_state(const void *bytes, size_t size, const char *name, SandStateInfo *info, SandError *error) {
    SandCheckpoint state = {0};
    SandCheckpointNotes notes;
    bool read = sand_checkpoint_decode(&state, &notes, bytes, size, name, error);
    *info = (SandStateInfo){state.time, (int64_t)state.step_index, state.body_count};
    if (read) sand_checkpoint_notes_free(&notes);
    sand_checkpoint_free(&state);
    return read;
}
