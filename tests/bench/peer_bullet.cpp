// SPDX-License-Identifier: MIT
// Bullet on our scenes: its sequential impulse solver, one thread. Contacts are points with a gap below its margin (20 mm),
// with one friction direction per point.
#include <btBulletDynamicsCommon.h>

#include "scene.h"

// Splits the time of a step into collision and solve.
struct TimedWorld : btDiscreteDynamicsWorld {
    using btDiscreteDynamicsWorld::btDiscreteDynamicsWorld;
    double collide = 0, solve = 0;
    void performDiscreteCollisionDetection() override {
        double begin = now_ms();
        btDiscreteDynamicsWorld::performDiscreteCollisionDetection();
        collide += now_ms() - begin;
    }
    void solveConstraints(btContactSolverInfo &info) override {
        double begin = now_ms();
        btDiscreteDynamicsWorld::solveConstraints(info);
        solve += now_ms() - begin;
    }
};

static btRigidBody *add_body(TimedWorld &world, double mass, btCollisionShape *shape, const btTransform &pose, double mu) {
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shape->calculateLocalInertia(btScalar(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, inertia);
    info.m_startWorldTransform = pose;
    info.m_friction = btScalar(std::sqrt(mu)); // Bullet multiplies the two coefficients
    info.m_restitution = 0;
    auto *body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(body);
    return body;
}

static btVector3 bt(const Vec &a) { return {btScalar(a.x), btScalar(a.y), btScalar(a.z)}; }
static Vec vec(const btVector3 &a) { return {a.x(), a.y(), a.z()}; }

int main(int argc, char **argv) {
    int iterations;
    Scene scene = scene_from_call(argc, argv, iterations);
    btDefaultCollisionConfiguration configuration;
    btDbvtBroadphase broadphase;
    btCollisionDispatcher dispatcher(&configuration);
    btSequentialImpulseConstraintSolver solver;
    TimedWorld world(&dispatcher, &broadphase, &solver, &configuration);
    world.setGravity(btVector3(0, 0, btScalar(-scene.gravity)));
    world.getSolverInfo().m_numIterations = iterations;

    // Walls, floor and spheres.
    const btQuaternion upright = btQuaternion::getIdentity();
    for (const Wall &w : scene.walls)
        add_body(world, 0, new btBoxShape(bt(w.half)), btTransform({{0, 0, 1}, btScalar(w.angle)}, bt(w.center)), scene.mu);
    add_body(world, 0, new btBoxShape(bt({scene.floor_half, scene.floor_half, 1})), btTransform(upright, {0, 0, -1}),
             scene.mu);
    auto *sphere = new btSphereShape(btScalar(scene.radius));
    std::vector<btRigidBody *> bodies;
    for (const Vec &p : scene.start)
        bodies.push_back(add_body(world, scene.mass, sphere, btTransform(upright, bt(p)), scene.mu));

    Result result;
    for (int k = 0; k < scene.warmup + scene.steps; k++) {
        world.collide = world.solve = 0;
        double begin = now_ms();
        world.stepSimulation(btScalar(scene.step), 0); // exactly one step
        if (k < scene.warmup) continue;
        result.step_ms.push_back(now_ms() - begin);
        result.collide_ms.push_back(world.collide);
        result.solve_ms.push_back(world.solve);
    }
    for (int i = 0; i < dispatcher.getNumManifolds(); i++)
        result.contacts += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    for (const btRigidBody *body : bodies) {
        result.position.push_back(vec(body->getWorldTransform().getOrigin()));
        result.velocity.push_back(vec(body->getLinearVelocity()));
        result.spin.push_back(vec(body->getAngularVelocity()));
    }
    report("bullet", scene, iterations, result);
    fflush(stdout);
    _Exit(0); // the operating system frees memory faster than destructors
}
