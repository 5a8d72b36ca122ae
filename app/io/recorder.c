// SPDX-License-Identifier: MIT
// The recorder: a ring of pixel buffers for asynchronous read-back, a queue of frames for the PNG workers, and the film.
// recorder_add starts the read-back of one frame and collects an older one, which has arrived by then.
#include "app/io/recorder.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glad/gl.h>

#include "app/io/png.h"

enum { RING = 3, MOST_WORKERS = 16 };

typedef struct Slot {
    GLuint buffer;
    GLsync fence;
    bool full;
} Slot;

typedef struct Job {
    int64_t number; // of the frame
    unsigned char *pixels;
    struct Job *next;
} Job;

struct Recorder {
    RecorderDef def;
    char folder[1024];
    char text[256];
    Film *film;
    Caption *caption;
    Slot ring[RING];
    int64_t taken; // frames whose read-back has been started
    int64_t given; // frames passed on to workers and film

    // Shared with the workers.
    pthread_mutex_t lock;
    pthread_cond_t work, not_full;
    pthread_t workers[MOST_WORKERS];
    int worker_count;
    Job *first, *last;
    int waiting; // jobs not yet done
    bool closing;
    bool failed;
    SandError fault; // of the PNG files
    SandError film_fault;

    // Closing.
    bool ending; // no more frames; a thread waits for the last writes
    bool has_finisher;
    pthread_t finisher;
    atomic_bool ended;
    bool ok; // every frame was passed on
    SandError end_fault;
};

void recorder_frame_path(char *path, size_t capacity, const char *folder, int64_t number) {
    snprintf(path, capacity, "%s/frame_%05lld.png", folder, (long long)number);
}

// --- workers: PNG files -------------------------------------------------------------------------------------

// RGB where there is no alpha: smaller files.
static void drop_alpha(unsigned char *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) memmove(pixels + 3 * i, pixels + 4 * i, 3);
}

static void *work(void *argument) {
    Recorder *r = argument;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        while (!r->first && !r->closing) pthread_cond_wait(&r->work, &r->lock);
        Job *job = r->first;
        if (!job) break;
        r->first = job->next;
        bool skip = r->failed;
        pthread_mutex_unlock(&r->lock);

        char path[1100];
        SandError error = {""};
        recorder_frame_path(path, sizeof path, r->folder, job->number);
        if (!r->def.alpha) drop_alpha(job->pixels, (size_t)r->def.width * (size_t)r->def.height);
        bool written = !skip && png_write(path, r->def.width, r->def.height, r->def.alpha ? 4 : 3, job->pixels, &error);
        free(job->pixels);
        free(job);

        pthread_mutex_lock(&r->lock);
        r->waiting--;
        if (!written && !skip && !r->failed) {
            r->failed = true;
            r->fault = error;
        }
        pthread_cond_broadcast(&r->not_full);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

// --- opening ------------------------------------------------------------------------------------------------

static bool make_folder(const char *path, SandError *error) {
    struct stat about;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) return sand_fail(error, "%.300s: %s", path, strerror(errno));
    if (stat(path, &about) != 0) return sand_fail(error, "%.300s: %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode)) return sand_fail(error, "%.300s: is not a folder", path);
    if (access(path, W_OK | X_OK) != 0) return sand_fail(error, "%.300s: %s", path, strerror(errno));
    return true;
}

static bool start_workers(Recorder *r, SandError *error) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int wanted = r->def.workers ? r->def.workers : cores < 1 ? 1 : (int)cores;
    if (wanted > MOST_WORKERS) wanted = MOST_WORKERS;
    while (r->worker_count < wanted && pthread_create(&r->workers[r->worker_count], NULL, work, r) == 0) r->worker_count++;
    return r->worker_count > 0 || sand_fail(error, "no thread for writing PNG files");
}

Recorder *recorder_open(const RecorderDef *def, SandError *error) {
    Recorder *r = calloc(1, sizeof *r);
    if (!r) return sand_fail(error, "out of memory for a recorder"), NULL;
    r->def = *def;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->work, NULL);
    pthread_cond_init(&r->not_full, NULL);
    bool open = true;
    if (def->caption) {
        snprintf(r->text, sizeof r->text, "%s", def->caption);
        open = (r->caption = caption_create(error)) != NULL;
    }
    if (open && def->folder) {
        snprintf(r->folder, sizeof r->folder, "%s", def->folder);
        open = make_folder(r->folder, error) && start_workers(r, error);
    }
    if (open && def->film) open = (r->film = film_open(def->film, error)) != NULL;
    if (!open) {
        SandError closing;
        recorder_close(r, &closing);
        return NULL;
    }
    for (int i = 0; i < RING; i++) {
        glCreateBuffers(1, &r->ring[i].buffer);
        glNamedBufferStorage(r->ring[i].buffer, (GLsizeiptr)((size_t)def->width * (size_t)def->height * 4), NULL,
                             GL_MAP_READ_BIT);
    }
    return r;
}

