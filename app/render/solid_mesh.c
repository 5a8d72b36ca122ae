// SPDX-License-Identifier: MIT
// Polytopes become flat faces with their edges; cylinders and capsules are profiles that are revolved about z.
#include "app/render/solid_mesh.h"

#include <string.h>

#include "sim/core/array.h"
#include "sim/core/hash.h"

static const double PI = 3.14159265358979323846;
static const int round_sides[SOLID_DETAILS] = {64, 32, 16}, round_rings[SOLID_DETAILS] = {16, 8, 4}; // of a half ball
static const int detail_most[SOLID_DETAILS - 1] = {500, 10000}; // bodies that are drawn with it

int solid_part(int kind, int count) {
    int detail = 0;
    while (detail < SOLID_DETAILS - 1 && count > detail_most[detail]) detail++;
    return (kind - SAND_FIRST_PART) * SOLID_DETAILS + detail;
}

static void copy3(float *to, SandVec3 v) {
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
}

// Ensures capacity for this much more.
static bool reserve(SolidMeshes *m, size_t vertices, size_t indices, size_t edges, SandError *error) {
    return SAND_RESERVE(m->vertices, m->vertex_count + vertices, "meshes of bodies", error) &&
           SAND_RESERVE(m->indices, m->index_count + indices, "meshes of bodies", error) &&
           SAND_RESERVE(m->edges, m->edge_count + edges, "meshes of bodies", error);
}

static uint32_t add_vertex(SolidMeshes *m, SolidPoint at, const float normal[3]) {
    SolidVertex *v = &m->vertices.data[m->vertex_count];
    v->at = at;
    memcpy(v->normal, normal, sizeof v->normal);
    return m->vertex_count++;
}

static void add_triangle(SolidMeshes *m, uint32_t a, uint32_t b, uint32_t c) {
    m->indices.data[m->index_count++] = a;
    m->indices.data[m->index_count++] = b;
    m->indices.data[m->index_count++] = c;
}

static void begin_mesh(const SolidMeshes *m, SolidMesh *mesh) {
    *mesh = (SolidMesh){.first = m->index_count, .edge_first = m->edge_count};
}

static void end_mesh(const SolidMeshes *m, SolidMesh *mesh) {
    mesh->count = m->index_count - mesh->first;
    mesh->edge_count = m->edge_count - mesh->edge_first;
}

// --- polytopes ----------------------------------------------------------------------------------------------

static SolidPoint corner_of(const SandPolytope *p, int corner, double bound) {
    SolidPoint at = {.end = 0};
    copy3(at.position, v3_scale(1 / bound, p->corners[corner]));
    return at;
}

// The corners of a face, as a fan of triangles with one normal.
static void add_face(SolidMeshes *m, const SandPolytope *p, const SandFace *face, double bound) {
    float normal[3];
    copy3(normal, face->normal);
    uint32_t first = m->vertex_count;
    for (int k = 0; k < face->count; k++) add_vertex(m, corner_of(p, p->loop[face->first + k], bound), normal);
    for (uint32_t k = 2; k < (uint32_t)face->count; k++) add_triangle(m, first, first + k - 1, first + k);
}

static bool add_polytope(SolidMeshes *m, SolidMesh *mesh, const SandPolytope *p, double bound, SandError *error) {
    size_t corners = 2 * (size_t)p->edge_count; // of all faces
    if (!reserve(m, corners, 3 * corners, (size_t)p->edge_count, error)) return false;
    begin_mesh(m, mesh);
    for (int f = 0; f < p->face_count; f++) add_face(m, p, &p->faces[f], bound);
    for (int e = 0; e < p->edge_count; e++) {
        const SandEdge *from = &p->edges[e];
        SolidEdge *edge = &m->edges.data[m->edge_count++];
        *edge = (SolidEdge){.from = corner_of(p, from->from, bound), .to = corner_of(p, from->to, bound), .sharp = 1};
        copy3(edge->left, p->faces[from->left].normal);
        copy3(edge->right, p->faces[from->right].normal);
    }
    end_mesh(m, mesh);
    return true;
}

