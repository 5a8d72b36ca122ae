// SPDX-License-Identifier: MIT
// For renderers: OpenUSD in text. FILE.usda has the shapes as prototypes of a point instancer, the boundaries as meshes, and
// the list of frames; each frame is a file of the folder FILE, a value clip, so that one that is written is never touched
// again.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/io/export/triangles.h"
#include "app/io/export/whole_file.h"
#include "app/io/json.h"

typedef struct UsdFrame {
    uint64_t step;
    double time; // s
} UsdFrame;

typedef struct UsdWriter {
    const ExportDef *def;
    char folder[EXPORT_PATH];
    const char *name; // of the folder, without what it is in
    SAND_ARRAY(UsdFrame) frames;
    int frame_count;
    Triangles triangles;
} UsdWriter;

// --- prims that do not change ---------------------------------------------------------------------------------

static void put_points(FILE *out, const Triangles *t) {
    fputs("point3f[] points = [", out);
    for (int k = 0; k < t->point_count; k++)
        fprintf(out, "%s(%.9g, %.9g, %.9g)", k ? ", " : "", t->points.data[k].x, t->points.data[k].y, t->points.data[k].z);
    fputs("]\n", out);
}

static void put_mesh(FILE *out, const Triangles *t) {
    fputs("uniform token subdivisionScheme = \"none\"\nint[] faceVertexCounts = [", out);
    for (int k = 0; k < t->corner_count / 3; k++) fputs(k ? ", 3" : "3", out);
    fputs("]\nint[] faceVertexIndices = [", out);
    for (int k = 0; k < t->corner_count; k++) fprintf(out, "%s%d", k ? ", " : "", t->corners.data[k]);
    fputs("]\n", out);
    put_points(out, t);
}

static bool put_shape(UsdWriter *w, FILE *out, int shape, SandError *error) {
    triangles_clear(&w->triangles);
    if (w->def->shapes[shape].kind == SAND_SPHERE) {
        fprintf(out, "def Sphere \"shape_%d\"\n{\ndouble radius = 1\nfloat3[] extent = [(-1, -1, -1), (1, 1, 1)]\n}\n",
                shape);
        return true;
    }
    if (!triangles_add_shape(&w->triangles, &w->def->shapes[shape], error)) return false;
    fprintf(out, "def Mesh \"shape_%d\"\n{\n", shape);
    put_mesh(out, &w->triangles);
    fputs("}\n", out);
    return true;
}

// Arrays that the frames have; the file and the manifest of the clips declare them.
static const char body_arrays[] =
    "int[] protoIndices\nint64[] ids\npoint3f[] positions\nquath[] orientations\n"
    "quatf[] orientationsf\nfloat3[] scales\nvector3f[] velocities\nvector3f[] angularVelocities\n";
static const char pose_operations[] = "double3 xformOp:translate\nquatd xformOp:orient\n";

// The mesh of a boundary lies in its own frame, which frames place.
static bool put_boundary(UsdWriter *w, FILE *out, int boundary, SandError *error) {
    const SandBoundary *b = &w->def->boundaries[boundary];
    Triangles *t = &w->triangles;
    SandPose pose = sand_boundary_pose(b, 0);
    triangles_clear(t);
    if (!triangles_add_boundary(t, b, pose, w->def->lower, w->def->upper, error)) return false;
    for (int k = 0; k < t->point_count; k++)
        t->points.data[k] = q_unrotate(pose.rotation, v3_sub(t->points.data[k], pose.position));
    fprintf(out,
            "def Mesh \"boundary_%d\" (\ndisplayName = \"%s\"\n)\n{\nuniform bool doubleSided = 1\n%suniform token[] "
            "xformOpOrder = "
            "[\"xformOp:translate\", \"xformOp:orient\"]\n",
            boundary, b->name, pose_operations);
    put_mesh(out, t);
    fputs("}\n", out);
    return true;
}

static bool put_world(UsdWriter *w, FILE *out, SandError *error) {
    fprintf(out, "{\ndef PointInstancer \"Bodies\"\n{\nrel prototypes = [");
    for (int k = 0; k < w->def->shape_count; k++) fprintf(out, "%s</World/Bodies/Prototypes/shape_%d>", k ? ", " : "", k);
    fprintf(out, "]\n%sdef Scope \"Prototypes\"\n{\n", body_arrays);
    for (int k = 0; k < w->def->shape_count; k++)
        if (!put_shape(w, out, k, error)) return false;
    fputs("}\n}\ndef Scope \"Boundaries\"\n{\n", out);
    for (int k = 0; k < w->def->boundary_count; k++)
        if (!put_boundary(w, out, k, error)) return false;
    fputs("}\n}\n", out);
    return true;
}

