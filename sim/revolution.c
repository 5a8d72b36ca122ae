#include "revolution.h"

#include "memory.h"

// ---------------------------------------------------------------------------------------------------------------
// Making

static double cross2(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
}

static double apart(const double a[2], const double b[2]) { return hypot(b[0] - a[0], b[1] - a[1]); }

static bool check_profile(const double (*p)[2], int count, SandError *error) {
    if (count < 2) return sand_fail(error, "profile: it has %d corners, at least 2 are needed", count);
    if (count > SAND_MAX_FEATURE / 8) return sand_fail(error, "profile: %d corners are too many", count);
    for (int i = 0; i < count; i++) {
        if (!isfinite(p[i][0]) || !isfinite(p[i][1])) return sand_fail(error, "profile: corner %d is not finite", i);
        if (p[i][0] < 0) return sand_fail(error, "profile: corner %d has radius %g; it must not be below 0", i, p[i][0]);
        if (p[i][0] == 0 && i > 0 && i < count - 1)
            return sand_fail(error, "profile: corner %d lies on the axis; only the ends may", i);
        if (i > 0 && apart(p[i - 1], p[i]) == 0)
            return sand_fail(error, "profile: corners %d and %d are the same point", i - 1, i);
    }
    if (count == 2 && p[0][0] == 0 && p[1][0] == 0) return sand_fail(error, "profile: it runs along the axis");
    return true;
}

