// SPDX-License-Identifier: MIT
// The format of checkpoints, in files and in memory. One function for each part of the state, exchange_..., both writes and
// reads it, so that the two cannot differ.
#include "sim/step/checkpoint_file.h"

#include "sim/core/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TEXT = 1 << 20, FILE_PATH = 4096 };
static const uint64_t MAGIC = 0x54504b43444e4153u; // "SANDCKPT"

// A file or an array being written or read. After the first fault nothing is exchanged any more.
typedef struct Stream {
    FILE *file;                        // NULL: it is in memory
    SAND_ARRAY(unsigned char) written; // there: owned until it is handed over
    const unsigned char *bytes;        // being read
    bool writes, ok;
    const SandCheckpointShare *share; // of a file being written: what of it
    uint64_t at;                      // words of the file so far
    bool moved;                       // some of them were left out, for others to write
    uint64_t left;                    // words of a file being read that have not been read yet
    uint64_t sum;                     // checksum of those that were written or read
    const char *path;
    SandError *error;
} Stream;

static void refuse(Stream *s, const char *why) {
    if (s->ok) s->ok = sand_fail(s->error, "%.300s: %s", s->path, why);
}

// --- words --------------------------------------------------------------------------------------------------

// Between the order of this machine's bytes and that of the file.
static uint64_t little_endian(uint64_t word) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

// Appends a block of words that are in the order of the file.
static void put_block(Stream *s, const uint64_t *block, size_t at, size_t count) {
    if (s->file) {
        if (fwrite(block, sizeof *block, count, s->file) != count) refuse(s, strerror(errno));
    } else if (SAND_RESERVE(s->written, 8 * (at + count), "checkpoint", s->error)) {
        memcpy(s->written.data + 8 * at, block, 8 * count);
    } else {
        s->ok = false;
    }
}

// Writes a block of words at a time.
static void write_words(Stream *s, const uint64_t *words, size_t count) {
    enum { BLOCK = 4096 };
    uint64_t block[BLOCK];
    if (s->moved && s->file && fseeko(s->file, (off_t)(8 * s->at), SEEK_SET) != 0) refuse(s, strerror(errno));
    s->moved = false;
    for (size_t done = 0; s->ok && done < count; done += BLOCK) {
        size_t size = count - done < BLOCK ? count - done : BLOCK;
        for (size_t i = 0; i < size; i++) block[i] = little_endian(words[done + i]);
        put_block(s, block, (size_t)s->at + done, size);
    }
}

static void read_words(Stream *s, uint64_t *words, size_t count) {
    if (count > s->left || (s->file && fread(words, sizeof *words, count, s->file) != count)) {
        refuse(s, "is cut off");
        return;
    }
    if (!s->file) memcpy(words, s->bytes + 8 * s->at, 8 * count);
    s->left -= count;
    for (size_t i = 0; i < count; i++) words[i] = little_endian(words[i]);
}

// Writes or reads items that are made of doubles or of 64-bit integers.
static void transfer(Stream *s, void *data, size_t count) {
    uint64_t *words = data;
    if (!s->ok || !count) return;
    if (s->writes) write_words(s, words, count);
    if (!s->writes) read_words(s, words, count);
    for (size_t i = 0; s->ok && i < count; i++) s->sum += sand_checkpoint_term(s->at + i, words[i]);
    s->at += count;
}

// Leaves words to others.
static void skip(Stream *s, uint64_t count) {
    s->at += count;
    s->moved = s->moved || count;
}

// The same for what is no array: the first of those that write does it.
static void exchange(Stream *s, void *data, size_t count) {
    if (s->writes && !s->share->leads)
        skip(s, count);
    else
        transfer(s, data, count);
}

// An integer between two limits.
static void transfer_int(Stream *s, int *value, int least, int most) {
    int64_t word = s->writes ? *value : least;
    transfer(s, &word, 1);
    if (word < least || word > most) refuse(s, "has a number out of range: it is damaged");
    if (s->ok) *value = (int)word;
}

