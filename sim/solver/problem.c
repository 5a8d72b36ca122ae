// SPDX-License-Identifier: MIT
// Memory and file format of the contact problem: see problem.h.
#include "sandglass/problem.h"

#include "sim/solver/registry.h"
#include "sim/core/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void free_matrix(SandMatrix *m) {
    if (!m) return;
    sand_free(m->first);
    sand_free(m->column);
    sand_free(m->mirror);
    sand_free(m->block);
    free(m);
}

void sand_problem_free(SandProblem *p) {
    free_matrix(p->matrix);
    sand_free(p->bodies);
    sand_free(p->contacts);
    sand_free(p->start);
    sand_free(p->joints);
    sand_free(p->joint);
    *p = (SandProblem){0};
}

static bool copy_matrix(SandMatrix *to, const SandMatrix *from, int contacts, SandError *error) {
    size_t rows = (size_t)contacts + 1, blocks = (size_t)from->first[contacts];
    size_t numbers = blocks * (size_t)(from->rows * from->rows);
    if (!SAND_GROW(to->first, to->first_capacity, rows, "matrix", error) ||
        !SAND_GROW(to->column, to->column_capacity, blocks + 1, "matrix", error) ||
        !SAND_GROW(to->mirror, to->mirror_capacity, blocks + 1, "matrix", error) ||
        !SAND_GROW(to->block, to->block_capacity, numbers + 1, "matrix", error))
        return false;
    memcpy(to->first, from->first, rows * sizeof *to->first);
    memcpy(to->column, from->column, blocks * sizeof *to->column);
    memcpy(to->mirror, from->mirror, blocks * sizeof *to->mirror);
    memcpy(to->block, from->block, numbers * sizeof *to->block);
    to->rows = from->rows;
    to->asymmetry = from->asymmetry;
    return true;
}

bool sand_problem_reserve_joints(SandProblem *p, int count, SandError *error) {
    p->joint_count = 0;
    if (count && (!SAND_GROW(p->joints, p->joints_capacity, count, "joints", error) ||
                  !SAND_GROW(p->joint, p->joint_capacity, p->contact_count, "joints", error)))
        return false;
    p->joint_count = count;
    for (int i = 0; count && i < p->contact_count; i++) p->joint[i] = -1;
    return true;
}

static bool copy_joints(SandProblem *to, const SandProblem *from, SandError *error) {
    if (!sand_problem_reserve_joints(to, from->joint_count, error)) return false;
    if (!from->joint_count) return true;
    memcpy(to->joints, from->joints, (size_t)from->joint_count * sizeof *to->joints);
    memcpy(to->joint, from->joint, (size_t)from->contact_count * sizeof *to->joint);
    return true;
}

bool sand_problem_copy(SandProblem *to, const SandProblem *from, SandError *error) {
    size_t bodies = (size_t)from->body_count, contacts = (size_t)from->contact_count;
    if (!SAND_GROW(to->bodies, to->body_capacity, bodies, "bodies", error) ||
        !SAND_GROW(to->contacts, to->contact_capacity, contacts, "contacts", error) ||
        !SAND_GROW(to->start, to->start_capacity, sand_problem_vectors(from), "contacts", error))
        return false;
    if (!from->matrix) {
        free_matrix(to->matrix);
        to->matrix = NULL;
    } else {
        if (!to->matrix) to->matrix = calloc(1, sizeof *to->matrix);
        if (!to->matrix) return sand_fail(error, "out of memory for a matrix");
        if (!copy_matrix(to->matrix, from->matrix, from->contact_count, error)) return false;
    }
    to->body_count = from->body_count;
    to->dynamic_count = from->dynamic_count;
    to->contact_count = from->contact_count;
    to->radial = from->radial;
    to->bounces = from->bounces;
    to->rolls = from->rolls;
    to->step = from->step;
    to->recovery = from->recovery;
    memcpy(to->note, from->note, sizeof to->note);
    if (bodies) memcpy(to->bodies, from->bodies, bodies * sizeof *to->bodies);
    if (contacts) memcpy(to->contacts, from->contacts, contacts * sizeof *to->contacts);
    if (contacts) memcpy(to->start, from->start, (size_t)sand_problem_vectors(from) * sizeof *to->start);
    return copy_joints(to, from, error);
}

