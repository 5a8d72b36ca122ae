// SPDX-License-Identifier: MIT
// The separating axis theorem by a warp (cuda/collision/convex_depth.h) against that by one thread, bit for bit, on the CPU:
// the 32 lanes take turns (tests/lab/warp_lab.h). With a number as argument, that many pairs of each two kinds.
extern "C" {
#include "tests/lab/convex_lab.h"
}
#include "sim/geometry/convex_distance.inl"
#include "tests/lab/warp_lab.h"

#include "cuda/collision/convex_depth.h"

// --- pairs --------------------------------------------------------------------------------------------------

static struct Job {
    Convex a, b;
    bool touching;
    EdgeList lists[2];
    ConvexGap begin, found[LANES];
} job;

static void find_depth() {
    ConvexGap *gap = &job.found[threadIdx.x];
    *gap = job.begin;
    warp_sat(&job.a, &job.b, job.touching, job.lists, gap);
}

static bool same_point(SandVec3 p, SandVec3 q) { return memcmp(&p, &q, sizeof p) == 0; }

static void check_same(const ConvexGap *gap, const ConvexGap *want) {
    assert_memory_equal(&gap->distance, &want->distance, sizeof gap->distance);
    assert_true(same_point(gap->normal, want->normal));
    assert_true(same_point(gap->on_a, want->on_a) && same_point(gap->on_b, want->on_b));
    assert_int_equal(gap->count_a, want->count_a);
    assert_int_equal(gap->count_b, want->count_b);
    for (int k = 0; k < want->count_a; k++) assert_int_equal(gap->corner_a[k], want->corner_a[k]);
    for (int k = 0; k < want->count_b; k++) assert_int_equal(gap->corner_b[k], want->corner_b[k]);
}

// Compares the two where GJK leaves a pair to them; returns whether it does.
static bool compare(const LabConvex *a, const LabConvex *b) {
    memset(&job.begin, 0, sizeof job.begin);
    job.a = lab_view(a);
    job.b = lab_view(b);
    if (convex_gjk(&job.a, &job.b, convex_way(&job.a, &job.b), INFINITY, &job.begin, &job.touching)) return false;
    ConvexGap want = job.begin;
    convex_sat(&job.a, &job.b, job.touching, &want);
    run_warp(find_depth);
    for (int lane = 0; lane < LANES; lane++) check_same(&job.found[lane], &want);
    return true;
}

static int pairs = 60;

static void lanes_find_the_same_bits(void **) {
    for (int i = 0; i < LAB_CYLINDER; i++)
        for (int k = 0; k < LAB_CYLINDER; k++) {
            int overlapping = 0;
            for (int trial = 0; trial < pairs; trial++) {
                LabConvex a = lab_convex(i), b = lab_convex(k);
                lab_place(&a, &b, trial);
                overlapping += compare(&a, &b);
                sand_shape_free(&a.shape);
                sand_shape_free(&b.shape);
            }
            print_message("%11s %-11s %d overlap\n", lab_kind_names[i], lab_kind_names[k], overlapping);
            assert_true(overlapping > 0);
        }
}

// Hulls of more corners, edges and faces than a warp has lanes.
static void large_hulls_take_several_turns(void **) {
    SandVec3 ones = {1, 1, 1};
    int overlapping = 0, most = 0;
    for (int trial = 0; trial < pairs; trial++) {
        LabConvex both[2];
        for (int k = 0; k < 2; k++) {
            both[k] = lab_convex(LAB_BOX);
            sand_shape_free(&both[k].shape);
            lab_hull_of(&both[k].shape, 40, ones);
            most = both[k].shape.core->corner_count > most ? both[k].shape.core->corner_count : most;
        }
        lab_place(&both[0], &both[1], trial);
        overlapping += compare(&both[0], &both[1]);
        for (int k = 0; k < 2; k++) sand_shape_free(&both[k].shape);
    }
    print_message("%d of %d hulls of up to %d corners overlap\n", overlapping, pairs, most);
    assert_true(overlapping > 0 && most > LANES);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_find_the_same_bits),
                                       cmocka_unit_test(large_hulls_take_several_turns)};
    if (argc > 1) pairs = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