static void exchange_int(Stream *s, int *value, int least, int most) {
    if (s->writes && !s->share->leads)
        skip(s, 1);
    else
        transfer_int(s, value, least, most);
}

static void exchange_flag(Stream *s, bool *value) {
    int word = s->writes ? *value : 0;
    exchange_int(s, &word, 0, 1);
    *value = word != 0;
}

// The number of items of an array whose items have at least this many words: a file cannot have more than it is long.
static void exchange_count(Stream *s, int *count, int words) {
    exchange_int(s, count, 0, INT32_MAX);
    if (!s->writes && s->ok && (uint64_t)*count > s->left / (uint64_t)words) refuse(s, "is cut off");
}

// --- arrays -------------------------------------------------------------------------------------------------

// Goes to the first of the items that are written here, each of `words` words, and returns how many there are; all of
// `count` when a file is read. end_items leaves the others behind them.
static int begin_items(Stream *s, int count, int words, SandRange range) {
    if (!s->writes) return count;
    skip(s, (uint64_t)range.first * (uint64_t)words);
    return range.end - range.first;
}

static void end_items(Stream *s, int count, int words, SandRange range) {
    if (s->writes) skip(s, (uint64_t)(count - range.end) * (uint64_t)words);
}

static void exchange_items(Stream *s, void *data, int count, int words, SandRange range) {
    int here = begin_items(s, count, words, range);
    transfer(s, data, (size_t)here * (size_t)words);
    end_items(s, count, words, range);
}

#define RESERVE(s, array, capacity, count) \
    ((s)->ok = (s)->ok && ((s)->writes || SAND_GROW(array, capacity, count, "checkpoint", (s)->error)))

// A text, padded to whole words. Read into memory of malloc.
static void exchange_text(Stream *s, char **text) {
    int length = s->writes ? (int)strlen(*text) : 0;
    exchange_int(s, &length, 0, MOST_TEXT);
    size_t words = (size_t)length / 8 + 1;
    uint64_t *padded = s->ok ? calloc(words, sizeof *padded) : NULL;
    if (s->ok && !padded) refuse(s, "out of memory for its text");
    if (s->writes && padded) memcpy(padded, *text, (size_t)length);
    exchange(s, padded, words);
    if (s->writes) free(padded);
    if (!s->writes) *text = (char *)padded;
    if (!s->writes && padded) ((char *)padded)[length] = '\0';
}

// --- the state ----------------------------------------------------------------------------------------------

static void exchange_boundary(Stream *s, SandBoundaryState *b) {
    SandMotion *m = &b->motion;
    exchange(s, &b->pose, 7);
    exchange(s, &m->velocity, 3);
    exchange(s, &m->center, 3);
    exchange(s, &m->axis, 3);
    exchange(s, &m->rate, 1);
    exchange(s, &m->start, 1);
    exchange(s, &m->stop, 1);
    exchange(s, &m->amplitude, 3);
    exchange(s, &m->swing, 1);
    exchange(s, &m->frequency, 1);
    exchange(s, &m->phase, 1);
    exchange(s, &m->surface, 3);
    exchange(s, &m->path, 1);
    exchange_flag(s, &b->moves);
}

static void exchange_joint(Stream *s, SandJoint *j) {
    SandDrive *d = &j->drive;
    int kind = (int)j->kind, motor = (int)d->motor;
    double *drive[] = {&d->low,      &d->high,      &d->target,  &d->rate, &d->speed,
                       &d->strength, &d->stiffness, &d->damping, &d->rest};
    SandVec3 *places[] = {&j->anchor_a, &j->anchor_b, &j->axis_a, &j->axis_b};
    exchange_int(s, &kind, 0, SAND_JOINT_KINDS - 1);
    exchange_int(s, &motor, 0, SAND_MOTOR_POSITION);
    j->kind = (SandJointKind)kind;
    d->motor = (SandMotor)motor;
    exchange_int(s, &j->a, -1, INT32_MAX);
    exchange_int(s, &j->b, 0, INT32_MAX);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) exchange(s, places[k], 3);
    exchange(s, &j->rest, 4);
    for (size_t k = 0; k < sizeof drive / sizeof *drive; k++) exchange(s, drive[k], 1);
}

