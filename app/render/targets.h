// SPDX-License-Identifier: MIT
// The textures and framebuffers that a frame is drawn into.
#pragma once
#include "sandglass/error.h"

typedef struct Targets {
    int width, height; // of the inner targets: the size of the picture times the samples along a side
    int out_width, out_height;
    int ambient_scale;
    int shadow_size;
    unsigned light_format;         // of light and glass
    unsigned depth, color, normal; // the first pass
    unsigned ambient, light, kind; // light: linear floats; kind: share of data color, opacity
    unsigned glass;                // highlights and path of all layers
    unsigned shadow;
    unsigned glass_shadow; // path of the key light through glass, with mipmaps
    int glass_shadow_size;
    unsigned out;                                                                     // the picture, sRGB encoded
    unsigned first_pass, ambient_pass, light_pass, glass_pass, shadow_pass, out_pass; // framebuffers
    unsigned glass_shadow_pass;
    unsigned chain_depth, chain_pass, direct_chain_pass; // of the force chains; 0 until they are drawn
    unsigned light_copy, kind_copy;                      // for targets_copy_light; 0 until it is called
    unsigned direct_pass; // output with the depth of the first pass; only with one sample per pixel
} Targets;

// Resizes them; does nothing when the size fits. False where the driver refuses (too large).
bool targets_fit(Targets *t, int width, int height, int samples, int ambient_scale, int shadow_size, SandError *error);
bool targets_fit_chains(Targets *t, SandError *error); // adds what the force chains need
bool targets_copy_light(Targets *t, SandError *error); // copies `light` and `kind`, for a pass that reads what it writes
void targets_free(Targets *t);
