// SPDX-License-Identifier: MIT
// The renderer. renderer_draw lists the passes: upload, shadow map, first pass (depth, color, normal), ambient occlusion,
// light, silhouette edges, glass, force chains, tone map; at low quality one direct pass replaces the last five.
#include "app/render/renderer.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glad/gl.h>

#include "app/render/context.h"
#include "app/render/cull.h"
#include "app/render/environment.h"
#include "app/render/frame_uniforms.h"
#include "app/render/lighting.h"
#include "app/render/shader.h"
#include "app/render/solids.h"
#include "app/render/splat.h"
#include "app/render/targets.h"
#include "app/render/vertex_array.h"
#include "sim/core/hash.h"

const char *const renderer_quality_names[QUALITY_COUNT + 1] = {"low", "medium", "high", NULL};

// clang-format off
typedef enum ProgramId {
    BALL, BALL_FINE, BALL_DATA, ROCK, RIM, RIM_DATA, ROCK_RIM, BALL_SHADOW, SURFACE, SURFACE_PLAIN, SURFACE_FINE, WOOD, STONE, METAL, SURFACE_SHADOW,
    GLASS, GLASS_SHADOW, FLOOR, FLOOR_PLAIN, FLOOR_GRID, CHAIN, GLASS_DIRECT, CHAIN_DIRECT, PROGRAM_COUNT
} ProgramId;

// Vertex shader, fragment shader, and their #defines.
static const char *const program_files[PROGRAM_COUNT][3] = {
    [BALL]           = {"ball", "ball"},
    [BALL_FINE]      = {"ball", "ball", "FINE"},
    [BALL_DATA]      = {"ball", "ball", "DATA"}, // data colors: they bypass light and tone map
    [ROCK]           = {"ball", "ball", "ROCK"},
    [RIM]            = {"ball", "rim", "EDGE FINE"},
    [RIM_DATA]       = {"ball", "rim", "EDGE DATA"},
    [ROCK_RIM]       = {"ball", "rim", "EDGE ROCK"},
    [BALL_SHADOW]    = {"ball_shadow", "ball_shadow"},
    [SURFACE]        = {"surface", "surface"},
    [SURFACE_PLAIN]  = {"surface", "surface", "PLAIN"}, // for low quality, in a set
    [SURFACE_FINE]   = {"surface", "surface", "FINE"},
    [WOOD]           = {"surface", "surface", "WOOD"},
    [STONE]          = {"surface", "surface", "STONE"},
    [METAL]          = {"surface", "surface", "METAL"},
    [SURFACE_SHADOW] = {"surface", "shadow"},
    [GLASS]          = {"surface", "glass"},
    [GLASS_SHADOW]   = {"surface", "glass_shadow"},
    [FLOOR]          = {"screen", "floor"},
    [FLOOR_PLAIN]    = {"screen", "floor", "PLAIN"}, // for low quality
    [FLOOR_GRID]     = {"screen", "floor", "GRID"},
    [CHAIN]          = {"chain", "chain"},
    [GLASS_DIRECT]   = {"surface", "glass", "DIRECT"}, // straight to the screen, for low quality
    [CHAIN_DIRECT]   = {"chain", "chain", "DIRECT"},
};
// clang-format on

enum { UNIFORM_SHADOW = 0, UNIFORM_ROTATION = 1, UNIFORM_PLACE = 2, UNIFORM_MARKS = 3, UNIFORM_PAINT = 4, UNIFORM_SIZE = 1 };

struct Renderer {
    GLuint programs[PROGRAM_COUNT];
    GLuint frame_buffer, palette_buffer, colormaps[MAP_COUNT];
    GLuint copies; // instances and links of a render scene without a GL buffer
    GLuint surface_vertices, surface_indices;
    GLuint kept_array; // for the balls that culling selects
    GLuint sphere_array, rock_array, link_array, surface_array, empty_array;
    uint64_t stamp;       // of the instances on the GPU and in the shadow map: both are kept while paused
    unsigned version;     // of the surfaces on the GPU
    uint64_t glass_state; // of the shadow of the glass
    FrameUniforms frame;  // of the last draw
    ColorMap map;
    bool overdrawn; // something was drawn over the picture
    Targets targets;
    Solids *solids;
    Environment *environment; // created once something is not drawn in low quality
    Cull *cull;               // created once there are enough balls
    Splat *splat;             // created on first use
    Lighting *lightings[2];   // by triangles, by compute shaders; created on first use
    bool culling, splatting;  // in this frame
    bool software;            // drawn by the CPU
};