// File format: a line of text that identifies it, the counts, then the arrays as 8-byte numbers in native byte order, which
// the mark in the header reveals.
// Files of version 1 end their head before the last two numbers: they undo every penetration in full. Up to version 2 bodies
// have no positions, up to version 3 contacts have no bounce and no pull, and there are no joints. Since version 4 the
// number of joints follows the head, and they end the file. Up to version 4 contacts have no rolling friction. Up to version
// 5 the head ends before its last number: deep penetrations are pushed apart at any depth alike.
static const char magic[16] = "sandglass-ccp-6\n";
enum { MAGIC_VERSION = 14 }; // where the digit is

typedef struct FileHeader {
    char magic[16];
    double order_mark; // 1.0
    int64_t bodies, dynamic, contacts, radial;
    double step, recovery, recovery_depth, recovery_fraction, recovery_fall;
} FileHeader;
enum { HEAD1 = offsetof(FileHeader, recovery_depth), HEAD5 = offsetof(FileHeader, recovery_fall) };

enum { BODY_NUMBERS = 17, BODY_NUMBERS2 = 14, CONTACT_NUMBERS = 23, CONTACT_NUMBERS4 = 18, CONTACT_NUMBERS3 = 16 };
enum { JOINT_NUMBERS = 9 };

static void pack_body(const SandProblemBody *b, double *out) {
    out[0] = b->inverse_mass;
    memcpy(out + 1, b->inverse_inertia, sizeof b->inverse_inertia);
    memcpy(out + 7, &b->velocity, sizeof b->velocity);
    memcpy(out + 10, &b->spin, sizeof b->spin);
    out[13] = b->radius;
    memcpy(out + 14, &b->position, sizeof b->position);
}

static void unpack_body(SandProblemBody *b, const double *in) {
    b->inverse_mass = in[0];
    memcpy(b->inverse_inertia, in + 1, sizeof b->inverse_inertia);
    memcpy(&b->velocity, in + 7, sizeof b->velocity);
    memcpy(&b->spin, in + 10, sizeof b->spin);
    b->radius = in[13];
    memcpy(&b->position, in + 14, sizeof b->position);
}

static void pack_contact(const SandContact *c, SandVec3 start, SandVec3 torque, double *out) {
    out[0] = c->a;
    out[1] = c->b;
    out[2] = c->gap;
    out[3] = c->mu;
    memcpy(out + 4, &c->normal, sizeof c->normal);
    memcpy(out + 7, &c->arm_a, sizeof c->arm_a);
    memcpy(out + 10, &c->arm_b, sizeof c->arm_b);
    memcpy(out + 13, &start, sizeof start);
    out[16] = c->bounce;
    out[17] = c->pull;
    out[18] = c->rolling;
    out[19] = c->spinning;
    memcpy(out + 20, &torque, sizeof torque);
}

static void unpack_contact(SandContact *c, SandVec3 *start, SandVec3 *torque, const double *in) {
    c->a = (int)in[0];
    c->b = (int)in[1];
    c->gap = in[2];
    c->mu = in[3];
    memcpy(&c->normal, in + 4, sizeof c->normal);
    memcpy(&c->arm_a, in + 7, sizeof c->arm_a);
    memcpy(&c->arm_b, in + 10, sizeof c->arm_b);
    memcpy(start, in + 13, sizeof *start);
    c->bounce = in[16];
    c->pull = in[17];
    c->rolling = in[18];
    c->spinning = in[19];
    memcpy(torque, in + 20, sizeof *torque);
}

static void pack_joint(const SandJointRows *j, int contact, double *out) {
    const double numbers[JOINT_NUMBERS] = {contact,   j->angular, j->low,    j->high,      j->across,
                                           j->bias.x, j->bias.y,  j->bias.z, j->compliance};
    memcpy(out, numbers, sizeof numbers);
}

static SandJointRows unpack_joint(const double *in) {
    return (SandJointRows){.angular = in[1] != 0,
                           .low = in[2],
                           .high = in[3],
                           .across = in[4],
                           .bias = {in[5], in[6], in[7]},
                           .compliance = in[8]};
}

static bool write_joints(const SandProblem *p, FILE *f) {
    for (int i = 0; p->joint_count && i < p->contact_count; i++) {
        double numbers[JOINT_NUMBERS];
        if (p->joint[i] < 0) continue;
        pack_joint(&p->joints[p->joint[i]], i, numbers);
        if (fwrite(numbers, sizeof numbers, 1, f) != 1) return false;
    }
    return true;
}

