// SPDX-License-Identifier: MIT
// What a scene shows beside its world: the pieces of its scenery as meshes, and ground that goes on beyond the world's.
#pragma once
#include "app/render/render_scene.h"

// Adds the pieces of the studio of the render scene, and in a place under the sky the ground around terrain and slopes.
bool scenery_add(RenderScene *scene, const SandWorld *world, SandError *error);
