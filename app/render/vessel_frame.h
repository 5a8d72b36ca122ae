// SPDX-License-Identifier: MIT
// The frame of a vessel of revolution, as an hourglass has: two discs, three turned columns between them, and brass knobs
// that it stands on. It is made to fit the vessel, moves with it, and is decoration only.
#pragma once
#include "app/render/render_scene.h"

// Adds the frame of the first vessel of revolution, and extends the box that is shown. Does nothing where there is none.
bool vessel_frame_add(RenderScene *scene, const SandWorld *world, SandVesselFrame kind, SandError *error);
