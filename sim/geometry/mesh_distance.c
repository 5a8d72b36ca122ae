// SPDX-License-Identifier: MIT
// Signed distance of a point to a mesh: the nearest touch (mesh_distance.inl) of a search sphere that is large enough.
#include "sim/geometry/mesh_distance.inl"

// Doubles the search range until something is in it.
double sand_mesh_distance(const SandTriangleMesh *mesh, SandVec3 point) {
    SandVec3 low = v3_sub(mesh->lower, point), high = v3_sub(point, mesh->upper);
    SandVec3 out = v3_make(fmax(fmax(low.x, high.x), 0), fmax(fmax(low.y, high.y), 0), fmax(fmax(low.z, high.z), 0));
    double enough = v3_length(out) + 2 * v3_length(v3_sub(mesh->upper, mesh->lower));
    for (double range = fmin(mesh->cell + v3_length(out), enough);; range = fmin(2 * range, enough)) {
        MeshQuery q = {.mesh = mesh, .center = point, .range = range, .slack = SAND_MESH_SLACK * range, .best = INFINITY};
        mesh_query_all(&q);
        if (fabs(q.best) <= range || range >= enough) return q.best;
    }
}
