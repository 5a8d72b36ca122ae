// What the tests of the GPU share: the backend, or a skip.
#pragma once
#include "cuda/backend.h"

#include <stdio.h>
#include <stdlib.h>

// The backend; where there is no device the test is skipped, with the reason.
static inline const SandBackend *cuda_or_skip(void) {
    SandError why;
    if (sand_cuda_devices(&why)) return sand_cuda_backend();
    printf("skipped: %s\n", why.text);
    exit(77); // ctest: SKIP_RETURN_CODE
}
