// SPDX-License-Identifier: MIT
// By xdg-open, started without a shell and not waited for.
#define _DEFAULT_SOURCE // for access and fork under -std=c17
#include "app/io/open_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool on_path(const char *program) {
    const char *paths = getenv("PATH");
    for (const char *from = paths ? paths : ""; *from;) {
        char path[512];
        size_t length = strcspn(from, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, from, program);
        if (access(path, X_OK) == 0) return true;
        from += length + (from[length] == ':');
    }
    return false;
}

bool open_folder(const char *path, SandError *error) {
    if (access(path, R_OK) != 0) return sand_fail(error, "the folder %.160s cannot be opened: %s", path, strerror(errno));
    if (!on_path("xdg-open")) return sand_fail(error, "xdg-open is not installed; the folder is %.160s", path);
    // Twice, so that nobody has to wait for the file manager.
    pid_t child = fork();
    if (child < 0) return sand_fail(error, "the file manager cannot be started: %s", strerror(errno));
    if (child == 0) {
        if (fork() == 0) {
            int nowhere = open("/dev/null", O_RDWR);
            dup2(nowhere, 1);
            dup2(nowhere, 2);
            execlp("xdg-open", "xdg-open", path, (char *)NULL);
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return true;
}
