// SPDX-License-Identifier: MIT
// The caption of a demo, and the dark between its scenes. Drawn between interface_begin and interface_end.
#pragma once
#include "app/engine/playlist.h"

// Draws over a picture of this many pixels. `wanted_caption`: false leaves the caption out.
void show_draw(const Show *show, double width, double height, bool wanted_caption);
