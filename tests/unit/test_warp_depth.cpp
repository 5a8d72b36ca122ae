// SPDX-License-Identifier: MIT
// The separating axis theorem by a warp (cuda/collision/convex_depth.h) against that by one thread, bit for bit, on the CPU:
// the 32 lanes are contexts that take turns. A lane runs until the lanes exchange something; each leaves what it has, and
// reads what the others have once it is its turn again. With a number as argument, that many pairs of each two kinds.
#include <ucontext.h>

#include <cstring>
#include <vector>

extern "C" {
#include "tests/lab/convex_lab.h"
}
#include "sim/geometry/convex_distance.inl"

// --- a warp -------------------------------------------------------------------------------------------------

#define __device__
#define ALL_LANES 0xffffffffu
enum { LANES = 32, STACK = 1 << 16 };
static struct { unsigned x; } threadIdx;

// What the lanes leave for each other. A lane is at most one exchange ahead of another, so that two places are enough.
static struct Exchange {
    ucontext_t lane[LANES], all;
    std::vector<char> stack[LANES];
    uint64_t left[2][LANES];
    int exchanges[LANES], running;
    void (*run)();
} warp;

// Leaves a value, lets the other lanes do so too, and returns those of all.
static const uint64_t *exchange(uint64_t value) {
    int lane = (int)threadIdx.x, place = warp.exchanges[lane]++ & 1;
    warp.left[place][lane] = value;
    threadIdx.x = (unsigned)(lane + 1) % LANES;
    swapcontext(&warp.lane[lane], &warp.lane[(lane + 1) % LANES]);
    return warp.left[place];
}

template <class T> static uint64_t to_bits(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T> static T __shfl_sync(unsigned, T value, int lane) {
    T other;
    memcpy(&other, &exchange(to_bits(value))[lane], sizeof other);
    return other;
}
template <class T> static T __shfl_xor_sync(unsigned mask, T value, int bits) {
    return __shfl_sync(mask, value, (int)threadIdx.x ^ bits);
}
static unsigned __ballot_sync(unsigned, bool vote) {
    const uint64_t *votes = exchange(vote);
    unsigned all = 0;
    for (int lane = 0; lane < LANES; lane++) all |= (unsigned)votes[lane] << lane;
    return all;
}
static void __syncwarp() { exchange(0); }
static int __ffs(int bits) { return __builtin_ffs(bits); }
static int __popc(unsigned bits) { return __builtin_popcount(bits); }

#include "cuda/collision/convex_depth.h"

// A lane that is done hands over to the next, and the last one to the test: all must have exchanged as often.
static void run_lane() {
    int lane = (int)threadIdx.x;
    warp.run();
    threadIdx.x = (unsigned)lane + 1;
    if (lane + 1 < LANES) setcontext(&warp.lane[lane + 1]);
    setcontext(&warp.all);
}

static void run_warp(void (*run)()) {
    warp.run = run;
    for (int lane = 0; lane < LANES; lane++) {
        warp.stack[lane].resize(STACK);
        warp.exchanges[lane] = 0;
        getcontext(&warp.lane[lane]);
        warp.lane[lane].uc_stack.ss_sp = warp.stack[lane].data();
        warp.lane[lane].uc_stack.ss_size = STACK;
        makecontext(&warp.lane[lane], run_lane, 0);
    }
    threadIdx.x = 0;
    swapcontext(&warp.all, &warp.lane[0]);
    for (int lane = 0; lane < LANES; lane++) assert_int_equal(warp.exchanges[lane], warp.exchanges[0]);
}

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
