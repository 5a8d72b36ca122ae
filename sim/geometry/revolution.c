// SPDX-License-Identifier: MIT
// Making surfaces of revolution: checking the profile, orienting it, and deriving segments and bands. Queries are in
// revolution_distance.inl.
#include "sim/geometry/revolution.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/core/within.h"
#include "sim/geometry/revolution_distance.inl"

// ---------------------------------------------------------------------------------------------------------------
// Making

// Twice the signed area of the triangle a, b, c; positive when it turns left.
static double cross2(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
}

static double apart(const double a[2], const double b[2]) { return hypot(b[0] - a[0], b[1] - a[1]); }

static bool check_profile(const double (*p)[2], int count, SandError *error) {
    if (count < 2) return sand_fail(error, "profile: it has %d corners, at least 2 are needed", count);
    if (count > SAND_MAX_FEATURE / 8) return sand_fail(error, "profile: %d corners are too many", count);
    for (int i = 0; i < count; i++) {
        if (!sand_within(p[i][0]) || !sand_within(p[i][1]))
            return sand_fail(error, "profile: corner %d is not finite, or beyond %g m", i, SAND_FARTHEST);
        if (p[i][0] < 0) return sand_fail(error, "profile: corner %d has radius %g; it must not be below 0", i, p[i][0]);
        if (p[i][0] == 0 && i > 0 && i < count - 1)
            return sand_fail(error, "profile: corner %d lies on the axis; only the ends may", i);
        if (i > 0 && apart(p[i - 1], p[i]) == 0)
            return sand_fail(error, "profile: corners %d and %d are the same point", i - 1, i);
    }
    if (count == 2 && p[0][0] == 0 && p[1][0] == 0) return sand_fail(error, "profile: it runs along the axis");
    return true;
}

// Whether the segments a-b and c-d share a point.
static bool segments_meet(const double a[2], const double b[2], const double c[2], const double d[2]) {
    for (int k = 0; k < 2; k++) // separated along an axis; also decides for collinear segments
        if (fmax(a[k], b[k]) < fmin(c[k], d[k]) || fmax(c[k], d[k]) < fmin(a[k], b[k])) return false;
    double abc = cross2(a, b, c), abd = cross2(a, b, d), cda = cross2(c, d, a), cdb = cross2(c, d, b);
    return abc * abd <= 0 && cda * cdb <= 0;
}

static bool check_crossings(const double (*p)[2], int count, SandError *error) {
    for (int i = 0; i + 2 < count; i++) {
        double back =
            (p[i + 1][0] - p[i][0]) * (p[i + 2][0] - p[i + 1][0]) + (p[i + 1][1] - p[i][1]) * (p[i + 2][1] - p[i + 1][1]);
        if (back < 0 && fabs(cross2(p[i], p[i + 1], p[i + 2])) <= 1e-12 * -back)
            return sand_fail(error, "profile: it folds back on itself at corner %d", i + 1);
        for (int j = i + 2; j + 1 < count; j++)
            if (segments_meet(p[i], p[i + 1], p[j], p[j + 1]))
                return sand_fail(error, "profile: segments %d and %d cross", i, j);
    }
    return true;
}

// Copies the corners, dropping those that only divide a straight line.
static void copy_corners(SandBoundary *b, const double (*p)[2], int count) {
    int n = 0;
    for (int i = 0; i < count; i++) {
        bool straight = false;
        if (n > 0 && i + 1 < count) {
            const double *a = b->profile[n - 1];
            straight = fabs(cross2(a, p[i], p[i + 1])) <= 1e-12 * apart(a, p[i]) * apart(p[i], p[i + 1]);
        }
        if (straight) continue;
        b->profile[n][0] = p[i][0];
        b->profile[n][1] = p[i][1];
        n++;
    }
    b->profile_count = n;
}

// Signed area between the profile and the axis; 0 where it is rounding.
static double enclosed_area(const double (*p)[2], int count) {
    double area = 0, size = 0; // the integral of rho dz along the profile; horizontal lines and the axis add nothing
    for (int i = 0; i + 1 < count; i++) {
        double part = 0.5 * (p[i][0] + p[i + 1][0]) * (p[i + 1][1] - p[i][1]);
        area += part;
        size += fabs(part);
    }
    return fabs(area) <= 1e-12 * size ? 0 : area;
}

static void reverse(double (*p)[2], int count) {
    for (int i = 0, j = count - 1; i < j; i++, j--)
        for (int k = 0; k < 2; k++) {
            double t = p[i][k];
            p[i][k] = p[j][k];
            p[j][k] = t;
        }
}