static bool add_box(SolidMeshes *m, SolidMesh *mesh, int detail, SandError *error) {
    SandShape box;
    (void)detail; // it has no round side
    if (!sand_shape_box(&box, v3_make(1, 1, 1), error)) return false;
    bool ok = add_polytope(m, mesh, box.core, 1, error);
    sand_shape_free(&box);
    return ok;
}

// --- cylinders and capsules ---------------------------------------------------------------------------------

// A point of a profile: radius and height, and which end of a capsule it belongs to.
typedef struct ProfilePoint {
    double r, z, end;
} ProfilePoint;

// A piece of a profile, upwards: the facets between two rings.
typedef struct Band {
    ProfilePoint low, high;
    double low_normal[2], high_normal[2]; // radial and axial, for shading
    double facet[2];                      // of the facets
    bool sharp;                           // the edge at its lower ring is a crease
} Band;

typedef struct Revolution {
    const Band *bands;
    int count, sides;
} Revolution;

static SolidPoint turn_point(ProfilePoint p, double angle) {
    SolidPoint at = {.end = (float)p.end};
    copy3(at.position, v3_make(p.r * cos(angle), p.r * sin(angle), p.z));
    return at;
}

static SandVec3 turn_normal(const double n[2], double angle) { return v3_make(n[0] * cos(angle), n[0] * sin(angle), n[1]); }

static uint32_t add_ring_vertex(SolidMeshes *m, ProfilePoint p, const double n[2], double angle) {
    float normal[3];
    copy3(normal, turn_normal(n, angle));
    return add_vertex(m, turn_point(p, angle), normal);
}

static double angle_of(const Revolution *r, double side) { return 2 * PI * side / r->sides; }

// Facets between two rings; a triangle where a ring is the pole.
static void add_band(SolidMeshes *m, const Revolution *r, const Band *band) {
    for (int i = 0; i < r->sides; i++) {
        double a = angle_of(r, i), b = angle_of(r, i + 1);
        uint32_t low_a = add_ring_vertex(m, band->low, band->low_normal, a),
                 low_b = add_ring_vertex(m, band->low, band->low_normal, b),
                 high_b = add_ring_vertex(m, band->high, band->high_normal, b),
                 high_a = add_ring_vertex(m, band->high, band->high_normal, a);
        if (band->low.r > 0) add_triangle(m, low_a, low_b, high_b);
        if (band->high.r > 0) add_triangle(m, low_a, high_b, high_a);
    }
}

// Edges along a band, between neighboring facets; those of a flat cap lie in its plane, and are none.
static void add_meridians(SolidMeshes *m, const Revolution *r, const Band *band) {
    for (int i = 0; i < r->sides && band->facet[0] != 0; i++) {
        SolidEdge *edge = &m->edges.data[m->edge_count++];
        double at = angle_of(r, i);
        *edge = (SolidEdge){.from = turn_point(band->low, at), .to = turn_point(band->high, at)};
        copy3(edge->left, turn_normal(band->facet, angle_of(r, i - 0.5)));
        copy3(edge->right, turn_normal(band->facet, angle_of(r, i + 0.5)));
    }
}

// Edges around the lower ring of a band, between its facets and those of the band below.
static void add_ring(SolidMeshes *m, const Revolution *r, const Band *below, const Band *band) {
    for (int i = 0; i < r->sides; i++) {
        SolidEdge *edge = &m->edges.data[m->edge_count++];
        *edge = (SolidEdge){.from = turn_point(band->low, angle_of(r, i)),
                            .to = turn_point(band->low, angle_of(r, i + 1)),
                            .sharp = band->sharp};
        copy3(edge->left, turn_normal(band->facet, angle_of(r, i + 0.5)));
        copy3(edge->right, turn_normal(below->facet, angle_of(r, i + 0.5)));
    }
}

static bool add_revolution(SolidMeshes *m, SolidMesh *mesh, const Revolution *r, SandError *error) {
    size_t facets = (size_t)r->count * (size_t)r->sides;
    if (!reserve(m, 4 * facets, 6 * facets, 2 * facets, error)) return false;
    begin_mesh(m, mesh);
    for (int k = 0; k < r->count; k++) {
        add_band(m, r, &r->bands[k]);
        add_meridians(m, r, &r->bands[k]);
        if (k > 0) add_ring(m, r, &r->bands[k - 1], &r->bands[k]);
    }
    end_mesh(m, mesh);
    return true;
}

