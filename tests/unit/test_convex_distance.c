// SPDX-License-Identifier: MIT
// Distance, depth and normal of convex pairs against brute force (tests/lab/convex_lab.h), and that what is not looked at
// would change no bit. With a number as argument, that many pairs of each two kinds; otherwise a few hundred.
#include "sim/geometry/convex_distance.inl"
#include "tests/lab/convex_lab.h"

static int pairs = 300;

typedef struct Worst {
    double distance, normal, points; // over the size of the pair
    double concentric;               // distance of cylinders that overlap by more than 0.05
    int apart, overlapping;
} Worst;

// Apart: points of the two bodies at this distance are an upper bound, the separation along the normal a lower one.
static void check_apart(const LabConvex *a, const LabConvex *b, const ConvexGap *gap, double size, Worst *worst) {
    worst->apart++;
    worst->normal = fmax(worst->normal, fabs(lab_separation(a, b, gap->normal) - gap->distance) / size);
    worst->distance = fmax(worst->distance, fabs(v3_length(v3_sub(gap->on_b, gap->on_a)) - gap->distance) / size);
    worst->points = fmax(worst->points, fmax(lab_outside(a, gap->on_a), lab_outside(b, gap->on_b)) / size);
}

// Overlapping: along the normal they overlap by the depth, and along no other direction by less.
static void check_overlap(const LabConvex *a, const LabConvex *b, const ConvexGap *gap, double size, Worst *worst) {
    SandVec3 normal;
    worst->overlapping++;
    worst->normal = fmax(worst->normal, fabs(lab_separation(a, b, gap->normal) - gap->distance) / size);
    bool cylinder = a->kind == LAB_CYLINDER || b->kind == LAB_CYLINDER;
    double best = cylinder ? lab_searched_axis(a, b, 60) : lab_best_axis(a, b, &normal);
    double off = (best - gap->distance) / size;
    // Bodies that lie in each other about one axis overlap by nearly as much in every direction across it, and the expanding
    // polytope spends its points on all of them.
    if (cylinder && gap->distance < -0.05 * size)
        worst->concentric = fmax(worst->concentric, off);
    else
        worst->distance = fmax(worst->distance, off);
}

static Worst check_kinds(int kind_a, int kind_b, int count) {
    Worst worst = {0};
    LabConvex a, b;
    for (int trial = 0; trial < count; trial++) {
        if (trial % 50 == 0) {
            if (trial) sand_shape_free(&a.shape);
            if (trial) sand_shape_free(&b.shape);
            a = lab_convex(kind_a);
            b = lab_convex(kind_b);
        }
        lab_place(&a, &b, trial);
        Convex p = lab_view(&a), q = lab_view(&b);
        ConvexGap gap;
        convex_distance(&p, &q, INFINITY, &gap);
        double size = p.bound + q.bound;
        NEAR(v3_length(gap.normal), 1, 1e-12);
        if (gap.distance > 1e-10 * size)
            check_apart(&a, &b, &gap, size, &worst);
        else
            check_overlap(&a, &b, &gap, size, &worst);
    }
    sand_shape_free(&a.shape);
    sand_shape_free(&b.shape);
    return worst;
}

static void distances_agree_with_brute_force(void **state) {
    (void)state;
    for (int i = 0; i < LAB_KINDS; i++)
        for (int k = i; k < LAB_KINDS; k++) {
            bool cylinder = k == LAB_CYLINDER;
            if (i == LAB_SPHERE && k == LAB_SPHERE) continue;
            Worst w = check_kinds(i, k, cylinder && pairs > 2000 ? pairs / 20 : pairs);
            print_message("%11s %-11s %6d apart %6d overlapping: distance %.1e normal %.1e points %.1e\n", lab_kind_names[i],
                          lab_kind_names[k], w.apart, w.overlapping, w.distance, w.normal, w.points);
            assert_true(w.distance < (cylinder ? 1e-7 : 1e-9)); // 1.5e-8 was seen, a capsule along the axis of a cylinder
            assert_true(w.normal < 1e-9);
            assert_true(w.points < 1e-9);
            assert_true(w.concentric < 1e-2);
        }
}

