// SPDX-License-Identifier: MIT
// A pile of convex hulls in Sandglass and in Bullet, in one process: the same hulls, masses, inertias and start, one thread
// each, a step of one and then a step of the other, so that a busy machine is as busy for both. Times are of the processor.
// Penetrations are those of the hulls themselves at the end, measured by the same code for both.
//   peer_hulls BODIES ITERATIONS [WARMUP STEPS MARGIN]
// MARGIN is what Bullet adds around a hull (m): 0 unless given, so that what lies in each other is what its solver leaves.
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "sandglass/simulation.h"
#include "sim/core/random.h"

static const double MU = 0.5, STEP = 0.01, SPACING = 0.32, WIDE = 5.2;
enum { COLUMNS = 16, STONES = 32 };

static double processor_ms() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * double(t.tv_sec) + 1e-6 * double(t.tv_nsec);
}

static void check(bool ok, const SandError &error) {
    if (ok) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

// --- the start --------------------------------------------------------------------------------------------

struct Plane {
    SandVec3 normal, point;
};

// The floor and four walls.
static std::vector<Plane> box_planes() {
    double half = 0.5 * WIDE;
    return {{{0, 0, 1}, {0, 0, 0}},
            {{1, 0, 0}, {-half, 0, 0}},
            {{-1, 0, 0}, {half, 0, 0}},
            {{0, 1, 0}, {0, -half, 0}},
            {{0, -1, 0}, {0, half, 0}}};
}

// Stones of 12 to 30 corners.
static std::vector<int> add_stones(SandWorld &world, int &fewest, int &most) {
    std::vector<int> stones;
    SandError error = {""};
    fewest = 30;
    most = 12;
    for (uint64_t seed = 1; stones.size() < STONES; seed++) {
        SandShape shape;
        SandStoneDef def = sand_default_stone();
        def.seed = seed;
        def.points = 10 + int(seed % 12);
        check(sand_shape_stone(&shape, &def, &error), error);
        int corners = shape.core->corner_count;
        if (corners < 12 || corners > 30) {
            sand_shape_free(&shape);
            continue;
        }
        fewest = std::min(fewest, corners);
        most = std::max(most, corners);
        stones.push_back(sand_world_add_shape(&world, &shape, &error));
    }
    return stones;
}

static void add_bodies(SandWorld &world, const std::vector<int> &stones, int bodies) {
    SandRandom dice = sand_random(7);
    SandError error = {""};
    for (int i = 0; i < bodies; i++) {
        SandBodyDef def = sand_default_body();
        int x = i % COLUMNS, y = i / COLUMNS % COLUMNS, z = i / COLUMNS / COLUMNS;
        def.shape = stones[size_t(i) % stones.size()];
        def.scale = 0.07 + 0.03 * sand_random_unit(&dice);
        def.pose.position =
            v3_make(SPACING * (x - 0.5 * (COLUMNS - 1)), SPACING * (y - 0.5 * (COLUMNS - 1)), 0.2 + SPACING * z);
        def.pose.rotation = sand_random_rotation(&dice);
        check(sand_world_add_body(&world, &def, &error) >= 0, error);
    }
}

static SandWorld make_world(int bodies, int &fewest, int &most) {
    SandWorld world;
    SandError error = {""};
    sand_world_init(&world);
    world.step = STEP;
    const SandMaterial stone = {"stone", 2500, MU, 0, 0, 0, 0, SAND_LOOK_SAND};
    check(sand_world_add_material(&world, &stone, &error) >= 0, error);
    for (const Plane &p : box_planes()) {
        SandBoundary b;
        check(sand_boundary_plane(&b, p.point, p.normal, &error) && sand_world_add_boundary(&world, &b, &error) >= 0, error);
    }
    add_bodies(world, add_stones(world, fewest, most), bodies);
    return world;
}

static SandSimulation *simulate(SandWorld *world, int iterations) {
    SandError error = {""};
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.solve.iterations = iterations;
    SandSimulation *sim = sand_simulation_create(world, &def, &error);
    check(sim, error);
    return sim;
}

// --- Bullet -----------------------------------------------------------------------------------------------

struct Bullet {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<btRigidBody *> bodies;
};

static btVector3 bt(const SandVec3 &a) { return {btScalar(a.x), btScalar(a.y), btScalar(a.z)}; }

static btRigidBody *add_rigid(Bullet &b, double mass, const SandVec3 &inertia, btCollisionShape *shape,
                              const btTransform &at) {
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, bt(inertia));
    info.m_startWorldTransform = at;
    info.m_friction = btScalar(std::sqrt(MU)); // Bullet multiplies the two coefficients
    info.m_restitution = 0;
    auto *body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    b.world.addRigidBody(body);
    return body;
}

// The hull of a body at its scale.
static btCollisionShape *hull_of(const SandWorld &w, int body, double margin) {
    const SandPolytope *core = w.shapes[w.shape[body]].core;
    auto *hull = new btConvexHullShape;
    for (int k = 0; k < core->corner_count; k++) hull->addPoint(bt(v3_scale(w.scale[body], core->corners[k])), false);
    hull->recalcLocalAabb();
    hull->setMargin(btScalar(margin));
    return hull;
}

