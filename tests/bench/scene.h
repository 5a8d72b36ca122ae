// SPDX-License-Identifier: MIT
// The scenes peer-s1 and peer-s2 for the drivers of other engines: the same initial state as scenes/peer-s1.yaml and
// scenes/peer-s2.yaml, and one report format for all. SI units, gravity along -z, restitution 0.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/resource.h>
#include <unordered_map>
#include <vector>

struct Vec {
    double x, y, z;
};

// A fixed box: center, half extents in its own frame (its x axis points at the bodies), rotated by `angle` about z.
struct Wall {
    Vec center, half;
    double angle;
};

struct Scene {
    std::string name;
    double radius = 0.1, mass = 6.28, mu = 0.2, gravity = 9.81, step = 0.01;
    int warmup, steps;       // steps before measuring, and measured
    double floor_half;       // half width of the floor, which is the plane z = 0
    std::vector<Vec> start;  // centers of the spheres
    std::vector<Wall> walls; // without the floor
};

// Small random displacements, so that no column of spheres is exactly vertical; the same on every machine.
struct Jitter {
    uint64_t state = 88172645463325252ull;
    double size;
    double operator()() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return size * (double(state >> 11) * (2.0 / 9007199254740992.0) - 1.0);
    }
};

inline std::vector<Wall> ring_of_walls(int count, double inner, double half_width) {
    const double half_thickness = 0.5, half_height = 6;
    std::vector<Wall> walls;
    for (int i = 0; i < count; i++) {
        double angle = 2 * M_PI * i / count, distance = inner + half_thickness;
        walls.push_back({{distance * cos(angle), distance * sin(angle), half_height - 1},
                         {half_thickness, half_width, half_height},
                         angle});
    }
    return walls;
}

// An upright cylinder of radius 2 m made of 36 flat walls; the spheres fall from a loose lattice.
inline void make_s1(Scene &scene, size_t bodies) {
    const double inner = 2, spacing = 0.22;
    Jitter jitter{.size = 0.008};
    scene.warmup = 200;
    scene.steps = 100;
    scene.floor_half = inner + 2;
    scene.walls = ring_of_walls(36, inner, (inner + 1) * tan(M_PI / 36));
    for (int k = 0; scene.start.size() < bodies; k++)
        for (int i = -9; i <= 9; i++)
            for (int j = -9; j <= 9 && scene.start.size() < bodies; j++) {
                double x = i * spacing, y = j * spacing;
                if (x * x + y * y > 1.85 * 1.85) continue;
                double dx = jitter(), dy = jitter(), dz = jitter();
                scene.start.push_back({x + dx, y + dy, 0.15 + k * spacing + dz});
            }
}

// A tall column in a box of 5 x 5 m.
inline void make_s2(Scene &scene, size_t bodies) {
    const double inner = 2.5, spacing = 0.21;
    const int columns = 23;
    Jitter jitter{.size = 0.0045};
    scene.warmup = 100;
    scene.steps = 60;
    scene.floor_half = inner + 1.5;
    scene.walls = ring_of_walls(4, inner, inner + 1);
    for (int k = 0; scene.start.size() < bodies; k++)
        for (int i = 0; i < columns; i++)
            for (int j = 0; j < columns && scene.start.size() < bodies; j++) {
                double x = (i - (columns - 1) / 2.0) * spacing, y = (j - (columns - 1) / 2.0) * spacing;
                double dx = jitter(), dy = jitter(), dz = jitter();
                scene.start.push_back({x + dx, y + dy, 0.12 + k * spacing + dz});
            }
}

// Parses `peer_NAME SCENE BODIES ITERATIONS`; exits with a usage message if that fails.
inline Scene scene_from_call(int argc, char **argv, int &iterations) {
    Scene scene;
    scene.name = argc > 1 ? argv[1] : "";
    int bodies = argc > 2 ? atoi(argv[2]) : 0;
    iterations = argc > 3 ? atoi(argv[3]) : 0;
    if ((scene.name != "peer-s1" && scene.name != "peer-s2") || bodies < 1 || iterations < 1) {
        fprintf(stderr, "usage: %s peer-s1|peer-s2 BODIES ITERATIONS\n", argv[0]);
        exit(2);
    }
    if (scene.name == "peer-s1")
        make_s1(scene, size_t(bodies));
    else
        make_s2(scene, size_t(bodies));
    return scene;
}

inline double now_ms() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

// Largest penetration of two spheres, from the positions alone, found with a grid of one diameter.
inline double largest_overlap(const Scene &scene, const std::vector<Vec> &position) {
    const double cell = 2 * scene.radius;
    auto index = [&](double x) { return long(std::floor(x / cell)) + 4096; };
    auto key = [](long i, long j, long k) { return i << 40 | j << 20 | k; };
    std::unordered_map<long, std::vector<size_t>> grid;
    for (size_t n = 0; n < position.size(); n++)
        grid[key(index(position[n].x), index(position[n].y), index(position[n].z))].push_back(n);
    double largest = 0;
    for (size_t n = 0; n < position.size(); n++) {
        const Vec &p = position[n];
        for (int cube = 0; cube < 27; cube++) {
            auto found = grid.find(key(index(p.x) + cube % 3 - 1, index(p.y) + cube / 3 % 3 - 1, index(p.z) + cube / 9 - 1));
            if (found == grid.end()) continue;
            for (size_t other : found->second)
                if (other > n) {
                    const Vec &q = position[other];
                    largest = std::max(largest, cell - std::hypot(p.x - q.x, p.y - q.y, p.z - q.z));
                }
        }
    }
    return largest;
}

// Times of the measured steps, and the final state.
struct Result {
    std::vector<double> step_ms, collide_ms, solve_ms;
    long contacts = 0;
    std::vector<Vec> position, velocity, spin;
};

// Prints one JSON object with the keys of `sandglass bench --json`.
inline void report(const char *engine, const Scene &scene, int iterations, const Result &result) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage); // before largest_overlap allocates
    auto square = [](const Vec &a) { return a.x * a.x + a.y * a.y + a.z * a.z; };
    double energy = 0, inertia = 0.4 * scene.mass * scene.radius * scene.radius;
    for (size_t i = 0; i < result.position.size(); i++)
        energy += 0.5 * scene.mass * square(result.velocity[i]) + 0.5 * inertia * square(result.spin[i]);
    double solve = median(result.solve_ms), collide = median(result.collide_ms);
    printf("{\"engine\": \"%s\", \"scene\": \"%s\", \"bodies\": %zu, \"contacts\": %ld, \"iterations\": %d, \"threads\": 1, "
           "\"step_ms\": %.4f, \"collide_ms\": %.4f, \"solve_ms\": %.4f, \"ns_per_contact_iteration\": %.3f, "
           "\"collide_ns_per_contact\": %.3f, \"penetration_bodies_max\": %.6g, \"kinetic_energy\": %.6g, \"memory_mb\": "
           "%.1f}\n",
           engine, scene.name.c_str(), result.position.size(), result.contacts, iterations, median(result.step_ms), collide,
           solve, 1e6 * solve / double(iterations) / double(result.contacts), 1e6 * collide / double(result.contacts),
           largest_overlap(scene, result.position), energy, double(usage.ru_maxrss) / 1024);
}
