// SPDX-License-Identifier: MIT
// Meshes of convex bodies: closed, outward, of the right volume; their silhouettes; rays against them, by brute force.
#include "tests/lab/compound_lab.h"
#include "tests/lab/convex_lab.h"

#include "app/render/solid_mesh.h"
#include "sim/geometry/shape_ray.inl"

static SandVec3 of_floats(const float v[3]) { return v3_make(v[0], v[1], v[2]); }

// A world of shapes with their meshes: one of each kind, and a few hulls.
enum { SHAPES = 9 };
typedef struct Bodies {
    SandShape shapes[SHAPES];
    SolidMeshes meshes;
} Bodies;

static Bodies make_bodies(void) {
    static const int kinds[SHAPES] = {LAB_BOX,   LAB_CAPSULE,     LAB_CYLINDER, LAB_STONE, LAB_STONE,
                                      LAB_STONE, LAB_TETRAHEDRON, LAB_NEEDLE,   LAB_PLATE};
    Bodies b = {0};
    SandError error = {""};
    for (int k = 0; k < SHAPES; k++) b.shapes[k] = lab_convex(kinds[k]).shape;
    if (!solid_meshes_make(&b.meshes, b.shapes, SHAPES, &error)) fail_msg("%s", error.text);
    return b;
}

static void free_bodies(Bodies *b) {
    for (int k = 0; k < SHAPES; k++) sand_shape_free(&b->shapes[k]);
    solid_meshes_free(&b->meshes);
}

static int mesh_of(const Bodies *b, int shape, int detail) {
    SandShapeKind kind = b->shapes[shape].kind;
    return sand_shape_drawn(kind) == SAND_DRAWN_STONE ? SOLID_STONES + shape : solid_part(kind, 1) + detail;
}

static SandVec3 extent_of(const SandShape *shape) {
    return shape->kind == SAND_HULL ? v3_make(shape->bound, shape->bound, shape->bound) : shape->half;
}

static const SolidVertex *corner(const SolidMeshes *m, const SolidMesh *mesh, uint32_t i) {
    return &m->vertices.data[m->indices.data[mesh->first + i]];
}

static SandVec3 corner_at(const Bodies *b, int shape, const SolidMesh *mesh, uint32_t i) {
    return solid_place(&corner(&b->meshes, mesh, i)->at, extent_of(&b->shapes[shape]));
}

// --- closed and outward -------------------------------------------------------------------------------------

static bool same_point(const SolidPoint *a, const SolidPoint *b) {
    return v3_length(v3_sub(of_floats(a->position), of_floats(b->position))) < 1e-6 && a->end == b->end;
}

// Every side of a triangle is that of exactly one other, in the opposite direction.
static void check_closed(const SolidMeshes *m, const SolidMesh *mesh) {
    for (uint32_t i = 0; i < mesh->count; i++) {
        const SolidPoint *from = &corner(m, mesh, i)->at, *to = &corner(m, mesh, i % 3 == 2 ? i - 2 : i + 1)->at;
        int same = 0, opposite = 0;
        for (uint32_t k = 0; k < mesh->count; k++) {
            const SolidPoint *a = &corner(m, mesh, k)->at, *c = &corner(m, mesh, k % 3 == 2 ? k - 2 : k + 1)->at;
            same += same_point(a, from) && same_point(c, to);
            opposite += same_point(a, to) && same_point(c, from);
        }
        assert_int_equal(same, 1);
        assert_int_equal(opposite, 1);
    }
}

static void meshes_are_closed(void **state) {
    (void)state;
    Bodies b = make_bodies();
    for (int shape = 0; shape < SHAPES; shape++)
        check_closed(&b.meshes, &b.meshes.meshes.data[mesh_of(&b, shape, SOLID_DETAILS - 1)]); // the others take minutes
    free_bodies(&b);
}

// Triangles turn counter-clockwise about outward normals, and enclose the volume of the shape; facets of n sides lack
// 1 - sin(2 pi / n) n / 2 pi of a circle.
static void meshes_have_the_volume_of_their_shapes(void **state) {
    (void)state;
    Bodies b = make_bodies();
    for (int shape = 0; shape < SHAPES; shape++)
        for (int detail = 0; detail < SOLID_DETAILS; detail++) {
            const SolidMesh *mesh = &b.meshes.meshes.data[mesh_of(&b, shape, detail)];
            double volume = 0;
            for (uint32_t i = 0; i < mesh->count; i += 3) {
                SandVec3 p = corner_at(&b, shape, mesh, i), q = corner_at(&b, shape, mesh, i + 1),
                         r = corner_at(&b, shape, mesh, i + 2), n = v3_cross(v3_sub(q, p), v3_sub(r, p));
                for (uint32_t k = 0; k < 3; k++) {
                    const SolidVertex *v = corner(&b.meshes, mesh, i + k);
                    assert_true(v3_dot(n, solid_normal(&v->at, v->normal, extent_of(&b.shapes[shape]))) > 0);
                }
                volume += v3_dot(p, v3_cross(q, r)) / 6;
            }
            bool round = b.shapes[shape].kind == SAND_CYLINDER || b.shapes[shape].kind == SAND_CAPSULE;
            double lack = round ? 0.0025 * pow(4, detail) : 1e-5; // needles and plates: floats
            NEAR(volume, b.shapes[shape].volume, lack * b.shapes[shape].volume);
        }
    free_bodies(&b);
}

