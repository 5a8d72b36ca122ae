// SPDX-License-Identifier: MIT
// libFuzzer target of the reader of FCLIB files. The bytes choose what a well-formed HDF5 file says: sizes, storages,
// entries, what is missing, too long, of another type, or promised and not stored. The bytes of HDF5 itself are its
// library's business.
#include "tests/unit/fuzz_file.h"

#include <hdf5.h>
#include <math.h>

#include "sim/solver/reference/fclib.h"

typedef struct Bytes {
    const uint8_t *at, *end;
} Bytes;

static int next(Bytes *b) { return b->at < b->end ? *b->at++ : 0; }

// Mostly small numbers; rarely any bits at all.
static double next_real(Bytes *b) {
    int kind = next(b);
    if (kind < 250) return (kind - 100) / 16.0;
    uint64_t bits = 0;
    for (int k = 0; k < 8; k++) bits = bits << 8 | (uint64_t)next(b);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// A size as it should be, or another one.
static int next_size(Bytes *b, int wanted) {
    int kind = next(b);
    if (kind < 240) return wanted;
    if (kind < 250) return wanted + kind - 245;
    return (int)((uint32_t)next(b) << 24 | (uint32_t)next(b) << 16 | (uint32_t)next(b));
}

// Writes a dataset; one byte decides whether it is there, of numbers, and stored.
static void put(Bytes *b, hid_t file, const char *name, hid_t type, const void *numbers, int count) {
    int kind = next(b);
    if (kind == 255) return; // missing
    hsize_t size = (hsize_t)(count > 0 ? count : 0), chunk = 64;
    if (kind == 254) size = (hsize_t)1 << (next(b) % 40); // promised
    hid_t links = H5Pcreate(H5P_LINK_CREATE), list = H5Pcreate(H5P_DATASET_CREATE), text = H5Tcopy(H5T_C_S1);
    H5Pset_create_intermediate_group(links, 1);
    if (kind == 254 || kind == 253) H5Pset_chunk(list, 1, &chunk);
    if (kind == 253) H5Pset_deflate(list, 1);
    H5Tset_size(text, sizeof(double));
    hid_t space = kind == 252 ? H5Screate(H5S_NULL) : H5Screate_simple(1, &size, NULL);
    hid_t set = H5Dcreate2(file, name, kind == 251 ? text : type, space, links, list, H5P_DEFAULT);
    if (set >= 0 && kind < 251 && size) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    if (set >= 0 && kind == 253 && size) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
    H5Tclose(text);
    H5Pclose(list);
    H5Pclose(links);
}

static void put_int(Bytes *b, hid_t file, const char *name, int value) { put(b, file, name, H5T_NATIVE_INT, &value, 1); }

static void put_vector(Bytes *b, hid_t file, const char *group, const char *name, int count) {
    double numbers[64] = {0};
    char whole[64];
    for (int k = 0; k < count && k < 64; k++) numbers[k] = next_real(b);
    snprintf(whole, sizeof whole, "%s/vectors/%s", group, name);
    put(b, file, whole, H5T_NATIVE_DOUBLE, numbers, count < 64 ? count : 64);
}

// A matrix with a diagonal, and some entries more.
static void put_matrix(Bytes *b, hid_t file, const char *group, const char *name, int rows, int columns) {
    enum { MOST = 128 };
    int p[MOST] = {0}, i[MOST] = {0}, count = 0, storage = next(b) % 3, lines = storage == 2 ? rows : columns;
    double x[MOST] = {0};
    for (int line = 0; line < lines; line++) {
        if (storage) p[line] = count;
        for (int k = 0; k < 1 + next(b) % 3 && count < MOST - 2; k++, count++) {
            int other = k == 0 ? line : next(b) % 13;
            if (storage == 0) p[count] = line;
            i[count] = k == 0 && other >= (storage == 2 ? columns : rows) ? 0 : other;
            x[count] = k == 0 ? 20 + next(b) : next_real(b);
        }
    }
    if (storage) p[lines] = count;
    char whole[64];
#define PART(which) (snprintf(whole, sizeof whole, "%s/%s/%s", group, name, which), whole)
    put_int(b, file, PART("m"), next_size(b, rows));
    put_int(b, file, PART("n"), next_size(b, columns));
    put_int(b, file, PART("nz"), storage == 0 ? next_size(b, count) : -next_size(b, storage));
    put(b, file, PART("p"), H5T_NATIVE_INT, p, storage ? lines + 1 : count);
    put(b, file, PART("i"), H5T_NATIVE_INT, i, count);
    put(b, file, PART("x"), H5T_NATIVE_DOUBLE, x, count);
#undef PART
}

// HDF5 creates files by their path, which it cannot do with one in memory.
static char path[] = "/tmp/fuzz_fclib_XXXXXX";
static void remove_file(void) { remove(path); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Bytes b = {data, data + size};
    SandProblem p = {0};
    SandError error = {""};
    if (path[sizeof path - 2] == 'X') {
        close(mkstemp(path));
        atexit(remove_file);
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0) abort();
    bool global = next(&b) % 2;
    int contacts = next(&b) % 5, dofs = next(&b) % 13;
    const char *group = global ? "fclib_global" : "fclib_local";
    put_int(&b, file, global ? "fclib_global/spacedim" : "fclib_local/spacedim", next_size(&b, 3));
    put_vector(&b, file, group, "mu", contacts);
    put_vector(&b, file, group, global ? "w" : "q", next_size(&b, 3 * contacts));
    if (global) {
        put_vector(&b, file, group, "f", dofs);
        put_matrix(&b, file, group, "M", dofs, dofs);
        put_matrix(&b, file, group, "H", dofs, 3 * contacts);
    } else {
        put_matrix(&b, file, group, "W", 3 * contacts, 3 * contacts);
    }
    H5Fclose(file);
    if (sand_fclib_load(&p, path, &error)) {
        for (int i = 0; i < p.contact_count; i++)
            if (!(p.contacts[i].mu >= 0)) abort();
        for (int e = 0; e < p.matrix->first[p.contact_count]; e++)
            if (p.matrix->mirror[p.matrix->mirror[e]] != e) abort();
        if (!sand_fclib_save(&p, NULL, SAND_FCLIB_LOCAL, path, &error)) abort(); // what was read can be written
    } else {
        fuzz_check_error(path, &error);
    }
    sand_problem_free(&p);
    return 0;
}
