// How far a point is from a mesh: touches (mesh_touch.inl) of a ball that is large enough.
#include "sim/geometry/mesh_distance.inl"

// Looks in a ball that grows until it holds something.
double sand_mesh_distance(const SandTriangleMesh *mesh, SandVec3 point) {
    SandVec3 low = v3_sub(mesh->lower, point), high = v3_sub(point, mesh->upper);
    SandVec3 out = v3_make(fmax(fmax(low.x, high.x), 0), fmax(fmax(low.y, high.y), 0), fmax(fmax(low.z, high.z), 0));
    double enough = v3_length(out) + 2 * v3_length(v3_sub(mesh->upper, mesh->lower));
    for (double range = fmin(mesh->cell + v3_length(out), enough);; range = fmin(2 * range, enough)) {
        MeshQuery q = {.mesh = mesh, .center = point, .range = range, .slack = SAND_MESH_SLACK * range, .best = INFINITY};
        mesh_ask_all(&q);
        if (fabs(q.best) <= range || range >= enough) return q.best;
    }
}
