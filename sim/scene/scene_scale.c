// SPDX-License-Identifier: MIT
// How lengths of a scene grow with its number of bodies, and what follows from that before the world is built.
#include "sim/scene/scene_scale.h"

#include "sim/scene/scene_builder.h"

double sand_scene_file_narrowest(const SandBoundaryDef *boundary) {
    double least = 0;
    for (uint32_t i = 0; i < boundary->profile_count; i++)
        if (boundary->profile[i][0] > 0 && (least == 0 || boundary->profile[i][0] < least)) least = boundary->profile[i][0];
    if (boundary->shape == SAND_BOUNDARY_CYLINDER && boundary->radius) return *boundary->radius;
    if (boundary->shape == SAND_BOUNDARY_FRUSTUM && boundary->radii) {
        double a = boundary->radii[0], c = boundary->radii[1];
        return a <= 0 ? fmax(c, 0) : c <= 0 ? a : fmin(a, c);
    }
    return boundary->shape == SAND_BOUNDARY_REVOLUTION ? least : 0;
}

double sand_scene_narrowest(const SandBoundaryDef *boundary, double scale) {
    double least = scale * sand_scene_file_narrowest(boundary);
    return least > 0 ? fmax(least, sand_number(boundary->narrowest, 0)) : 0;
}

double sand_scene_natural_scale(const SandScene *scene) {
    const SandSizeDef *size = scene->file->def->size;
    return size ? cbrt((double)scene->bodies / size->bodies) : 1;
}

void sand_scene_scale_neck(const SandScene *scene, SandKnob *knob, const SandKnobDef *from) {
    const SandBoundaryDef *boundary = &scene->file->def->boundaries[knob->target];
    double scale = boundary->scales && *boundary->scales ? scene->scale : 1;
    if (!knob->changed) knob->value = sand_scene_narrowest(boundary, scale);
    knob->most = from->most * fmax(1, scale);
}

void sand_scene_set_scale(SandScene *scene, double scale) {
    const SandSceneDef *def = scene->file->def;
    const SandStartDef *start = def->start;
    scene->scale = scale;
    if (scene->has_plug) scene->plug = *start->plug * (start->scales && *start->scales ? scale : 1);
    for (int i = 0; i < scene->knob_count; i++)
        if (scene->knobs[i].kind == SAND_KNOB_NARROWEST) sand_scene_scale_neck(scene, &scene->knobs[i], &def->knobs[i]);
}
