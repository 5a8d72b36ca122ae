// SPDX-License-Identifier: MIT
// The key `look` of a scene file: light, backdrop, ground and frame of its pictures.
#pragma once
#include "sim/scene/scene_file.h"

// Starts from the default look and applies what the file says; `look` may be NULL.
bool sand_studio_open(SandStudio *studio, const SandYaml *yaml, const SandLookDef *look, SandError *error);
