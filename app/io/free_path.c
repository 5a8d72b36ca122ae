// SPDX-License-Identifier: MIT
// Making a folder with all folders above it, and finding the first name in it that is free: NAME, NAME-2, NAME-3 and so on.
#include "app/io/free_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_folder(const char *folder, SandError *error) {
    char part[512];
    size_t length = strlen(folder);
    if (length >= sizeof part) return sand_fail(error, "the name of the folder is too long: %.80s...", folder);
    for (size_t k = 1; k <= length; k++) {
        if (folder[k] != '/' && folder[k] != '\0') continue;
        snprintf(part, sizeof part, "%.*s", (int)k, folder);
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return sand_fail(error, "the folder %.160s cannot be made: %s", part, strerror(errno));
    }
    return true;
}

bool free_path(char *path, size_t size, const char *folder, const char *stem, const char *ending, SandError *error) {
    if (!*folder) folder = ".";
    if (!make_folder(folder, error)) return false;
    for (int n = 1;; n++) {
        char number[16] = "";
        if (n > 1) snprintf(number, sizeof number, "-%d", n);
        int length = snprintf(path, size, "%s/%s%s%s%s", folder, stem, number, *ending ? "." : "", ending);
        if (length < 0 || (size_t)length >= size)
            return sand_fail(error, "the name of the folder is too long: %.80s", folder);
        if (access(path, F_OK) != 0) return true;
    }
}
