// SPDX-License-Identifier: MIT
// The touches of a sphere with a surface of revolution, in the local frame, one source for CPU and GPU. By symmetry a query
// works in the half plane (rho, z) through the sphere's center. Features: segment k is 2 k, corner k is 2 k + 1. A sphere
// that fills a narrow passage touches a ring of wall: near the axis, where the wall closes around it, the directions 120
// degrees to either side are tried as well, with features 2 count and 4 count higher.
#pragma once
#include "sim/geometry/revolution.h"

// The nearest point of one segment or corner: signed distance and unit normal (rho, z) towards the allowed side.
typedef struct RevolutionNearest {
    double distance, rho, z;
    uint32_t feature;
} RevolutionNearest;

typedef struct RevolutionQuery {
    double ex, ey;        // unit direction from the axis to the sphere's center
    double radius, range; // m; a segment within the range, radius plus reach, is touched
    bool fast;            // it is a sphere that may move by more than its radius in the step
    SandTouch *touches;
    int capacity, count;
} RevolutionQuery;

// Appends a touch.
SAND_HOST_DEVICE void revolution_put(RevolutionQuery *q, RevolutionNearest n) {
    if (q->count < q->capacity)
        q->touches[q->count] = (SandTouch){v3_make(-n.rho * q->ex, -n.rho * q->ey, -n.z), n.distance - q->radius, n.feature};
    q->count++;
}

// Returns the signed distance to corner i, which is only queried where it is nearer than the segments beside it.
SAND_HOST_DEVICE RevolutionNearest revolution_corner(const SandProfileSegment *segment, int i, double dr, double dz) {
    double distance = sqrt(dr * dr + dz * dz), sign = 1;
    if (segment->kind == SAND_CORNER_CONCAVE || (segment->kind == SAND_CORNER_AXIS && segment->out_z * dz < 0)) sign = -1;
    double scale = distance > 0 ? sign / distance : 0;
    RevolutionNearest n = {sign * distance, scale * dr, scale * dz, 2 * (uint32_t)i + 1};
    if (distance == 0) {
        n.rho = segment->out_rho;
        n.z = segment->out_z;
    }
    return n;
}

// Returns the plane of segment i.
SAND_HOST_DEVICE RevolutionNearest revolution_plane(const SandProfileSegment *segment, int i, double rho, double z) {
    double distance = (z - segment->z) * segment->along_rho - (rho - segment->rho) * segment->along_z;
    return (RevolutionNearest){distance, -segment->along_z, segment->along_rho, 2 * (uint32_t)i};
}

SAND_HOST_DEVICE bool revolution_in_range(const RevolutionQuery *q, double distance) {
    return distance >= 0 && distance <= q->range;
}

// Whether a fast sphere may go around corner i into the segment on its other side. That one is then touched as well: where
// the corner is concave all that is allowed near it lies in front of both planes.
SAND_HOST_DEVICE bool revolution_goes_around(const RevolutionQuery *q, const SandProfileSegment *corner, double dr,
                                             double dz) {
    return q->fast && corner->kind == SAND_CORNER_CONCAVE && dr * dr + dz * dz <= q->range * q->range;
}

// Emits every segment and corner in range whose allowed side the center is on, and returns the nearest of all. One seen from
// behind is hidden by a nearer one, unless it is itself the nearest: then the center is beyond the wall.
SAND_HOST_DEVICE RevolutionNearest revolution_scan(const SandBoundary *b, double rho, double z, RevolutionQuery *q) {
    RevolutionNearest best = {INFINITY, 0, 1, 0};
    bool past = true;     // the center is beyond the end of the previous segment
    bool touched = false; // the previous segment is below the center, and in range
    for (int i = 0; i < b->profile_count; i++) {
        const SandProfileSegment *segment = &b->segments[i];
        bool on_axis = segment->kind == SAND_CORNER_AXIS, last = i + 1 == b->profile_count;
        double dr = rho - segment->rho, dz = z - segment->z;
        double t = dr * segment->along_rho + dz * segment->along_z;
        bool short_of = last || (on_axis ? t < 0 : t <= 0); // before the start; the center of a disc belongs to the disc
        if (past && short_of) {
            if (dr * dr + dz * dz < best.distance * best.distance || dr * dr + dz * dz <= q->range * q->range) {
                RevolutionNearest n = revolution_corner(segment, i, dr, dz);
                if (n.distance >= 0 && n.distance <= q->range) revolution_put(q, n);
                if (fabs(n.distance) < fabs(best.distance)) best = n;
            }
        }
        if (last) break;
        RevolutionNearest n = revolution_plane(segment, i, rho, z);
        bool around = revolution_goes_around(q, segment, dr, dz), was_past = past, was_touched = touched;
        past = b->segments[i + 1].kind == SAND_CORNER_AXIS ? t > segment->length : t >= segment->length;
        touched = !past && !short_of && revolution_in_range(q, n.distance);
        if (touched || (around && was_touched && short_of && revolution_in_range(q, n.distance))) revolution_put(q, n);
        if (around && touched && was_past && i > 0) {
            RevolutionNearest before = revolution_plane(segment - 1, i - 1, rho, z);
            if (revolution_in_range(q, before.distance)) revolution_put(q, before);
        }
        if (!past && !short_of && fabs(n.distance) < fabs(best.distance)) best = n;
    }
    return best;
}

