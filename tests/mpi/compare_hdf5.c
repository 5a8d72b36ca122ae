// SPDX-License-Identifier: MIT
// Whether every dataset of one HDF5 file is in another, with the same size, type and numbers, whatever files they lie in:
// compare_hdf5 FILE OTHER. Prints the first that differs.
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Content {
    hid_t set, space, type;
    void *data;
    size_t size;
} Content;

static Content read_set(hid_t file, const char *name) {
    Content c = {.set = H5Dopen2(file, name, H5P_DEFAULT)};
    if (c.set < 0) return c;
    c.space = H5Dget_space(c.set);
    c.type = H5Dget_type(c.set);
    c.size = (size_t)H5Sget_simple_extent_npoints(c.space) * H5Tget_size(c.type);
    c.data = calloc(c.size + 1, 1);
    if (!c.data || H5Dread(c.set, c.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, c.data) < 0) exit(2);
    return c;
}

static void close_set(Content *c) {
    if (c->set < 0) return;
    free(c->data);
    H5Tclose(c->type);
    H5Sclose(c->space);
    H5Dclose(c->set);
}

// Called for every object of the first file; `other` is the second.
static herr_t compare(hid_t file, const char *name, const H5O_info_t *info, void *other) {
    if (info->type != H5O_TYPE_DATASET) return 0;
    Content a = read_set(file, name), b = read_set(*(hid_t *)other, name);
    int same = b.set >= 0 && H5Sextent_equal(a.space, b.space) > 0 && H5Tequal(a.type, b.type) > 0 && a.size == b.size &&
               !memcmp(a.data, b.data, a.size);
    if (!same) printf("%s differs\n", name);
    close_set(&a);
    close_set(&b);
    return same ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT), other = H5Fopen(argv[2], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0 || other < 0) {
        printf("%s cannot be read\n", file < 0 ? argv[1] : argv[2]);
        return 2;
    }
    int differs = H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, compare, &other) != 0;
    H5Fclose(file);
    H5Fclose(other);
    return differs;
}
