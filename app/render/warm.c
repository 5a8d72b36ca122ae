// SPDX-License-Identifier: MIT
// Shader warm-up: a driver finishes compiling a program on first use, and in the software renderer that takes long enough to
// be noticed. One small picture with a bit of everything does it for all scenes, before the first frame.
#include "app/render/renderer.h"

bool renderer_warm(Renderer *renderer, const RendererDef *def, SandError *error) {
    enum { SIDE = 32 };
    SandInstance one = {.radius = 0.3f, .rotation = {0, 0, 0, 1}, .offset = {0.2f, 0.2f, 0.2f}};
    RenderLink link = {.to = {0, 0, 1}, .half_width = 0.1f, .value = 1};
    RenderVertex corners[3] = {{{-1, 0, -1}, {0, -1, 0}, 0}, {{1, 0, -1}, {0, -1, 0}, 0}, {{0, 0, 1}, {0, -1, 0}, 0}};
    uint32_t indices[3] = {0, 1, 2};
    RenderSurface surfaces[2] = {{.count = 3, .look = LOOK_GLASS, .rotation = {0, 0, 0, 1}},
                                 {.count = 3, .look = LOOK_EARTH, .rotation = {0, 0, 0, 1}, .position = {0, 2, 0}}};
    RenderGroup groups[2] = {{solid_part(SAND_BOX, 1), 1}, {solid_part(SAND_BOX, 1), 1}};
    RenderScene p = {.lower = {-1, -1, -1},
                     .upper = {1, 1, 1},
                     .floor = -1,
                     .grain = 0.3,
                     .range = 1,
                     .chains = true,
                     .spheres = {&one, 1},
                     .rocks = {&one, 1},
                     .parts = {&one, 1},
                     .stones = {&one, 1},
                     .groups.data = groups,
                     .part_groups = 1,
                     .group_count = 2,
                     .links = {&link, 1},
                     .vertices.data = corners,
                     .indices.data = indices,
                     .surfaces.data = surfaces,
                     .vertex_count = 3,
                     .index_count = 3,
                     .surface_count = 2,
                     .version = UINT32_MAX}; // unique
    Camera camera;
    camera_frame(&camera, camera_preset_names[0], p.lower, p.upper, 1);
    bool ok = solid_meshes_make(&p.meshes, NULL, 0, error);
    for (int color = COLOR_BY_BODY; ok && color <= COLOR_BY_SPEED; color++) { // with body colors and with data colors
        p.color = (RenderColor)color;
        ok = renderer_draw(renderer, &p, &camera, def, SIDE, SIDE, error);
    }
    solid_meshes_free(&p.meshes);
    return ok;
}