// --- taking frames ------------------------------------------------------------------------------------------

// Queues a frame for the workers; waits while the queue is full.
static bool give_png(Recorder *r, unsigned char *pixels, SandError *error) {
    Job *job = malloc(sizeof *job);
    if (!job) {
        free(pixels);
        return sand_fail(error, "out of memory for a frame");
    }
    *job = (Job){.number = r->def.first + r->given, .pixels = pixels};
    pthread_mutex_lock(&r->lock);
    while (r->waiting >= 2 * r->worker_count && !r->failed && !r->ending) pthread_cond_wait(&r->not_full, &r->lock);
    if (r->first)
        r->last->next = job;
    else
        r->first = job;
    r->last = job;
    r->waiting++;
    bool failed = r->failed;
    if (failed) *error = r->fault;
    pthread_cond_signal(&r->work);
    pthread_mutex_unlock(&r->lock);
    return !failed;
}

// A film that fails ends the recording only when there are no PNG files.
static bool give_film(Recorder *r, const unsigned char *pixels, SandError *error) {
    SandError fault, last = {""};
    if (film_write(r->film, pixels, &fault)) return true;
    // The error of ffmpeg says more.
    r->film_fault = film_close(r->film, &last) ? fault : last;
    r->film = NULL;
    if (r->def.folder) return true;
    *error = r->film_fault;
    return false;
}

// Maps the oldest pixel buffer, flips the rows, and passes the frame on.
static bool pass_on_oldest_frame(Recorder *r, SandError *error) {
    Slot *slot = &r->ring[r->given % RING];
    size_t row = (size_t)r->def.width * 4, height = (size_t)r->def.height;
    slot->full = false;
    glClientWaitSync(slot->fence, GL_SYNC_FLUSH_COMMANDS_BIT, 60ull * 1000 * 1000 * 1000);
    glDeleteSync(slot->fence);
    unsigned char *pixels = malloc(row * height);
    const unsigned char *from = glMapNamedBuffer(slot->buffer, GL_READ_ONLY);
    if (!pixels || !from) {
        free(pixels);
        return sand_fail(error, "a frame could not be read back");
    }
    for (size_t y = 0; y < height; y++) memcpy(pixels + y * row, from + (height - 1 - y) * row, row);
    glUnmapNamedBuffer(slot->buffer);
    if (r->caption) caption_draw(r->caption, r->text, caption_size(r->def.height), pixels, r->def.width, r->def.height);

    bool ok = !r->film || give_film(r, pixels, error);
    if (r->def.folder && ok)
        ok = give_png(r, pixels, error);
    else
        free(pixels);
    r->given++;
    return ok;
}

bool recorder_add(Recorder *r, unsigned framebuffer, SandError *error) {
    Slot *slot = &r->ring[r->taken % RING];
    if (slot->full && !pass_on_oldest_frame(r, error)) return false;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, slot->buffer);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, r->def.width, r->def.height, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    slot->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    slot->full = true;
    r->taken++;
    return true;
}

// Waits for the workers, and for ffmpeg.
static void *finish(void *argument) {
    Recorder *r = argument;
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    for (int i = 0; i < r->worker_count; i++) pthread_join(r->workers[i], NULL);
    SandError fault;
    if (r->film && !film_close(r->film, &fault)) r->film_fault = fault;
    atomic_store(&r->ended, true);
    return NULL;
}

void recorder_end(Recorder *r) {
    if (r->ending) return;
    r->ending = r->ok = true; // from here on nothing waits for the queue
    while (r->ok && r->given < r->taken) r->ok = pass_on_oldest_frame(r, &r->end_fault);
    for (int i = 0; i < RING; i++) {
        if (r->ring[i].full) glDeleteSync(r->ring[i].fence);
        if (r->ring[i].buffer) glDeleteBuffers(1, &r->ring[i].buffer);
    }
    r->has_finisher = pthread_create(&r->finisher, NULL, finish, r) == 0;
    if (!r->has_finisher) finish(r);
}

bool recorder_ended(const Recorder *r) { return atomic_load(&r->ended); }

bool recorder_close(Recorder *r, SandError *error) {
    recorder_end(r);
    if (r->has_finisher) pthread_join(r->finisher, NULL);
    bool ok = r->ok;
    if (!ok) *error = r->end_fault;
    if (ok && r->failed) {
        *error = r->fault;
        ok = false;
    }
    if (ok && *r->film_fault.text) {
        *error = r->film_fault;
        ok = false;
    }
    caption_free(r->caption);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->work);
    pthread_cond_destroy(&r->not_full);
    free(r);
    return ok;
}

const char *recorder_complaint(const Recorder *r) { return r->film_fault.text; }
