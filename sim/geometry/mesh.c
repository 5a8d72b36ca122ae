// SPDX-License-Identifier: MIT
// Making a triangle mesh: planes of the faces, edges and how they fold, vertex pseudo-normals, the rim, and the grid of
// cells. Everything a query needs is derived here once (mesh_distance.inl).
#include "sim/geometry/mesh.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/core/within.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A mesh under construction, and where it came from.
typedef struct Builder {
    SandTriangleMesh *mesh;
    const char *source;
    const int *lines; // of the faces, or NULL
    SandError *error;
} Builder;

typedef struct FaceName {
    char text[256];
} FaceName;

// Returns where a face came from, for an error sentence.
static FaceName name_face(const Builder *b, int face) {
    FaceName name;
    if (b->lines)
        snprintf(name.text, sizeof name.text, "%.200s:%d", b->source, b->lines[face]);
    else
        snprintf(name.text, sizeof name.text, "%.200s: triangle %d", b->source, face);
    return name;
}

#define MAKE(array, count) make_array((void *)&(array), (size_t)(count), sizeof *(array), b->error)
static bool make_array(void *array, size_t count, size_t size, SandError *error) {
    size_t capacity = 0;
    return sand_grow(array, &capacity, count + 1, size, "mesh", error);
}

// ---------------------------------------------------------------------------------------------------------------
// Faces

// Fills the plane of face f and, in it, the lines of its sides.
static void make_plane(SandTriangleMesh *m, int f) {
    SandMeshPlane *plane = &m->planes[f];
    plane->normal = m->normals[f];
    plane->offset = v3_dot(plane->normal, m->vertices[m->faces[f][0]]);
    for (int k = 0; k < 3; k++) {
        SandVec3 from = m->vertices[m->faces[f][k]], to = m->vertices[m->faces[f][(k + 1) % 3]];
        plane->away[k] = v3_unit_or(v3_cross(v3_sub(to, from), plane->normal), plane->normal);
        plane->border[k] = v3_dot(plane->away[k], from);
    }
}