static void fill_bullet(Bullet &b, const SandWorld &w, int iterations, double margin) {
    const SandVec3 none = {0, 0, 0};
    b.world.setGravity(bt(w.gravity));
    b.world.getSolverInfo().m_numIterations = iterations;
    for (const Plane &p : box_planes()) {
        auto *plane = new btStaticPlaneShape(bt(p.normal), btScalar(v3_dot(p.normal, p.point)));
        add_rigid(b, 0, none, plane, btTransform::getIdentity());
    }
    for (int i = 0; i < w.body_count; i++) {
        SandQuat q = w.rotation[i];
        btTransform at({btScalar(q.x), btScalar(q.y), btScalar(q.z), btScalar(q.w)}, bt(w.position[i]));
        b.bodies.push_back(add_rigid(b, w.mass[i], w.inertia[i], hull_of(w, i, margin), at));
    }
}

// --- measuring --------------------------------------------------------------------------------------------

struct Depths {
    double most, p99,
        mean; // m, of all pairs of bodies that penetrate; p99 and mean of all contacts, open ones counting as 0
    int contacts;
};

// The penetrations of bodies in bodies, where the world has them.
static Depths measure(SandSimulation *sim) {
    SandError error = {""};
    check(sand_simulation_build(sim, &error), error);
    const SandProblem *p = sand_simulation_problem(sim);
    std::vector<double> depth;
    for (int i = 0; i < p->contact_count; i++)
        if (p->contacts[i].b < p->dynamic_count) depth.push_back(std::max(0., -p->contacts[i].gap));
    std::sort(depth.begin(), depth.end());
    double sum = 0;
    for (double d : depth) sum += d;
    if (depth.empty()) return {0, 0, 0, 0};
    return {depth.back(), depth[depth.size() * 99 / 100], sum / double(depth.size()), int(depth.size())};
}

// Puts the bodies of a simulation where those of Bullet are.
static void take_poses(SandSimulation *sim, const Bullet &b) {
    SandError error = {""};
    SandWorld *w = sand_simulation_change_bodies(sim, &error);
    check(w, error);
    for (int i = 0; i < w->body_count; i++) {
        const btTransform &at = b.bodies[size_t(i)]->getWorldTransform();
        btQuaternion q = at.getRotation();
        btVector3 x = at.getOrigin(), v = b.bodies[size_t(i)]->getLinearVelocity(),
                  s = b.bodies[size_t(i)]->getAngularVelocity();
        w->position[i] = v3_make(x.x(), x.y(), x.z());
        w->rotation[i] = q_unit(SandQuat{q.w(), q.x(), q.y(), q.z()});
        w->velocity[i] = v3_make(v.x(), v.y(), v.z());
        w->spin[i] = v3_make(s.x(), s.y(), s.z());
    }
}

static double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
    return values[values.size() / 2];
}

static double mean_height(const SandWorld *w) {
    double sum = 0;
    for (int i = 0; i < w->body_count; i++) sum += w->position[i].z;
    return sum / w->body_count;
}

static void report(const char *engine, SandSimulation *sim, double step_ms, const char *more) {
    Depths d = measure(sim);
    printf("  \"%s\": {\"step_ms\": %.3f, \"penetration_bodies_max\": %.6g, \"penetration_p99\": %.6g, "
           "\"penetration_mean\": %.6g, "
           "\"contacts\": %d, \"kinetic_energy\": %.6g, \"mean_height\": %.6g}%s\n",
           engine, step_ms, d.most, d.p99, d.mean, d.contacts, sand_simulation_energy(sim).kinetic,
           mean_height(sand_simulation_world(sim)), more);
}

struct Times {
    std::vector<double> ours, collide, solve, bullet;
};

// A step of each.
static void step_both(SandSimulation *sim, Bullet &bullet, Times *times) {
    SandError error = {""};
    double begin = processor_ms();
    check(sand_simulation_step(sim, &error), error);
    double middle = processor_ms();
    bullet.world.stepSimulation(btScalar(STEP), 0); // exactly one step
    double end = processor_ms();
    if (!times) return;
    times->ours.push_back(middle - begin);
    times->bullet.push_back(end - middle);
    times->collide.push_back(sand_simulation_profile(sim)->collide / sand_simulation_profile(sim)->step);
    times->solve.push_back(sand_simulation_profile(sim)->solve / sand_simulation_profile(sim)->step);
}

int main(int argc, char **argv) {
    int bodies = argc > 1 ? atoi(argv[1]) : 0, iterations = argc > 2 ? atoi(argv[2]) : 0;
    int warmup = argc > 3 ? atoi(argv[3]) : 200, steps = argc > 4 ? atoi(argv[4]) : 100, fewest, most;
    double margin = argc > 5 ? atof(argv[5]) : 0;
    if (bodies < 1 || iterations < 1 || steps < 1) {
        fprintf(stderr, "usage: %s BODIES ITERATIONS [WARMUP STEPS MARGIN]\n", argv[0]);
        return 2;
    }
    SandWorld world = make_world(bodies, fewest, most);
    static Bullet bullet;
    fill_bullet(bullet, world, iterations, margin);
    SandSimulation *sim = simulate(&world, iterations);
    Times times;
    for (int k = 0; k < warmup + steps; k++) step_both(sim, bullet, k < warmup ? nullptr : &times);
    printf("{\"scene\": \"hulls\", \"bodies\": %d, \"corners\": [%d, %d], \"iterations\": %d, \"step_ms\": %.3f,\n", bodies,
           fewest, most, iterations, median(times.ours));
    printf("  \"collide_part\": %.3f, \"solve_part\": %.3f,\n", median(times.collide), median(times.solve));
    report("sandglass", sim, median(times.ours), ",");
    take_poses(sim, bullet);
    report("bullet", sim, median(times.bullet), "}");
    fflush(stdout);
    _Exit(0); // the operating system frees memory faster than destructors
}