// --- the list of frames ---------------------------------------------------------------------------------------

static double time_code(const UsdWriter *w, int frame) { return w->frames.data[frame].time * w->def->rate; }

static void put_clips(const UsdWriter *w, FILE *out) {
    fputs("clips = {\ndictionary default = {\nasset[] assetPaths = [", out);
    for (int k = 0; k < w->frame_count; k++)
        fprintf(out, "%s@./%s/frame_%08" PRIu64 ".usda@", k ? ", " : "", w->name, w->frames.data[k].step);
    fputs("]\ndouble2[] active = [", out);
    for (int k = 0; k < w->frame_count; k++) fprintf(out, "%s(%.17g, %d)", k ? ", " : "", time_code(w, k), k);
    fputs("]\ndouble2[] times = [", out);
    for (int k = 0; k < w->frame_count; k++)
        fprintf(out, "%s(%.17g, %.17g)", k ? ", " : "", time_code(w, k), time_code(w, k));
    fprintf(out, "]\nasset manifestAssetPath = @./%s/manifest.usda@\nstring primPath = \"/World\"\n}\n}\n", w->name);
}

static void put_head(const UsdWriter *w, FILE *out) {
    char time[JSON_NUMBER];
    double end = w->frame_count ? time_code(w, w->frame_count - 1) : 0, begin = w->frame_count ? time_code(w, 0) : 0;
    fputs("#usda 1.0\n(\n", out);
    if (w->def->about) fprintf(out, "customLayerData = {\nstring provenance = '''%s'''\n}\n", w->def->about);
    fprintf(out,
            "defaultPrim = \"World\"\nmetersPerUnit = 1\nkilogramsPerUnit = 1\nupAxis = \"Z\"\nstartTimeCode = %.17g\n"
            "endTimeCode = %.17g\ntimeCodesPerSecond = %.17g\nframesPerSecond = %.17g\n)\n",
            begin, end, w->def->rate, w->def->rate);
    for (int k = 0; k < w->frame_count; k++)
        fprintf(out, "# frame %" PRIu64 " %s\n", w->frames.data[k].step, json_shortest(w->frames.data[k].time, time));
}

static bool write_list(UsdWriter *w, SandError *error) {
    WholeFile file;
    if (!whole_file_begin(&file, w->def->path, error)) return false;
    put_head(w, file.out);
    fputs("def Xform \"World\" (\n", file.out);
    if (w->frame_count) put_clips(w, file.out);
    fputs(")\n", file.out);
    bool put = put_world(w, file.out, error);
    return whole_file_end(&file, put, error);
}

// What the clips have, for readers that would otherwise open all of them.
static bool write_manifest(const UsdWriter *w, SandError *error) {
    char path[EXPORT_PATH + 64];
    WholeFile file;
    snprintf(path, sizeof path, "%.4000s/manifest.usda", w->folder);
    if (!whole_file_begin(&file, path, error)) return false;
    fprintf(file.out, "#usda 1.0\nover \"World\"\n{\nover \"Bodies\"\n{\n%s}\nover \"Boundaries\"\n{\n", body_arrays);
    for (int k = 0; k < w->def->boundary_count; k++) fprintf(file.out, "over \"boundary_%d\"\n{\n%s}\n", k, pose_operations);
    fputs("}\n}\n", file.out);
    return whole_file_end(&file, true, error);
}

// --- frames ---------------------------------------------------------------------------------------------------

// An array of the point instancer at one time: `width` numbers of each body, times `factor`.
static void put_array(FILE *out, const char *declared, double code, const ExportTable *table, const char *column,
                      double factor) {
    const ExportArray *array = export_array(table, column);
    int width = array->column->width;
    bool triple = strncmp(declared, "float3", 6) == 0 && width == 1;
    fprintf(out, "%s.timeSamples = {\n%.17g: [", declared, code);
    for (int i = 0; i < table->count; i++) {
        fputs(i ? ", " : "", out);
        if (width > 1 || triple) putc('(', out);
        for (int k = 0; k < (triple ? 3 : width); k++) {
            double number = factor * export_number(array, (size_t)i * (size_t)width + (size_t)(triple ? 0 : k));
            fprintf(out, "%s%.9g", k ? ", " : "", number);
        }
        if (width > 1 || triple) putc(')', out);
    }
    fputs("]\n}\n", out);
}

