// SPDX-License-Identifier: MIT
// Writing FCLIB files: numbers and matrices in every storage format.
#pragma once
#include <hdf5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

typedef enum Form { TRIPLETS, COLUMNS, LINES, FORMS } Form;

static inline void put(hid_t group, const char *name, hid_t type, const void *numbers, hsize_t count) {
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static inline void put_int(hid_t group, const char *name, int value) { put(group, name, H5T_NATIVE_INT, &value, 1); }

static inline void put_matrix(hid_t problem, const char *name, const double *dense, int m, int n, Form form) {
    int p[1024], i[1024], count = 0, lines = form == LINES ? m : n;
    double x[1024];
    for (int line = 0; line < lines; line++) {
        if (form != TRIPLETS) p[line] = count;
        for (int k = 0; k < (form == LINES ? n : m); k++) {
            int row = form == LINES ? line : k, column = form == LINES ? k : line;
            if (dense[row * n + column] == 0) continue;
            x[count] = dense[row * n + column];
            i[count] = form == LINES ? column : row;
            if (form == TRIPLETS) p[count] = column;
            count++;
        }
    }
    if (form != TRIPLETS) p[lines] = count;
    hid_t group = H5Gcreate2(problem, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_int(group, "m", m);
    put_int(group, "n", n);
    put_int(group, "nz", form == TRIPLETS ? count : form == COLUMNS ? -1 : -2);
    put_int(group, "nzmax", count);
    put(group, "p", H5T_NATIVE_INT, p, (hsize_t)(form == TRIPLETS ? count : lines + 1));
    put(group, "i", H5T_NATIVE_INT, i, (hsize_t)count);
    put(group, "x", H5T_NATIVE_DOUBLE, x, (hsize_t)count);
    H5Gclose(group);
}
