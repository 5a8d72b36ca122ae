// Building outlets.
#include "sim/scene/scene_build.h"

#include <stdio.h>

// A box has both of its corners, a plane both a point and a normal, and an outlet is one of the two.
static bool outlet_kind(SandBuilder *b, const SandOutletDef *from, bool *box) {
    *box = from->lower || from->upper;
    bool plane = from->point || from->normal;
    if (*box == plane) return sand_build_wrong(b, "", "expected lower and upper (a box), or point and normal (a plane)");
    if (*box && !(from->lower && from->upper))
        return sand_build_wrong(b, from->lower ? "upper" : "lower", "missing: a box has lower and upper");
    if (plane && !(from->point && from->normal))
        return sand_build_wrong(b, from->point ? "normal" : "point", "missing: a plane has point and normal");
    return true;
}

static bool build_outlet(SandBuilder *b, const SandOutletDef *from, uint32_t index) {
    double scale = from->scales && *from->scales ? b->scene->scale : 1;
    SandError reason;
    bool box;
    snprintf(b->path, sizeof b->path, "outlets[%u]", index);
    if (!outlet_kind(b, from, &box) || !sand_build_range3(b, "lower", from->lower, SAND_FAR) ||
        !sand_build_range3(b, "upper", from->upper, SAND_FAR) || !sand_build_range3(b, "point", from->point, SAND_FAR) ||
        !sand_build_range3(b, "normal", from->normal, SAND_FAR))
        return false;
    SandOutlet outlet =
        box ? sand_outlet_box(v3_scale(scale, sand_vector(from->lower)), v3_scale(scale, sand_vector(from->upper)))
            : sand_outlet_plane(v3_scale(scale, sand_vector(from->point)), sand_vector(from->normal));
    if (from->name)
        snprintf(outlet.name, sizeof outlet.name, "%s", from->name);
    else
        snprintf(outlet.name, sizeof outlet.name, "%u", index + 1);
    if (sand_world_add_outlet(b->world, &outlet, &reason) < 0) return sand_build_wrong(b, "", "%s", reason.text);
    return true;
}

bool sand_build_outlets(SandBuilder *b) {
    for (uint32_t i = 0; i < b->def->outlets_count; i++)
        if (!build_outlet(b, &b->def->outlets[i], i)) return false;
    return true;
}
