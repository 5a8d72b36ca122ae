// SPDX-License-Identifier: MIT
// Draws the convex bodies of a render scene: all bodies of a mesh are instances of one indirect command, so that a picture
// takes a few calls however many shapes there are. Their edges are smoothed afterwards, in the lit picture.
#pragma once
#include "app/render/render_scene.h"
#include "app/render/targets.h"

typedef enum SolidsPass { SOLIDS_SHADOW, SOLIDS_COLOR, SOLIDS_FINE, SOLIDS_DATA } SolidsPass;

typedef struct Solids Solids;
Solids *solids_create(SandError *error);
void solids_free(Solids *solids);

// Takes over the meshes and groups of a render scene whose parts and stones begin at this byte of a buffer.
bool solids_upload(Solids *solids, const RenderScene *scene, unsigned buffer, size_t at, SandError *error);
// Draws them into the bound framebuffer; the uniform block Frame is bound, and the color map where data are shown.
void solids_draw(const Solids *solids, SolidsPass pass);
// Smooths their silhouettes and creases in `light` and `kind`, by pixel coverage.
bool solids_smooth(const Solids *solids, Targets *targets, SandError *error);
