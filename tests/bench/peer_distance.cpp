// SPDX-License-Identifier: MIT
// The signed distance of convex bodies by Sandglass and by FCL, which finds it with libccd: random pairs, half of which
// overlap. How far the two differ, and the processor time of each; tests/unit/test_convex_distance.c says which one is
// right.
//   peer_distance PAIRS
#include <fcl/fcl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "sandglass/geometry.h"
#include "sim/core/random.h"
#include "sim/geometry/convex_distance.inl"

static SandRandom dice = {SAND_DEFAULT_SEED};

static double uniform(double a, double b) { return a + (b - a) * sand_random_unit(&dice); }

static double processor_seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

enum Kind { BOX, STONE, CAPSULE, CYLINDER, KINDS };
static const char *const names[KINDS] = {"box", "stone", "capsule", "cylinder"};

// A body in both programs.
struct Both {
    SandShape shape;
    std::shared_ptr<fcl::CollisionGeometryd> geometry;
};

static void check(bool ok, const SandError &error) {
    if (ok) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

// A hull as FCL takes it: its corners, and the loops of its faces, each with its length in front.
static std::shared_ptr<fcl::CollisionGeometryd> hull_of(const SandPolytope *core) {
    auto corners = std::make_shared<std::vector<fcl::Vector3d>>();
    auto faces = std::make_shared<std::vector<int>>();
    for (int k = 0; k < core->corner_count; k++)
        corners->push_back({core->corners[k].x, core->corners[k].y, core->corners[k].z});
    for (int f = 0; f < core->face_count; f++) {
        faces->push_back(core->faces[f].count);
        for (int k = 0; k < core->faces[f].count; k++) faces->push_back(core->loop[core->faces[f].first + k]);
    }
    return std::make_shared<fcl::Convexd>(corners, core->face_count, faces, false);
}

static Both make(int kind) {
    Both b;
    SandError error = {""};
    SandVec3 half = v3_make(uniform(0.3, 1), uniform(0.3, 1), uniform(0.3, 1));
    SandStoneDef stone = sand_default_stone();
    stone.seed = 1 + (uint64_t)(1e6 * uniform(0, 1));
    switch (kind) {
    case BOX:
        check(sand_shape_box(&b.shape, half, &error), error);
        b.geometry = std::make_shared<fcl::Boxd>(2 * half.x, 2 * half.y, 2 * half.z);
        break;
    case STONE:
        check(sand_shape_stone(&b.shape, &stone, &error), error);
        b.geometry = hull_of(b.shape.core);
        break;
    case CAPSULE:
        check(sand_shape_capsule(&b.shape, 0.5 * half.x, half.y, &error), error);
        b.geometry = std::make_shared<fcl::Capsuled>(0.5 * half.x, half.y);
        break;
    default:
        check(sand_shape_cylinder(&b.shape, half.x, half.y, &error), error);
        b.geometry = std::make_shared<fcl::Cylinderd>(half.x, half.y);
        break;
    }
    return b;
}

struct Times {
    double ours, fcl; // s
};

// The distance of a pair in both programs; NAN where FCL throws.
static void measure(const Both &a, const Both &b, const SandPose &at_a, const SandPose &at_b, Times &times, double *ours,
                    double *theirs) {
    double begin = processor_seconds();
    Convex p = convex_make(&a.shape, 1, at_a.rotation, at_a.position),
           q = convex_make(&b.shape, 1, at_b.rotation, at_b.position);
    ConvexGap gap;
    convex_distance(&p, &q, INFINITY, &gap);
    *ours = gap.distance - p.radius - q.radius;
    double middle = processor_seconds();
    fcl::Transform3d places[2];
    const SandPose *poses[2] = {&at_a, &at_b};
    for (int k = 0; k < 2; k++) {
        const SandQuat &r = poses[k]->rotation;
        places[k] = fcl::Transform3d::Identity();
        places[k].linear() = fcl::Quaterniond(r.w, r.x, r.y, r.z).toRotationMatrix();
        places[k].translation() = fcl::Vector3d(poses[k]->position.x, poses[k]->position.y, poses[k]->position.z);
    }
    fcl::DistanceRequestd request;
    request.enable_nearest_points = request.enable_signed_distance = true;
    request.distance_tolerance = 1e-9;
    fcl::DistanceResultd result;
    try {
        fcl::distance(a.geometry.get(), places[0], b.geometry.get(), places[1], request, result);
        *theirs = result.min_distance;
    } catch (const std::exception &) {
        *theirs = NAN;
    }
    times.ours += middle - begin;
    times.fcl += processor_seconds() - middle;
}

static void compare(int kind_a, int kind_b, int pairs) {
    std::vector<double> off;
    Times times = {0, 0};
    int overlapping = 0, failed = 0;
    while (int(off.size()) + failed < pairs) {
        Both a = make(kind_a), b = make(kind_b);
        double size = a.shape.bound + b.shape.bound;
        for (int k = 0; k < 100 && int(off.size()) + failed < pairs; k++) {
            SandPose at_a = {{0, 0, 0}, sand_random_rotation(&dice)}, at_b = at_a;
            at_b.rotation = sand_random_rotation(&dice);
            at_b.position = v3_scale(uniform(0.3, 1.1) * size, q_rotate(sand_random_rotation(&dice), v3_make(1, 0, 0)));
            double ours, theirs;
            measure(a, b, at_a, at_b, times, &ours, &theirs);
            overlapping += ours < 0;
            if (std::isfinite(theirs) && theirs > -size)
                off.push_back(std::fabs(ours - theirs) / size);
            else
                failed++;
        }
        sand_shape_free(&a.shape);
        sand_shape_free(&b.shape);
    }
    std::sort(off.begin(), off.end());
    size_t n = off.size();
    printf("%8s %-8s %7d pairs, %5.1f %% overlap: differ by %.1e (median) %.1e (99 %%) %.1e (most) of the size, FCL failed "
           "on %d; "
           "%.2f us a pair, FCL %.2f\n",
           names[kind_a], names[kind_b], pairs, 100. * overlapping / pairs, off[n / 2], off[n * 99 / 100], off[n - 1],
           failed, 1e6 * times.ours / pairs, 1e6 * times.fcl / pairs);
    fflush(stdout);
}

int main(int argc, char **argv) {
    int pairs = argc > 1 ? atoi(argv[1]) : 0;
    if (pairs < 1) {
        fprintf(stderr, "usage: %s PAIRS\n", argv[0]);
        return 2;
    }
    // A process for each two kinds: an assertion in FCL ends it.
    for (int a = 0; a < KINDS; a++)
        for (int b = a; b < KINDS; b++) {
            pid_t child = fork();
            if (child == 0) {
                compare(a, b, pairs);
                _exit(0);
            }
            int status = 1;
            if (child < 0 || waitpid(child, &status, 0) < 0 || status)
                printf("%8s %-8s FCL ended the process by an assertion\n", names[a], names[b]);
            fflush(stdout);
        }
}