// Fills the segments: directions and lengths first, then corner normals and kinds.
static void derive_segments(SandBoundary *b) {
    int count = b->profile_count;
    for (int i = 0; i < count; i++) {
        SandProfileSegment *segment = &b->segments[i];
        *segment = (SandProfileSegment){.rho = b->profile[i][0], .z = b->profile[i][1]};
        if (i + 1 == count) break;
        segment->length = apart(b->profile[i], b->profile[i + 1]);
        segment->along_rho = (b->profile[i + 1][0] - segment->rho) / segment->length;
        segment->along_z = (b->profile[i + 1][1] - segment->z) / segment->length;
    }
    for (int i = 0; i < count; i++) {
        SandProfileSegment *segment = &b->segments[i];
        const SandProfileSegment *before = i > 0 ? segment - 1 : segment, *after = i + 1 < count ? segment : segment - 1;
        double rho = -before->along_z - after->along_z, z = before->along_rho + after->along_rho, length = hypot(rho, z);
        segment->out_rho = rho / length;
        segment->out_z = z / length;
        double turn = before->along_rho * after->along_z - before->along_z * after->along_rho;
        bool end = i == 0 || i + 1 == count;
        segment->kind = !end                ? (turn > 0 ? SAND_CORNER_CONCAVE : SAND_CORNER_CONVEX)
                        : segment->rho == 0 ? SAND_CORNER_AXIS
                                            : SAND_CORNER_RIM;
        if (segment->kind != SAND_CORNER_AXIS) continue;
        segment->out_rho = 0;
        segment->out_z = after->along_rho < 0 ? -1 : 1;
    }
}

// Returns the least radius of a segment between two heights; infinite where it has no point there.
static double least_radius(const double a[2], const double b[2], double low, double high) {
    const double *under = a[1] <= b[1] ? a : b, *over = under == a ? b : a;
    if (over[1] < low || under[1] > high) return INFINITY;
    double height = over[1] - under[1], least = INFINITY;
    double ends[2] = {fmax(low, under[1]), fmin(high, over[1])};
    if (height == 0) return fmin(a[0], b[0]);
    for (int k = 0; k < 2; k++) least = fmin(least, under[0] + (over[0] - under[0]) * (ends[k] - under[1]) / height);
    return least;
}

// Fills the bands. Heights overlap and widths shrink by 1e-9, so that rounding never hides a wall.
static void derive_bands(SandBoundary *b) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < b->profile_count; i++) {
        low = fmin(low, b->profile[i][1]);
        high = fmax(high, b->profile[i][1]);
    }
    SandBands *bands = b->bands;
    bands->low = low;
    bands->per_height = high > low ? SAND_BANDS / (high - low) : 0;
    double rounding = 1e-9 * (high - low), height = (high - low) / SAND_BANDS;
    for (int k = 0; k < SAND_BANDS; k++) {
        double bottom = low + k * height, width = INFINITY;
        for (int i = 0; i + 1 < b->profile_count; i++)
            width =
                fmin(width, least_radius(b->profile[i], b->profile[i + 1], bottom - rounding, bottom + height + rounding));
        bool allowed = revolution_distance(b, v3_make(0, 0, bottom + 0.5 * height)) > 0;
        bands->width[k] = allowed ? (1 - 1e-9) * width : 0;
    }
}

// Unit directions and normals, corners on the axis only at the ends.
static bool segments_valid(const SandBoundary *b) {
    for (int i = 0; i < b->profile_count; i++) {
        const SandProfileSegment *s = &b->segments[i];
        bool end = i == 0 || i + 1 == b->profile_count;
        if (s->rho < 0 || (s->kind == SAND_CORNER_AXIS && !end) || fabs(hypot(s->out_rho, s->out_z) - 1) > 1e-9)
            return false;
        if (i + 1 < b->profile_count && (s->length <= 0 || fabs(hypot(s->along_rho, s->along_z) - 1) > 1e-9)) return false;
    }
    return true;
}

bool sand_revolution_make(SandBoundary *b, const double (*profile)[2], int count, SandError *error) {
    if (!check_profile(profile, count, error) || !check_crossings(profile, count, error)) return false;
    size_t capacity = 0, segments = 0, bands = 0;
    if (!SAND_GROW(b->profile, capacity, count, "profile", error)) return false;
    if (!SAND_GROW(b->segments, segments, count, "profile", error)) return false;
    if (!SAND_GROW(b->bands, bands, 1, "profile", error)) return false;
    copy_corners(b, profile, count);
    if ((enclosed_area(b->profile, b->profile_count) < 0) != (b->side == SAND_OUTSIDE))
        reverse(b->profile, b->profile_count);
    derive_segments(b);
    derive_bands(b);
    SAND_ASSERT(b->profile_count >= 2 && b->profile_count <= count && segments_valid(b));
    return true;
}

bool sand_revolution_hollow(const SandBoundary *b) {
    for (int i = 0; i < b->profile_count; i++) {
        const SandProfileSegment *segment = &b->segments[i], *wall = i + 1 < b->profile_count ? segment : segment - 1;
        if (wall->along_z < 0 || segment->kind == SAND_CORNER_CONVEX) return false; // bulges towards the bodies
        if (segment->kind == SAND_CORNER_RIM && wall->along_z <= 0) return false;   // a floor with a hole
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------
// Querying

double sand_revolution_distance(const SandBoundary *b, SandVec3 p) { return revolution_distance(b, p); }
