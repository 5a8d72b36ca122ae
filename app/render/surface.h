// SPDX-License-Identifier: MIT
// Building blocks of the surfaces of a render scene, for the boundaries (surface.c) and the frame (vessel_frame.c).
#pragma once
#include "app/render/render_scene.h"

// Begins a surface; the caller sets its number of indices when they are all added. NULL: out of memory.
RenderSurface *surface_open(RenderScene *scene, int boundary, RenderLook look, SandError *error);

// Add a vertex in the frame of the surface, and a triangle of three vertices of the scene, to the surface opened last.
bool surface_vertex(RenderScene *scene, SandVec3 position, SandVec3 normal, double turn, SandError *error);
bool surface_triangle(RenderScene *scene, uint32_t a, uint32_t b, uint32_t c, SandError *error);

// Revolves corners (radius, height) about the vertical axis through a point (x, y), smoothing the obtuse ones. Outside is to
// the right along the line. The vertices begin at *first, which is moved beyond them; they are added unless they are there
// already, from the same call with another step. `step` 2 halves rows and sides of the mesh.
bool surface_turn(RenderScene *scene, const double (*corner)[2], int count, const double axis[2], int sides, int step,
                  uint32_t *first, SandError *error);
