// SPDX-License-Identifier: MIT
// Compiling and linking the embedded shaders.
#include "app/render/shader.h"

#include <stdio.h>
#include <string.h>

#include <glad/gl.h>

const char *embedded_find(const char *name) {
    for (const Embedded *e = embedded_files; e->name; e++)
        if (strcmp(e->name, name) == 0) return e->text;
    return NULL;
}

// Fails with the first line of the driver's log.
static void complain(const char *name, char *log, SandError *error) {
    log[strcspn(log, "\n")] = '\0';
    sand_fail(error, "the shader %s: %.300s", name, log);
}

static GLuint compile(GLenum kind, const char *name, const char *ending, const char *words, SandError *error) {
    char file[64], define[128] = "", log[1024] = "";
    snprintf(file, sizeof file, "%s.%s", name, ending);
    const char *text = embedded_find(file);
    if (!text) return sand_fail(error, "the shader %s is not in this build", file), 0;
    GLuint shader = glCreateShader(kind);
    // The #defines go after the #version line, which must come first.
    size_t first = strcspn(text, "\n") + 1;
    for (size_t used = 0; words && *words && used < sizeof define;) {
        size_t length = strcspn(words, " ");
        used += (size_t)snprintf(define + used, sizeof define - used, "#define %.*s\n", (int)length, words);
        words += length + (words[length] == ' ');
    }
    const char *parts[3] = {text, define, text + first};
    const GLint lengths[3] = {(GLint)first, -1, -1};
    glShaderSource(shader, 3, parts, lengths);
    glCompileShader(shader);
    GLint done = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    if (done) return shader;
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    complain(file, log, error);
    glDeleteShader(shader);
    return 0;
}

// Links the shaders and deletes them. Returns 0 on failure.
static GLuint link(const GLuint *shaders, int count, const char *name, SandError *error) {
    GLuint program = glCreateProgram();
    bool whole = true;
    for (int i = 0; i < count; i++) {
        if (shaders[i]) glAttachShader(program, shaders[i]);
        whole = whole && shaders[i];
    }
    GLint done = 0;
    if (whole) {
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &done);
        char log[1024] = "";
        if (!done) {
            glGetProgramInfoLog(program, sizeof log, NULL, log);
            complain(name, log, error);
        }
    }
    for (int i = 0; i < count; i++)
        if (shaders[i]) glDeleteShader(shaders[i]);
    if (done) return program;
    glDeleteProgram(program);
    return 0;
}

unsigned shader_make(const char *vertex, const char *fragment, const char *words, SandError *error) {
    GLuint shaders[2] = {compile(GL_VERTEX_SHADER, vertex, "vert", words, error), 0};
    if (shaders[0]) shaders[1] = compile(GL_FRAGMENT_SHADER, fragment, "frag", words, error);
    return link(shaders, 2, fragment, error);
}

unsigned shader_make_compute(const char *name, const char *words, SandError *error) {
    GLuint shader = compile(GL_COMPUTE_SHADER, name, "comp", words, error);
    return link(&shader, 1, name, error);
}