// True where the segments a-b and c-d share a point.
static bool segments_meet(const double a[2], const double b[2], const double c[2], const double d[2]) {
    for (int k = 0; k < 2; k++) // apart on an axis; also decides for segments on one line
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

// Copies the corners, but not those that only divide a straight line.
static void copy_corners(SandBoundary *b, const double (*p)[2], int count) {
    int n = 0;
    for (int i = 0; i < count; i++) {
        bool straight = false;
        if (n > 0 && i + 1 < count) {
            const double *a = b->profile[n - 1];
            straight = fabs(cross2(a, p[i], p[i + 1])) <= 1e-12 * apart(a, p[i]) * apart(p[i], p[i + 1]);
        }
        if (straight) continue;
        b->profile[n][0] = p[i][0], b->profile[n][1] = p[i][1];
        n++;
    }
    b->profile_count = n;
}

static double enclosed_area(const double (*p)[2], int count) {
    double area = 0, size = 0; // the integral of rho dz along the profile; the level lines and the axis add nothing
    for (int i = 0; i + 1 < count; i++) {
        double part = 0.5 * (p[i][0] + p[i + 1][0]) * (p[i + 1][1] - p[i][1]);
        area += part, size += fabs(part);
    }
    return fabs(area) <= 1e-12 * size ? 0 : area;
}

static void reverse(double (*p)[2], int count) {
    for (int i = 0, j = count - 1; i < j; i++, j--)
        for (int k = 0; k < 2; k++) {
            double t = p[i][k];
            p[i][k] = p[j][k], p[j][k] = t;
        }
}

static void derive_pieces(SandBoundary *b) {
    int count = b->profile_count;
    for (int i = 0; i < count; i++) {
        SandProfilePiece *piece = &b->pieces[i];
        *piece = (SandProfilePiece){.rho = b->profile[i][0], .z = b->profile[i][1]};
        if (i + 1 == count) break;
        piece->length = apart(b->profile[i], b->profile[i + 1]);
        piece->along_rho = (b->profile[i + 1][0] - piece->rho) / piece->length;
        piece->along_z = (b->profile[i + 1][1] - piece->z) / piece->length;
    }
    for (int i = 0; i < count; i++) {
        SandProfilePiece *piece = &b->pieces[i];
        const SandProfilePiece *before = i > 0 ? piece - 1 : piece, *after = i + 1 < count ? piece : piece - 1;
        double rho = -before->along_z - after->along_z, z = before->along_rho + after->along_rho, length = hypot(rho, z);
        piece->out_rho = rho / length, piece->out_z = z / length;
        double turn = before->along_rho * after->along_z - before->along_z * after->along_rho;
        bool end = i == 0 || i + 1 == count;
        piece->kind = !end              ? (turn > 0 ? SAND_CORNER_CONCAVE : SAND_CORNER_CONVEX)
                      : piece->rho == 0 ? SAND_CORNER_AXIS
                                        : SAND_CORNER_RIM;
        if (piece->kind == SAND_CORNER_AXIS) piece->out_rho = 0, piece->out_z = after->along_rho < 0 ? -1 : 1;
    }
}

bool sand_revolution_make(SandBoundary *b, const double (*profile)[2], int count, SandError *error) {
    if (!check_profile(profile, count, error) || !check_crossings(profile, count, error)) return false;
    size_t room = 0, pieces = 0;
    if (!SAND_GROW(b->profile, room, count, "profile", error)) return false;
    if (!SAND_GROW(b->pieces, pieces, count, "profile", error)) return false;
    copy_corners(b, profile, count);
    if ((enclosed_area(b->profile, b->profile_count) < 0) != (b->side == SAND_OUTSIDE))
        reverse(b->profile, b->profile_count);
    derive_pieces(b);
    return true;
}

bool sand_revolution_hollow(const SandBoundary *b) {
    for (int i = 0; i < b->profile_count; i++) {
        const SandProfilePiece *piece = &b->pieces[i], *wall = i + 1 < b->profile_count ? piece : piece - 1;
        if (wall->along_z < 0 || piece->kind == SAND_CORNER_CONVEX) return false; // bulges towards the bodies
        if (piece->kind == SAND_CORNER_RIM && wall->along_z <= 0) return false;   // a floor with a hole
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------
// Asking

// The nearest point of one piece: its signed distance and the unit normal towards the allowed side.
typedef struct Nearest {
    double distance, rho, z;
    uint32_t feature;
} Nearest;

typedef struct Query {
    double ex, ey;        // the direction from the axis to the ball
    double radius, range; // range: a piece nearer than this is touched
    SandTouch *touches;
    int room, count;
} Query;

static void put(Query *q, Nearest n) {
    if (q->count < q->room)
        q->touches[q->count] = (SandTouch){v3_make(-n.rho * q->ex, -n.rho * q->ey, -n.z), n.distance - q->radius, n.feature};
    q->count++;
}

// The distance to corner i, signed. A corner is asked only where it is nearer than the segments beside it.
static Nearest corner(const SandProfilePiece *piece, int i, double dr, double dz) {
    double distance = sqrt(dr * dr + dz * dz), sign = 1;
    if (piece->kind == SAND_CORNER_CONCAVE || (piece->kind == SAND_CORNER_AXIS && piece->out_z * dz < 0)) sign = -1;
    double scale = distance > 0 ? sign / distance : 0;
    Nearest n = {sign * distance, scale * dr, scale * dz, 2 * (uint32_t)i + 1};
    if (distance == 0) n.rho = piece->out_rho, n.z = piece->out_z;
    return n;
}

// Puts every piece that lies in range with the ball on its allowed side, and returns the nearest piece of all. A piece
// that is seen from behind is hidden by a nearer one, unless it is itself the nearest: then the ball is beyond the wall.
static Nearest scan(const SandBoundary *b, double rho, double z, Query *q) {
    Nearest best = {INFINITY, 0, 1, 0};
    bool past = true; // the ball is beyond the end of the segment before
    for (int i = 0; i < b->profile_count; i++) {
        const SandProfilePiece *piece = &b->pieces[i];
        bool on_axis = piece->kind == SAND_CORNER_AXIS, last = i + 1 == b->profile_count;
        double dr = rho - piece->rho, dz = z - piece->z;
        double t = dr * piece->along_rho + dz * piece->along_z;
        bool short_of = last || (on_axis ? t < 0 : t <= 0); // before the start; the middle of a disc belongs to the disc
        if (past && short_of) {
            if (dr * dr + dz * dz < best.distance * best.distance || dr * dr + dz * dz <= q->range * q->range) {
                Nearest n = corner(piece, i, dr, dz);
                if (n.distance >= 0 && n.distance <= q->range) put(q, n);
                if (fabs(n.distance) < fabs(best.distance)) best = n;
            }
        }
        if (last) break;
        past = b->pieces[i + 1].kind == SAND_CORNER_AXIS ? t > piece->length : t >= piece->length;
        if (past || short_of) continue;
        double distance = dz * piece->along_rho - dr * piece->along_z;
        Nearest n = {distance, -piece->along_z, piece->along_rho, 2 * (uint32_t)i};
        if (distance >= 0 && distance <= q->range) put(q, n);
        if (fabs(distance) < fabs(best.distance)) best = n;
    }
    return best;
}

// The pieces that close round the axis, seen in a direction at an angle from the ball's. Segments count by their
// tangent plane, which leaves the whole allowed side in front; corners by their point.
static void scan_aside(const SandBoundary *b, double rho, double z, double cosine, double sine, uint32_t more, Query *q) {
    double ex = q->ex, ey = q->ey, r = rho * cosine, out = -rho * sine; // the ball, along and across the new direction
    q->ex = ex * cosine - ey * sine, q->ey = ex * sine + ey * cosine;
    bool past = true;
    for (int i = 0; i < b->profile_count; i++) {
        const SandProfilePiece *piece = &b->pieces[i];
        bool last = i + 1 == b->profile_count;
        double dr = r - piece->rho, dz = z - piece->z, t = dr * piece->along_rho + dz * piece->along_z;
        bool short_of = last || t <= 0;
        double squared = dr * dr + dz * dz + out * out;
        bool point = piece->kind == SAND_CORNER_CONVEX || piece->kind == SAND_CORNER_RIM;
        if (past && short_of && point && dr < 0 && squared > 0 && squared <= q->range * q->range) {
            double d = sqrt(squared);
            SandVec3 n = v3_scale(-1 / d, v3_make(dr * q->ex - out * q->ey, dr * q->ey + out * q->ex, dz));
            if (q->count < q->room) q->touches[q->count] = (SandTouch){n, d - q->radius, 2 * (uint32_t)i + 1 + more};
            q->count++;
        }
        past = t >= piece->length;
        if (last || past || short_of || piece->along_z <= 1e-9) continue; // flat floors are the same on every side
        double distance = dz * piece->along_rho - dr * piece->along_z;
        if (distance >= 0 && distance <= q->range)
            put(q, (Nearest){distance, -piece->along_z, piece->along_rho, 2 * (uint32_t)i + more});
    }
    q->ex = ex, q->ey = ey;
}

int sand_revolution_touch(const SandBoundary *b, SandVec3 c, double radius, double reach, SandTouch *touches, int room) {
    double rho = sqrt(c.x * c.x + c.y * c.y);
    Query q = {1, 0, radius, radius + reach, touches, room, 0}; // on the axis any direction will do: x
    if (rho > 0) q.ex = c.x / rho, q.ey = c.y / rho;
    Nearest best = scan(b, rho, c.z, &q);
    if (best.distance < 0) {
        // Beyond the wall. An open vessel has an outside where bodies may lie, so only a slight passage is sent back;
        // of a closed one every depth is.
        bool closed = b->profile[0][0] == 0 && b->profile[b->profile_count - 1][0] == 0;
        if (!closed && best.distance < -0.5 * radius) return 0;
        put(&q, best);
    } else if (rho < q.range && q.count > 0) {
        const double cosine = -0.5, sine = 0.86602540378443864676;
        uint32_t more = 2 * (uint32_t)b->profile_count;
        scan_aside(b, rho, c.z, cosine, sine, more, &q);
        scan_aside(b, rho, c.z, cosine, -sine, 2 * more, &q);
    }
    return q.count;
}

double sand_revolution_distance(const SandBoundary *b, SandVec3 p) {
    Query q = {.range = -1}; // nothing is put
    return scan(b, sqrt(p.x * p.x + p.y * p.y), p.z, &q).distance;
}