// The nearest point of a simplex, looked for on all of its faces.
static Nearest nearest_of_all(const Simplex *s) {
    Nearest best = {.squared = INFINITY};
    for (int i = 0; i < s->count; i++) {
        if (nearest_update(&best, s->p[i].w, 1 << i)) best.weight[i] = 1;
        for (int j = i + 1; j < s->count; j++) {
            nearest_on_edge(s, i, j, &best);
            for (int k = j + 1; k < s->count; k++) nearest_on_triangle(s, i, j, k, &best);
        }
    }
    return best;
}

// GJK looks only at the faces with the corner that came last: the others have no nearer point, and of those that are as near
// the same is taken, to the bit. Corners on a lattice make flat simplices and points that are as near as others.
static void faces_of_the_last_corner_suffice(void **state) {
    (void)state;
    int nearer = 0, not_nearer = 0;
    for (int trial = 0; trial < 100 * pairs; trial++) {
        Simplex s = {.count = 0};
        Nearest known = {.squared = INFINITY};
        for (int k = 0; k < 8; k++) {
            SandVec3 w = lab_point(2);
            if (trial % 2) w = v3_make(floor(w.x), floor(w.y), floor(w.z) + 0.5);
            s.p[s.count++] = (SimplexPoint){.w = w};
            Simplex before = s;
            Nearest all = nearest_of_all(&s);
            bool is_nearer = all.squared < known.squared;
            assert_int_equal(simplex_reduce(&s, &known), is_nearer);
            *(is_nearer ? &nearer : &not_nearer) += 1;
            if (!is_nearer) {
                s.count--;
                continue;
            }
            assert_memory_equal(&known.v, &all.v, sizeof all.v);
            assert_true(known.squared == all.squared);
            int count = 0;
            for (int i = 0; i < before.count; i++) {
                if (!(all.bits >> i & 1)) continue;
                assert_memory_equal(&s.p[count].w, &before.p[i].w, sizeof before.p[i].w);
                assert_true(known.weight[count++] == all.weight[i]);
            }
            assert_int_equal(s.count, count);
        }
    }
    assert_true(nearer > 100 && not_nearer > 100);
}

// The face that separates most, without what the corner behind the last face rules out.
static double best_face_of_all(const Convex *a, const Convex *b, SandVec3 way, double floor, int *face, int *tried) {
    int corner;
    FaceSearch search = face_search(a, b, convex_support(b, v3_neg(way), &corner), floor);
    for (int k = -1; a->face_count && k < a->face_count; k++) {
        int f = k < 0 ? face_along(a, m3_apply_transposed(a->rotation, way)) : k;
        search.deepest = search.near;
        *tried += face_bound(&search, f) > search.best;
        try_face(&search, f);
    }
    *face = search.face;
    return search.best;
}

static void faces_not_tried_would_lose(void **state) {
    (void)state;
    int tried = 0;
    for (int i = 0; i < LAB_CYLINDER; i++)
        for (int k = 0; k < LAB_CYLINDER; k++)
            for (int trial = 0; trial < pairs; trial++) {
                LabConvex a = lab_convex(i), b = lab_convex(k);
                lab_place(&a, &b, trial);
                Convex p = lab_view(&a), q = lab_view(&b);
                SandVec3 way = trial % 2 ? lab_direction() : convex_way(&p, &q);
                double floor = trial % 3 ? -INFINITY : lab_uniform(-0.5, 0.5);
                int face, of_all;
                double best = best_face(&p, &q, way, floor, &face);
                assert_true(best == best_face_of_all(&p, &q, way, floor, &of_all, &tried));
                assert_int_equal(face, of_all);
                sand_shape_free(&a.shape);
                sand_shape_free(&b.shape);
            }
    assert_true(tried > pairs);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances_agree_with_brute_force),
                                       cmocka_unit_test(faces_of_the_last_corner_suffice),
                                       cmocka_unit_test(faces_not_tried_would_lose)};
    if (argc > 1) pairs = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
