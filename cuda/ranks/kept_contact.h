// SPDX-License-Identifier: MIT
// A contact of the last step, as ranks send it to each other; it names bodies by global_id.
#pragma once
#include "cuda/device.h"

struct KeptContact {
    uint32_t a;
    SandContactKey key;
    Impulse impulse;
    double approach; // as in SandWarmStart
};
