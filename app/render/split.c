// SPDX-License-Identifier: MIT
// Two draws of one renderer, copied into one picture. The renderer's own picture is the whole one where there is one scene.
#include "app/render/split.h"

#include <stdlib.h>
#include <string.h>

#include <glad/gl.h>

// What decides a picture of two halves; compared byte by byte, so it is cleared before it is filled.
typedef struct SplitKey {
    uint64_t stamps[2];
    double back[2];
    ColorMap map;
    Camera camera;
    RendererDef look;
    SplitArea area;
    int width, height;
} SplitKey;

struct Split {
    GLuint texture, framebuffer;
    int width, height; // of the texture
    bool two;          // the last picture was one of two halves
    SplitKey key;      // of it
    bool drawn;        // the key is valid, and nothing was drawn over the picture
};

SplitArea split_area(double left, double right, int height) {
    int from = (int)left, to = (int)right, divider = height / 360 > 2 ? height / 360 : 2;
    int half = (to - from - divider) / 2;
    return (SplitArea){from, to, half > 1 ? half : 1};
}

int split_left(const SplitArea *area, int side) { return side ? area->right - area->half : area->left; }
double split_middle(const SplitArea *area) { return 0.5 * (area->left + area->right); }

Split *split_create(SandError *error) {
    Split *s = calloc(1, sizeof *s);
    if (!s) sand_fail(error, "out of memory for a picture of two halves");
    return s;
}

void split_free(Split *s) {
    if (!s) return;
    glDeleteFramebuffers(1, &s->framebuffer);
    glDeleteTextures(1, &s->texture);
    free(s);
}

static bool fit(Split *s, int width, int height, SandError *error) {
    if (s->width == width && s->height == height) return true;
    glDeleteFramebuffers(1, &s->framebuffer);
    glDeleteTextures(1, &s->texture);
    glCreateTextures(GL_TEXTURE_2D, 1, &s->texture);
    glTextureStorage2D(s->texture, 1, GL_RGBA8, width, height);
    glCreateFramebuffers(1, &s->framebuffer);
    glNamedFramebufferTexture(s->framebuffer, GL_COLOR_ATTACHMENT0, s->texture, 0);
    bool whole = glCheckNamedFramebufferStatus(s->framebuffer, GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    s->width = whole ? width : 0;
    s->height = whole ? height : 0;
    return whole || sand_fail(error, "the driver has no room for a picture of %d x %d pixels", width, height);
}

static SplitKey make_key(const SplitDef *def, const Camera *camera, const RendererDef *look, int width, int height) {
    SplitKey key;
    memset(&key, 0, sizeof key);
    for (int side = 0; side < 2; side++) {
        key.stamps[side] = def->scenes[side]->stamp;
        key.back[side] = def->scenes[side]->back;
    }
    key.map = def->scenes[0]->map;
    memcpy(&key.camera, camera, sizeof key.camera);
    memcpy(&key.look, look, sizeof key.look);
    key.area = def->area;
    key.width = width;
    key.height = height;
    return key;
}

static bool draw_two(Split *s, Renderer *renderer, const SplitDef *def, const Camera *camera, const RendererDef *look,
                     int width, int height, SandError *error) {
    static const float plain[4] = {0.063f, 0.078f, 0.094f, 1}; // the color of the panel
    if (!fit(s, width, height, error)) return false;
    glDisable(GL_SCISSOR_TEST); // a clear and a copy obey it
    glClearNamedFramebufferfv(s->framebuffer, GL_COLOR, 0, plain);
    for (int side = 0; side < 2; side++) {
        int left = split_left(&def->area, side), half = def->area.half;
        if (!renderer_draw(renderer, def->scenes[side], camera, look, half, height, error)) return false;
        glBlitNamedFramebuffer(renderer_framebuffer(renderer), s->framebuffer, 0, 0, half, height, left, 0, left + half,
                               height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    }
    s->key = make_key(def, camera, look, width, height);
    s->drawn = true;
    return true;
}

bool split_draw(Split *s, Renderer *renderer, const SplitDef *def, const Camera *camera, const RendererDef *look, int width,
                int height, SandError *error) {
    s->two = def->scenes[1] != NULL;
    s->drawn = false;
    return s->two ? draw_two(s, renderer, def, camera, look, width, height, error)
                  : renderer_draw(renderer, def->scenes[0], camera, look, width, height, error);
}

bool split_has(const Split *s, const Renderer *renderer, const SplitDef *def, const Camera *camera, const RendererDef *look,
               int width, int height) {
    if (s->two != (def->scenes[1] != NULL)) return false;
    if (!s->two) return renderer_has(renderer, def->scenes[0], camera, look, width, height);
    SplitKey wanted = make_key(def, camera, look, width, height);
    return s->drawn && wanted.stamps[0] && wanted.stamps[1] && memcmp(&wanted, &s->key, sizeof wanted) == 0;
}

void split_show(const Split *s, const Renderer *renderer, int width, int height) {
    if (!s->two) {
        renderer_show(renderer, width, height);
        return;
    }
    glDisable(GL_SCISSOR_TEST);
    glBlitNamedFramebuffer(s->framebuffer, 0, 0, 0, s->width, s->height, 0, 0, width, height, GL_COLOR_BUFFER_BIT,
                           GL_LINEAR);
}

unsigned split_framebuffer(const Split *s, const Renderer *renderer) {
    return s->two ? s->framebuffer : renderer_framebuffer(renderer);
}

unsigned split_texture(const Split *s, const Renderer *renderer) { return s->two ? s->texture : renderer_texture(renderer); }

unsigned split_overdraw(Split *s, Renderer *renderer) {
    s->drawn = false;
    return s->two ? s->framebuffer : renderer_overdraw(renderer);
}
