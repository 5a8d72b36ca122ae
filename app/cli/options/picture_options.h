// SPDX-License-Identifier: MIT
// Options of pictures and films that several verbs share: range of colors, force chains, cut, exposure, samples, and where a
// film goes.
#pragma once
#include "app/cli/options/options.h"

#ifdef SAND_WINDOW

#include "app/io/film.h"
#include "app/render/renderer.h"

// Applies them to the settings of a renderer and to the range of the color map.
bool picture_options(const Options *options, RendererDef *look, RenderRange *limits, SandError *error);
// Reads --samples, as samples along a side of a pixel.
bool samples_option(const Options *options, int *side, SandError *error);
// Sets path and kind of the film that is asked for, and checks them with its size and rate; the path stays NULL where none
// is.
bool film_options(const Options *options, FilmDef *film, SandError *error);

#endif