// Checks vertices and areas of the faces and fills normals and planes.
static bool make_faces(Builder *b) {
    SandTriangleMesh *m = b->mesh;
    if (!MAKE(m->normals, m->face_count) || !MAKE(m->planes, m->face_count)) return false;
    for (int f = 0; f < m->face_count; f++) {
        const int *v = m->faces[f];
        for (int k = 0; k < 3; k++)
            if (v[k] < 0 || v[k] >= m->vertex_count)
                return sand_fail(b->error, "%s: there is no vertex %d", name_face(b, f).text, v[k] + 1);
        SandVec3 a = m->vertices[v[0]], p = v3_sub(m->vertices[v[1]], a), q = v3_sub(m->vertices[v[2]], a);
        SandVec3 r = v3_sub(q, p), area = v3_cross(p, q);
        double longest = fmax(v3_dot(p, p), fmax(v3_dot(q, q), v3_dot(r, r)));
        // A triangle flatter than this, height over longest side, has a normal of rounding noise.
        if (!(v3_length(area) > 1e-9 * longest))
            return sand_fail(b->error, "%s: the triangle has no area", name_face(b, f).text);
        m->normals[f] = v3_unit_or(area, v3_make(0, 0, 1));
        make_plane(m, f);
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------
// Edges

// One side of one face (a half edge); low and high are its vertices.
typedef struct Half {
    int low, high, face, side;
} Half;

static int compare_halves(const void *a, const void *b) {
    const Half *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

// Returns the sides of all faces, sorted so that those of one edge lie together.
static Half *sorted_halves(Builder *b) {
    SandTriangleMesh *m = b->mesh;
    Half *halves = NULL;
    if (!MAKE(halves, 3 * m->face_count)) return NULL;
    for (int f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++) {
            int from = m->faces[f][k], to = m->faces[f][(k + 1) % 3];
            halves[3 * f + k] = (Half){from < to ? from : to, from < to ? to : from, f, k};
        }
    qsort(halves, (size_t)(3 * m->face_count), sizeof *halves, compare_halves);
    return halves;
}

// Sets the pseudo-normal of an edge and how its faces meet.
static void fold_edge(SandTriangleMesh *m, SandMeshEdge *e) {
    SandVec3 n = m->normals[e->face];
    e->normal = n;
    e->fold = SAND_FOLD_RIM;
    if (e->other < 0) return;
    e->normal = v3_unit_or(v3_add(n, m->normals[e->other]), n);
    double rise = -v3_dot(n, e->away_other); // how steeply the other face rises from the plane of this one
    e->fold = rise > 1e-10 ? SAND_FOLD_CONCAVE : rise < -1e-10 ? SAND_FOLD_CONVEX : SAND_FOLD_FLAT;
}

// Makes one edge of the half edges that share its vertices: one on the rim, else two.
static bool join_halves(Builder *b, const Half *half, int count, SandMeshEdge *e, int number) {
    SandTriangleMesh *m = b->mesh;
    int side = half->side, from = m->faces[half->face][side], to = m->faces[half->face][(side + 1) % 3];
    if (count > 2)
        return sand_fail(b->error, "%s: the edge of vertices %d and %d has %d triangles; at most two may meet there",
                         name_face(b, half[2].face).text, from + 1, to + 1, count);
    if (count == 2 && m->faces[half[1].face][half[1].side] == from)
        return sand_fail(b->error, "%s: the triangle is turned against its neighbor at vertices %d and %d",
                         name_face(b, half[1].face).text, from + 1, to + 1);
    *e = (SandMeshEdge){.from = from, .to = to, .face = half->face, .other = count == 2 ? half[1].face : -1};
    SandVec3 along = v3_sub(m->vertices[to], m->vertices[from]);
    e->length = v3_length(along);
    e->along = v3_scale(1 / e->length, along);
    e->away = m->planes[half->face].away[side];
    m->face_edges[half->face][side] = number;
    if (count == 2) {
        e->away_other = m->planes[half[1].face].away[half[1].side];
        m->face_edges[half[1].face][half[1].side] = number;
        if (v3_dot(m->normals[e->face], m->normals[e->other]) < -1 + 1e-12)
            return sand_fail(b->error, "%s: the triangle lies on its neighbor", name_face(b, half[1].face).text);
    }
    fold_edge(m, e);
    return true;
}

// Makes all edges, in the order of their vertices.
static bool make_edges(Builder *b) {
    SandTriangleMesh *m = b->mesh;
    int n = 3 * m->face_count;
    Half *halves = sorted_halves(b);
    bool good = halves && MAKE(m->edges, n) && MAKE(m->face_edges, m->face_count);
    for (int i = 0, count; good && i < n; i += count) {
        for (count = 1; i + count < n && halves[i + count].low == halves[i].low && halves[i + count].high == halves[i].high;)
            count++;
        good = join_halves(b, &halves[i], count, &m->edges[m->edge_count], m->edge_count);
        m->edge_count++;
    }
    sand_free(halves);
    return good;
}

// ---------------------------------------------------------------------------------------------------------------
// Vertices and the rim

// Returns the angle of a face at corner k.
static double corner_angle(const SandTriangleMesh *m, int face, int k) {
    SandVec3 at = m->vertices[m->faces[face][k]];
    SandVec3 p = v3_sub(m->vertices[m->faces[face][(k + 1) % 3]], at),
             q = v3_sub(m->vertices[m->faces[face][(k + 2) % 3]], at);
    return atan2(v3_length(v3_cross(p, q)), v3_dot(p, q));
}

// Fills pseudo-normals, owners and stars of the vertices.
static bool make_vertices(Builder *b) {
    SandTriangleMesh *m = b->mesh;
    if (!MAKE(m->vertex_normals, m->vertex_count) || !MAKE(m->vertex_owner, m->vertex_count) ||
        !MAKE(m->vertex_rim, m->vertex_count))
        return false;
    if (!MAKE(m->star_start, m->vertex_count + 1) || !MAKE(m->star, 2 * m->edge_count)) return false;
    for (int v = 0; v < m->vertex_count; v++) m->vertex_owner[v] = -1;
    for (int f = m->face_count - 1; f >= 0; f--)
        for (int k = 0; k < 3; k++) {
            int v = m->faces[f][k];
            m->vertex_owner[v] = f;
            m->vertex_normals[v] = v3_madd(m->vertex_normals[v], corner_angle(m, f, k), m->normals[f]);
        }
    for (int v = 0; v < m->vertex_count; v++) m->vertex_normals[v] = v3_unit_or(m->vertex_normals[v], v3_make(0, 0, 1));

    // The edges at each vertex: count, prefix sum, and fill from the back, which moves every start into its place.
    for (int e = 0; e < m->edge_count; e++) {
        m->star_start[m->edges[e].from]++;
        m->star_start[m->edges[e].to]++;
    }
    for (int v = 0; v < m->vertex_count; v++) m->star_start[v + 1] += m->star_start[v];
    for (int e = m->edge_count - 1; e >= 0; e--) {
        m->star[--m->star_start[m->edges[e].from]] = e;
        m->star[--m->star_start[m->edges[e].to]] = e;
    }
    SAND_ASSERT(m->star_start[0] == 0 && m->star_start[m->vertex_count] == 2 * m->edge_count);
    return true;
}

// Follows the rim edges from vertex to vertex: they must form no loop (a closed mesh) or one.
static bool check_rim(Builder *b) {
    SandTriangleMesh *m = b->mesh;
    int *next = NULL; // the rim edge that starts at a vertex, plus 1; 0: none
    if (!MAKE(next, m->vertex_count)) return false;
    bool good = true;
    int first = -1, rim_edges = 0, walked = 0;
    for (int e = 0; e < m->edge_count && good; e++) {
        const SandMeshEdge *edge = &m->edges[e];
        if (edge->fold != SAND_FOLD_RIM) continue;
        if (next[edge->from])
            good = sand_fail(b->error, "%s: two rims meet at vertex %d", name_face(b, edge->face).text, edge->from + 1);
        next[edge->from] = e + 1;
        m->vertex_rim[edge->from] = m->vertex_rim[edge->to] = true;
        if (first < 0) first = e;
        rim_edges++;
    }
    m->closed = rim_edges == 0;
    for (int e = first; good && e >= 0 && walked < rim_edges;) {
        next[m->edges[e].from] = 0;
        walked++;
        e = next[m->edges[e].to] - 1;
    }
    for (int v = 0; v < m->vertex_count && good; v++)
        if (next[v])
            good = sand_fail(
                b->error,
                "%s: a second rim begins at vertex %d: the mesh has a hole; it must be closed or have one outer rim",
                name_face(b, m->edges[next[v] - 1].face).text, v + 1);
    sand_free(next);
    return good;
}

// ---------------------------------------------------------------------------------------------------------------
// Grid

// Component k of a vector.
static double part(SandVec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

// Returns the lowest and highest cells that the bounding box of a face meets.
static void face_cells(const SandTriangleMesh *m, int f, int low[3], int high[3]) {
    for (int k = 0; k < 3; k++) {
        double a = part(m->vertices[m->faces[f][0]], k), c = part(m->vertices[m->faces[f][1]], k);
        double d = part(m->vertices[m->faces[f][2]], k), origin = part(m->lower, k);
        low[k] = (int)((fmin(a, fmin(c, d)) - origin) / m->cell);
        high[k] = (int)((fmax(a, fmax(c, d)) - origin) / m->cell);
        if (low[k] >= m->dim[k]) low[k] = m->dim[k] - 1;
        if (high[k] >= m->dim[k]) high[k] = m->dim[k] - 1;
    }
}

static void set_dims(SandTriangleMesh *m) {
    for (int k = 0; k < 3; k++) m->dim[k] = (int)fmin((part(m->upper, k) - part(m->lower, k)) / m->cell, 1e6) + 1;
}

static double cell_total(const SandTriangleMesh *m) { return (double)m->dim[0] * m->dim[1] * m->dim[2]; }

// Returns how many entries the cell lists would have.
static double entry_total(const SandTriangleMesh *m) {
    double total = 0;
    for (int f = 0; f < m->face_count; f++) {
        int low[3], high[3];
        face_cells(m, f, low, high);
        total += (double)(high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1);
    }
    return total;
}

// Starts from the mean length of an edge, and widens the cells while the tables would be much larger than the mesh.
static void choose_cell(SandTriangleMesh *m) {
    double extent = 0;
    m->lower = v3_make(INFINITY, INFINITY, INFINITY);
    m->upper = v3_neg(m->lower);
    for (int e = 0; e < m->edge_count; e++) extent += m->edges[e].length / m->edge_count;
    for (int f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++) {
            SandVec3 v = m->vertices[m->faces[f][k]];
            m->lower = v3_make(fmin(m->lower.x, v.x), fmin(m->lower.y, v.y), fmin(m->lower.z, v.z));
            m->upper = v3_make(fmax(m->upper.x, v.x), fmax(m->upper.y, v.y), fmax(m->upper.z, v.z));
        }
    m->cell = extent;
    for (set_dims(m); cell_total(m) > 4.0 * m->face_count + 64 || entry_total(m) > 12.0 * m->face_count + 1000; set_dims(m))
        m->cell *= 1.3;
}

static int cell_index(const SandTriangleMesh *m, int x, int y, int z) { return (z * m->dim[1] + y) * m->dim[0] + x; }

// Every cell lists its faces in ascending order, without repetition.
static bool cells_sorted(const SandTriangleMesh *m, int cells) {
    for (int c = 0; c < cells; c++)
        for (int i = m->cell_start[c]; i < m->cell_start[c + 1]; i++) {
            if (m->cell_faces[i] / 8 >= (uint32_t)m->face_count) return false;
            if (i > m->cell_start[c] && m->cell_faces[i - 1] / 8 >= m->cell_faces[i] / 8) return false;
        }
    return m->cell_start[0] == 0;
}

// Counting sort of the faces into cells; the faces of a cell are in ascending order.
static bool make_grid(Builder *b) {
    SandTriangleMesh *m = b->mesh;
    choose_cell(m);
    int cells = (int)cell_total(m);
    if (!MAKE(m->cell_start, cells + 1) || !MAKE(m->cell_faces, entry_total(m))) return false;
    for (int pass = 0; pass < 2; pass++) {
        for (int f = m->face_count - 1; f >= 0; f--) {
            int low[3], high[3];
            face_cells(m, f, low, high);
            for (int z = low[2]; z <= high[2]; z++)
                for (int y = low[1]; y <= high[1]; y++)
                    for (int x = low[0]; x <= high[0]; x++) {
                        int *at = &m->cell_start[cell_index(m, x, y, z)];
                        uint32_t first = (x == low[0] ? 1u : 0) | (y == low[1] ? 2u : 0) | (z == low[2] ? 4u : 0);
                        if (pass == 0)
                            (*at)++;
                        else
                            m->cell_faces[--*at] = 8 * (uint32_t)f + first;
                    }
        }
        for (int c = 0; pass == 0 && c < cells; c++) m->cell_start[c + 1] += m->cell_start[c];
    }
    SAND_ASSERT((double)m->cell_start[cells] == entry_total(m) && cells_sorted(m, cells));
    return true;
}

// ---------------------------------------------------------------------------------------------------------------

static bool copy_input(Builder *b, const SandVec3 *vertices, int vertex_count, const int (*faces)[3], int face_count) {
    SandTriangleMesh *m = b->mesh;
    if (face_count < 1) return sand_fail(b->error, "%s: the mesh has no triangles", b->source);
    // A face has at most three edges, so this keeps every feature (faces, edges, vertices) below SAND_MAX_FEATURE.
    if ((double)vertex_count + 4.0 * face_count >= SAND_MAX_FEATURE)
        return sand_fail(b->error, "%s: %d triangles and %d vertices are too many; the limit is about 3.7 million triangles",
                         b->source, face_count, vertex_count);
    if (!MAKE(m->vertices, vertex_count) || !MAKE(m->faces, face_count)) return false;
    memcpy(m->vertices, vertices, (size_t)vertex_count * sizeof *vertices);
    memcpy(m->faces, faces, (size_t)face_count * sizeof *faces);
    m->vertex_count = vertex_count;
    m->face_count = face_count;
    for (int v = 0; v < vertex_count; v++)
        if (!sand_vector_within(vertices[v]))
            return sand_fail(b->error, "%s: vertex %d is not finite, or beyond %g m", b->source, v + 1, SAND_FARTHEST);
    return true;
}

SandTriangleMesh *sand_mesh_make(const SandVec3 *vertices, int vertex_count, const int (*faces)[3], int face_count,
                                 const char *source, const int *lines, SandError *error) {
    Builder builder = {NULL, source, lines, error}, *b = &builder;
    if (!MAKE(b->mesh, 1)) return NULL;
    if (copy_input(b, vertices, vertex_count, faces, face_count) && make_faces(b) && make_edges(b) && make_vertices(b) &&
        check_rim(b) && make_grid(b))
        return b->mesh;
    sand_mesh_free(b->mesh);
    return NULL;
}

void sand_mesh_free(SandTriangleMesh *m) {
    if (!m) return;
    void *arrays[] = {m->vertices,       m->faces,        m->normals,    m->face_edges, m->edges,
                      m->vertex_normals, m->vertex_owner, m->vertex_rim, m->star_start, m->star,
                      m->cell_start,     m->cell_faces,   m->planes};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) sand_free(arrays[i]);
    sand_free(m);
}

// Two triangles for each cell of the height field.
static void fill_terrain(SandVec3 *vertices, int (*faces)[3], const double *heights, int nx, int ny, SandVec3 half) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            vertices[j * nx + i] =
                v3_make(half.x * (2.0 * i / (nx - 1) - 1), half.y * (2.0 * j / (ny - 1) - 1), heights[j * nx + i]);
    for (int j = 0, f = 0; j + 1 < ny; j++)
        for (int i = 0; i + 1 < nx; i++) {
            int v = j * nx + i, right = v + 1, up = v + nx, both = up + 1;
            memcpy(faces[f++], (int[]){v, right, both}, sizeof *faces);
            memcpy(faces[f++], (int[]){v, both, up}, sizeof *faces);
        }
}

SandTriangleMesh *sand_mesh_terrain(const double *heights, int nx, int ny, SandVec3 half, SandError *error) {
    if (nx < 2 || ny < 2) return sand_fail(error, "terrain: %d by %d heights; at least 2 by 2 are needed", nx, ny), NULL;
    if (!sand_within(half.x) || !sand_within(half.y) || half.x <= 0 || half.y <= 0)
        return sand_fail(error, "terrain: half %g by %g must be finite and above 0, at most %g m", half.x, half.y,
                         SAND_FARTHEST),
               NULL;
    if (9.0 * nx * ny >= SAND_MAX_FEATURE) return sand_fail(error, "terrain: %d by %d heights are too many", nx, ny), NULL;
    for (int i = 0; i < nx * ny; i++)
        if (!sand_within(heights[i]))
            return sand_fail(error, "terrain: height %d of row %d is not finite, or beyond %g m", i % nx, i / nx,
                             SAND_FARTHEST),
                   NULL;
    Builder builder = {.error = error}, *b = &builder;
    SandVec3 *vertices = NULL;
    int(*faces)[3] = NULL, face_count = 2 * (nx - 1) * (ny - 1);
    SandTriangleMesh *mesh = NULL;
    if (MAKE(vertices, nx * ny) && MAKE(faces, face_count)) {
        fill_terrain(vertices, faces, heights, nx, ny, half);
        mesh = sand_mesh_make(vertices, nx * ny, (const int(*)[3])faces, face_count, "terrain", NULL, error);
    }
    sand_free(vertices);
    sand_free(faces);
    return mesh;
}
