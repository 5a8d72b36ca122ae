#include "shader.h"

#include <stdio.h>
#include <string.h>

#include <glad/gl.h>

const char *embedded_find(const char *name) {
    for (const Embedded *e = embedded_files; e->name; e++)
        if (strcmp(e->name, name) == 0) return e->text;
    return NULL;
}

// The first line of what the driver said, in a sentence.
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
    // The defines go after the first line, which must stay the first.
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

unsigned shader_make(const char *vertex, const char *fragment, const char *words, SandError *error) {
    GLuint v = compile(GL_VERTEX_SHADER, vertex, "vert", words, error);
    GLuint f = v ? compile(GL_FRAGMENT_SHADER, fragment, "frag", words, error) : 0;
    GLuint program = 0;
    if (v && f) {
        program = glCreateProgram();
        glAttachShader(program, v);
        glAttachShader(program, f);
        glLinkProgram(program);
        GLint done = 0;
        glGetProgramiv(program, GL_LINK_STATUS, &done);
        if (!done) {
            char log[1024] = "";
            glGetProgramInfoLog(program, sizeof log, NULL, log);
            complain(fragment, log, error);
            glDeleteProgram(program);
            program = 0;
        }
    }
    if (v) glDeleteShader(v);
    if (f) glDeleteShader(f);
    return program;
}
