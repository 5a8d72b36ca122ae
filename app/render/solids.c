// SPDX-License-Identifier: MIT
// Vertex and index buffers of the meshes, and indirect commands that say how many instances each mesh has.
#include "app/render/solids.h"

#include <stdlib.h>

#include <glad/gl.h>

#include "app/render/shader.h"
#include "app/render/vertex_array.h"
#include "sim/core/array.h"

enum { PART, PART_FINE, PART_DATA, STONE, STONE_FINE, SHADOW, EDGE, PROGRAMS };
static const char *const program_files[PROGRAMS][3] = {
    [PART] = {"solid", "solid"},
    [PART_FINE] = {"solid", "solid", "FINE"},
    [STONE] = {"solid", "solid", "ROCK"},
    [STONE_FINE] = {"solid", "solid", "ROCK FINE"},
    [PART_DATA] = {"solid", "solid", "DATA"},
    [SHADOW] = {"solid", "shadow", "LIGHT"},
    [EDGE] = {"solid_edge", "solid_edge"},
};

// As glMultiDrawElementsIndirect and glMultiDrawArraysIndirect read them.
typedef struct FaceCommand {
    GLuint count, instances, first;
    GLint base_vertex;
    GLuint base_instance;
} FaceCommand;
typedef struct EdgeCommand {
    GLuint count, instances, first, base_instance;
} EdgeCommand;

struct Solids {
    GLuint programs[PROGRAMS];
    GLuint face_array, edge_array;
    GLuint vertices, indices, edges; // of the meshes with this key
    GLuint edge_texture;             // the same edges
    GLuint face_commands, edge_commands;
    uint64_t key;
    int parts, stones; // commands of the last upload
    SAND_ARRAY(FaceCommand) faces;
    SAND_ARRAY(EdgeCommand) lines;
};

// --- creation -----------------------------------------------------------------------------------------------

static void make_arrays(Solids *s) {
    s->face_array = vertex_array_of_instances();
    glVertexArrayVertexBuffer(s->face_array, 1, s->vertices, 0, sizeof(SolidVertex));
    glVertexArrayElementBuffer(s->face_array, s->indices);
    vertex_attribute(s->face_array, 6, 1, 4, offsetof(SolidVertex, at));
    vertex_attribute(s->face_array, 7, 1, 3, offsetof(SolidVertex, normal));
    // Both vertices of a line need the whole edge, and find it in a texture by their number.
    s->edge_array = vertex_array_of_instances();
    glCreateTextures(GL_TEXTURE_BUFFER, 1, &s->edge_texture);
}

Solids *solids_create(SandError *error) {
    Solids *s = calloc(1, sizeof *s);
    if (!s) return sand_fail(error, "out of memory for meshes"), NULL;
    for (int i = 0; i < PROGRAMS; i++) {
        s->programs[i] = shader_make(program_files[i][0], program_files[i][1], program_files[i][2], error);
        if (!s->programs[i]) return solids_free(s), NULL;
    }
    GLuint buffers[5];
    glCreateBuffers(5, buffers);
    s->vertices = buffers[0];
    s->indices = buffers[1];
    s->edges = buffers[2];
    s->face_commands = buffers[3];
    s->edge_commands = buffers[4];
    make_arrays(s);
    return s;
}

void solids_free(Solids *s) {
    if (!s) return;
    for (int i = 0; i < PROGRAMS; i++) glDeleteProgram(s->programs[i]);
    GLuint buffers[] = {s->vertices, s->indices, s->edges, s->face_commands, s->edge_commands};
    GLuint arrays[] = {s->face_array, s->edge_array};
    glDeleteBuffers(sizeof buffers / sizeof *buffers, buffers);
    glDeleteTextures(1, &s->edge_texture);
    glDeleteVertexArrays(sizeof arrays / sizeof *arrays, arrays);
    SAND_FREE_ARRAYS(&s->faces, &s->lines);
    free(s);
}

// --- what a frame needs on the GPU --------------------------------------------------------------------------

