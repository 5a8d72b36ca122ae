// SPDX-License-Identifier: MIT
// Algebra of the two cones of a cone program, for the interior point and semismooth Newton methods: the half-line z >= 0
// (size 1) and the second-order cone |(z1, z2)| <= z0 (size 3). Products are the Jordan products of the cones, whose unit e
// is 1 or (1, 0, 0).
#pragma once
#include <math.h>
#include <stdbool.h>

// Distance inside the cone, z0 - |(z1, z2)|: positive in its interior.
static inline double cone_inside(const double *z, int size) { return size == 1 ? z[0] : z[0] - hypot(z[1], z[2]); }

// z0^2 - |(z1, z2)|^2, factored so that nothing cancels near the boundary.
static inline double cone_square(const double *z) {
    double side = hypot(z[1], z[2]);
    return (z[0] - side) * (z[0] + side);
}

// out = u o v
static inline void cone_product(const double *u, const double *v, int size, double *out) {
    if (size == 1) {
        out[0] = u[0] * v[0];
        return;
    }
    double a = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    double b = u[0] * v[1] + v[0] * u[1], c = u[0] * v[2] + v[0] * u[2];
    out[0] = a;
    out[1] = b;
    out[2] = c;
}

// out = v with its eigenvalues, v0 -+ |(v1, v2)|, clamped to [least, most].
static inline void cone_clamp(const double *v, double least, double most, int size, double *out) {
    if (size == 1) {
        out[0] = fmin(fmax(v[0], least), most);
        return;
    }
    double side = hypot(v[1], v[2]), low = fmin(fmax(v[0] - side, least), most), high = fmin(fmax(v[0] + side, least), most);
    double along = side > 0 ? 0.5 * (high - low) / side : 0;
    out[0] = 0.5 * (low + high);
    out[1] = along * v[1];
    out[2] = along * v[2];
}

// Jordan division: the u with l o u = x.
static inline void cone_divide(const double *l, const double *x, int size, double *u) {
    if (size == 1) {
        u[0] = x[0] / l[0];
        return;
    }
    double a = (l[0] * x[0] - l[1] * x[1] - l[2] * x[2]) / cone_square(l);
    double b = (x[1] - a * l[1]) / l[0], c = (x[2] - a * l[2]) / l[0];
    u[0] = a;
    u[1] = b;
    u[2] = c;
}

// Reciprocal of the longest step t with z + t d in the cone; zero or negative if no step leaves it.
static inline double cone_inverse_step(const double *z, const double *d, int size) {
    if (size == 1) return -d[0] / z[0];
    double root = sqrt(cone_square(z)), l[3] = {z[0] / root, z[1] / root, z[2] / root};
    double a = (l[0] * d[0] - l[1] * d[1] - l[2] * d[2]) / root, f = (a + d[0] / root) / (1 + l[0]);
    return hypot(d[1] / root - f * l[1], d[2] / root - f * l[2]) - a;
}

// The Nesterov-Todd scaling: the symmetric W with W z = W^-1 s, and its inverse. 9 numbers each, row-major; a half-line uses
// only the first.
static inline void cone_scaling(const double *z, const double *s, int size, double *w, double *inverse) {
    for (int k = 0; k < 9; k++) w[k] = inverse[k] = 0;
    if (size == 1) {
        w[0] = sqrt(s[0] / z[0]);
        inverse[0] = 1 / w[0];
        return;
    }
    double zz = sqrt(cone_square(z)), ss = sqrt(cone_square(s)), eta = sqrt(ss / zz);
    double dot = (z[0] * s[0] + z[1] * s[1] + z[2] * s[2]) / (zz * ss), gamma = sqrt(0.5 * (1 + dot));
    double v[3] = {0.5 / gamma * (s[0] / ss + z[0] / zz), 0.5 / gamma * (s[1] / ss - z[1] / zz),
                   0.5 / gamma * (s[2] / ss - z[2] / zz)};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double inner = (i == j) + v[i] * v[j] / (1 + v[0]), edge = i ? v[i] : v[j];
            bool top = i == 0 || j == 0;
            w[3 * i + j] = eta * (top ? edge : inner);
            inverse[3 * i + j] = (top ? (i == j ? edge : -edge) : inner) / eta;
        }
}

// y = W x
static inline void cone_apply(const double *w, const double *x, int size, double *y) {
    if (size == 1) {
        y[0] = w[0] * x[0];
        return;
    }
    double a = x[0], b = x[1], c = x[2];
    for (int k = 0; k < 3; k++) y[k] = w[3 * k] * a + w[3 * k + 1] * b + w[3 * k + 2] * c;
}

// Projects x on the cone; p may alias x.
static inline void cone_project(const double *x, int size, double *p) {
    if (size == 1) {
        p[0] = fmax(x[0], 0);
        return;
    }
    double side = hypot(x[1], x[2]), a = x[0] >= side ? 1 : x[0] <= -side ? 0 : 0.5 * (x[0] + side) / side;
    double normal = x[0] >= side ? x[0] : a * side;
    p[0] = normal;
    p[1] = a * x[1];
    p[2] = a * x[2];
}

// The symmetric square root of (V^-1 - I + extra I)^-1 on the range of V, where V is the derivative of the projection at x.
// 9 numbers, row-major. Along an eigenvector of V with eigenvalue v it is sqrt(v / (1 - v + extra v)).
static inline void cone_derivative_root(const double *x, int size, double extra, double *root) {
    for (int k = 0; k < 9; k++) root[k] = 0;
    double whole = sqrt(1 / extra);
    if (size == 1) {
        root[0] = x[0] > 0 ? whole : 0;
        return;
    }
    double side = hypot(x[1], x[2]);
    if (x[0] <= -side) return;
    if (x[0] >= side) {
        root[0] = root[4] = root[8] = whole;
        return;
    }
    // Eigenvectors of V: (1, w) / sqrt 2 with eigenvalue 1, (1, -w) / sqrt 2 with 0, (0, w rotated by 90 degrees) with v.
    double v = 0.5 * (1 + x[0] / side), rotated = sqrt(v / (1 - v + extra * v)), w[3] = {1, x[1] / side, x[2] / side};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) root[3 * i + j] = 0.5 * whole * w[i] * w[j];
    root[4] += rotated * w[2] * w[2];
    root[5] -= rotated * w[1] * w[2];
    root[7] -= rotated * w[1] * w[2];
    root[8] += rotated * w[1] * w[1];
}