RendererDef renderer_default(void) {
    return (RendererDef){.quality = QUALITY_MEDIUM, .samples = 1, .chain_threshold = 0.01, .chain_scale = 1, .exposure = 1};
}

// --- creation -------------------------------------------------------------------------------------------------

static GLuint make_link_array(void) {
    GLuint array;
    glCreateVertexArrays(1, &array);
    glVertexArrayBindingDivisor(array, 0, 1);
    vertex_attribute(array, 0, 0, 4, offsetof(RenderLink, from));
    vertex_attribute(array, 1, 0, 4, offsetof(RenderLink, from_velocity));
    vertex_attribute(array, 2, 0, 3, offsetof(RenderLink, to));
    vertex_attribute(array, 3, 0, 3, offsetof(RenderLink, to_velocity));
    return array;
}

static bool make_colormap(GLuint *name, ColorMap map, SandError *error) {
    unsigned char pixels[COLORMAP_SIZE][4];
    if (!colormap_read(map, pixels, error)) return false;
    glCreateTextures(GL_TEXTURE_2D, 1, name);
    glTextureStorage2D(*name, 1, GL_SRGB8_ALPHA8, COLORMAP_SIZE, 1);
    glTextureSubImage2D(*name, 0, 0, 0, COLORMAP_SIZE, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureParameteri(*name, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTextureParameteri(*name, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTextureParameteri(*name, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return true;
}

Renderer *renderer_create(SandError *error) {
    Renderer *r = calloc(1, sizeof *r);
    if (!r) return sand_fail(error, "out of memory for a renderer"), NULL;
    r->software = context_is_software();
    for (int i = 0; i < PROGRAM_COUNT; i++) {
        r->programs[i] = shader_make(program_files[i][0], program_files[i][1], program_files[i][2], error);
        if (!r->programs[i]) return renderer_free(r), NULL;
    }
    for (int k = 0; k < MAP_COUNT; k++)
        if (!make_colormap(&r->colormaps[k], (ColorMap)k, error)) return renderer_free(r), NULL;

    if (!(r->solids = solids_create(error))) return renderer_free(r), NULL;

    GLuint buffers[5];
    glCreateBuffers(5, buffers);
    r->palette_buffer = buffers[4];
    glNamedBufferStorage(r->palette_buffer, sizeof((RenderScene *)0)->palette, NULL, GL_DYNAMIC_STORAGE_BIT);
    r->frame_buffer = buffers[0];
    r->copies = buffers[1];
    r->surface_vertices = buffers[2];
    r->surface_indices = buffers[3];
    glNamedBufferStorage(r->frame_buffer, sizeof(FrameUniforms), NULL, GL_DYNAMIC_STORAGE_BIT);

    r->sphere_array = vertex_array_of_instances();
    r->kept_array = vertex_array_of_instances();
    r->rock_array = vertex_array_of_instances();
    r->link_array = make_link_array();
    glCreateVertexArrays(1, &r->empty_array);
    glCreateVertexArrays(1, &r->surface_array);
    glVertexArrayVertexBuffer(r->surface_array, 0, r->surface_vertices, 0, sizeof(RenderVertex));
    glVertexArrayElementBuffer(r->surface_array, r->surface_indices);
    vertex_attribute(r->surface_array, 0, 0, 3, offsetof(RenderVertex, position));
    vertex_attribute(r->surface_array, 1, 0, 3, offsetof(RenderVertex, normal));
    vertex_attribute(r->surface_array, 2, 0, 1, offsetof(RenderVertex, turn));
    return r;
}

void renderer_free(Renderer *r) {
    if (!r) return;
    for (int i = 0; i < PROGRAM_COUNT; i++) glDeleteProgram(r->programs[i]);
    GLuint buffers[] = {r->frame_buffer, r->palette_buffer, r->copies, r->surface_vertices, r->surface_indices};
    GLuint arrays[] = {r->sphere_array, r->kept_array, r->rock_array, r->link_array, r->surface_array, r->empty_array};
    glDeleteBuffers(sizeof buffers / sizeof *buffers, buffers);
    glDeleteVertexArrays(sizeof arrays / sizeof *arrays, arrays);
    glDeleteTextures(MAP_COUNT, r->colormaps);
    targets_free(&r->targets);
    solids_free(r->solids);
    environment_free(r->environment);
    cull_free(r->cull);
    splat_free(r->splat);
    for (int k = 0; k < 2; k++) lighting_free(r->lightings[k]);
    free(r);
}

// --- what a frame needs on the GPU --------------------------------------------------------------------------

// Uploads the lists of a render scene without a GL buffer, one after the other.
static void copy_lists(Renderer *r, const RenderScene *scene) {
    const RenderList *lists[] = {&scene->spheres, &scene->rocks, &scene->parts, &scene->stones};
    size_t at = 0, bytes = (size_t)scene->links.count * sizeof(RenderLink);
    for (int k = 0; k < 4; k++) bytes += (size_t)lists[k]->count * sizeof(SandInstance);
    if (!bytes) return;
    glNamedBufferData(r->copies, (GLsizeiptr)bytes, NULL, GL_STREAM_DRAW);
    for (int k = 0; k < 4; k++) {
        size_t size = (size_t)lists[k]->count * sizeof(SandInstance);
        if (size) glNamedBufferSubData(r->copies, (GLintptr)at, (GLsizeiptr)size, lists[k]->items);
        at += size;
    }
    if (scene->links.count)
        glNamedBufferSubData(r->copies, (GLintptr)at, (GLsizeiptr)((size_t)scene->links.count * sizeof(RenderLink)),
                             scene->links.items);
}

// Sets the buffer offsets of the instance arrays: the lists are consecutive, as render_scene_update and copy_lists write
// them.
static bool place_lists(Renderer *r, const RenderScene *scene, SandError *error) {
    GLuint buffer = scene->buffer ? scene->buffer : r->copies;
    size_t rocks = (size_t)scene->spheres.count * sizeof(SandInstance),
           solids = rocks + (size_t)scene->rocks.count * sizeof(SandInstance),
           links = solids + (size_t)(scene->parts.count + scene->stones.count) * sizeof(SandInstance);
    glVertexArrayVertexBuffer(r->sphere_array, 0, buffer, 0, sizeof(SandInstance));
    glVertexArrayVertexBuffer(r->rock_array, 0, buffer, (GLintptr)rocks, sizeof(SandInstance));
    glVertexArrayVertexBuffer(r->link_array, 0, buffer, (GLintptr)links, sizeof(RenderLink));
    return solids_upload(r->solids, scene, buffer, solids, error);
}

static bool upload_instances(Renderer *r, const RenderScene *scene, SandError *error) {
    if (!scene->buffer) copy_lists(r, scene);
    return place_lists(r, scene, error);
}

static void upload_surfaces(Renderer *r, const RenderScene *scene) {
    if (r->version == scene->version) return;
    glNamedBufferData(r->surface_vertices, (GLsizeiptr)((size_t)scene->vertex_count * sizeof *scene->vertices.data),
                      scene->vertices.data, GL_STATIC_DRAW);
    glNamedBufferData(r->surface_indices, (GLsizeiptr)((size_t)scene->index_count * sizeof *scene->indices.data),
                      scene->indices.data, GL_STATIC_DRAW);
    r->version = scene->version;
}

// --- drawing ------------------------------------------------------------------------------------------------

static void draw_quads(const Renderer *r, const RenderList *list, GLuint array, ProgramId program) {
    if (!list->count) return;
    glUseProgram(r->programs[program]);
    glBindVertexArray(array);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, list->count);
}

static void draw_kept(const Renderer *r, ProgramId program) {
    glUseProgram(r->programs[program]);
    cull_draw(r->cull, r->kept_array);
}

// Whether all balls of a view are small enough to be splatted. The sun sees a ball in the same size anywhere; to the camera
// any of them may be near.
static bool all_small(const Renderer *r, const RenderScene *scene, CullView view) {
    double texels = scene->largest * fmax(r->frame.light_scale[0], r->frame.light_scale[1]) * r->targets.shadow_size;
    return r->splatting && view == CULL_LIGHT && texels > 0 && texels < SPLAT_LIMIT - 1;
}

// Draws the visible balls of a view; the result is the same as if all were drawn.
static void draw_spheres(Renderer *r, const RenderScene *scene, CullView view, ProgramId ball, ProgramId rock) {
    const Targets *t = &r->targets;
    bool light = view == CULL_LIGHT;
    draw_quads(r, &scene->rocks, r->rock_array, rock);
    if (!r->culling) {
        draw_quads(r, &scene->spheres, r->sphere_array, ball);
        return;
    }
    GLuint instances = scene->buffer ? scene->buffer : r->copies;
    int width = light ? t->shadow_size : t->width, height = light ? t->shadow_size : t->height;
    bool quads = !all_small(r, scene, view);
    if (quads) {
        cull_begin(r->cull, view, instances, scene->spheres.count);
        draw_kept(r, ball);
    }
    if (r->splatting) splat_draw(r->splat, view, t, ball == BALL_DATA, instances, scene->spheres.count);
    if (!quads) return;
    cull_go_on(r->cull, view, light ? t->shadow : t->depth, width, height, r->splatting ? SPLAT_LIMIT : 0);
    draw_kept(r, ball);
}

// Whether a program draws surfaces of this look.
static bool draws(ProgramId program, RenderLook look) {
    switch (program) {
    case SURFACE:
    case SURFACE_PLAIN:
    case SURFACE_FINE: return look == LOOK_EARTH;
    case WOOD: return look == LOOK_WOOD;
    case STONE: return look == LOOK_BRICK || look == LOOK_CONCRETE;
    case METAL: return !draws(SURFACE, look) && !draws(WOOD, look) && !draws(STONE, look) && look != LOOK_GLASS;
    case SURFACE_SHADOW: return look != LOOK_GLASS;
    default: return look == LOOK_GLASS;
    }
}

static void draw_surfaces(const Renderer *r, const RenderScene *scene, ProgramId program) {
    bool shadow = program == SURFACE_SHADOW || program == GLASS_SHADOW, coarse = shadow || program == GLASS_DIRECT;
    coarse = coarse || !r->frame.mode[3]; // low quality
    glUseProgram(r->programs[program]);
    glUniform1i(UNIFORM_SHADOW, shadow);
    glBindVertexArray(r->surface_array);
    for (int k = 0; k < scene->surface_count; k++) {
        const RenderSurface *s = &scene->surfaces.data[k];
        if (!draws(program, s->look) || !s->count || (shadow && s->beyond)) continue;
        glUniform4fv(UNIFORM_ROTATION, 1, s->rotation);
        glUniform3fv(UNIFORM_PLACE, 1, s->position);
        if (program == WOOD || program == STONE || program == METAL)
            glUniform4f(UNIFORM_PAINT, s->color[0], s->color[1], s->color[2], (float)s->look);
        if (program == GLASS || program == GLASS_DIRECT) glUniform1i(UNIFORM_MARKS, s->marks);
        bool less = coarse && s->coarse_count;
        glDrawElements(GL_TRIANGLES, (GLsizei)(less ? s->coarse_count : s->count), GL_UNSIGNED_INT,
                       (void *)((less ? s->coarse_first : s->first) * sizeof(uint32_t)));
    }
}

static bool has_floor(const RenderScene *scene, const RendererDef *def) {
    return !def->transparent && !(scene->dressed && scene->studio.floor == SAND_FLOOR_NONE);
}

static void draw_screen(const Renderer *r, ProgramId program) {
    glUseProgram(r->programs[program]);
    glBindVertexArray(r->empty_array);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

// The GL state that every pass starts from. Depth is reversed: greater is nearer, and 0 is nothing.
static void begin(void) {
    glClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_GREATER);
    glDepthMask(GL_TRUE);
    glEnable(GL_DEPTH_CLAMP); // quads in front of the near plane still cast their rays
    glDisable(GL_BLEND);
    glDisable(GL_CULL_FACE);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_FRAMEBUFFER_SRGB);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

static void begin_target(GLuint framebuffer, int width, int height) {
    static const float nothing = 0; // colors need no clear: they are read only where there is a depth
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glViewport(0, 0, width, height);
    glClearNamedFramebufferfv(framebuffer, GL_DEPTH, 0, &nothing);
}

static void draw_body_shadows(Renderer *r, const RenderScene *scene) {
    float size = (float)r->targets.shadow_size;
    glProgramUniform2f(r->programs[BALL_SHADOW], UNIFORM_SIZE, size, size);
    draw_spheres(r, scene, CULL_LIGHT, BALL_SHADOW, BALL_SHADOW);
    solids_draw(r->solids, SOLIDS_SHADOW);
}

static void pass_shadow(Renderer *r, const RenderScene *scene, const RendererDef *def) {
    int size = r->targets.shadow_size;
    begin_target(r->targets.shadow_pass, size, size);
    if (def->no_shadow) return;
    if (scene->sun_depths)
        glTextureSubImage2D(r->targets.shadow, 0, 0, 0, size, size, GL_DEPTH_COMPONENT, GL_FLOAT, scene->sun_depths);
    else
        draw_body_shadows(r, scene);
    draw_surfaces(r, scene, SURFACE_SHADOW);
}

static uint64_t hash_floats(uint64_t hash, const float *values, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = sand_hash(hash, bits);
    }
    return hash;
}

// A hash of all that the shadow of the glass depends on; never 0.
static uint64_t glass_state(const Renderer *r, const RenderScene *scene, const RendererDef *def) {
    uint64_t hash = hash_floats(sand_hash(SAND_HASH_BEGIN, scene->version), r->frame.light, 16);
    for (int k = 0; k < scene->surface_count; k++) {
        if (scene->surfaces.data[k].look != LOOK_GLASS) continue;
        hash = hash_floats(hash_floats(hash, scene->surfaces.data[k].rotation, 4), scene->surfaces.data[k].position, 3);
    }
    return sand_hash(hash, def->no_shadow) | 1;
}

// The shadow of the glass, which lets most of the light through: the path of the light through all layers. A vessel that
// stands still keeps it.
static void pass_glass_shadow(Renderer *r, const RenderScene *scene, const RendererDef *def) {
    static const float nothing[4] = {0};
    int size = r->targets.glass_shadow_size;
    uint64_t state = glass_state(r, scene, def);
    if (state == r->glass_state) return;
    r->glass_state = state;
    glBindFramebuffer(GL_FRAMEBUFFER, r->targets.glass_shadow_pass);
    glViewport(0, 0, size, size);
    glClearNamedFramebufferfv(r->targets.glass_shadow_pass, GL_COLOR, 0, nothing);
    if (!def->no_shadow) {
        glDisable(GL_DEPTH_TEST);
        glEnable(GL_BLEND);
        glBlendFunc(GL_ONE, GL_ONE);
        draw_surfaces(r, scene, GLASS_SHADOW);
        glDisable(GL_BLEND);
        glEnable(GL_DEPTH_TEST);
    }
    glGenerateTextureMipmap(r->targets.glass_shadow);
}

static void draw_bodies(Renderer *r, const RenderScene *scene) {
    bool data = scene->color != COLOR_BY_BODY;
    begin_target(r->targets.first_pass, r->targets.width, r->targets.height);
    glBindTextureUnit(3, r->colormaps[scene->map]);
    draw_spheres(r, scene, CULL_CAMERA, data ? BALL_DATA : r->frame.mode[3] ? BALL_FINE : BALL, ROCK);
    solids_draw(r->solids, data ? SOLIDS_DATA : r->frame.mode[3] ? SOLIDS_FINE : SOLIDS_COLOR);
}

static void pass_first(Renderer *r, const RenderScene *scene, const RendererDef *def) {
    draw_bodies(r, scene);
    // Meshes without thickness are visible from both sides; ray-cast balls clip themselves.
    glDisable(GL_DEPTH_CLAMP);
    draw_surfaces(r, scene, r->frame.mode[3] ? SURFACE_FINE : r->frame.style[2] ? SURFACE_PLAIN : SURFACE);
    for (ProgramId surface = WOOD; surface <= METAL; surface++) draw_surfaces(r, scene, surface);
    glEnable(GL_DEPTH_CLAMP);
    if (has_floor(scene, def) && !r->splatting)
        draw_screen(r, r->frame.style[0] == SAND_FLOOR_GRID ? FLOOR_GRID : r->frame.mode[3] ? FLOOR : FLOOR_PLAIN);
}

// Blends the silhouette edges of balls over the lit picture, by pixel coverage.
static void pass_rims(Renderer *r, const RenderScene *scene) {
    glBindTextureUnit(0, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, r->targets.light_pass);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    ProgramId rim = scene->color != COLOR_BY_BODY ? RIM_DATA : RIM;
    if (r->culling) {
        cull_keep_seen(r->cull, CULL_CAMERA);
        draw_kept(r, rim);
    } else {
        draw_quads(r, &scene->spheres, r->sphere_array, rim);
    }
    draw_quads(r, &scene->rocks, r->rock_array, ROCK_RIM);
    glDisable(GL_BLEND);
}

// Sums all layers of glass; order-independent, without depth writes.
static void pass_glass(Renderer *r, const RenderScene *scene) {
    static const float nothing[4] = {0};
    glBindTextureUnit(0, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, r->targets.glass_pass);
    glClearNamedFramebufferfv(r->targets.glass_pass, GL_COLOR, 0, nothing);
    glEnable(GL_DEPTH_TEST);
    glDisable(GL_DEPTH_CLAMP);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    draw_surfaces(r, scene, GLASS);
    glDisable(GL_BLEND);
}

// Force chains over everything, as they run inside the pile, with a depth buffer of their own. Bodies are dimmed behind
// them.
static void pass_chains(Renderer *r, const RenderScene *scene, GLuint framebuffer, ProgramId program) {
    static const float nothing = 0;
    if (!scene->links.count) return;
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glDepthMask(GL_TRUE);
    glClearNamedFramebufferfv(framebuffer, GL_DEPTH, 0, &nothing);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glBindTextureUnit(0, r->targets.depth);
    glUseProgram(r->programs[program]);
    glBindVertexArray(r->link_array);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, scene->links.count);
    glBindTextureUnit(0, 0);
    glDisable(GL_BLEND);
    glDepthMask(GL_FALSE);
}

// Light, sky, chains and glass directly into the output: half the work in the software renderer.
static void pass_direct(Renderer *r, const RenderScene *scene, const Lighting *lighting) {
    lighting_direct(lighting, &r->targets, r->frame.style[2] != SAND_GROUND_SWEEP);
    pass_chains(r, scene, r->targets.direct_chain_pass, CHAIN_DIRECT);

    glBindTextureUnit(0, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, r->targets.direct_pass);
    glEnable(GL_DEPTH_TEST);
    glDisable(GL_DEPTH_CLAMP);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_SRC1_COLOR);
    draw_surfaces(r, scene, GLASS_DIRECT);
    glDisable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ZERO); // Mesa refuses two targets while two sources are set, even where nothing is blended
}

