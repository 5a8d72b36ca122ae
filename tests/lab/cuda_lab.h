// SPDX-License-Identifier: MIT
// What the tests of the GPU share: the backend, or a skip, and a comparison.
#pragma once
#include "cuda/backend.h"
#include "sandglass/problem.h"

#include <stdio.h>
#include <stdlib.h>

// The backend; where there is no device the test is skipped, with the reason.
static inline const SandBackend *cuda_or_skip(void) {
    SandError why;
    if (sand_cuda_devices(&why)) return sand_cuda_backend();
    printf("skipped: %s\n", why.text);
    exit(77); // ctest: SKIP_RETURN_CODE
}

// The difference of two sets of impulses, relative to their size.
static inline double relative_difference(const SandSolution *a, const SandSolution *b, int contacts) {
    double difference = 0, size = 0;
    for (int i = 0; i < contacts; i++) {
        SandVec3 d = v3_sub(a->impulse[i], b->impulse[i]);
        difference += v3_dot(d, d);
        size += v3_dot(a->impulse[i], a->impulse[i]);
    }
    return size > 0 ? sqrt(difference / size) : sqrt(difference);
}