// Emits the walls that close around the axis in a direction at an angle from the sphere's. Segments are represented by their
// tangent plane, which has the whole allowed side in front of it; corners by their point.
SAND_HOST_DEVICE void revolution_scan_at_angle(const SandBoundary *b, double rho, double z, double cosine, double sine,
                                               uint32_t more, RevolutionQuery *q) {
    double ex = q->ex, ey = q->ey, r = rho * cosine, out = -rho * sine; // the center, along and across the new direction
    q->ex = ex * cosine - ey * sine;
    q->ey = ex * sine + ey * cosine;
    bool past = true;
    for (int i = 0; i < b->profile_count; i++) {
        const SandProfileSegment *segment = &b->segments[i];
        bool last = i + 1 == b->profile_count;
        double dr = r - segment->rho, dz = z - segment->z, t = dr * segment->along_rho + dz * segment->along_z;
        bool short_of = last || t <= 0;
        double squared = dr * dr + dz * dz + out * out;
        bool point = segment->kind == SAND_CORNER_CONVEX || segment->kind == SAND_CORNER_RIM;
        if (past && short_of && point && dr < 0 && squared > 0 && squared <= q->range * q->range) {
            double d = sqrt(squared);
            SandVec3 n = v3_scale(-1 / d, v3_make(dr * q->ex - out * q->ey, dr * q->ey + out * q->ex, dz));
            if (q->count < q->capacity) q->touches[q->count] = (SandTouch){n, d - q->radius, 2 * (uint32_t)i + 1 + more};
            q->count++;
        }
        past = t >= segment->length;
        if (last || past || short_of || segment->along_z <= 1e-9) continue; // a flat floor is the same in every direction
        double distance = dz * segment->along_rho - dr * segment->along_z;
        if (distance >= 0 && distance <= q->range)
            revolution_put(q, (RevolutionNearest){distance, -segment->along_z, segment->along_rho, 2 * (uint32_t)i + more});
    }
    q->ex = ex;
    q->ey = ey;
}

// Whether no wall is within range of a point, by the bands: at all heights within that range the free radius is larger.
SAND_HOST_DEVICE bool revolution_clear(const SandBands *bands, double rho, double z, double range) {
    double low = (z - range - bands->low) * bands->per_height, high = (z + range - bands->low) * bands->per_height;
    if (!(low >= 0 && high < SAND_BANDS)) return false;
    for (int k = (int)low; k <= (int)high; k++)
        if (rho + range >= bands->width[k]) return false;
    return true;
}

// Finds the touches of a sphere centered at c: see sand_boundary_touch.
SAND_HOST_DEVICE int revolution_touch(const SandBoundary *b, SandVec3 c, double radius, double reach, SandTouch *touches,
                                      int capacity) {
    double rho = sqrt(c.x * c.x + c.y * c.y);
    if (revolution_clear(b->bands, rho, c.z, radius + reach)) return 0;
    // On the axis any direction will do: x.
    RevolutionQuery q = {1, 0, radius, radius + reach, radius > 0 && reach > radius, touches, capacity, 0};
    if (rho > 0) {
        q.ex = c.x / rho;
        q.ey = c.y / rho;
    }
    RevolutionNearest best = revolution_scan(b, rho, c.z, &q);
    if (best.distance < 0) {
        // Beyond the wall. An open vessel has an outside where bodies may lie, so only a slight penetration is pushed back;
        // in a closed vessel every depth is.
        bool closed = b->profile[0][0] == 0 && b->profile[b->profile_count - 1][0] == 0;
        if (!closed && best.distance < -0.5 * radius) return 0;
        revolution_put(&q, best);
    } else if (rho < q.range && q.count > 0) {
        const double cosine = -0.5, sine = 0.86602540378443864676;
        uint32_t more = 2 * (uint32_t)b->profile_count;
        revolution_scan_at_angle(b, rho, c.z, cosine, sine, more, &q);
        revolution_scan_at_angle(b, rho, c.z, cosine, -sine, 2 * more, &q);
    }
    return q.count;
}

// Returns the signed distance of a point.
SAND_HOST_DEVICE double revolution_distance(const SandBoundary *b, SandVec3 p) {
    RevolutionQuery q = {.range = -1}; // nothing is emitted
    return revolution_scan(b, sqrt(p.x * p.x + p.y * p.y), p.z, &q).distance;
}