// A compound has the closed meshes of its pieces, each where it is.
static void a_compound_has_the_meshes_of_its_pieces(void **state) {
    (void)state;
    SandWorld w = lab_world(0.5);
    SandPiece pieces[5];
    SolidMeshes meshes = {0};
    SandError error = {""};
    int shape = lab_compound(&w, pieces, lab_motley(pieces, 0.4));
    const SandShape *s = &w.shapes[shape];
    if (!solid_meshes_make(&meshes, s, 1, &error)) fail_msg("%s", error.text);
    const SolidMesh *mesh = &meshes.meshes.data[SOLID_STONES];
    double volume = 0;
    SandVec3 extent = v3_make(s->bound, s->bound, s->bound), center = {0, 0, 0};
    for (uint32_t i = 0; i < mesh->count; i += 3) {
        SandVec3 p[3];
        for (uint32_t k = 0; k < 3; k++) p[k] = solid_place(&corner(&meshes, mesh, i + k)->at, extent);
        SandVec3 n = v3_cross(v3_sub(p[1], p[0]), v3_sub(p[2], p[0]));
        for (uint32_t k = 0; k < 3; k++)
            assert_true(v3_dot(n, solid_normal(&corner(&meshes, mesh, i + k)->at, corner(&meshes, mesh, i + k)->normal,
                                               extent)) >= 0);
        double part = v3_dot(p[0], v3_cross(p[1], p[2])) / 6;
        volume += part;
        center = v3_madd(center, 0.25 * part, v3_add(p[0], v3_add(p[1], p[2])));
    }
    NEAR(volume, s->volume, 0.02 * s->volume); // 32 facets around what is round
    NEAR(v3_length(center), 0, 0.02 * s->volume * s->bound);
    solid_meshes_free(&meshes);
    sand_world_free(&w);
}

// --- silhouettes --------------------------------------------------------------------------------------------

static bool faces(const SolidEdge *e, const float normal[3], SandVec3 extent, SandVec3 eye) {
    return v3_dot(solid_normal(&e->from, normal, extent), v3_sub(eye, solid_place(&e->from, extent))) > 0;
}

// Seen from anywhere outside, the edges between a face that is seen and one that is not make a closed line: as many of them
// begin as end at each point.
static void silhouettes_are_closed(void **state) {
    (void)state;
    Bodies b = make_bodies();
    for (int trial = 0; trial < 200; trial++) {
        int shape = trial % SHAPES, count = 0;
        SandVec3 extent = extent_of(&b.shapes[shape]), eye = v3_scale(3 * b.shapes[shape].bound, lab_direction());
        const SolidMesh *mesh = &b.meshes.meshes.data[mesh_of(&b, shape, 1)];
        const SolidEdge *line[2000];
        for (uint32_t k = 0; k < mesh->edge_count; k++) {
            const SolidEdge *e = &b.meshes.edges.data[mesh->edge_first + k];
            if (faces(e, e->left, extent, eye) != faces(e, e->right, extent, eye)) line[count++] = e;
        }
        assert_true(count >= 3);
        for (int i = 0; i < count; i++) {
            int degree = 0;
            for (int k = 0; k < count; k++)
                degree += same_point(&line[i]->from, &line[k]->from) + same_point(&line[i]->from, &line[k]->to);
            assert_int_equal(degree % 2, 0);
        }
    }
    free_bodies(&b);
}

// --- rays ---------------------------------------------------------------------------------------------------

// Where a ray enters a triangle from outside, or infinity.
static double meet_triangle(SandVec3 p, SandVec3 q, SandVec3 r, SandVec3 from, SandVec3 d) {
    SandVec3 n = v3_cross(v3_sub(q, p), v3_sub(r, p));
    double down = v3_dot(n, d), t = v3_dot(n, v3_sub(p, from)) / down;
    if (down >= 0) return INFINITY;
    SandVec3 at = v3_madd(from, t, d), c[3] = {p, q, r};
    for (int k = 0; k < 3; k++)
        if (v3_dot(n, v3_cross(v3_sub(c[(k + 1) % 3], c[k]), v3_sub(at, c[k]))) < 0) return INFINITY;
    return t;
}

static double meet_mesh(const Bodies *b, int shape, SandVec3 from, SandVec3 d) {
    const SolidMesh *mesh = &b->meshes.meshes.data[mesh_of(b, shape, 0)];
    double nearest = INFINITY;
    for (uint32_t i = 0; i < mesh->count; i += 3)
        nearest = fmin(nearest, meet_triangle(corner_at(b, shape, mesh, i), corner_at(b, shape, mesh, i + 1),
                                              corner_at(b, shape, mesh, i + 2), from, d));
    return nearest;
}

