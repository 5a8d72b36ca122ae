// SPDX-License-Identifier: MIT
// The pieces of scenery of a scene file, and its cameras.
#include "sim/scene/scene_builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/scene/scene_cameras.h"

// Whether the piece has the sizes that its shape needs, and no others.
static bool check_size(SandBuilder *b, const char *key, const double *size, bool needed) {
    if (needed && !size) return sand_build_wrong(b, key, "missing: how wide the piece is, in m");
    if (!needed && size) return sand_build_wrong(b, key, "a piece of this shape has none");
    return sand_build_range(b, key, size, 1e-9, SAND_FAR);
}

static bool build_piece(SandBuilder *b, int index) {
    const SandSceneryFileDef *from = &b->def->scenery[index];
    SandStudio *studio = &b->scene->studio;
    snprintf(b->path, sizeof b->path, "scenery[%d]", index);
    bool round = from->shape >= SAND_SCENERY_ROD, wide = from->shape == SAND_SCENERY_BAR || from->shape > SAND_SCENERY_ROD;
    if (!sand_build_range3(b, "from", from->from, SAND_FAR) || !sand_build_range3(b, "to", from->to, SAND_FAR) ||
        !check_size(b, "radius", from->radius, round) || !check_size(b, "width", from->width, wide) ||
        !sand_build_range(b, "turn", from->turn, -360, 360) || !sand_build_color(b, "color", from->color))
        return false;
    double scale = from->scales && *from->scales ? b->scene->scale : 1;
    SandScenery piece = {.kind = from->shape,
                         .look = from->look,
                         .color = sand_vector(from->color),
                         .from = v3_scale(scale, sand_vector(from->from)),
                         .to = v3_scale(scale, sand_vector(from->to)),
                         .radius = scale * sand_number(from->radius, 0),
                         .width = scale * sand_number(from->width, 0),
                         .turn = sand_number(from->turn, 0) * SAND_DEGREE,
                         .body = -1};
    if (!(v3_length(v3_sub(piece.to, piece.from)) > 0)) return sand_build_wrong(b, "to", "expected it away from `from`");
    if (from->body) {
        if ((piece.body = sand_build_find_body(b, from->body, "body", "carry scenery")) < 0) return false;
        SandPose pose = {b->world->position[piece.body], b->world->rotation[piece.body]};
        piece.from = pose_apply_inverse(pose, piece.from);
        piece.to = pose_apply_inverse(pose, piece.to);
    }
    studio->scenery[studio->scenery_count++] = piece;
    return true;
}

bool sand_build_scenery(SandBuilder *b) {
    b->scene->studio.scenery_count = 0;
    for (uint32_t i = 0; i < b->def->scenery_count; i++)
        if (!build_piece(b, (int)i)) return false;
    return true;
}

// --- cameras --------------------------------------------------------------------------------------------------

static bool read_camera(SandScene *scene, int index, SandError *error) {
    static const double ANGLE = 28; // degrees
    const SandYaml *yaml = &scene->file->yaml;
    const SandSceneCameraDef *from = &scene->file->def->cameras[index];
    SandStudio *studio = &scene->studio;
    char place[32], key[48];
    snprintf(place, sizeof place, "cameras[%d]", index);
    snprintf(key, sizeof key, "%s.name", place);
    for (int i = 0; i < index; i++)
        if (!strcmp(studio->cameras[i].name, from->name))
            return sand_yaml_wrong(yaml, error, key, "there is a camera '%s' already", from->name);
    if (!sand_yaml_range(yaml, error, place, "angle", from->angle, 1, 150)) return false;
    double scale = from->scales && *from->scales ? scene->scale : 1;
    SandSceneCamera camera = {.eye = v3_scale(scale, sand_vector(from->eye)),
                              .target = v3_scale(scale, sand_vector(from->target)),
                              .angle = sand_number(from->angle, ANGLE) * SAND_DEGREE};
    double far = v3_length(v3_sub(camera.eye, camera.target));
    snprintf(key, sizeof key, "%s.target", place);
    if (!(far > 0 && far < SAND_FAR)) return sand_yaml_wrong(yaml, error, key, "expected a point away from the eye");
    snprintf(camera.name, sizeof camera.name, "%s", from->name);
    studio->cameras[studio->camera_count++] = camera;
    return true;
}

bool sand_scene_read_cameras(SandScene *scene, SandError *error) {
    scene->studio.camera_count = 0;
    for (uint32_t i = 0; i < scene->file->def->cameras_count; i++)
        if (!read_camera(scene, (int)i, error)) return false;
    return true;
}
