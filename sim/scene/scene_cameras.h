// SPDX-License-Identifier: MIT
// The cameras of a scene file.
#pragma once
#include "sandglass/scene.h"

// Reads them into the studio of the scene, at its scale: when it is opened, and when it is built.
bool sand_scene_read_cameras(SandScene *scene, SandError *error);
