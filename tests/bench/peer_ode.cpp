// SPDX-License-Identifier: MIT
// ODE on our scenes: its quickstep solver, one thread. Contacts are penetrations only, and friction is a pyramid.
#include <ode/ode.h>

#include "scene.h"

struct Contacts {
    dWorldID world;
    dJointGroupID group;
    double mu;
    long count;
};

static void on_near(void *data, dGeomID a, dGeomID b) {
    auto &contacts = *static_cast<Contacts *>(data);
    dContact found[4];
    int count = dCollide(a, b, 4, &found[0].geom, sizeof *found);
    for (int i = 0; i < count; i++) {
        found[i].surface.mode = dContactApprox1; // friction bounded by mu times the normal force
        found[i].surface.mu = contacts.mu;
        dJointAttach(dJointCreateContact(contacts.world, contacts.group, &found[i]), dGeomGetBody(a), dGeomGetBody(b));
    }
    contacts.count += count;
}

static Vec vec(const dReal *a) { return {double(a[0]), double(a[1]), double(a[2])}; }

int main(int argc, char **argv) {
    int iterations;
    Scene scene = scene_from_call(argc, argv, iterations);
    dInitODE2(0);
    Contacts contacts = {dWorldCreate(), dJointGroupCreate(0), scene.mu, 0};
    dWorldSetGravity(contacts.world, 0, 0, -scene.gravity);
    dWorldSetQuickStepNumIterations(contacts.world, iterations);

    // Walls, floor and spheres; the spheres hash into cells of 0.25 m.
    dSpaceID spheres = dHashSpaceCreate(nullptr), fixed = dSimpleSpaceCreate(nullptr);
    dHashSpaceSetLevels(spheres, -2, -2);
    dCreatePlane(fixed, 0, 0, 1, 0);
    for (const Wall &w : scene.walls) {
        dGeomID box = dCreateBox(fixed, 2 * w.half.x, 2 * w.half.y, 2 * w.half.z);
        dMatrix3 turn;
        dRFromAxisAndAngle(turn, 0, 0, 1, w.angle);
        dGeomSetPosition(box, w.center.x, w.center.y, w.center.z);
        dGeomSetRotation(box, turn);
    }
    std::vector<dBodyID> bodies;
    for (const Vec &p : scene.start) {
        dBodyID body = dBodyCreate(contacts.world);
        dMass mass;
        dMassSetSphereTotal(&mass, scene.mass, scene.radius);
        dBodySetMass(body, &mass);
        dBodySetPosition(body, p.x, p.y, p.z);
        dGeomSetBody(dCreateSphere(spheres, scene.radius), body);
        bodies.push_back(body);
    }

    Result result;
    for (int k = 0; k < scene.warmup + scene.steps; k++) {
        double begin = now_ms();
        contacts.count = 0;
        dJointGroupEmpty(contacts.group);
        dSpaceCollide(spheres, &contacts, on_near);
        dSpaceCollide2(reinterpret_cast<dGeomID>(spheres), reinterpret_cast<dGeomID>(fixed), &contacts, on_near);
        double detected = now_ms();
        dWorldQuickStep(contacts.world, scene.step);
        if (k < scene.warmup) continue;
        result.step_ms.push_back(now_ms() - begin);
        result.collide_ms.push_back(detected - begin);
        result.solve_ms.push_back(now_ms() - detected);
    }
    result.contacts = contacts.count;
    for (dBodyID body : bodies) {
        result.position.push_back(vec(dBodyGetPosition(body)));
        result.velocity.push_back(vec(dBodyGetLinearVel(body)));
        result.spin.push_back(vec(dBodyGetAngularVel(body)));
    }
    report("ode", scene, iterations, result);
    fflush(stdout);
    _Exit(0); // the operating system frees memory faster than destructors
}
