// SPDX-License-Identifier: MIT
// Writing checkpoints of a run when they are due, and going on from one: the notes of how the run was made are compared,
// acts that a checkpoint does not hold are replayed, and then its state is restored.
#include "app/cli/session/checkpoints.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/session/notes.h"
#include "sim/step/checkpoint_file.h"
#include "sim/world/world_key.h"

// Parses `500` (steps) and `30s` (seconds of the clock).
static bool read_interval(Checkpoints *c, const char *text, SandError *error) {
    char *end;
    double number = strtod(text, &end);
    bool seconds = !strcmp(end, "s"), steps = !*end && number == floor(number);
    if (end == text || !(number > 0 && number <= 1e9) || !(seconds || steps))
        return sand_fail(error, "--checkpoint-every %.60s: expected a number of steps, or seconds as in 60s", text);
    c->every_steps = steps ? (uint64_t)number : 0;
    c->every_seconds = number;
    return true;
}

// What the run starts from, as lines: all that decides it, and a key of the world for what those do not say.
static char *make_origin(const Session *session, const Options *options, SandError *error) {
    const SandWorld *world = sand_simulation_world(session->sim);
    Take start;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return sand_fail(error, "out of memory for a checkpoint"), NULL;
    take_begin(&start, session->has_take ? session->take.scene : session_name(options), &session->scene, world->step,
               session->def.precision, &session->def.solve, session->gravity);
    start.backend = backends_bits(session->def.backend);
    take_write_start(&start, out);
    if (session->has_take) fprintf(out, "take with key %016" PRIx64 "\n", session->take.text_hash);
    fprintf(out, "sandglass %s, compiled by %s\nscene with key %016" PRIx64 "\n", sand_version(), __VERSION__,
            sand_world_key(world));
    if (fclose(out) == 0) return text;
    free(text);
    return sand_fail(error, "out of memory for a checkpoint"), NULL;
}

bool checkpoints_open(Checkpoints *c, const Options *options, const Session *session, SandError *error) {
    const OptionValue *values = options->values;
    *c = (Checkpoints){.path = values[OPTION_CHECKPOINT].text, .last = progress_now()};
    if (!c->path) return true;
    return read_interval(c, values[OPTION_CHECKPOINT_EVERY].text, error) &&
           (c->origin = make_origin(session, options, error)) != NULL;
}

static char *make_progress(Session *session, const Peak *peak, SandError *error) {
    int64_t logged = log_flush(&session->log);
    char *text = malloc(256);
    if (!text) return sand_fail(error, "out of memory for a checkpoint"), NULL;
    snprintf(text, 256, "acts %d\npeak %a\npeak_walls %a\nlog %" PRId64 "\nexports %d\n", session->acts_done, peak->all,
             peak->walls, logged, session->exporter != NULL);
    if (logged >= 0) return text;
    free(text);
    return sand_fail(error, "--log %.200s: cannot be written", session->log.path), NULL;
}

bool checkpoints_due(const Checkpoints *c, const Session *session) {
    if (!c->path) return false;
    if (c->every_steps) return sand_simulation_world(session->sim)->step_index % c->every_steps == 0;
    return progress_now() - c->last >= c->every_seconds;
}

void checkpoints_write(Checkpoints *c, Session *session, const Peak *peak) {
    SandError error;
    if (!c->path) return;
    if (session->exporter) exporter_wait(session->exporter); // its frames are those up to here
    SandCheckpointNotes notes = {.origin = c->origin, .progress = make_progress(session, peak, &error)};
    bool written = notes.progress && sand_simulation_write_checkpoint(session->sim, &c->state, &notes, c->path, &error);
    free(notes.progress);
    c->last = progress_now();
    if (!written && !c->failing) {
        char sentence[sizeof error.text + 80];
        snprintf(sentence, sizeof sentence, "--checkpoint: %s; the run goes on without", error.text);
        progress_say(&session->progress, sentence);
    }
    c->failing = !written;
}

// Replays the acts that came before the checkpoint, for what it does not hold: bodies thrown, the solver, the backend. What
// they did to the motion is in the state that is restored next.
static bool replay(Session *session, int acts, SandError *error) {
    if (acts > session->take.acts.count) return sand_fail(error, "has more acts than the take");
    while (session->acts_done < acts)
        if (!act_apply(&session->take.acts.items[session->acts_done++].act, &session->scene, session->sim, &session->solve,
                       error))
            return false;
    return true;
}

static bool restore(Session *session, const SandCheckpoint *state, const char *progress, Peak *peak, SandError *error) {
    int acts, exports;
    int64_t logged;
    if (sscanf(progress, "acts %d\npeak %la\npeak_walls %la\nlog %" SCNd64 "\nexports %d", &acts, &peak->all, &peak->walls,
               &logged, &exports) != 5)
        return sand_fail(error, "its notes cannot be read");
    if (!replay(session, acts, error) || !sand_simulation_restore_state(session->sim, state, error)) return false;
    sand_simulation_restore_counters(session->sim, state);
    session->export.resumes = exports != 0;
    session->export.kept = state->step_index;
    return log_resume(&session->log, logged, error) &&
           probe_files_resume(&session->probes, sand_simulation_world(session->sim), error);
}

bool checkpoints_resume(Checkpoints *c, Session *session, Peak *peak, SandError *error) {
    SandCheckpointNotes notes;
    SandError why;
    if (!sand_checkpoint_read(&c->state, &notes, c->path, &why)) return sand_fail(error, "--resume: %s", why.text);
    bool same = notes_compare("resume", notes.origin, c->origin, c->path,
                              "start anew without --resume, or name another file", error);
    bool restored = same && restore(session, &c->state, notes.progress, peak, &why);
    if (same && !restored) sand_fail(error, "--resume %.150s: %.300s", c->path, why.text);
    sand_checkpoint_notes_free(&notes);
    sand_checkpoint_free(&c->state); // large, and ranks write others without it
    return restored;
}

void checkpoints_close(Checkpoints *c) {
    free(c->origin);
    sand_checkpoint_free(&c->state);
    *c = (Checkpoints){0};
}
