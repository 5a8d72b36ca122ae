// SPDX-License-Identifier: MIT
// The table of formats, and the queue from the simulation to the thread that brings bodies from a device, and on to the one
// that writes.
#include "app/io/export/exporter.h"
#include "app/io/export/parts.h"
#include "app/io/export/scenery.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ExportFormat *const formats[] = {&export_vtkhdf, &export_pvd, &export_gsd, &export_usd, &export_csv};
enum { FORMATS = sizeof formats / sizeof *formats, QUEUE = 4 };

struct Exporter {
    ExportDef def;
    const ExportFormat *format;
    void *writer;     // of the format
    Scenery *scenery; // NULL: the format has none, or another rank writes it
    ExportMessage *tell;
    void *user;
    ExportScratch scratch, completer_scratch;
    bool in_parts; // each rank writes a part of a frame
    bool told_slow, told_fault;

    // Shared with the threads that complete frames and write them.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t completer, thread;
    ExportFrame frames[QUEUE];      // a ring
    int64_t given, completed, done; // frames put into the ring, with all their numbers, and written
    bool closing, failed;
    SandError fault;
};

// --- formats ------------------------------------------------------------------------------------------------

int exporter_format_count(void) { return FORMATS; }
const ExportFormat *exporter_format(int k) { return formats[k]; }

static const ExportFormat *find_format(const char *path) {
    const char *dot = strrchr(path, '.');
    for (int k = 0; dot && k < FORMATS; k++)
        if (!strcmp(dot, formats[k]->ending)) return formats[k];
    return NULL;
}

bool exporter_knows(const char *path, SandError *error) {
    if (find_format(path)) return true;
    char endings[80] = "";
    for (int k = 0; k < FORMATS; k++)
        snprintf(endings + strlen(endings), sizeof endings - strlen(endings), "%s%s", k ? ", " : "", formats[k]->ending);
    return sand_fail(error, "%.200s: the ending says the format: %s", path, endings);
}

bool exporter_has_parts(const ExportDef *def) {
    bool several = def->ranks && def->ranks->count > 1;
    return several && find_format(def->path)->list && !export_needs(def->choice);
}

// --- the threads that complete frames and write them --------------------------------------------------------

static bool complete_frame(Exporter *e, ExportFrame *frame, SandError *fault) {
    if (!export_complete(frame, e->def.choice, e->format->exact, &e->completer_scratch, fault)) return false;
    if (e->format->prepare) e->format->prepare(e->writer, frame);
    return true;
}

// Lists a frame that is written, and writes what is around the bodies.
static bool list_frame(Exporter *e, ExportFrame *frame, SandError *fault) {
    return (!e->format->list || e->format->list(e->writer, frame, fault)) &&
           (!e->scenery || scenery_write(e->scenery, frame, fault));
}

static bool write_frame(Exporter *e, ExportFrame *frame, SandError *fault) {
    return e->format->write(e->writer, frame, fault) && list_frame(e, frame, fault);
}

// Does one thing to the frames in their order: those up to `*before` are ready for it, those up to `*after` have it behind
// them. After a fault frames are dropped.
static void pass_frames(Exporter *e, const int64_t *before, int64_t *after,
                        bool (*act)(Exporter *, ExportFrame *, SandError *)) {
    pthread_mutex_lock(&e->lock);
    for (;;) {
        while (*after == *before && !(e->closing && *after == e->given)) pthread_cond_wait(&e->changed, &e->lock);
        if (*after == *before) break;
        ExportFrame *frame = &e->frames[*after % QUEUE];
        bool skip = e->failed;
        SandError fault = {""};
        pthread_mutex_unlock(&e->lock);
        bool acted = skip || act(e, frame, &fault);
        pthread_mutex_lock(&e->lock);
        if (!acted && !e->failed) e->fault = fault;
        e->failed = e->failed || !acted;
        ++*after;
        pthread_cond_broadcast(&e->changed);
    }
    pthread_mutex_unlock(&e->lock);
}

static void *complete_frames(void *argument) {
    Exporter *e = argument;
    pass_frames(e, &e->given, &e->completed, complete_frame);
    return NULL;
}

static void *write_frames(void *argument) {
    Exporter *e = argument;
    pass_frames(e, &e->completed, &e->done, write_frame);
    return NULL;
}

// --- the side of the simulation -----------------------------------------------------------------------------

static void end_thread(Exporter *e, pthread_t thread) {
    pthread_mutex_lock(&e->lock);
    e->closing = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    pthread_join(thread, NULL);
}

static bool start_threads(Exporter *e) {
    if (pthread_create(&e->completer, NULL, complete_frames, e) != 0) return false;
    if (pthread_create(&e->thread, NULL, write_frames, e) == 0) return true;
    end_thread(e, e->completer);
    return false;
}

Exporter *exporter_open(const ExportDef *def, ExportMessage *tell, void *user, SandError *error) {
    Exporter *e = calloc(1, sizeof *e);
    if (!e) return sand_fail(error, "out of memory for an export"), NULL;
    e->def = *def;
    e->tell = tell;
    e->user = user;
    e->format = find_format(def->path);
    export_require(&e->def.choice[EXPORT_BODIES], e->format->required);
    e->in_parts = exporter_has_parts(def);
    e->def.part = e->in_parts ? def->ranks->rank : 0;
    signal(SIGXFSZ, SIG_IGN); // a file at its limit is a fault like a full disk
    SandError why;
    e->writer = e->format->open(&e->def, &why);
    if (!e->writer) {
        free(e);
        return sand_fail(error, "--export %s", why.text), NULL;
    }
    if (e->format->scenery && e->def.part == 0 && !(e->scenery = scenery_open(&e->def, &why))) {
        SandError ignored;
        e->format->close(e->writer, &ignored);
        free(e);
        return sand_fail(error, "--export %s", why.text), NULL;
    }
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
    if (e->in_parts || start_threads(e)) return e;
    e->format->close(e->writer, &why);
    scenery_free(e->scenery);
    free(e);
    return sand_fail(error, "no thread for the export"), NULL;
}

