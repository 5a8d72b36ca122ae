// SPDX-License-Identifier: MIT
// Squeezes a periodic box (SandWorld.squeeze), as a press that works from all sides at once.
#pragma once
#include "sim/step/backend.h"

// After the bodies have moved: measures the pressure of the contacts that were solved, and strains the box and the places of
// the bodies with it, all alike. Velocities stay, being those relative to the strained space: what the strain closes, the
// next step finds as a smaller gap.
void sand_squeeze(SandHostState *host);