// Chooses culling, splatting and lighting for this frame, and creates what they need.
static const Lighting *choose(Renderer *r, const RenderScene *scene, const RendererDef *def, SandError *error) {
    bool compute = def->compute == COMPUTE_ALWAYS || (def->compute == COMPUTE_ON_GPU && !r->software);
    r->culling = scene->spheres.count >= CULL_LEAST && !def->no_culling;
    r->splatting = r->culling && compute;
    if (r->culling && !r->cull && !(r->cull = cull_create(error))) return NULL;
    if (r->splatting && !r->splat && !(r->splat = splat_create(error))) return NULL;
    bool fine = renderer_levels[def->quality].fine || def->samples > 1;
    if (fine && !r->environment && !(r->environment = environment_create(error))) return NULL;
    if (!r->lightings[compute]) r->lightings[compute] = lighting_create(compute, error);
    return r->lightings[compute];
}

// Resizes the targets; what they held is lost then.
static bool fit_targets(Renderer *r, const RenderScene *scene, const RendererDef *def, int width, int height,
                        SandError *error) {
    const RendererLevel *level = &renderer_levels[def->quality];
    unsigned shadow = r->targets.shadow;
    if (!targets_fit(&r->targets, width, height, def->samples, level->ambient_scale, level->shadow_size, error))
        return false;
    if (scene->links.count && !targets_fit_chains(&r->targets, error)) return false;
    if (r->targets.shadow != shadow) r->stamp = r->glass_state = 0;
    return true;
}