static void exchange_settings(Stream *s, SandCheckpoint *c) {
    exchange(s, &c->time, 1);
    exchange(s, &c->step_index, 1);
    exchange(s, &c->gravity, 3);
    exchange_int(s, &c->spring.body, -1, INT32_MAX);
    exchange(s, &c->spring.point, 3);
    exchange(s, &c->spring.target, 3);
    exchange(s, &c->spring.rate, 1);
    exchange(s, &c->lower, 3);
    exchange(s, &c->upper, 3);
    exchange(s, &c->squeeze, 4);
    exchange_count(s, &c->boundary_count, 30);
    RESERVE(s, c->boundaries.data, c->boundaries.capacity, c->boundary_count);
    for (int b = 0; s->ok && b < c->boundary_count; b++) exchange_boundary(s, &c->boundaries.data[b]);
    exchange_count(s, &c->joint_count, 29);
    RESERVE(s, c->joints.data, c->joints.capacity, c->joint_count);
    for (int k = 0; s->ok && k < c->joint_count; k++) exchange_joint(s, &c->joints.data[k]);
}

static void exchange_flow(Stream *s, SandCheckpoint *c) {
    exchange_int(s, &c->outlet_count, 0, SAND_MAX_OUTLETS);
    exchange_int(s, &c->inlet_count, 0, SAND_MAX_INLETS);
    for (int k = 0; s->ok && k < c->outlet_count; k++) {
        exchange(s, &c->left_bodies[k], 1);
        exchange(s, &c->left_mass[k], 1);
    }
    for (int k = 0; s->ok && k < c->inlet_count; k++) exchange_int(s, &c->entered[k], 0, INT32_MAX);
}

static void exchange_probes(Stream *s, SandCheckpoint *c) {
    exchange_int(s, &c->probe_count, 0, SAND_MAX_PROBES);
    RESERVE(s, c->probes.data, c->probes.capacity, c->probe_count);
    for (int k = 0; s->ok && k < c->probe_count; k++) {
        exchange(s, c->probes.data[k].total, SAND_PROBE_TOTALS);
        exchange(s, &c->probes.data[k].sampled, 1);
        exchange(s, &c->probes.data[k].since, 1);
    }
}

static void exchange_bodies(Stream *s, SandCheckpoint *c) {
    exchange_count(s, &c->body_count, 14);
    int n = c->body_count;
    if (s->ok && !s->writes) s->ok = sand_checkpoint_reserve(c, n, s->error);
    SandRange range = s->writes ? s->share->bodies : (SandRange){0, 0};
    exchange_items(s, c->position, n, 3, range);
    exchange_items(s, c->rotation, n, 4, range);
    exchange_items(s, c->velocity, n, 3, range);
    exchange_items(s, c->spin, n, 3, range);
    int here = begin_items(s, n, 1, range);
    for (int i = 0; s->ok && i < here; i++) {
        int states = s->writes ? c->sleep[i] << 8 | c->gone[i] : 0;
        transfer_int(s, &states, 0, 0xffffff);
        if (s->writes) continue;
        c->gone[i] = (uint8_t)(states & 0xff);
        c->sleep[i] = (uint16_t)(states >> 8);
    }
    end_items(s, n, 1, range);
}

// Of each body its solver index. Bodies that were added since have none.
static void exchange_indices(Stream *s, SandWarmStart *warm) {
    int count = warm->world_count;
    SandRange range = s->writes ? s->share->bodies : (SandRange){0, 0};
    if (range.first > count) range.first = count;
    if (range.end > count) range.end = count;
    int here = begin_items(s, count, 1, range);
    for (int i = 0; s->ok && i < here; i++) transfer_int(s, &warm->solver_index[i], -1, warm->body_count - 1);
    end_items(s, count, 1, range);
}