// The same by another way where a ray meets a body: over all triangles. The facets of round bodies lie inside of them by
// 0.0012 of the radius, which a grazing ray magnifies; rays that pass within that of the silhouette may meet only one.
static void rays_meet_what_their_triangles_meet(void **state) {
    (void)state;
    Bodies b = make_bodies();
    int hits = 0, misses = 0, apart = 0;
    for (int trial = 0; trial < 9000; trial++) {
        int shape = trial % SHAPES;
        double bound = b.shapes[shape].bound;
        bool round = b.shapes[shape].kind == SAND_CYLINDER || b.shapes[shape].kind == SAND_CAPSULE;
        SandVec3 from = v3_scale(3 * bound, lab_direction()), to = lab_point(0.6 * bound);
        if (!round) to = v3_scale(0.3, to); // needles and plates are thin
        SandVec3 d = v3_unit_or(v3_sub(to, from), v3_make(1, 0, 0));
        double got = solid_enter(&b.meshes, mesh_of(&b, shape, 0), extent_of(&b.shapes[shape]), from, d),
               want = meet_mesh(&b, shape, from, d);
        apart += isfinite(got) != isfinite(want);
        hits += isfinite(got);
        misses += !isfinite(got);
        if (isfinite(got) && isfinite(want)) NEAR(got, want, (round ? 0.08 : 1e-5) * bound);
    }
    print_message("%d hits, %d misses, %d only one way\n", hits, misses, apart);
    assert_true(hits > 3000 && misses > 1500 && apart < 20);
    free_bodies(&b);
}

// A ray goes through the opening of a bucket to its floor, and meets its walls from all sides where their boxes begin.
static void rays_meet_the_pieces_of_a_compound(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    int bucket = lab_bucket(&world, 1);
    const SandShape *shape = &world.shapes[bucket];
    SolidMeshes meshes = {0};
    assert_true(solid_meshes_make(&meshes, world.shapes, world.shape_count, NULL));
    int hits = 0;
    for (int trial = 0; trial < 3000; trial++) {
        SandVec3 from = v3_scale(4, lab_direction()), d = v3_unit_or(v3_sub(lab_point(0.9), from), v3_make(1, 0, 0));
        double want = INFINITY, extent = shape->bound;
        for (int k = 0; k < shape->piece_count; k++) {
            const SandPiece *p = &shape->pieces[k];
            want = fmin(want, ray_entry(shape_range(&p->shape, p->scale, v3_sub(from, p->pose.position), d)));
        }
        double got = solid_enter(&meshes, SOLID_STONES + bucket, v3_make(extent, extent, extent), from, d);
        if (isfinite(want) || isfinite(got)) NEAR(got, want, 1e-5);
        hits += isfinite(got);
    }
    assert_true(hits > 1000);
    solid_meshes_free(&meshes);
    sand_world_free(&world);
}

// The entry into a capsule is at its radius from its segment, and that into a cylinder on its surface.
static void rays_enter_round_bodies_at_their_surface(void **state) {
    (void)state;
    Bodies b = make_bodies();
    for (int trial = 0; trial < 4000; trial++) {
        int shape = 1 + trial % 2;
        SandVec3 h = b.shapes[shape].half, from = v3_scale(3, lab_direction());
        SandVec3 d = v3_unit_or(v3_sub(lab_point(0.5), from), v3_make(1, 0, 0));
        if (trial % 10 == 0) d = v3_make(0, 0, from.z > 0 ? -1 : 1); // along the axis
        double t = solid_enter(&b.meshes, mesh_of(&b, shape, 0), h, from, d);
        if (!isfinite(t)) continue;
        SandVec3 p = v3_madd(from, t, d);
        double half = h.z - h.x, along = fmax(-half, fmin(half, p.z)), out = hypot(p.x, p.y);
        double off = shape == 1 ? hypot(out, p.z - along) - h.x : fmax(out - h.x, fabs(p.z) - h.z);
        NEAR(off, 0, 1e-12);
    }
    free_bodies(&b);
}

static void equal_shapes_have_equal_keys(void **state) {
    (void)state;
    Bodies b = make_bodies();
    SolidMeshes again = {0};
    assert_true(solid_meshes_make(&again, b.shapes, SHAPES, NULL));
    assert_true(again.key == b.meshes.key && again.key != 0);
    assert_true(solid_meshes_make(&again, b.shapes, SHAPES - 1, NULL));
    assert_true(again.key != b.meshes.key);
    solid_meshes_free(&again);
    free_bodies(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_are_closed),
        cmocka_unit_test(meshes_have_the_volume_of_their_shapes),
        cmocka_unit_test(a_compound_has_the_meshes_of_its_pieces),
        cmocka_unit_test(silhouettes_are_closed),
        cmocka_unit_test(rays_meet_what_their_triangles_meet),
        cmocka_unit_test(rays_meet_the_pieces_of_a_compound),
        cmocka_unit_test(rays_enter_round_bodies_at_their_surface),
        cmocka_unit_test(equal_shapes_have_equal_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
