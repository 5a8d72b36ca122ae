// SPDX-License-Identifier: MIT
// Copying a world with all that it owns: each array by itself, whatever it holds.
#include "sim/core/array.h"
#include "sim/geometry/mesh.h"
#include "sim/geometry/revolution.h"
#include "sandglass/world.h"

// Puts a copy in the place of an array. The pointers of those that could not be copied are NULL, so that what there is can
// be freed.
#define COPY(pointer) ((pointer) = sand_array_copy(pointer, ok))

static void copy_shape(SandShape *s, bool *ok) {
    COPY(s->spheres);
    COPY(s->core);
    COPY(s->pieces);
    if (!s->pieces) s->piece_count = 0;
    for (int k = 0; k < s->piece_count; k++) COPY(s->pieces[k].shape.core);
}

static void copy_mesh(SandTriangleMesh *m, bool *ok) {
    COPY(m->vertices);
    COPY(m->faces);
    COPY(m->normals);
    COPY(m->planes);
    COPY(m->face_edges);
    COPY(m->edges);
    COPY(m->vertex_normals);
    COPY(m->vertex_owner);
    COPY(m->vertex_rim);
    COPY(m->star_start);
    COPY(m->star);
    COPY(m->cell_start);
    COPY(m->cell_faces);
}

static void copy_boundary(SandBoundary *b, bool *ok) {
    COPY(b->profile);
    COPY(b->segments);
    COPY(b->bands);
    COPY(b->core);
    COPY(b->path);
    COPY(b->mesh);
    if (b->mesh) copy_mesh(b->mesh, ok);
}

bool sand_world_copy(SandWorld *to, const SandWorld *from, SandError *error) {
    bool all = true, *ok = &all;
    SandWorld copy = *from, *w = &copy;
#define COPY_BODIES(type, name) COPY(w->name);
    SAND_BODY_ARRAYS(COPY_BODIES)
#undef COPY_BODIES
    w->force = w->torque = NULL; // the simulation's
    COPY(w->shapes);
    COPY(w->boundaries);
    COPY(w->materials);
    COPY(w->pairs);
    COPY(w->joints);
    COPY(w->apart);
    COPY(w->outlets);
    COPY(w->inlets);
    COPY(w->probes);
    COPY(w->probe_values);
    if (!w->shapes) w->shape_count = 0;
    if (!w->boundaries) w->boundary_count = 0;
    for (int i = 0; i < w->shape_count; i++) copy_shape(&w->shapes[i], ok);
    for (int i = 0; i < w->boundary_count; i++) copy_boundary(&w->boundaries[i], ok);
    if (all) return *to = copy, true;
    sand_world_free(&copy);
    *to = (SandWorld){0};
    return sand_fail(error, "out of memory for a copy of the world");
}