// Sets uniforms and state.
static void begin_frame(Renderer *r, const RenderScene *scene, const FrameUniforms *frame) {
    r->frame = *frame;
    glNamedBufferSubData(r->frame_buffer, 0, sizeof r->frame, &r->frame);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, r->frame_buffer);
    if (scene->material_count)
        glNamedBufferSubData(r->palette_buffer, 0, (GLsizeiptr)((size_t)scene->material_count * sizeof *scene->palette),
                             scene->palette);
    glBindBufferBase(GL_UNIFORM_BUFFER, 1, r->palette_buffer);
    begin();
}

bool renderer_draw_depths(Renderer *r, const RenderScene *scene, const FrameUniforms *frame, const RendererDef *def,
                          int width, int height, SandError *error) {
    if (!choose(r, scene, def, error) || !fit_targets(r, scene, def, width, height, error) ||
        !upload_instances(r, scene, error))
        return false;
    r->stamp = 0; // neither instances nor shadows are those of a picture
    begin_frame(r, scene, frame);
    begin_target(r->targets.shadow_pass, r->targets.shadow_size, r->targets.shadow_size);
    draw_body_shadows(r, scene);
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE); // only depths are read
    draw_bodies(r, scene);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    return true;
}

bool renderer_draw(Renderer *r, const RenderScene *render_scene, const Camera *camera, const RendererDef *def, int width,
                   int height, SandError *error) {
    const RendererLevel *level = &renderer_levels[def->quality];
    const Lighting *lighting = choose(r, render_scene, def, error);
    if (!lighting || !fit_targets(r, render_scene, def, width, height, error)) return false;
    FrameUniforms frame = frame_uniforms(render_scene, camera, def, r->targets.width, r->targets.height);
    bool same = render_scene->stamp && render_scene->stamp == r->stamp,
         cut = memcmp(frame.cut, r->frame.cut, sizeof frame.cut);
    bool paused = same && !cut && !def->no_shadow; // instances and shadows are those of the last draw
    if (!same && !upload_instances(r, render_scene, error)) return false;
    if (!same) upload_surfaces(r, render_scene);
    r->map = render_scene->map;
    r->overdrawn = false;
    begin_frame(r, render_scene, &frame);
    if (level->fine || def->samples > 1) environment_use(r->environment, &frame);
    if (!paused) pass_shadow(r, render_scene, def);
    pass_glass_shadow(r, render_scene, def);
    r->stamp = def->no_shadow ? 0 : render_scene->stamp;
    pass_first(r, render_scene, def);
    glDepthMask(GL_FALSE); // depth is read-only from here on
    lighting_ambient(lighting, &r->targets);
    if (level->fine || def->samples > 1) {
        lighting_light(lighting, &r->targets, r->frame.style[2] != SAND_GROUND_SWEEP);
        if (level->fine) pass_rims(r, render_scene);
        if (level->fine && !solids_smooth(r->solids, &r->targets, error)) return false;
        pass_glass(r, render_scene);
        pass_chains(r, render_scene, r->targets.chain_pass, CHAIN);
        lighting_tone(lighting, &r->targets, def->samples, def->double_encode);
    } else {
        pass_direct(r, render_scene, lighting);
    }
    glDepthMask(GL_TRUE);
    return true;
}

