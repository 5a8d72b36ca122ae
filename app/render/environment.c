// SPDX-License-Identifier: MIT
// The cube map is drawn face by face, then filtered: level k for the roughness k / 5. The harmonics come from a small level.
#include "app/render/environment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glad/gl.h>

#include "app/render/shader.h"

enum { SIDE = 256, LEVELS = 6, FACES = 6, SMALL = 5, SMALL_SIDE = SIDE >> SMALL, HARMONICS = 9 };
enum { PLACE, FILTER, PROGRAMS };
enum { UNIFORM_FACE, UNIFORM_LEVEL };
enum { UNIT = 11, BLOCK = 2 };

// What the surroundings depend on.
typedef struct Key {
    float sun[4], key[4], fill[4], horizon[4], zenith[4], ground[4], air[2];
    int32_t style[2];
} Key;

struct Environment {
    GLuint programs[PROGRAMS];
    GLuint drawn, filtered; // cube maps
    GLuint framebuffer, empty_array, harmonics;
    Key key;
    bool made;
};

static GLuint cube(void) {
    GLuint name;
    glCreateTextures(GL_TEXTURE_CUBE_MAP, 1, &name);
    glTextureStorage2D(name, LEVELS, GL_RGBA16F, SIDE, SIDE);
    glTextureParameteri(name, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glTextureParameteri(name, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    return name;
}

Environment *environment_create(SandError *error) {
    Environment *e = calloc(1, sizeof *e);
    if (!e) return sand_fail(error, "out of memory for a renderer"), NULL;
    e->programs[PLACE] = shader_make("screen", "environment", NULL, error);
    if (e->programs[PLACE]) e->programs[FILTER] = shader_make("screen", "environment", "FILTER", error);
    if (!e->programs[FILTER]) return environment_free(e), NULL;
    e->drawn = cube();
    e->filtered = cube();
    glCreateFramebuffers(1, &e->framebuffer);
    glCreateVertexArrays(1, &e->empty_array);
    glCreateBuffers(1, &e->harmonics);
    glNamedBufferStorage(e->harmonics, HARMONICS * 4 * sizeof(float), NULL, GL_DYNAMIC_STORAGE_BIT);
    return e;
}

void environment_free(Environment *e) {
    if (!e) return;
    for (int i = 0; i < PROGRAMS; i++) glDeleteProgram(e->programs[i]);
    GLuint textures[] = {e->drawn, e->filtered};
    glDeleteTextures(2, textures);
    glDeleteFramebuffers(1, &e->framebuffer);
    glDeleteVertexArrays(1, &e->empty_array);
    glDeleteBuffers(1, &e->harmonics);
    free(e);
}

static void draw_level(const Environment *e, int program, GLuint to, int level) {
    glUseProgram(e->programs[program]);
    glViewport(0, 0, SIDE >> level, SIDE >> level);
    glUniform1i(UNIFORM_LEVEL, level);
    for (int face = 0; face < FACES; face++) {
        glNamedFramebufferTextureLayer(e->framebuffer, GL_COLOR_ATTACHMENT0, to, level, face);
        glUniform1i(UNIFORM_FACE, face);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }
}

// The direction through a point of a face, from -1 to 1, as cube maps have it; environment.frag does the same.
static SandVec3 direction_of(int face, double x, double y) {
    const SandVec3 of[FACES] = {{1, -y, -x}, {-1, -y, x}, {x, 1, y}, {x, -1, -y}, {x, -y, 1}, {-x, -y, -1}};
    return of[face];
}

// Irradiance over pi by the first nine spherical harmonics (Ramamoorthi and Hanrahan 2001), scaled so that a surface that
// faces up gets the set's fill light.
static void find_harmonics(const Environment *e, const float *fill) {
    static const double BASIS[HARMONICS] = {0.282095, 0.488603, 0.488603, 0.488603, 1.092548,
                                            1.092548, 0.315392, 1.092548, 0.546274};
    static const double SPREAD[HARMONICS] = {1, 2.0 / 3, 2.0 / 3, 2.0 / 3, 0.25, 0.25, 0.25, 0.25, 0.25};
    static float texels[FACES][SMALL_SIDE * SMALL_SIDE][4];
    double sum[HARMONICS][3] = {{0}}, whole = 0;
    float to[HARMONICS][4] = {{0}};
    glGetTextureImage(e->drawn, SMALL, GL_RGBA, GL_FLOAT, sizeof texels, texels);
    for (int face = 0; face < FACES; face++)
        for (int i = 0; i < SMALL_SIDE * SMALL_SIDE; i++) {
            SandVec3 d = direction_of(face, (2 * (i % SMALL_SIDE) + 1.0) / SMALL_SIDE - 1,
                                      (2 * (i / SMALL_SIDE) + 1.0) / SMALL_SIDE - 1);
            double r = v3_length(d), share = 1 / (r * r * r);
            d = v3_scale(1 / r, d);
            const double at[HARMONICS] = {
                1, d.y, d.z, d.x, d.x * d.y, d.y * d.z, 3 * d.z * d.z - 1, d.x * d.z, d.x * d.x - d.y * d.y};
            whole += share;
            for (int k = 0; k < HARMONICS; k++)
                for (int c = 0; c < 3; c++) sum[k][c] += share * at[k] * texels[face][i][c];
        }
    double up = 0, wanted = 0;
    for (int k = 0; k < HARMONICS; k++)
        for (int c = 0; c < 3; c++) sum[k][c] *= 4 * 3.14159265358979 / whole * BASIS[k] * BASIS[k] * SPREAD[k];
    for (int c = 0; c < 3; c++) {
        up += sum[0][c] + sum[2][c] + 2 * sum[6][c];
        wanted += fill[c];
    }
    double factor = up > 1e-6 ? wanted / up : 1;
    for (int k = 0; k < HARMONICS; k++)
        for (int c = 0; c < 3; c++) to[k][c] = (float)(factor * sum[k][c]);
    glNamedBufferSubData(e->harmonics, 0, sizeof to, to);
}

static void make(Environment *e, const FrameUniforms *frame) {
    glBindFramebuffer(GL_FRAMEBUFFER, e->framebuffer);
    glBindVertexArray(e->empty_array);
    glDisable(GL_DEPTH_TEST);
    draw_level(e, PLACE, e->drawn, 0);
    glGenerateTextureMipmap(e->drawn);
    glBindTextureUnit(UNIT, e->drawn);
    for (int level = 0; level < LEVELS; level++) draw_level(e, FILTER, e->filtered, level);
    glEnable(GL_DEPTH_TEST);
    find_harmonics(e, frame->fill);
}

void environment_use(Environment *e, const FrameUniforms *frame) {
    Key key;
    memset(&key, 0, sizeof key);
    memcpy(key.sun, frame->sun, 3 * sizeof(float));
    memcpy(key.key, frame->key, 3 * sizeof(float));
    memcpy(key.fill, frame->fill, sizeof key.fill);
    memcpy(key.horizon, frame->horizon, sizeof key.horizon);
    memcpy(key.zenith, frame->zenith, sizeof key.zenith);
    memcpy(key.ground, frame->ground, sizeof key.ground);
    memcpy(key.air, frame->air, sizeof key.air);
    memcpy(key.style, frame->style + 2, sizeof key.style);
    glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
    if (!e->made || memcmp(&key, &e->key, sizeof key) != 0) make(e, frame);
    e->key = key;
    e->made = true;
    glBindTextureUnit(UNIT, e->filtered);
    glBindBufferBase(GL_UNIFORM_BUFFER, BLOCK, e->harmonics);
}
