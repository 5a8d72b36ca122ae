// Projections on the admissible sets by search over corners, sides and faces, and the distance and support function that
// follow.
#include "tests/lab/solver/admissible.h"

#include "tests/lab/solver/dense.h"

#include <math.h>
#include <string.h>

void admissible_tangents(SandVec3 n, SandVec3 *t1, SandVec3 *t2) {
    double sign = n.z < 0 ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    *t1 = v3_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *t2 = v3_make(b, sign + n.y * n.y * a, -n.y);
}

// Writes the corners of a section of size 1, in order, and returns their number; 0 for a disc.
static int corners(const AdmissibleSet *set, double (*corner)[2]) {
    const double square[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}, pi = acos(-1);
    if (set->model->section == SAND_SQUARE) {
        memcpy(corner, square, sizeof square);
        return 4;
    }
    if (set->model->section == SAND_DISC) return 0;
    for (int k = 0; k < set->facets; k++) {
        corner[k][0] = cos(2 * pi * k / set->facets);
        corner[k][1] = sin(2 * pi * k / set->facets);
    }
    return set->facets;
}

static double distance2(const double a[3], const double b[3]) {
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Projects y on a convex polygon given by its corners, in the tangent plane: y itself, or a point on one of its sides. Close
// to a corner squared distances are equal but for rounding: the foot of a perpendicular is then the nearest point, not the
// corner where the next side ends.
static void nearest_in_polygon(const double (*corner)[2], int count, double r, double y[3]) {
    double best = INFINITY, found[2] = {0, 0};
    bool inside = r > 0;
    for (int k = 0; k < count; k++) {
        const double *a = corner[k], *b = corner[(k + 1) % count];
        double ax = r * a[0], ay = r * a[1], ex = r * b[0] - ax, ey = r * b[1] - ay, length2 = ex * ex + ey * ey;
        if (ex * (y[2] - ay) - ey * (y[1] - ax) < 0) inside = false;
        double t = length2 > 0 ? ((y[1] - ax) * ex + (y[2] - ay) * ey) / length2 : 0;
        bool foot = t >= 0 && t <= 1;
        t = fmin(1, fmax(0, t));
        double px = ax + t * ex, py = ay + t * ey, d = (px - y[1]) * (px - y[1]) + (py - y[2]) * (py - y[2]);
        d *= foot ? 1 : 1 + 1e-14;
        if (d < best) {
            best = d;
            found[0] = px;
            found[1] = py;
        }
    }
    if (!inside) {
        y[1] = found[0];
        y[2] = found[1];
    }
}

// Projects y on the cone over a polygon: y itself, or the nearest of the points on its faces, each the cone of two adjacent
// generators.
static void nearest_in_cone(const double (*corner)[2], int count, double mu, double y[3]) {
    double best = 0, found[3] = {0, 0, 0};
    bool inside = true;
    for (int k = 0; k < count; k++) {
        const double *a = corner[k], *b = corner[(k + 1) % count];
        double u[3] = {1, mu * a[0], mu * a[1]}, v[3] = {1, mu * b[0], mu * b[1]};
        double out[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        if (out[0] * y[0] + out[1] * y[1] + out[2] * y[2] < 0) inside = false;
        // The minimum in the plane of the face, by its axes: half the sum of u and v, and their difference over mu, which
        // are perpendicular as the section is regular. Else on one of the rays, else the tip.
        double m[3] = {1, 0.5 * (u[1] + v[1]), 0.5 * (u[2] + v[2])}, e[3] = {0, b[0] - a[0], b[1] - a[1]};
        double along = dot(y, m) / dot(m, m), across = dot(y, e) / dot(e, e), most = 0.5 * mu * along;
        double on_u = fmax(dot(y, u) / dot(u, u), 0), on_v = fmax(dot(y, v) / dot(v, v), 0), p[3][3];
        for (int c = 0; c < 3; c++) {
            p[0][c] = along * m[c] + across * e[c];
            p[1][c] = on_u * u[c];
            p[2][c] = on_v * v[c];
        }
        // Each is perpendicular to the rest of y, so that the nearest is the longest: its square has digits where y is long
        // and the distances are equal but for rounding. As in a polygon rounding must not choose an edge.
        for (int t = fabs(across) <= most ? 0 : 1; t < 3; t++) {
            double length2 = dot(p[t], p[t]) * (1 - 1e-14 * (t > 0));
            if (length2 > best) {
                best = length2;
                memcpy(found, p[t], sizeof found);
            }
        }
    }
    if (!inside) memcpy(y, found, sizeof found);
}

// Projects y on the set, in the contact frame. `cone`: on the cone over the section, whatever the model's set.
static void nearest(const AdmissibleSet *set, bool cone, double y[3]) {
    double corner[SAND_MAX_FACETS][2];
    int count = corners(set, corner);
    if (set->mu == 0) {
        y[0] = fmax(y[0], 0);
        y[1] = y[2] = 0;
    } else if (cone && count) {
        nearest_in_cone(corner, count, set->mu, y);
    } else if (cone) {
        SandVec3 p = dense_project(v3_make(y[0], y[1], y[2]), v3_make(1, 0, 0), set->mu);
        y[0] = p.x;
        y[1] = p.y;
        y[2] = p.z;
    } else {
        y[0] = fmax(y[0], 0);
        double length = hypot(y[1], y[2]);
        if (count) {
            nearest_in_polygon(corner, count, set->bound, y);
        } else if (length > set->bound) {
            y[1] *= set->bound / length;
            y[2] *= set->bound / length;
        }
    }
}

double admissible_outside(const AdmissibleSet *set, bool cone, const double y[3]) {
    double corner[SAND_MAX_FACETS][2], near[3] = {y[0], y[1], y[2]}, worst = 0;
    int count = corners(set, corner);
    if (!cone || !count || set->mu == 0) {
        nearest(set, cone, near);
        return sqrt(distance2(y, near));
    }
    for (int k = 0; k < count; k++) {
        const double *a = corner[k], *b = corner[(k + 1) % count];
        double nx = b[1] - a[1], ny = a[0] - b[0], far = nx * a[0] + ny * a[1], length = hypot(nx, ny);
        double over = (nx * y[1] + ny * y[2] - set->mu * far * y[0]) / hypot(length, set->mu * far);
        worst = fmax(worst, over);
    }
    return worst;
}

SandVec3 admissible_nearest(const AdmissibleSet *set, bool cone, SandVec3 n, SandVec3 x) {
    SandVec3 t1, t2;
    admissible_tangents(n, &t1, &t2);
    double y[3] = {v3_dot(x, n), v3_dot(x, t1), v3_dot(x, t2)};
    nearest(set, cone, y);
    return v3_madd(v3_madd(v3_scale(y[0], n), y[1], t1), y[2], t2);
}

double admissible_support(const AdmissibleSet *set, SandVec3 n, SandVec3 u) {
    double corner[SAND_MAX_FACETS][2], most = 0;
    int count = corners(set, corner);
    SandVec3 t1, t2;
    admissible_tangents(n, &t1, &t2);
    double u1 = v3_dot(u, t1), u2 = v3_dot(u, t2);
    if (!count) return hypot(u1, u2);
    for (int k = 0; k < count; k++) most = fmax(most, corner[k][0] * u1 + corner[k][1] * u2);
    return most;
}