static void put_poses(const UsdWriter *w, FILE *out, const ExportFrame *frame, double code) {
    for (int k = 0; k < w->def->boundary_count; k++) {
        SandVec3 p = frame->poses.data[k].position;
        SandQuat q = frame->poses.data[k].rotation;
        fprintf(out,
                "over \"boundary_%d\"\n{\ndouble3 xformOp:translate.timeSamples = {\n%.17g: (%.17g, %.17g, %.17g)\n}\n"
                "quatd xformOp:orient.timeSamples = {\n%.17g: (%.17g, %.17g, %.17g, %.17g)\n}\n}\n",
                k, code, p.x, p.y, p.z, code, q.w, q.x, q.y, q.z);
    }
}

static void put_frame(const UsdWriter *w, FILE *out, const ExportFrame *frame, double code) {
    const ExportTable *bodies = &frame->tables[EXPORT_BODIES];
    const double degrees = 57.29577951308232;
    fputs("#usda 1.0\nover \"World\"\n{\nover \"Bodies\"\n{\n", out);
    put_array(out, "int[] protoIndices", code, bodies, "shape", 1);
    put_array(out, "int64[] ids", code, bodies, "body", 1);
    put_array(out, "point3f[] positions", code, bodies, "position", 1);
    put_array(out, "quath[] orientations", code, bodies, "rotation", 1);
    put_array(out, "quatf[] orientationsf", code, bodies, "rotation", 1);
    put_array(out, "float3[] scales", code, bodies, "scale", 1);
    put_array(out, "vector3f[] velocities", code, bodies, "velocity", 1);
    put_array(out, "vector3f[] angularVelocities", code, bodies, "spin", degrees);
    fputs("}\nover \"Boundaries\"\n{\n", out);
    put_poses(w, out, frame, code);
    fputs("}\n}\n", out);
}

static bool add_frame(UsdWriter *w, uint64_t step, double time, SandError *error) {
    if (!SAND_RESERVE(w->frames, 2 * w->frame_count + 1, "export", error)) return false;
    w->frames.data[w->frame_count++] = (UsdFrame){step, time};
    return true;
}

static bool usd_write(void *writer, const ExportFrame *frame, SandError *error) {
    UsdWriter *w = writer;
    char path[EXPORT_PATH + 64];
    WholeFile file;
    snprintf(path, sizeof path, "%.4000s/frame_%08" PRIu64 ".usda", w->folder, frame->step);
    if (!whole_file_begin(&file, path, error)) return false;
    put_frame(w, file.out, frame, frame->time * w->def->rate);
    return whole_file_end(&file, true, error) && add_frame(w, frame->step, frame->time, error) && write_list(w, error);
}

// --- opening and closing --------------------------------------------------------------------------------------

// Takes over the frames up to the step of the checkpoint; the files of later ones are written again.
static bool keep_frames(UsdWriter *w, SandError *error) {
    FILE *file = fopen(w->def->path, "r");
    char *line = NULL;
    size_t size = 0;
    UsdFrame frame;
    bool well = true;
    if (!file) return true; // nothing was exported before
    while (well && getline(&line, &size, file) > 0)
        if (sscanf(line, "# frame %" SCNu64 " %lf", &frame.step, &frame.time) == 2 && frame.step <= w->def->kept)
            well = add_frame(w, frame.step, frame.time, error);
    free(line);
    fclose(file);
    return well;
}

static bool usd_close(void *writer, SandError *error) {
    UsdWriter *w = writer;
    (void)error;
    SAND_FREE_ARRAYS(&w->frames);
    triangles_free(&w->triangles);
    free(w);
    return true;
}

static void *usd_open(const ExportDef *def, SandError *error) {
    UsdWriter *w = calloc(1, sizeof *w);
    SandError ignored;
    if (!w) return sand_fail(error, "out of memory for an export"), NULL;
    w->def = def;
    snprintf(w->folder, sizeof w->folder, "%.*s", (int)strlen(def->path) - 5, def->path);
    const char *slash = strrchr(w->folder, '/');
    w->name = slash ? slash + 1 : w->folder;
    bool made = mkdir(w->folder, 0777) == 0 || errno == EEXIST || sand_fail(error, "%.300s: %s", w->folder, strerror(errno));
    if (made && write_manifest(w, error) && (!def->resumes || keep_frames(w, error)) && write_list(w, error)) return w;
    usd_close(w, &ignored);
    return NULL;
}

const ExportFormat export_usd = {
    .ending = ".usda",
    .about = "OpenUSD, for renderers: a point instancer with a file for each frame",
    .required = "rotation,velocity,spin,scale,shape",
    .open = usd_open,
    .write = usd_write,
    .close = usd_close,
};