static bool write_all(const SandProblem *p, FILE *f) {
    FileHeader header = {.order_mark = 1,
                         .bodies = p->body_count,
                         .dynamic = p->dynamic_count,
                         .contacts = p->contact_count,
                         .radial = p->radial,
                         .step = p->step,
                         .recovery = p->recovery.speed,
                         .recovery_depth = p->recovery.depth,
                         .recovery_fraction = p->recovery.fraction,
                         .recovery_fall = p->recovery.fall};
    int64_t joints = p->joint_count;
    memcpy(header.magic, magic, sizeof magic);
    bool ok = fwrite(&header, sizeof header, 1, f) == 1 && fwrite(&joints, sizeof joints, 1, f) == 1;
    for (int k = 0; ok && k < p->body_count; k++) {
        double numbers[BODY_NUMBERS];
        pack_body(&p->bodies[k], numbers);
        ok = fwrite(numbers, sizeof numbers, 1, f) == 1;
    }
    for (int i = 0; ok && i < p->contact_count; i++) {
        double numbers[CONTACT_NUMBERS];
        SandVec3 torque = p->rolls ? p->start[p->contact_count + i] : v3_make(0, 0, 0);
        pack_contact(&p->contacts[i], p->start[i], torque, numbers);
        ok = fwrite(numbers, sizeof numbers, 1, f) == 1;
    }
    return ok && write_joints(p, f);
}

// Writes the file whole or not at all: to a temporary file next to it, which is then renamed. Anything but a regular file (a
// pipe, a device) is written directly.
bool sand_problem_save(const SandProblem *p, const char *path, SandError *error) {
    if (p->matrix) return sand_fail(error, "%s: a problem that is a matrix has no place in such a file", path);
    struct stat about;
    bool regular = stat(path, &about) != 0 || S_ISREG(about.st_mode);
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s%s", path, regular ? ".part" : "") >= (int)sizeof temporary)
        return sand_fail(error, "the path of the file to save is longer than %zu characters", sizeof temporary - 6);
    FILE *f = fopen(temporary, "wb");
    if (!f) return sand_fail(error, "%s: cannot write: %s", path, strerror(errno));
    bool ok = write_all(p, f);
    ok = fclose(f) == 0 && ok;
    ok = ok && (!regular || rename(temporary, path) == 0);
    int reason = errno;
    if (!ok && regular) remove(temporary);
    return ok || sand_fail(error, "%s: cannot write: %s", path, strerror(reason));
}

static bool check_head(const SandProblem *p, const char *name, SandError *error) {
    const SandRecovery *r = &p->recovery;
    bool counts = p->dynamic_count >= 0 && p->body_count >= p->dynamic_count && p->contact_count >= 0;
    bool numbers = p->step > 0 && isfinite(p->step) && r->speed >= 0 && r->depth >= 0 && r->fraction >= 0 &&
                   r->fraction <= 1 && r->fall >= 0;
    return (counts && numbers) || sand_fail(error, "%s: its counts or its step are out of range", name);
}

bool sand_problem_check(const SandProblem *p, const char *path, SandError *error) {
    if (!check_head(p, path, error)) return false;
    for (int k = 0; k < p->body_count; k++) {
        const SandProblemBody *b = &p->bodies[k];
        bool finite = isfinite(b->radius) && v3_finite(b->velocity) && v3_finite(b->spin) && v3_finite(b->position) &&
                      isfinite(b->inverse_mass) && b->inverse_mass >= 0;
        for (int j = 0; j < 6; j++) finite = finite && isfinite(b->inverse_inertia[j]);
        if (!finite) return sand_fail(error, "%s: body %d has a number that is not finite, or a negative mass", path, k);
    }
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        if (c->a < 0 || c->a >= p->dynamic_count || c->b <= c->a || c->b >= p->body_count ||
            (i > 0 && c->a < p->contacts[i - 1].a))
            return sand_fail(error, "%s: contact %d joins bodies %d and %d, which is out of range or out of order", path, i,
                             c->a, c->b);
        if (!v3_finite(c->normal) || !v3_finite(c->arm_a) || !v3_finite(c->arm_b) || !isfinite(c->gap) || !(c->mu >= 0) ||
            !isfinite(c->mu) || fabs(v3_length(c->normal) - 1) > 1e-6 || !v3_finite(p->start[i]) || !isfinite(c->bounce) ||
            !isfinite(c->pull) || !(c->rolling >= 0 && c->spinning >= 0 && isfinite(c->rolling + c->spinning)) ||
            (p->rolls && !v3_finite(p->start[p->contact_count + i])))
            return sand_fail(
                error,
                "%s: contact %d has a number that is not finite, negative friction or a normal that is not of length 1",
                path, i);
    }
    return true;
}

