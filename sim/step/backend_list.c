// SPDX-License-Identifier: MIT
// The list of backends, by name: the CPU, which is always there, and CUDA where it is linked.
#include "sandglass/backend.h"
#include "sim/core/suggestion.h"
#include "sim/step/cpu_backend.h"

#include <string.h>

// Of the CUDA library (cuda/backend.h): NULL where a program is linked without it.
#pragma weak sand_cuda_devices
#pragma weak sand_cuda_backend
int sand_cuda_devices(SandError *why);
const SandBackend *sand_cuda_backend(void);

typedef struct Row {
    const char *name;
    const SandBackend *(*find)(SandError *error);
} Row;

static const SandBackend *find_cpu(SandError *error) { return (void)error, sand_cpu_backend(); }

static const SandBackend *find_cuda(SandError *error) {
    if (!sand_cuda_backend) return sand_fail(error, "cuda: this library was built without CUDA"), NULL;
    return sand_cuda_devices(error) ? sand_cuda_backend() : NULL;
}

static const Row rows[] = {{"cpu", find_cpu}, {"cuda", find_cuda}};
enum { ROWS = sizeof rows / sizeof *rows };

int sand_backend_count(void) { return sand_cuda_backend ? ROWS : ROWS - 1; }

const char *sand_backend_name(int index) { return index >= 0 && index < sand_backend_count() ? rows[index].name : NULL; }

const SandBackend *sand_backend_find(const char *name, SandError *error) {
    SandSuggestion names = sand_suggestion(name);
    for (int k = 0; k < ROWS; k++) {
        if (strcmp(rows[k].name, name) == 0) return rows[k].find(error);
        sand_suggestion_add(&names, rows[k].name);
    }
    return sand_fail(error, "%.60s: there is no such backend; %s", name, sand_suggestion_text(&names)), NULL;
}

bool sand_backend_describe(const SandBackend *backend, SandDeviceInfo *info, SandError *error) {
    if (!backend) backend = sand_cpu_backend();
    *info = (SandDeviceInfo){{0}, 0, 0, false};
    return backend->about ? backend->about(info, error)
                          : sand_fail(error, "%s: this backend has no device of its own", backend->name);
}