// Where the contacts of each body begin; the last entry is their number.
static void exchange_firsts(Stream *s, SandWarmStart *warm, int contacts) {
    int count = warm->body_count + 1, least = 0;
    SandRange range = s->writes ? s->share->firsts : (SandRange){0, count};
    int here = begin_items(s, count, 1, range);
    for (int k = 0; s->ok && k < here; least = warm->first[k++])
        transfer_int(s, &warm->first[k], range.first + k < warm->body_count ? least : contacts, contacts);
    end_items(s, count, 1, range);
}

// Owners and keys of the contacts; returns how many there are.
static int exchange_keys(Stream *s, SandWarmStart *warm) {
    exchange_count(s, &warm->world_count, 1);
    exchange_int(s, &warm->body_count, 0, warm->world_count);
    RESERVE(s, warm->solver_index, warm->solver_index_capacity, warm->world_count);
    RESERVE(s, warm->first, warm->first_capacity, warm->body_count + 1);
    if (s->ok) exchange_indices(s, warm);
    int contacts = s->writes ? s->share->contact_count : 0;
    exchange_count(s, &contacts, 4);
    if (s->ok) exchange_firsts(s, warm, contacts);
    RESERVE(s, warm->key, warm->key_capacity, contacts);
    SandRange range = s->writes ? s->share->contacts : (SandRange){0, 0};
    int here = begin_items(s, contacts, 1, range);
    for (int i = 0; s->ok && i < here; i++) {
        uint64_t key = s->writes ? (uint64_t)warm->key[i].other << 32 | warm->key[i].feature : 0;
        transfer(s, &key, 1);
        if (!s->writes) warm->key[i] = (SandContactKey){.other = (uint32_t)(key >> 32), .feature = (uint32_t)key};
    }
    end_items(s, contacts, 1, range);
    return contacts;
}

static void exchange_warm_start(Stream *s, SandWarmStart *warm) {
    exchange(s, &warm->step, 1);
    if (!s->ok || warm->step == 0) return; // empty
    exchange(s, &warm->settings, 1);
    exchange_flag(s, &warm->bounces);
    exchange_flag(s, &warm->rolls);
    int contacts = exchange_keys(s, warm);
    if (warm->rolls && contacts > INT32_MAX / 2) refuse(s, "has more contacts than can be numbered");
    if (!s->ok || !contacts) return;
    RESERVE(s, warm->impulse, warm->impulse_capacity, warm->rolls ? 2 * contacts : contacts);
    RESERVE(s, warm->approach, warm->approach_capacity, warm->bounces ? contacts : 0);
    if (!s->ok) return;
    SandRange range = s->writes ? s->share->contacts : (SandRange){0, 0};
    exchange_items(s, warm->impulse, contacts, 3, range);
    if (warm->rolls) exchange_items(s, s->writes ? s->share->torque : warm->impulse + contacts, contacts, 3, range);
    if (warm->bounces) exchange_items(s, warm->approach, contacts, 1, range);
}

static void exchange_counters(Stream *s, SandCounters *c) {
    int *counts[] = {&c->bodies,           &c->contacts,      &c->joint_rows,     &c->asleep,
                     &c->solved_contacts,  &c->warm_started,  &c->iterations,     &c->lost_total,
                     &c->infeasible_total, &c->islands.count, &c->islands.solved, &c->islands.factorizations};
    SandMetrics *m = &c->metrics;
    double *figures[] = {&m->residual, &m->residual_rms,    &m->objective,         &m->complementarity, &m->relative,
                         &m->r_norm,   &c->penetration_max, &c->penetration_walls, &c->solved,          &c->islands.rms};
    int status = c->status;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) exchange_int(s, counts[k], 0, INT32_MAX);
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) exchange(s, figures[k], 1);
    exchange_int(s, &status, SAND_DIVERGED, SAND_SOLVED);
    c->status = (SandStatus)status;
}

