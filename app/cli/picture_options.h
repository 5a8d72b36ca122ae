// Options of the picture that `run` and `record` share: range of colors, force chains, cut and exposure.
#pragma once
#include "app/cli/options.h"

#ifdef SAND_WINDOW

#include "app/render/renderer.h"

// Applies them to the settings of a renderer and to the range of the color map.
bool picture_options(const Options *options, RendererDef *look, RenderRange *limits, SandError *error);

#endif