static bool add_cylinder(SolidMeshes *m, SolidMesh *mesh, int detail, SandError *error) {
    static const Band bands[3] = {{{0, -1, 0}, {1, -1, 0}, {0, -1}, {0, -1}, {0, -1}, false},
                                  {{1, -1, 0}, {1, 1, 0}, {1, 0}, {1, 0}, {1, 0}, true},
                                  {{1, 1, 0}, {0, 1, 0}, {0, 1}, {0, 1}, {0, 1}, true}};
    Revolution r = {bands, 3, round_sides[detail]};
    return add_revolution(m, mesh, &r, error);
}

// The pole is exactly on the axis.
static ProfilePoint on_half_ball(double angle, double end) {
    return (ProfilePoint){fabs(fabs(angle) - 0.5 * PI) < 1e-9 ? 0 : cos(angle), sin(angle), end};
}

// A band of a half ball, between two latitudes.
static Band ball_band(double low, double high, double end) {
    double middle = 0.5 * (low + high);
    return (Band){on_half_ball(low, end), on_half_ball(high, end),    {cos(low), sin(low)},
                  {cos(high), sin(high)}, {cos(middle), sin(middle)}, false};
}

static bool add_capsule(SolidMeshes *m, SolidMesh *mesh, int detail, SandError *error) {
    Band bands[2 * 16 + 1];
    int rings = round_rings[detail], n = 0;
    double step = 0.5 * PI / rings;
    for (int k = 0; k < rings; k++)
        bands[n++] = ball_band(-0.5 * PI + k * step, k + 1 < rings ? -0.5 * PI + (k + 1) * step : 0, -1);
    bands[n++] = (Band){{1, 0, -1}, {1, 0, 1}, {1, 0}, {1, 0}, {1, 0}, false};
    for (int k = 0; k < rings; k++) bands[n++] = ball_band(k * step, (k + 1) * step, 1);
    Revolution r = {bands, n, round_sides[detail]};
    return add_revolution(m, mesh, &r, error);
}

// --- compounds ----------------------------------------------------------------------------------------------

static bool add_unit(SolidMeshes *m, const SandShape *s, SandError *error) {
    enum { DETAIL = 1 }; // of round pieces
    SolidMesh piece;
    if (s->kind == SAND_CYLINDER) return add_cylinder(m, &piece, DETAIL, error);
    if (s->kind == SAND_CAPSULE || s->kind == SAND_SPHERE) return add_capsule(m, &piece, DETAIL, error);
    return add_polytope(m, &piece, s->core, 1, error);
}

// A piece in its compound, which it is moved to.
typedef struct Moved {
    const SandPiece *piece;
    SandVec3 extent;
    double bound; // of the compound
} Moved;

static void move_point(const Moved *to, SolidPoint *p) {
    SandVec3 at = pose_apply(to->piece->pose, solid_place(p, to->extent));
    copy3(p->position, v3_scale(1 / to->bound, at));
    p->end = 0;
}

static void move_normal(const Moved *to, const SolidPoint *at, float n[3]) {
    SandVec3 normal = solid_normal(at, n, to->extent);
    copy3(n, q_rotate(to->piece->pose.rotation, v3_unit_or(normal, v3_make(0, 0, 1))));
}

// Appends the mesh of a piece. A sphere is a capsule of no length.
static bool add_piece(SolidMeshes *m, const SandPiece *piece, double bound, SandError *error) {
    uint32_t vertex = m->vertex_count, edge = m->edge_count;
    double s = piece->scale;
    bool by_half = piece->shape.kind != SAND_HULL && piece->shape.kind != SAND_BOX;
    Moved to = {piece, by_half ? v3_scale(s, piece->shape.half) : v3_make(s, s, s), bound};
    if (!add_unit(m, &piece->shape, error)) return false;
    for (; vertex < m->vertex_count; vertex++) {
        SolidVertex *v = &m->vertices.data[vertex];
        move_normal(&to, &v->at, v->normal);
        move_point(&to, &v->at);
    }
    for (; edge < m->edge_count; edge++) {
        SolidEdge *e = &m->edges.data[edge];
        move_normal(&to, &e->from, e->left);
        move_normal(&to, &e->from, e->right);
        move_point(&to, &e->from);
        move_point(&to, &e->to);
    }
    return true;
}

