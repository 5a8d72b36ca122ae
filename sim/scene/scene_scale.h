// SPDX-License-Identifier: MIT
// Lengths that scale with the number of bodies: the plug, and the necks of vessels, which knobs set. Internal to sim/scene.
#pragma once
#include "sandglass/scene.h"
#include "sim/scene/scene_file.h"

// Returns the smallest radius (m) off the axis of a boundary's profile as the file gives it; 0: it has no profile.
double sand_scene_file_narrowest(const SandBoundaryDef *boundary);
// Returns the same once scaled, not below the boundary's `narrowest`.
double sand_scene_narrowest(const SandBoundaryDef *boundary, double scale);

// Returns how lengths that scale grow with the number of bodies: with its cube root.
double sand_scene_natural_scale(const SandScene *scene);
// Sets the scale, and what follows from it before the world is built: the plug, and knobs of necks.
void sand_scene_set_scale(SandScene *scene, double scale);
// A knob of a neck has its radius, until it is set; what it may be set to grows with the scene.
void sand_scene_scale_neck(const SandScene *scene, SandKnob *knob, const SandKnobDef *from);