static void exchange_head(Stream *s) {
    uint64_t magic = MAGIC;
    int version = SAND_CHECKPOINT_VERSION;
    exchange(s, &magic, 1);
    if (magic != MAGIC) refuse(s, "is no checkpoint of Sandglass");
    exchange_int(s, &version, 0, INT32_MAX);
    if (version != SAND_CHECKPOINT_VERSION) refuse(s, "is a checkpoint of another version of Sandglass");
}

// Everything but the checksum.
static void exchange_checkpoint(Stream *s, SandCheckpoint *c, SandCheckpointNotes *notes) {
    exchange_head(s);
    exchange_text(s, &notes->origin);
    exchange_text(s, &notes->progress);
    exchange(s, c->world.hash, SAND_TRAITS);
    exchange_settings(s, c);
    exchange_flow(s, c);
    exchange_probes(s, c);
    exchange_bodies(s, c);
    exchange_warm_start(s, &c->warm_start);
    exchange_counters(s, &c->counters);
}

static void check_checksum(Stream *s) {
    uint64_t sum = s->sum, word = sum;
    transfer(s, &word, 1);
    if (word != sum) refuse(s, "is damaged: its checksum is wrong");
    if (s->left) refuse(s, "goes on behind its end: it is damaged");
}

// --- files --------------------------------------------------------------------------------------------------

void sand_checkpoint_notes_free(SandCheckpointNotes *notes) {
    free(notes->origin);
    free(notes->progress);
    *notes = (SandCheckpointNotes){0};
}

// The name under which a checkpoint is written.
static bool part_name(char part[FILE_PATH], const char *path, SandError *error) {
    if (snprintf(part, FILE_PATH, "%s.part", path) < FILE_PATH) return true;
    return sand_fail(error, "%.60s...: the path is too long", path);
}

// Opens the file that is being written; another process may write it at the same time, and nothing is read of it.
static FILE *open_part(const char *path, int flags, SandError *error) {
    char part[FILE_PATH];
    if (!part_name(part, path, error)) return NULL;
    int descriptor = open(part, O_WRONLY | O_CLOEXEC | flags, 0666);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (file) return file;
    int why = errno;
    if (descriptor >= 0) close(descriptor);
    return sand_fail(error, "%.300s: %s", part, strerror(why)), NULL;
}

// Ends the writing of a stream: what was written is on the disk, or the stream is not well.
static void close_part(Stream *s) {
    if (s->ok && (fflush(s->file) != 0 || fsync(fileno(s->file)) != 0)) refuse(s, strerror(errno));
    if (fclose(s->file) != 0) refuse(s, strerror(errno));
}

bool sand_checkpoint_create(const char *path, SandError *error) {
    FILE *file = open_part(path, O_CREAT | O_TRUNC, error);
    return file && (fclose(file) == 0 || sand_fail(error, "%.300s: %s", path, strerror(errno)));
}

bool sand_checkpoint_put(const SandCheckpoint *checkpoint, const SandCheckpointNotes *notes,
                         const SandCheckpointShare *share, const char *path, SandCheckpointSum *sum, SandError *error) {
    Stream s = {.writes = true, .ok = true, .share = share, .path = path, .error = error};
    SandCheckpoint state = *checkpoint; // its arrays are borrowed, and stay as they are
    SandCheckpointNotes borrowed = *notes;
    if (!(s.file = open_part(path, 0, error))) return false;
    exchange_checkpoint(&s, &state, &borrowed);
    close_part(&s);
    *sum = (SandCheckpointSum){s.at, s.sum};
    return s.ok;
}