// The meshes of all pieces are one.
static bool add_compound(SolidMeshes *m, SolidMesh *mesh, const SandShape *shape, SandError *error) {
    SolidMesh whole;
    begin_mesh(m, &whole);
    for (int k = 0; k < shape->piece_count; k++)
        if (!add_piece(m, &shape->pieces[k], shape->bound, error)) return false;
    end_mesh(m, &whole);
    *mesh = whole;
    return true;
}

// --- all of them --------------------------------------------------------------------------------------------

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        uint32_t word;
        memcpy(&word, (const char *)data + i, 4);
        hash = sand_hash(hash, word);
    }
    return hash;
}

// Every mesh is made of its vertices, so that these tell them apart.
static uint64_t key_of(const SolidMeshes *m) {
    return hash_bytes(sand_hash(SAND_HASH_BEGIN, (uint64_t)m->mesh_count), m->vertices.data,
                      m->vertex_count * sizeof *m->vertices.data) |
           1;
}

// The function of each kind that is drawn as a part, add_box for boxes and so on: a kind without one does not compile.
#define ADD_SPHERE(name) NULL
#define ADD_CLUMP(name) NULL
#define ADD_STONE(name) NULL
#define ADD_PART(name) add_##name
#define ROW(KIND, name, drawn, ...) [SAND_##KIND] = ADD_##drawn(name),
static bool (*const add_part[])(SolidMeshes *, SolidMesh *, int detail, SandError *) = {SAND_SHAPES(ROW)};

static bool add_parts(SolidMeshes *m, SandError *error) {
    for (int kind = SAND_FIRST_PART; kind < SAND_FIRST_STONE; kind++)
        for (int detail = 0; detail < SOLID_DETAILS; detail++)
            if (!add_part[kind](m, &m->meshes.data[(kind - SAND_FIRST_PART) * SOLID_DETAILS + detail], detail, error))
                return false;
    return true;
}

static bool add_stone(SolidMeshes *m, SolidMesh *mesh, const SandShape *shape, SandError *error) {
    return shape->kind == SAND_COMPOUND ? add_compound(m, mesh, shape, error)
                                        : add_polytope(m, mesh, shape->core, shape->bound, error);
}

bool solid_meshes_make(SolidMeshes *m, const SandShape *shapes, int count, SandError *error) {
    m->vertex_count = m->index_count = m->edge_count = 0;
    m->mesh_count = SOLID_STONES + count;
    m->key = 0;
    if (!SAND_RESERVE(m->meshes, m->mesh_count, "meshes of bodies", error)) return false;
    memset(m->meshes.data, 0, (size_t)m->mesh_count * sizeof *m->meshes.data);
    if (!add_parts(m, error)) return false;
    for (int s = 0; s < count; s++)
        if (sand_shape_drawn(shapes[s].kind) == SAND_DRAWN_STONE &&
            !add_stone(m, &m->meshes.data[SOLID_STONES + s], &shapes[s], error))
            return false;
    m->shape_count = count;
    m->key = key_of(m);
    return true;
}

void solid_meshes_free(SolidMeshes *m) {
    SAND_FREE_ARRAYS(&m->vertices, &m->indices, &m->edges, &m->meshes);
    *m = (SolidMeshes){0};
}

SandVec3 solid_place(const SolidPoint *point, SandVec3 extent) {
    SandVec3 p = v3_make(point->position[0], point->position[1], point->position[2]);
    if (point->end == 0) return v3_make(p.x * extent.x, p.y * extent.y, p.z * extent.z);
    return v3_add(v3_scale(extent.x, p), v3_make(0, 0, point->end * (extent.z - extent.x)));
}

SandVec3 solid_normal(const SolidPoint *point, const float n[3], SandVec3 extent) {
    return point->end == 0 ? v3_make(n[0] / extent.x, n[1] / extent.y, n[2] / extent.z) : v3_make(n[0], n[1], n[2]);
}