static bool read_arrays(SandProblem *p, int body_numbers, int contact_numbers, FILE *f, const char *path, SandError *error) {
    for (int k = 0; k < p->body_count; k++) {
        double numbers[BODY_NUMBERS] = {0};
        if (fread(numbers, (size_t)body_numbers * sizeof *numbers, 1, f) != 1)
            return sand_fail(error, "%s: ends in body %d of %d", path, k, p->body_count);
        unpack_body(&p->bodies[k], numbers);
    }
    p->bounces = p->rolls = false;
    for (int i = 0; i < p->contact_count; i++) {
        double numbers[CONTACT_NUMBERS] = {0};
        if (fread(numbers, (size_t)contact_numbers * sizeof *numbers, 1, f) != 1)
            return sand_fail(error, "%s: ends in contact %d of %d", path, i, p->contact_count);
        if (!(fabs(numbers[0]) < 2e9) || !(fabs(numbers[1]) < 2e9))
            return sand_fail(error, "%s: contact %d names no body", path, i);
        unpack_contact(&p->contacts[i], &p->start[i], &p->start[p->contact_count + i], numbers);
        p->rolls = p->rolls || p->contacts[i].rolling != 0 || p->contacts[i].spinning != 0;
        p->bounces = p->bounces || p->contacts[i].bounce != 0;
    }
    return true;
}

// Intervals that contain zero, so that no impulse at all is admissible, and bias and compliance that are numbers.
static bool joint_valid(const SandJointRows *j) {
    return j->low <= 0 && j->high >= 0 && j->across >= 0 && v3_finite(j->bias) && j->compliance >= 0 &&
           isfinite(j->compliance);
}

static bool read_joints(SandProblem *p, int64_t count, FILE *f, const char *path, SandError *error) {
    if (!sand_problem_reserve_joints(p, (int)count, error)) return false;
    for (int k = 0; k < p->joint_count; k++) {
        double numbers[JOINT_NUMBERS];
        if (fread(numbers, sizeof numbers, 1, f) != 1)
            return sand_fail(error, "%s: ends in joint %d of %d", path, k, p->joint_count);
        bool placed = numbers[0] >= 0 && numbers[0] < p->contact_count && p->joint[(int)numbers[0]] < 0;
        p->joints[k] = unpack_joint(numbers);
        if (!placed || !joint_valid(&p->joints[k]))
            return sand_fail(error, "%s: joint %d has no contact of its own, or rows that are out of range", path, k);
        p->joint[(int)numbers[0]] = k;
    }
    return true;
}

// The version of a file by its first bytes; 0: it is none of ours.
static int version_of(const char *bytes) {
    bool own = !memcmp(bytes, magic, MAGIC_VERSION) && bytes[MAGIC_VERSION + 1] == magic[MAGIC_VERSION + 1];
    return own && bytes[MAGIC_VERSION] >= '1' && bytes[MAGIC_VERSION] <= magic[MAGIC_VERSION] ? bytes[MAGIC_VERSION] - '0'
                                                                                              : 0;
}

