// SPDX-License-Identifier: MIT
// Creation of the textures and framebuffers, remade when the size of the picture changes.
#include "app/render/targets.h"

#include <glad/gl.h>

#include "app/render/context.h"

static GLuint texture(GLenum format, int width, int height, GLenum filter) {
    GLuint name;
    glCreateTextures(GL_TEXTURE_2D, 1, &name);
    glTextureStorage2D(name, 1, format, width, height);
    glTextureParameteri(name, GL_TEXTURE_MIN_FILTER, (GLint)filter);
    glTextureParameteri(name, GL_TEXTURE_MAG_FILTER, (GLint)filter);
    glTextureParameteri(name, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTextureParameteri(name, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return name;
}

// A texture of one channel that is read softly: with mipmap levels, or, where those would cost, in a low resolution.
static GLuint soft_texture(int size, bool levels) {
    GLuint name;
    glCreateTextures(GL_TEXTURE_2D, 1, &name);
    glTextureStorage2D(name, 3, GL_R8, size, size);
    glTextureParameteri(name, GL_TEXTURE_MIN_FILTER, levels ? GL_LINEAR_MIPMAP_NEAREST : GL_LINEAR);
    glTextureParameteri(name, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTextureParameteri(name, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE); // where there is no glass
    glTextureParameteri(name, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return name;
}

// A framebuffer of up to two colors and a depth; 0 stands for none.
static bool framebuffer(unsigned *name, GLuint a, GLuint b, GLuint depth) {
    static const GLenum both[2] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
    glCreateFramebuffers(1, name);
    if (a) glNamedFramebufferTexture(*name, GL_COLOR_ATTACHMENT0, a, 0);
    if (b) glNamedFramebufferTexture(*name, GL_COLOR_ATTACHMENT1, b, 0);
    if (depth) glNamedFramebufferTexture(*name, GL_DEPTH_ATTACHMENT, depth, 0);
    if (a)
        glNamedFramebufferDrawBuffers(*name, b ? 2 : 1, both);
    else
        glNamedFramebufferDrawBuffer(*name, GL_NONE);
    return glCheckNamedFramebufferStatus(*name, GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

void targets_free(Targets *t) {
    GLuint textures[] = {t->depth, t->color, t->normal,       t->ambient,     t->light,      t->kind,     t->shadow,
                         t->out,   t->glass, t->glass_shadow, t->chain_depth, t->light_copy, t->kind_copy};
    GLuint framebuffers[] = {t->first_pass, t->ambient_pass,      t->light_pass,  t->glass_pass, t->shadow_pass,
                             t->out_pass,   t->glass_shadow_pass, t->direct_pass, t->chain_pass, t->direct_chain_pass};
    glDeleteTextures(sizeof textures / sizeof *textures, textures);
    glDeleteFramebuffers(sizeof framebuffers / sizeof *framebuffers, framebuffers);
    *t = (Targets){0};
}

bool targets_fit(Targets *t, int width, int height, int samples, int ambient_scale, int shadow_size, SandError *error) {
    int w = width * samples, h = height * samples;
    if (t->width == w && t->height == h && t->out_width == width && t->ambient_scale == ambient_scale &&
        t->shadow_size == shadow_size)
        return true;
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    if (w > most || h > most)
        return sand_fail(error, "a picture of %d x %d pixels with %d x %d samples is more than this driver's %d", width,
                         height, samples, samples, most);
    targets_free(t);
    t->width = w;
    t->height = h;
    t->out_width = width;
    t->out_height = height;
    t->ambient_scale = ambient_scale;
    t->shadow_size = shadow_size;
    // Half floats for light; Mesa's software renderer converts those in software, so it gets full ones.
    t->light_format = context_is_software() ? GL_RGBA32F : GL_RGBA16F;

    t->depth = texture(GL_DEPTH_COMPONENT32F, w, h, GL_NEAREST);
    t->color = texture(GL_RGBA8, w, h, GL_NEAREST);
    t->normal = texture(GL_RG16, w, h, GL_NEAREST);
    t->ambient = texture(GL_R8, (w + ambient_scale - 1) / ambient_scale, (h + ambient_scale - 1) / ambient_scale, GL_LINEAR);
    t->light = texture(t->light_format, w, h, GL_NEAREST);
    t->kind = texture(GL_RG8, w, h, GL_NEAREST);
    t->glass = texture(t->light_format, w, h, GL_NEAREST);
    t->out = texture(GL_RGBA8, width, height, GL_LINEAR);
    t->shadow = texture(GL_DEPTH_COMPONENT32F, shadow_size, shadow_size, GL_LINEAR);
    glTextureParameteri(t->shadow, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTextureParameteri(t->shadow, GL_TEXTURE_COMPARE_FUNC,
                        GL_GEQUAL); // lit: at least as near to the sun as the stored depth

    t->glass_shadow_size = shadow_size < 1024 ? 128 : 512;
    t->glass_shadow = soft_texture(t->glass_shadow_size, shadow_size >= 1024);

    bool whole = framebuffer(&t->first_pass, t->color, t->normal, t->depth);
    whole = framebuffer(&t->ambient_pass, t->ambient, 0, 0) && whole;
    whole = framebuffer(&t->light_pass, t->light, t->kind, t->depth) && whole;
    whole = framebuffer(&t->glass_pass, t->glass, 0, t->depth) && whole;
    whole = framebuffer(&t->shadow_pass, 0, 0, t->shadow) && whole;
    whole = framebuffer(&t->glass_shadow_pass, t->glass_shadow, 0, 0) && whole;
    whole = framebuffer(&t->out_pass, t->out, 0, 0) && whole;
    if (samples == 1) whole = framebuffer(&t->direct_pass, t->out, 0, t->depth) && whole;
    if (whole && glGetError() != GL_OUT_OF_MEMORY) return true;
    targets_free(t);
    return sand_fail(error, "the driver has no room for a picture of %d x %d pixels with %d x %d samples", width, height,
                     samples, samples);
}

bool targets_fit_chains(Targets *t, SandError *error) {
    if (t->chain_pass) return true;
    t->chain_depth = texture(GL_DEPTH_COMPONENT32F, t->width, t->height, GL_NEAREST);
    bool whole = framebuffer(&t->chain_pass, t->light, t->kind, t->chain_depth);
    if (t->direct_pass) whole = framebuffer(&t->direct_chain_pass, t->out, 0, t->chain_depth) && whole;
    if (whole && glGetError() != GL_OUT_OF_MEMORY) return true;
    targets_free(t);
    return sand_fail(error, "the driver has no room for the force chains of a picture of %d x %d pixels", t->width,
                     t->height);
}

bool targets_copy_light(Targets *t, SandError *error) {
    if (!t->light_copy) {
        t->light_copy = texture(t->light_format, t->width, t->height, GL_NEAREST);
        t->kind_copy = texture(GL_RG8, t->width, t->height, GL_NEAREST);
        if (glGetError() == GL_OUT_OF_MEMORY)
            return sand_fail(error, "the driver has no room to smooth a picture of %d x %d pixels", t->width, t->height);
    }
    glMemoryBarrier(GL_TEXTURE_UPDATE_BARRIER_BIT); // compute shaders may have written them
    glCopyImageSubData(t->light, GL_TEXTURE_2D, 0, 0, 0, 0, t->light_copy, GL_TEXTURE_2D, 0, 0, 0, 0, t->width, t->height,
                       1);
    glCopyImageSubData(t->kind, GL_TEXTURE_2D, 0, 0, 0, 0, t->kind_copy, GL_TEXTURE_2D, 0, 0, 0, 0, t->width, t->height, 1);
    return true;
}