static bool is_due(const ExportDef *def, const SandWorld *w) {
    const double early = 1e-6; // rounding makes no frame late
    return w->step_index == 0 || floor(def->rate * w->time + early) > floor(def->rate * (w->time - w->step) + early);
}

static void tell_slow(Exporter *e) {
    char sentence[SAND_NAME + 200];
    if (e->told_slow) return;
    snprintf(sentence, sizeof sentence,
             "--export %.120s: is written more slowly than the simulation runs, which waits for it", e->def.path);
    e->tell(e->user, sentence);
    e->told_slow = true;
}

// Waits for a free frame of the ring. NULL: the export has ended with a fault.
static ExportFrame *next_frame(Exporter *e) {
    pthread_mutex_lock(&e->lock);
    bool full = e->given - e->done == QUEUE && !e->failed;
    pthread_mutex_unlock(&e->lock);
    if (full) tell_slow(e);
    pthread_mutex_lock(&e->lock);
    while (e->given - e->done == QUEUE && !e->failed) pthread_cond_wait(&e->changed, &e->lock);
    bool failed = e->failed;
    pthread_mutex_unlock(&e->lock);
    return failed ? NULL : &e->frames[e->given % QUEUE];
}

static void tell_fault(Exporter *e) {
    char sentence[sizeof e->fault.text + 80];
    if (e->told_fault) return;
    snprintf(sentence, sizeof sentence, "--export %s; the export ends here, the run goes on", e->fault.text);
    e->tell(e->user, sentence);
    e->told_fault = true;
}

// All ranks end the export here: one of them has failed.
static bool end_parts(Exporter *e) {
    e->failed = true;
    return tell_fault(e), true;
}

// Writes the part of this rank, while the others write theirs. No thread does it: ranks talk to each other on the first one
// alone, and each has little to write.
static bool step_in_parts(Exporter *e, SandSimulation *sim, SandError *error) {
    ExportFrame *frame = &e->frames[0];
    if (e->told_fault) return true;
    if (!parts_meet(e->def.ranks, !e->failed, frame, &e->fault, error)) return false; // the list may have failed
    if (!frame->part_count) return end_parts(e);
    if (!export_capture_block(frame, sim, e->def.choice, e->format->exact, &e->scratch, error)) return false;
    bool written = e->format->write(e->writer, frame, &e->fault);
    if (!parts_meet(e->def.ranks, written, frame, &e->fault, error)) return false;
    if (!frame->part_count) return end_parts(e);
    if (e->def.part == 0) e->failed = !list_frame(e, frame, &e->fault);
    return true;
}

// An act of a take has moved the simulation to one process, which goes on with whole frames.
static bool step_alone(Exporter *e, SandSimulation *sim, SandError *error) {
    ExportFrame *frame = &e->frames[0];
    if (e->failed) return tell_fault(e), true;
    if (!export_capture(frame, sim, e->def.choice, e->format->exact, &e->scratch, error)) return false;
    frame->part_count = 0;
    e->failed = !(export_complete(frame, e->def.choice, e->format->exact, &e->scratch, &e->fault) &&
                  write_frame(e, frame, &e->fault));
    return true;
}

bool exporter_step(Exporter *e, SandSimulation *sim, SandError *error) {
    return !is_due(&e->def, sand_simulation_world(sim)) || exporter_write(e, sim, error);
}

bool exporter_write(Exporter *e, SandSimulation *sim, SandError *error) {
    if (e->in_parts)
        return sand_simulation_backend(sim)->read_block ? step_in_parts(e, sim, error) : step_alone(e, sim, error);
    ExportFrame *frame = next_frame(e);
    if (!frame) return tell_fault(e), true;
    if (!export_capture(frame, sim, e->def.choice, e->format->exact, &e->scratch, error)) return false;
    pthread_mutex_lock(&e->lock);
    e->given++;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return true;
}

void exporter_wait(Exporter *e) {
    pthread_mutex_lock(&e->lock);
    while (e->done < e->given) pthread_cond_wait(&e->changed, &e->lock);
    // The thread waits for the next frame, and leaves the writer alone.
    if (e->format->flush && !e->failed) e->failed = !e->format->flush(e->writer, &e->fault);
    pthread_mutex_unlock(&e->lock);
}

bool exporter_close(Exporter *e, SandError *error) {
    SandError closing = {""};
    if (!e) return true;
    if (!e->in_parts) {
        end_thread(e, e->completer);
        end_thread(e, e->thread);
    }
    bool closed = e->format->close(e->writer, &closing);
    bool whole = !e->failed && closed;
    if (!whole) sand_fail(error, "--export %.480s", e->failed ? e->fault.text : closing.text);
    if (!whole && e->told_fault) sand_fail(error, "--export %.200s: is not complete", e->def.path);
    for (int k = 0; k < QUEUE; k++) export_frame_free(&e->frames[k]);
    export_scratch_free(&e->scratch);
    export_scratch_free(&e->completer_scratch);
    scenery_free(e->scenery);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->changed);
    free(e);
    return whole;
}