bool sand_problem_load(SandProblem *p, const char *path, SandError *error) {
    FILE *f = fopen(path, "rb");
    if (!f) return sand_fail(error, "%s: cannot read: %s", path, strerror(errno));
    FileHeader header = {.recovery_depth = 0};
    bool ok = fread(&header, HEAD1, 1, f) == 1;
    int version = ok ? version_of(header.magic) : 0, body_numbers = version < 3 ? BODY_NUMBERS2 : BODY_NUMBERS;
    int contact_numbers = version < 4 ? CONTACT_NUMBERS3 : version < 5 ? CONTACT_NUMBERS4 : CONTACT_NUMBERS;
    size_t head = version == 1 ? HEAD1 : version < 6 ? HEAD5 : sizeof header;
    ok = version > 0 && (version == 1 || fread(&header.recovery_depth, head - HEAD1, 1, f) == 1);
    int64_t joints = 0;
    if (version >= 4) {
        ok = ok && fread(&joints, sizeof joints, 1, f) == 1;
        head += sizeof joints;
    }
    if (!ok) sand_fail(error, "%s: is not a contact problem saved by this program", path);
    if (ok && header.order_mark != 1) ok = sand_fail(error, "%s: was saved on a machine of another byte order", path);
    const int64_t most = 1 << 30;
    if (ok && (joints < 0 || joints > header.contacts || header.dynamic < 0 || header.bodies < header.dynamic ||
               header.bodies > most || header.contacts < 0 || header.contacts > most || !(header.step > 0) ||
               !isfinite(header.step) || !(header.recovery >= 0) || !(header.recovery_depth >= 0) ||
               !(header.recovery_fraction >= 0 && header.recovery_fraction <= 1) || !(header.recovery_fall >= 0)))
        ok = sand_fail(error, "%s: its counts or its step are out of range", path);
    // Check the file's length against its header before allocating anything.
    if (ok && fseek(f, 0, SEEK_END) == 0) {
        int64_t wanted =
            (int64_t)head + 8 * (header.bodies * body_numbers + header.contacts * contact_numbers + joints * JOINT_NUMBERS);
        if (ftell(f) != wanted)
            ok = sand_fail(error, "%s: is %ld bytes long where its head promises %lld", path, ftell(f), (long long)wanted);
        fseek(f, (long)head, SEEK_SET);
    }
    ok = ok && SAND_GROW(p->bodies, p->body_capacity, header.bodies, "bodies", error) &&
         SAND_GROW(p->contacts, p->contact_capacity, header.contacts, "contacts", error) &&
         SAND_GROW(p->start, p->start_capacity, 2 * header.contacts, "contacts", error);
    if (ok) {
        p->body_count = (int)header.bodies;
        p->dynamic_count = (int)header.dynamic;
        p->contact_count = (int)header.contacts;
        p->radial = header.radial != 0;
        p->step = header.step;
        p->recovery = (SandRecovery){header.recovery, header.recovery_depth, header.recovery_fraction, header.recovery_fall};
        ok = read_arrays(p, body_numbers, contact_numbers, f, path, error) && sand_problem_check(p, path, error) &&
             read_joints(p, joints, f, path, error);
    }
    fclose(f);
    return ok;
}

// Reads up to 16 bytes from the start of a file. Returns their number; 0 if it cannot be opened.
static size_t first_bytes(const char *path, char bytes[16]) {
    FILE *f = fopen(path, "rb");
    size_t count = f ? fread(bytes, 1, 16, f) : 0;
    if (f) fclose(f);
    return count;
}

static bool is_hdf5(const char *bytes, size_t count) { return count >= 8 && !memcmp(bytes, "\x89HDF\r\n\x1a\n", 8); }

// A text of Siconos begins with the dimension and the number of contacts, a line each.
static bool is_siconos_text(const char *bytes, size_t count) {
    return count >= 3 && strchr("235", bytes[0]) && bytes[1] == '\n' && bytes[2] >= '0' && bytes[2] <= '9';
}

bool sand_problem_is_stored(const char *path) {
    char bytes[16] = "";
    size_t count = first_bytes(path, bytes);
    return (count == 16 && version_of(bytes)) || is_hdf5(bytes, count) || is_siconos_text(bytes, count);
}

static SandProblemReader *read_fclib, *read_siconos_text;
void sand_problem_register_readers(SandProblemReader *fclib, SandProblemReader *siconos_text) {
    read_fclib = fclib;
    read_siconos_text = siconos_text;
}

bool sand_problem_open(SandProblem *p, const char *path, SandError *error) {
    char bytes[16] = "";
    size_t count = first_bytes(path, bytes);
    bool text = is_siconos_text(bytes, count);
    if (!text && !is_hdf5(bytes, count)) return sand_problem_load(p, path, error);
    if (!read_fclib)
        return sand_fail(error, "%.200s: files of FCLIB and Siconos need the reference library (sand_reference_enable)",
                         path);
    return text ? read_siconos_text(p, path, error) : read_fclib(p, path, error);
}