bool sand_checkpoint_finish(const char *path, SandCheckpointSum sum, SandError *error) {
    const SandCheckpointShare lead = {.leads = true};
    Stream s = {.writes = true, .ok = true, .share = &lead, .at = sum.words, .moved = true, .path = path, .error = error};
    char part[FILE_PATH];
    if (!part_name(part, path, error) || !(s.file = open_part(path, 0, error))) return false;
    exchange(&s, &sum.checksum, 1);
    close_part(&s);
    if (s.ok && rename(part, path) != 0) refuse(&s, strerror(errno));
    return s.ok;
}

void sand_checkpoint_drop(const char *path) {
    char part[FILE_PATH];
    SandError ignored;
    if (part_name(part, path, &ignored)) remove(part);
}

// A share that is all of a checkpoint.
static SandCheckpointShare whole_share(const SandCheckpoint *c) {
    const SandWarmStart *warm = &c->warm_start;
    int contacts = warm->step == 0 ? 0 : warm->first[warm->body_count];
    return (SandCheckpointShare){.leads = true,
                                 .bodies = {0, c->body_count},
                                 .firsts = {0, warm->body_count + 1},
                                 .contacts = {0, contacts},
                                 .contact_count = contacts,
                                 .torque = warm->rolls && contacts ? warm->impulse + contacts : NULL};
}

bool sand_checkpoint_write(const SandCheckpoint *checkpoint, const SandCheckpointNotes *notes, const char *path,
                           SandError *error) {
    SandCheckpointShare whole = whole_share(checkpoint);
    SandCheckpointSum sum;
    if (!sand_checkpoint_create(path, error)) return false;
    if (sand_checkpoint_put(checkpoint, notes, &whole, path, &sum, error) && sand_checkpoint_finish(path, sum, error))
        return true;
    sand_checkpoint_drop(path);
    return false;
}

bool sand_checkpoint_encode(const SandCheckpoint *checkpoint, const SandCheckpointNotes *notes, void **bytes, size_t *size,
                            SandError *error) {
    SandCheckpointShare whole = whole_share(checkpoint);
    Stream s = {.writes = true, .ok = true, .share = &whole, .path = "state", .error = error};
    SandCheckpoint state = *checkpoint; // its arrays are borrowed, and stay as they are
    SandCheckpointNotes borrowed = *notes;
    exchange_checkpoint(&s, &state, &borrowed);
    uint64_t sum = s.sum;
    transfer(&s, &sum, 1);
    if (!s.ok) return sand_free(s.written.data), false;
    *bytes = s.written.data;
    *size = (size_t)(8 * s.at);
    return true;
}

// Reads the stream to its end.
static bool read_checkpoint(Stream *s, SandCheckpoint *checkpoint, SandCheckpointNotes *notes, uint64_t size) {
    *notes = (SandCheckpointNotes){0};
    s->ok = true;
    s->left = size / 8;
    if (size == 0) refuse(s, "is empty");
    if (size % 8) refuse(s, "is cut off");
    exchange_checkpoint(s, checkpoint, notes);
    check_checksum(s);
    if (!s->ok) sand_checkpoint_notes_free(notes);
    return s->ok;
}

bool sand_checkpoint_decode(SandCheckpoint *checkpoint, SandCheckpointNotes *notes, const void *bytes, size_t size,
                            const char *name, SandError *error) {
    Stream s = {.bytes = bytes, .path = name, .error = error};
    return read_checkpoint(&s, checkpoint, notes, size);
}

bool sand_checkpoint_read(SandCheckpoint *checkpoint, SandCheckpointNotes *notes, const char *path, SandError *error) {
    struct stat about;
    *notes = (SandCheckpointNotes){0};
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &about) != 0) {
        int why = errno;
        if (file) fclose(file);
        return sand_fail(error, "%.300s: %s", path, strerror(why));
    }
    Stream s = {.file = file, .path = path, .error = error};
    bool read = read_checkpoint(&s, checkpoint, notes, (uint64_t)about.st_size);
    fclose(file);
    return read;
}
