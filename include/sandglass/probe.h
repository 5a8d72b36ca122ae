// SPDX-License-Identifier: MIT
// Probes: instruments that measure inside a run. A world has any number of them, each with a kind, a place and a rate; the
// simulation fills in what they read after the steps at which a sample is due. On a GPU the sums are made there, and only
// they come to the host.
//
//     SandProbe probe = sand_probe_flow(v3_make(0, 0, 0.5), v3_make(0, 0, -1));
//     int neck = sand_world_add_probe(&world, &probe, &error);
//     ... sand_simulation_step ...
//     if (sand_probe_sampled(world, neck)) rate = sand_probe_values(world, neck)[2];
//
// All sums are exact: they do not depend on the number of threads. docs/probes.md has the formulas.
#pragma once
#include "sandglass/error.h"
#include "sandglass/math.h"

#ifdef __cplusplus
extern "C" {
#endif

struct SandWorld;

typedef enum SandProbeKind {
    SAND_PROBE_FLOW,         // mass and bodies that passed through a plane or an outlet so far, and the rate
    SAND_PROBE_FORCE,        // force and torque of the contacts on a boundary or a body: the mean since the last sample
    SAND_PROBE_DENSITY,      // solid fraction and density, of each cell of a region
    SAND_PROBE_VELOCITY,     // mean velocity, weighted by mass, of each cell
    SAND_PROBE_STRESS,       // kinetic and contact stress, compression positive, of each cell
    SAND_PROBE_COORDINATION, // contacts of a body that carry a force, and the share of bodies with none, of each cell
    SAND_PROBE_SURFACE,      // angle of the free surface: a plane through the highest bodies over each cell
    SAND_PROBE_CENTER,       // center of mass
    SAND_PROBE_ENERGY,       // kinetic and potential energy
    SAND_PROBE_PATH,         // position, velocity, spin and rotation of a body
    SAND_PROBE_KINDS
} SandProbeKind;

enum {
    SAND_MAX_PROBES = 64,          // of a world
    SAND_MAX_PROBE_CELLS = 262144, // of a probe
    SAND_MAX_PROBE_COLUMNS = 13,   // of any kind
    SAND_PROBE_TOTALS = 6,
};

// What a probe has counted. A checkpoint has it.
typedef struct SandProbeState {
    double total[SAND_PROBE_TOTALS]; // flow: mass and bodies since time 0; force: impulses since the last sample
    double sampled;                  // flow: the mass at the last sample
    double since;                    // s, time of the last sample
} SandProbeState;

// A probe; start from one of the functions below.
typedef struct SandProbe {
    char name[SAND_NAME]; // unique in the world; the name of its file
    SandProbeKind kind;
    double rate;  // Hz, samples per second of simulated time; 0: one after every step
    int outlet;   // flow: index of an outlet, -1: the plane below
    int boundary; // force: index of a boundary, -1: the body below
    int body;     // force and path: index of a body, else -1
    bool about;   // force: torques are about `origin`; else about the boundary's position or the body's center
    bool whole;   // center and energy: of the whole world; else of the region
    // The plane of a flow: through origin, with the normal axis[2]; size[0] x size[1] about the origin, INFINITY: all of it.
    // The region of the others: a box with its corner at origin, divided into cells.
    SandVec3 origin;
    SandVec3 axis[3]; // unit, at right angles
    double size[3];   // m
    double radius;    // m, flow: of a disk about the origin, INFINITY: none
    int cells[3];
    double least_force; // N, coordination: contacts whose normal force is above it carry a force
    // Filled by the world and by the simulation.
    SandProbeState state;
    int first_value;      // of its values in the world
    uint64_t sample_step; // number of the step after which the last sample was taken, 0: none
} SandProbe;

SAND_API SandProbe sand_probe_flow(SandVec3 point, SandVec3 normal); // through a whole plane, positive along the normal
SAND_API SandProbe sand_probe_of(SandProbeKind kind);                // any other kind: of the whole world, of no body
SAND_API void sand_probe_box(SandProbe *probe, SandVec3 lower, SandVec3 upper); // gives it this region, of one cell
// Gives it a beam along a line, with a square cross-section of side `width`, divided into `bins` along it.
SAND_API void sand_probe_line(SandProbe *probe, SandVec3 from, SandVec3 to, double width, int bins);

// Adds a probe. Refuses a name that is taken, bodies, boundaries and outlets that are not there, and regions without volume.
SAND_API int sand_world_add_probe(struct SandWorld *world, const SandProbe *probe, SandError *error);

SAND_API const char *sand_probe_kind_name(SandProbeKind kind);                      // "flow"
SAND_API int sand_probe_cells(const SandProbe *probe);                              // of which it has values
SAND_API int sand_probe_columns(const SandProbe *probe);                            // values of a cell
SAND_API const char *sand_probe_column(const SandProbe *probe, int column);         // name and unit, "rate_kg_s"
SAND_API SandVec3 sand_probe_cell_center(const SandProbe *probe, int cell);         // m; x runs fastest
SAND_API bool sand_probe_sampled(const struct SandWorld *world, int probe);         // whether the last step took a sample
SAND_API const double *sand_probe_values(const struct SandWorld *world, int probe); // of the last sample, cell after cell

#ifdef __cplusplus
}
#endif