bool renderer_has(const Renderer *r, const RenderScene *render_scene, const Camera *camera, const RendererDef *def,
                  int width, int height) {
    if (r->overdrawn || !render_scene->stamp || render_scene->stamp != r->stamp || render_scene->map != r->map ||
        r->targets.out_width != width || r->targets.width != width * def->samples)
        return false;
    FrameUniforms wanted = frame_uniforms(render_scene, camera, def, width * def->samples, height * def->samples);
    return memcmp(&wanted, &r->frame, sizeof wanted) == 0;
}

void renderer_show(const Renderer *r, int width, int height) {
    glBlitNamedFramebuffer(r->targets.out_pass, 0, 0, 0, r->targets.out_width, r->targets.out_height, 0, 0, width, height,
                           GL_COLOR_BUFFER_BIT, GL_LINEAR);
}

unsigned renderer_framebuffer(const Renderer *r) { return r->targets.out_pass; }
unsigned renderer_texture(const Renderer *r) { return r->targets.out; }
unsigned renderer_overdraw(Renderer *r) { return r->overdrawn = true, r->targets.out_pass; }

void renderer_read_depth(const Renderer *r, int x, int y, int width, int height, float *depth) {
    glBindFramebuffer(GL_READ_FRAMEBUFFER, r->targets.first_pass);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(x, y, width, height, GL_DEPTH_COMPONENT, GL_FLOAT, depth);
}

int renderer_shadow_size(const RendererDef *def) { return renderer_levels[def->quality].shadow_size; }

void renderer_read_shadow(const Renderer *r, float *depth) {
    size_t texels = (size_t)r->targets.shadow_size * (size_t)r->targets.shadow_size;
    glGetTextureImage(r->targets.shadow, 0, GL_DEPTH_COMPONENT, GL_FLOAT, (GLsizei)(texels * sizeof *depth), depth);
}
