// SPDX-License-Identifier: MIT
// Opening NAME.part, and at the end renaming it to NAME; what failed is removed.
#include "app/io/export/whole_file.h"

#include <errno.h>
#include <string.h>

bool whole_file_begin(WholeFile *f, const char *path, SandError *error) {
    if (snprintf(f->part, sizeof f->part, "%s.part", path) >= (int)sizeof f->part)
        return sand_fail(error, "%.60s...: the path is too long", path);
    snprintf(f->path, sizeof f->path, "%s", path);
    f->out = fopen(f->part, "wb");
    return f->out || sand_fail(error, "%.300s: %s", f->part, strerror(errno));
}

bool whole_file_end(WholeFile *f, bool put, SandError *error) {
    bool written = !ferror(f->out) && fflush(f->out) == 0;
    int why = errno;
    if (fclose(f->out) != 0) written = false;
    if (put && written && rename(f->part, f->path) == 0) return true;
    if (written) why = errno;
    remove(f->part);
    return put ? sand_fail(error, "%.300s: %s", f->path, strerror(why)) : false;
}