static void upload_meshes(Solids *s, const SolidMeshes *m) {
    if (s->key == m->key) return;
    glNamedBufferData(s->vertices, (GLsizeiptr)(m->vertex_count * sizeof *m->vertices.data), m->vertices.data,
                      GL_STATIC_DRAW);
    glNamedBufferData(s->indices, (GLsizeiptr)(m->index_count * sizeof *m->indices.data), m->indices.data, GL_STATIC_DRAW);
    glNamedBufferData(s->edges, (GLsizeiptr)(m->edge_count * sizeof *m->edges.data), m->edges.data, GL_STATIC_DRAW);
    glTextureBuffer(s->edge_texture, GL_RGBA32F, s->edges);
    s->key = m->key;
}

// One command for each group; the groups lie one behind the other.
static void fill_commands(Solids *s, const RenderScene *scene) {
    GLuint base = 0;
    for (int k = 0; k < scene->group_count; k++) {
        const SolidMesh *mesh = &scene->meshes.meshes.data[scene->groups.data[k].mesh];
        GLuint count = (GLuint)scene->groups.data[k].count;
        s->faces.data[k] = (FaceCommand){mesh->count, count, mesh->first, 0, base};
        s->lines.data[k] = (EdgeCommand){2 * mesh->edge_count, count, 2 * mesh->edge_first, base};
        base += count;
    }
}

bool solids_upload(Solids *s, const RenderScene *scene, unsigned buffer, size_t at, SandError *error) {
    size_t count = (size_t)scene->group_count;
    s->parts = scene->parts.count ? scene->part_groups : 0;
    s->stones = scene->stones.count ? scene->group_count - scene->part_groups : 0;
    if (s->parts + s->stones == 0) return true;
    if (!SAND_RESERVE(s->faces, count, "draw commands", error) || !SAND_RESERVE(s->lines, count, "draw commands", error))
        return false;
    upload_meshes(s, &scene->meshes);
    fill_commands(s, scene);
    glNamedBufferData(s->face_commands, (GLsizeiptr)(count * sizeof *s->faces.data), s->faces.data, GL_STREAM_DRAW);
    glNamedBufferData(s->edge_commands, (GLsizeiptr)(count * sizeof *s->lines.data), s->lines.data, GL_STREAM_DRAW);
    glVertexArrayVertexBuffer(s->face_array, 0, buffer, (GLintptr)at, sizeof(SandInstance));
    glVertexArrayVertexBuffer(s->edge_array, 0, buffer, (GLintptr)at, sizeof(SandInstance));
    return true;
}

// --- drawing ------------------------------------------------------------------------------------------------

static void draw_faces(const Solids *s, int program, int first, int count) {
    if (!count) return;
    glUseProgram(s->programs[program]);
    glBindVertexArray(s->face_array);
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, s->face_commands);
    glMultiDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_INT, (void *)((size_t)first * sizeof(FaceCommand)), count, 0);
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, 0);
}

void solids_draw(const Solids *s, SolidsPass pass) {
    int all = s->parts + s->stones;
    switch (pass) {
    case SOLIDS_SHADOW: draw_faces(s, SHADOW, 0, all); break;
    case SOLIDS_DATA: draw_faces(s, PART_DATA, 0, all); break;
    case SOLIDS_FINE:
        draw_faces(s, PART_FINE, 0, s->parts);
        draw_faces(s, STONE_FINE, s->parts, s->stones);
        break;
    default: draw_faces(s, PART, 0, s->parts); draw_faces(s, STONE, s->parts, s->stones);
    }
}

// A pixel that an edge crosses is mixed with its neighbor across the edge (geometric post-process antialiasing, Persson
// 2011), which is read from a copy: where several edges cross a pixel, each adds its share.
bool solids_smooth(const Solids *s, Targets *t, SandError *error) {
    int all = s->parts + s->stones;
    if (!all) return true;
    if (!targets_copy_light(t, error)) return false;
    glBindFramebuffer(GL_FRAMEBUFFER, t->light_pass);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glBindTextureUnit(0, 0); // the depth, which is attached
    glBindTextureUnit(1, t->normal);
    glBindTextureUnit(8, t->light_copy);
    glBindTextureUnit(9, t->kind_copy);
    glBindTextureUnit(10, s->edge_texture);
    glUseProgram(s->programs[EDGE]);
    glBindVertexArray(s->edge_array);
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, s->edge_commands);
    glMultiDrawArraysIndirect(GL_LINES, NULL, all, 0);
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, 0);
    glDisable(GL_BLEND);
    return true;
}
