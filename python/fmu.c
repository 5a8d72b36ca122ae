// SPDX-License-Identifier: MIT
// A scene as a co-simulation of FMI 3.0: what an FMU of python/sandglass/fmu.py calls. The FMU has the scene and the file
// `settings` in its resources; each line of that is a name and a value.
//
// A value reference is a kind, an index and a part; the kinds are below. Inputs hold until they are set again: targets and
// strengths of motors, and forces and torques on bodies. A communication step is a whole number of steps of the scene.
#include "python/fmi3.h"

#include "python/bridge.h"
#include "sandglass/checkpoint.h"
#include "sandglass/probe.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// reference = (kind * INDICES + index) * PARTS + part
enum { PARTS = 16, INDICES = 1 << 22, PATH = 4096, LINE = 1024, MOST_PROBES = 64 };
typedef enum Kind { KIND_RUN, KIND_KNOB, KIND_JOINT, KIND_BODY, KIND_PROBE } Kind;
enum { RUN_TIME, RUN_KINETIC, RUN_RESIDUAL, RUN_CONTACTS, RUN_HASH };                     // parts of the run
enum { JOINT_TARGET, JOINT_STRENGTH, JOINT_POSITION, JOINT_SPEED, JOINT_MOTOR };          // the first two are inputs
enum { BODY_FORCE, BODY_TORQUE, BODY_POSITION, BODY_ROTATION, BODY_VELOCITY, BODY_SPIN }; // likewise

typedef struct Input {
    fmi3ValueReference reference;
    double value[3];
} Input;

typedef struct Instance {
    char resources[PATH];
    char scene_path[PATH];
    SandScene scene;
    SandSimulationDef definition;
    char backend[SAND_NAME];
    char *probe_texts[MOST_PROBES];
    int probe_count;
    SandSceneOptions options;
    SandSimulation *sim; // NULL until its values are needed
    bool running;        // knobs are fixed
    uint64_t first_step; // of the simulation at the start
    double start;        // s, of the importer's time
    Input *inputs;       // those that were set
    size_t input_count;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
} Instance;

// A state: the inputs, then what sand_simulation_save gives.
typedef struct State {
    size_t input_count, size;
    fmi3Byte bytes[];
} State;

static fmi3Status tell(Instance *at, fmi3Status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
static fmi3Status tell(Instance *at, fmi3Status status, const char *format, ...) {
    char sentence[sizeof(SandError) + LINE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (at->log) at->log(at->environment, status, status == fmi3Warning ? "warnings" : "errors", sentence);
    return status;
}

static void on_message(void *user, const char *sentence) { tell(user, fmi3Warning, "%s", sentence); }

// --- settings, scene and simulation ---------------------------------------------------------------------------

static bool set_solve(SandSolveDef *solve, const char *name, const char *value, SandError *error) {
    double number = strtod(value, NULL);
#define REAL(field) \
    if (strcmp(name, #field) == 0) return solve->field = number, true;
#define WHOLE(field, type) \
    if (strcmp(name, #field) == 0) return solve->field = (type)number, true;
    WHOLE(friction, SandFriction)
    WHOLE(bounds, SandBounds)
    WHOLE(facets, int)
    WHOLE(presolve, int)
    WHOLE(renewal, int)
    WHOLE(iterations, int)
    REAL(budget_ms)
    REAL(tolerance)
    WHOLE(relative, bool)
    REAL(accuracy)
    WHOLE(islands, int)
#undef REAL
#undef WHOLE
    return sand_solve_set(solve, name, value, error);
}

// What must be known before the scene is opened, and what only then can be set: `opened` says which of the two.
static bool apply_setting(Instance *at, const char *name, const char *value, bool opened, SandError *error) {
    SandSceneOptions *options = &at->options;
    if (strcmp(name, "scene") == 0) {
        int length = snprintf(at->scene_path, PATH, "%s/%s", at->resources, value);
        if (length >= PATH) return snprintf(error->text, sizeof error->text, "the path of the FMU is too long"), false;
    } else if (strcmp(name, "bodies") == 0) {
        options->bodies = atoi(value);
    } else if (strcmp(name, "seed") == 0) {
        options->has_seed = true;
        options->seed = strtoull(value, NULL, 10);
    } else if (strcmp(name, "step") == 0) {
        options->step = strtod(value, NULL);
    } else if (strcmp(name, "start") == 0) {
        options->start = (SandStart)atoi(value);
    } else if (strcmp(name, "probe") == 0) {
        if (opened || at->probe_count == MOST_PROBES) return true;
        at->probe_texts[at->probe_count] = strdup(value);
        if (at->probe_texts[at->probe_count]) at->probe_count++;
    } else if (strcmp(name, "threads") == 0) {
        at->definition.threads = atoi(value);
    } else if (strcmp(name, "precision") == 0) {
        at->definition.precision = (SandPrecision)atoi(value);
    } else if (strcmp(name, "backend") == 0) {
        snprintf(at->backend, sizeof at->backend, "%s", value);
    } else if (strcmp(name, "solver") == 0) {
        int solver = sand_solver_find(value);
        if (opened && solver < 0) return sand_solver_refuse("", value, error);
        if (opened) sand_solve_choose(&at->scene.solve, solver);
    } else if (opened && strcmp(name, "token") != 0) {
        return set_solve(&at->scene.solve, name, value, error);
    }
    return true;
}

// Calls apply_setting for every line of the file; `token` is that of the importer, which must be in it.
static bool read_settings(Instance *at, const char *token, bool opened, SandError *error) {
    char path[PATH + 16], line[LINE];
    snprintf(path, sizeof path, "%s/settings", at->resources);
    FILE *file = fopen(path, "r");
    if (!file) return snprintf(error->text, sizeof error->text, "%.200s cannot be read", path), false;
    bool well = true, known = token == NULL;
    while (well && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *value = strchr(line, ' ');
        if (!value) continue;
        *value++ = 0;
        if (token && strcmp(line, "token") == 0) known = strcmp(value, token) == 0;
        well = apply_setting(at, line, value, opened, error);
    }
    fclose(file);
    if (well && !known) snprintf(error->text, sizeof error->text, "the instantiation token is not that of this FMU");
    return well && known;
}

static bool open_scene(Instance *at, const char *token, SandError *error) {
    at->definition = sand_default_simulation();
    if (!read_settings(at, token, false, error)) return false;
    at->options.probes = (const char *const *)at->probe_texts;
    at->options.probe_count = at->probe_count;
    return sand_scene_open(&at->scene, at->scene_path, &at->options, error) && read_settings(at, NULL, true, error);
}

static bool build(Instance *at, SandError *error) {
    if (!sand_python_build(&at->scene, at->definition.threads, error)) return false;
    SandSimulationDef *definition = &at->definition;
    definition->solve = at->scene.solve;
    if (!sand_python_backend(at->backend[0] ? at->backend : "cpu", &definition->solve, definition->precision,
                             &definition->backend, error))
        return false;
    at->sim = sand_simulation_create(&at->scene.world, definition, error);
    if (!at->sim) return false;
    sand_simulation_on_message(at->sim, on_message, at);
    at->first_step = sand_simulation_world(at->sim)->step_index;
    return true;
}

// The simulation, built where it is not yet; NULL, and the importer hears why.
static SandSimulation *simulation(Instance *at) {
    SandError error;
    if (!at->sim && !build(at, &error)) tell(at, fmi3Error, "%s", error.text);
    return at->sim;
}

static void close_simulation(Instance *at) {
    sand_simulation_free(at->sim);
    at->sim = NULL;
}

static void free_instance(Instance *at) {
    close_simulation(at);
    sand_scene_free(&at->scene);
    for (int i = 0; i < at->probe_count; i++) free(at->probe_texts[i]);
    free(at->inputs);
    free(at);
}

// --- values ---------------------------------------------------------------------------------------------------

static Kind kind_of(fmi3ValueReference reference) { return (Kind)(reference / PARTS / INDICES); }
static int index_of(fmi3ValueReference reference) { return (int)(reference / PARTS % INDICES); }
static int part_of(fmi3ValueReference reference) { return (int)(reference % PARTS); }
static bool is_input(fmi3ValueReference reference) {
    return (kind_of(reference) == KIND_JOINT && part_of(reference) <= JOINT_STRENGTH) ||
           (kind_of(reference) == KIND_BODY && part_of(reference) <= BODY_TORQUE);
}

static Input *find_input(Instance *at, fmi3ValueReference reference) {
    for (size_t i = 0; i < at->input_count; i++)
        if (at->inputs[i].reference == reference) return &at->inputs[i];
    return NULL;
}

static size_t store(double *to, size_t capacity, const double *from, size_t count) {
    if (count > capacity) return 0;
    memcpy(to, from, count * sizeof *to);
    return count;
}

static size_t read_run(SandSimulation *sim, int part, double *to, size_t capacity) {
    const SandCounters *counters = sand_simulation_counters(sim);
    double value[] = {[RUN_TIME] = sand_simulation_world(sim)->time,
                      [RUN_KINETIC] = part == RUN_KINETIC ? sand_simulation_energy(sim).kinetic : 0,
                      [RUN_RESIDUAL] = counters->metrics.residual,
                      [RUN_CONTACTS] = counters->contacts};
    return part > RUN_CONTACTS ? 0 : store(to, capacity, &value[part], 1);
}

static size_t read_joint(SandSimulation *sim, int joint, int part, double *to, size_t capacity) {
    const SandWorld *world = sand_simulation_world(sim);
    SandJointState state;
    SandError error;
    if (joint >= world->joint_count || part > JOINT_MOTOR || !sand_simulation_read_joint(sim, joint, &state, &error))
        return 0;
    const SandDrive *drive = &world->joints[joint].drive;
    double value[] = {[JOINT_TARGET] = drive->target,
                      [JOINT_STRENGTH] = drive->strength,
                      [JOINT_POSITION] = state.position,
                      [JOINT_SPEED] = state.speed,
                      [JOINT_MOTOR] = isnan(state.motor) ? 0 : state.motor}; // before the first step
    return store(to, capacity, &value[part], 1);
}

static size_t read_body(Instance *at, fmi3ValueReference reference, double *to, size_t capacity) {
    SandBodyState state;
    SandError error;
    int body = index_of(reference), part = part_of(reference);
    if (body >= sand_simulation_world(at->sim)->body_count || part > BODY_SPIN) return 0;
    const Input *input = find_input(at, reference);
    if (part <= BODY_TORQUE) return store(to, capacity, input ? input->value : (double[3]){0}, 3);
    if (!sand_simulation_read_body(at->sim, body, &state, &error)) return 0;
    if (part == BODY_ROTATION)
        return store(to, capacity, (double[4]){state.rotation.w, state.rotation.x, state.rotation.y, state.rotation.z}, 4);
    SandVec3 v = part == BODY_POSITION ? state.position : part == BODY_VELOCITY ? state.velocity : state.spin;
    return store(to, capacity, (double[3]){v.x, v.y, v.z}, 3);
}

// A column of a probe, of all its cells.
static size_t read_probe(SandSimulation *sim, int probe, int column, double *to, size_t capacity) {
    const SandWorld *world = sand_simulation_world(sim);
    if (probe >= world->probe_count) return 0;
    int columns = sand_probe_columns(&world->probes[probe]), cells = sand_probe_cells(&world->probes[probe]);
    if (column >= columns || (size_t)cells > capacity) return 0;
    const double *values = sand_probe_values(world, probe);
    for (int cell = 0; cell < cells; cell++) to[cell] = values[(size_t)cell * (size_t)columns + (size_t)column];
    return (size_t)cells;
}

// Stores the value at `to`, and returns how many numbers it has; 0: there is no such value, or no capacity.
static size_t read_value(Instance *at, fmi3ValueReference reference, double *to, size_t capacity) {
    int index = index_of(reference), part = part_of(reference);
    if (kind_of(reference) == KIND_KNOB)
        return index < at->scene.knob_count ? store(to, capacity, &at->scene.knobs[index].value, 1) : 0;
    const Input *told = kind_of(reference) == KIND_JOINT ? find_input(at, reference) : NULL;
    if (told) return store(to, capacity, told->value, 1);
    SandSimulation *sim = simulation(at);
    if (!sim) return 0;
    switch (kind_of(reference)) {
    case KIND_RUN: return read_run(sim, part, to, capacity);
    case KIND_JOINT: return read_joint(sim, index, part, to, capacity);
    case KIND_BODY: return read_body(at, reference, to, capacity);
    case KIND_PROBE: return read_probe(sim, index, part, to, capacity);
    default: return 0;
    }
}

// Keeps an input until it is set again. Returns how many numbers it has, 0: it could not be kept.
static size_t keep_input(Instance *at, fmi3ValueReference reference, const double *from, size_t capacity) {
    size_t count = kind_of(reference) == KIND_BODY ? 3 : 1;
    if (count > capacity) return 0;
    Input *input = find_input(at, reference);
    if (!input) {
        Input *larger = realloc(at->inputs, (at->input_count + 1) * sizeof *larger);
        if (!larger) return 0;
        at->inputs = larger;
        input = &larger[at->input_count++];
        *input = (Input){.reference = reference};
    }
    memcpy(input->value, from, count * sizeof *from);
    return count;
}

static size_t write_value(Instance *at, fmi3ValueReference reference, const double *from, size_t capacity) {
    if (is_input(reference)) return keep_input(at, reference, from, capacity);
    SandError error;
    if (kind_of(reference) != KIND_KNOB || index_of(reference) >= at->scene.knob_count || capacity < 1) return 0;
    SandKnob *knob = &at->scene.knobs[index_of(reference)];
    if (knob->value == from[0]) return 1;
    if (at->running) {
        tell(at, fmi3Error, "%s: parameters are fixed once the run has begun", knob->name);
        return 0;
    }
    if (!sand_scene_set_knob(&at->scene, index_of(reference), from[0], &error)) {
        tell(at, fmi3Error, "%s", error.text);
        return 0;
    }
    close_simulation(at); // it is built again with the knob as it is now
    return 1;
}

// --- steps ----------------------------------------------------------------------------------------------------

// Tells motors what was set, and puts forces on bodies for the coming step.
static bool apply_inputs(Instance *at, SandError *error) {
    const SandWorld *world = sand_simulation_world(at->sim);
    for (size_t i = 0; i < at->input_count; i++) {
        const Input *input = &at->inputs[i];
        int index = index_of(input->reference), part = part_of(input->reference);
        if (kind_of(input->reference) == KIND_BODY) {
            SandVec3 value = v3_make(input->value[0], input->value[1], input->value[2]);
            SandForces forces = {.count = 1, .body = &index};
            if (part == BODY_FORCE)
                forces.force = &value;
            else
                forces.torque = &value;
            if (!sand_simulation_apply_force(at->sim, &forces, error)) return false;
        } else if (index < world->joint_count) {
            double now = part == JOINT_TARGET ? world->joints[index].drive.target : world->joints[index].drive.strength;
            if (now == input->value[0]) continue;
            SandDrive *drive = &sand_simulation_change(at->sim)->joints[index].drive;
            *(part == JOINT_TARGET ? &drive->target : &drive->strength) = input->value[0];
        }
    }
    return true;
}

static fmi3Status take_steps(Instance *at, double end) {
    SandSimulation *sim = simulation(at);
    SandError error;
    if (!sim) return fmi3Error;
    double length = sand_simulation_world(sim)->step, wanted = (end - at->start) / length;
    int64_t taken = (int64_t)(sand_simulation_world(sim)->step_index - at->first_step), last = llround(wanted);
    // Importers add up their steps, and sums round: by far less than a thousandth of a step.
    if (!(fabs(wanted - (double)last) < 1e-3))
        return tell(at, fmi3Error, "communication point %.9g s: it must be a whole number of steps of %g s", end, length);
    if (last < taken) return tell(at, fmi3Error, "communication point %.9g s: it lies behind the state", end);
    for (; taken < last; taken++)
        if (!apply_inputs(at, &error) || !sand_simulation_step(sim, &error)) return tell(at, fmi3Error, "%s", error.text);
    return fmi3OK;
}

// --- the interface --------------------------------------------------------------------------------------------

FMI3_EXPORT const char *fmi3GetVersion(void);
FMI3_EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

FMI3_EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                                     fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode,
                                                     fmi3Boolean early_return, const fmi3ValueReference *intermediate,
                                                     size_t intermediate_count, fmi3InstanceEnvironment environment,
                                                     fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update);
FMI3_EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                                     fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode,
                                                     fmi3Boolean early_return, const fmi3ValueReference *intermediate,
                                                     size_t intermediate_count, fmi3InstanceEnvironment environment,
                                                     fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update) {
    (void)name, (void)visible, (void)logging, (void)event_mode, (void)early_return, (void)intermediate,
        (void)intermediate_count, (void)update;
    Instance *at = calloc(1, sizeof *at);
    if (!at) return NULL;
    at->log = log;
    at->environment = environment;
    SandError error = {0};
    sand_python_enable();
    int length = snprintf(at->resources, PATH, "%s", resources ? resources : ".");
    bool well = length > 0 && length < PATH - LINE;
    if (!well) snprintf(error.text, sizeof error.text, "the path of the FMU's resources is empty or too long");
    while (well && length > 1 && at->resources[length - 1] == '/') at->resources[--length] = 0;
    if (well && open_scene(at, token ? token : "", &error)) return at;
    tell(at, fmi3Error, "%s", error.text);
    free_instance(at);
    return NULL;
}

// The signature of a function of the interface, declared before it is defined, as the compiler wants it.
#define FMI(name, ...) \
    FMI3_EXPORT fmi3Status name(__VA_ARGS__); \
    FMI3_EXPORT fmi3Status name(__VA_ARGS__)

FMI3_EXPORT void fmi3FreeInstance(fmi3Instance instance);
FMI3_EXPORT void fmi3FreeInstance(fmi3Instance instance) {
    if (instance) free_instance(instance);
}

FMI(fmi3SetDebugLogging, fmi3Instance instance, fmi3Boolean on, size_t count, const fmi3String *categories) {
    (void)instance, (void)on, (void)count, (void)categories; // errors and warnings are always said, and nothing else is
    return fmi3OK;
}

FMI(fmi3EnterInitializationMode, fmi3Instance instance, fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 start,
    fmi3Boolean has_stop, fmi3Float64 stop) {
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop; // accuracy is a setting of the solver
    ((Instance *)instance)->start = start;
    return fmi3OK;
}

FMI(fmi3ExitInitializationMode, fmi3Instance instance) {
    Instance *at = instance;
    if (!simulation(at)) return fmi3Error;
    at->running = true;
    return fmi3OK;
}

FMI(fmi3Terminate, fmi3Instance instance) {
    (void)instance;
    return fmi3OK;
}

FMI(fmi3Reset, fmi3Instance instance) {
    Instance *at = instance;
    SandError error;
    close_simulation(at);
    sand_scene_free(&at->scene);
    for (int i = 0; i < at->probe_count; i++) free(at->probe_texts[i]);
    at->probe_count = 0;
    at->input_count = 0;
    at->running = false;
    return open_scene(at, NULL, &error) ? fmi3OK : tell(at, fmi3Error, "%s", error.text);
}

FMI(fmi3GetFloat64, fmi3Instance instance, const fmi3ValueReference *references, size_t count, fmi3Float64 *values,
    size_t value_count) {
    for (size_t i = 0, used = 0, read; i < count; i++, used += read) {
        read = read_value(instance, references[i], values + used, value_count - used);
        if (!read) return tell(instance, fmi3Error, "value reference %u: there is no such real number", references[i]);
    }
    return fmi3OK;
}

FMI(fmi3SetFloat64, fmi3Instance instance, const fmi3ValueReference *references, size_t count, const fmi3Float64 *values,
    size_t value_count) {
    for (size_t i = 0, used = 0, written; i < count; i++, used += written) {
        written = write_value(instance, references[i], values + used, value_count - used);
        if (!written) return tell(instance, fmi3Error, "value reference %u: it cannot be set", references[i]);
    }
    return fmi3OK;
}

FMI(fmi3GetUInt64, fmi3Instance instance, const fmi3ValueReference *references, size_t count, uint64_t *values,
    size_t value_count) {
    SandSimulation *sim = simulation(instance);
    SandError error;
    if (!sim) return fmi3Error;
    if (!sand_simulation_fetch(sim, &error)) return tell(instance, fmi3Error, "%s", error.text);
    for (size_t i = 0; i < count; i++) {
        if (references[i] != RUN_HASH || i >= value_count)
            return tell(instance, fmi3Error, "value reference %u: there is no such whole number", references[i]);
        values[i] = sand_world_hash(sand_simulation_world(sim));
    }
    return fmi3OK;
}

FMI(fmi3DoStep, fmi3Instance instance, fmi3Float64 point, fmi3Float64 size, fmi3Boolean no_way_back, fmi3Boolean *event,
    fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached) {
    (void)no_way_back;
    Instance *at = instance;
    *event = *terminate = *early = false;
    fmi3Status status = take_steps(at, point + size);
    *reached = status == fmi3OK ? point + size : point;
    return status;
}

// --- states ---------------------------------------------------------------------------------------------------

FMI(fmi3FreeFMUState, fmi3Instance instance, fmi3FMUState *state) {
    (void)instance;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

FMI(fmi3GetFMUState, fmi3Instance instance, fmi3FMUState *state) {
    Instance *at = instance;
    SandSimulation *sim = simulation(at);
    SandError error;
    void *bytes;
    size_t size, inputs = at->input_count * sizeof *at->inputs;
    if (!sim) return fmi3Error;
    if (!sand_simulation_save(sim, &bytes, &size, &error)) return tell(at, fmi3Error, "%s", error.text);
    State *kept = realloc(*state, sizeof *kept + inputs + size);
    if (kept) {
        *kept = (State){.input_count = at->input_count, .size = size};
        if (inputs) memcpy(kept->bytes, at->inputs, inputs);
        memcpy(kept->bytes + inputs, bytes, size);
        *state = kept;
    }
    sand_free(bytes);
    return kept ? fmi3OK : tell(at, fmi3Error, "out of memory for a state");
}

FMI(fmi3SetFMUState, fmi3Instance instance, fmi3FMUState state) {
    Instance *at = instance;
    const State *kept = state;
    SandSimulation *sim = simulation(at);
    SandError error;
    if (!sim) return fmi3Error;
    size_t inputs = kept->input_count * sizeof *at->inputs;
    Input *own = realloc(at->inputs, inputs ? inputs : sizeof *own);
    if (!own) return tell(at, fmi3Error, "out of memory for a state");
    at->inputs = own;
    if (!sand_simulation_restore(sim, kept->bytes + inputs, kept->size, &error))
        return tell(at, fmi3Error, "%s", error.text);
    if (inputs) memcpy(own, kept->bytes, inputs);
    at->input_count = kept->input_count;
    return fmi3OK;
}

FMI(fmi3SerializedFMUStateSize, fmi3Instance instance, fmi3FMUState state, size_t *size) {
    (void)instance;
    const State *kept = state;
    *size = sizeof *kept + kept->input_count * sizeof(Input) + kept->size;
    return fmi3OK;
}

FMI(fmi3SerializeFMUState, fmi3Instance instance, fmi3FMUState state, fmi3Byte *bytes, size_t size) {
    size_t whole;
    fmi3SerializedFMUStateSize(instance, state, &whole);
    if (size < whole) return tell(instance, fmi3Error, "a state of %zu bytes does not fit in %zu", whole, size);
    memcpy(bytes, state, whole);
    return fmi3OK;
}

FMI(fmi3DeserializeFMUState, fmi3Instance instance, const fmi3Byte *bytes, size_t size, fmi3FMUState *state) {
    State head;
    bool whole = size >= sizeof head;
    if (whole) memcpy(&head, bytes, sizeof head);
    whole = whole && head.input_count <= size / sizeof(Input) &&
            sizeof head + head.input_count * sizeof(Input) + head.size == size;
    if (!whole) return tell(instance, fmi3Error, "these %zu bytes are no state", size);
    State *kept = malloc(size);
    if (!kept) return tell(instance, fmi3Error, "out of memory for a state");
    memcpy(kept, bytes, size);
    *state = kept;
    return fmi3OK;
}

// --- what every FMU must have, and this one has nothing to do for ----------------------------------------------

#define REFUSED(name, ...) \
    FMI(name, fmi3Instance instance, ##__VA_ARGS__) { \
        return tell(instance, fmi3Error, #name ": this FMU has no such thing"); \
    }
#define NO_VALUES(name, type) \
    REFUSED(fmi3Get##name, const fmi3ValueReference *references, size_t count, type *values, size_t value_count) \
    REFUSED(fmi3Set##name, const fmi3ValueReference *references, size_t count, const type *values, size_t value_count)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
NO_VALUES(Float32, float)
NO_VALUES(Int8, int8_t)
NO_VALUES(UInt8, uint8_t)
NO_VALUES(Int16, int16_t)
NO_VALUES(UInt16, uint16_t)
NO_VALUES(Int32, int32_t)
NO_VALUES(UInt32, uint32_t)
NO_VALUES(Int64, int64_t)
NO_VALUES(Boolean, fmi3Boolean)
NO_VALUES(String, fmi3String)
REFUSED(fmi3SetUInt64, const fmi3ValueReference *references, size_t count, const uint64_t *values, size_t value_count)
REFUSED(fmi3GetBinary, const fmi3ValueReference *references, size_t count, size_t *sizes, const fmi3Byte **values,
        size_t value_count)
REFUSED(fmi3SetBinary, const fmi3ValueReference *references, size_t count, const size_t *sizes,
        const fmi3Byte *const *values, size_t value_count)
REFUSED(fmi3GetClock, const fmi3ValueReference *references, size_t count, fmi3Boolean *values)
REFUSED(fmi3SetClock, const fmi3ValueReference *references, size_t count, const fmi3Boolean *values)
REFUSED(fmi3GetNumberOfVariableDependencies, fmi3ValueReference reference, size_t *count)
REFUSED(fmi3GetVariableDependencies, fmi3ValueReference reference, size_t *element, fmi3ValueReference *independents,
        size_t *elements, fmi3DependencyKind *kinds, size_t count)
REFUSED(fmi3GetDirectionalDerivative, const fmi3ValueReference *unknowns, size_t unknown_count,
        const fmi3ValueReference *knowns, size_t known_count, const fmi3Float64 *seed, size_t seed_count,
        fmi3Float64 *sensitivity, size_t sensitivity_count)
REFUSED(fmi3GetAdjointDerivative, const fmi3ValueReference *unknowns, size_t unknown_count, const fmi3ValueReference *knowns,
        size_t known_count, const fmi3Float64 *seed, size_t seed_count, fmi3Float64 *sensitivity, size_t sensitivity_count)
REFUSED(fmi3GetOutputDerivatives, const fmi3ValueReference *references, size_t count, const int32_t *orders,
        fmi3Float64 *values, size_t value_count)
REFUSED(fmi3EnterEventMode)
REFUSED(fmi3EnterStepMode)
REFUSED(fmi3EnterConfigurationMode)
REFUSED(fmi3ExitConfigurationMode)
REFUSED(fmi3EvaluateDiscreteStates)
REFUSED(fmi3UpdateDiscreteStates, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals, fmi3Boolean *values,
        fmi3Boolean *has_next, fmi3Float64 *next)
REFUSED(fmi3GetIntervalDecimal, const fmi3ValueReference *references, size_t count, fmi3Float64 *intervals, int *qualifiers)
REFUSED(fmi3GetIntervalFraction, const fmi3ValueReference *references, size_t count, uint64_t *counters,
        uint64_t *resolutions, int *qualifiers)
REFUSED(fmi3GetShiftDecimal, const fmi3ValueReference *references, size_t count, fmi3Float64 *shifts)
REFUSED(fmi3GetShiftFraction, const fmi3ValueReference *references, size_t count, uint64_t *counters, uint64_t *resolutions)
REFUSED(fmi3SetIntervalDecimal, const fmi3ValueReference *references, size_t count, const fmi3Float64 *intervals)
REFUSED(fmi3SetIntervalFraction, const fmi3ValueReference *references, size_t count, const uint64_t *counters,
        const uint64_t *resolutions)
REFUSED(fmi3SetShiftDecimal, const fmi3ValueReference *references, size_t count, const fmi3Float64 *shifts)
REFUSED(fmi3SetShiftFraction, const fmi3ValueReference *references, size_t count, const uint64_t *counters,
        const uint64_t *resolutions)
REFUSED(fmi3EnterContinuousTimeMode)
REFUSED(fmi3CompletedIntegratorStep, fmi3Boolean no_way_back, fmi3Boolean *event, fmi3Boolean *terminate)
REFUSED(fmi3SetTime, fmi3Float64 time)
REFUSED(fmi3SetContinuousStates, const fmi3Float64 *states, size_t count)
REFUSED(fmi3GetContinuousStates, fmi3Float64 *states, size_t count)
REFUSED(fmi3GetContinuousStateDerivatives, fmi3Float64 *derivatives, size_t count)
REFUSED(fmi3GetEventIndicators, fmi3Float64 *indicators, size_t count)
REFUSED(fmi3GetNominalsOfContinuousStates, fmi3Float64 *nominals, size_t count)
REFUSED(fmi3GetNumberOfEventIndicators, size_t *count)
REFUSED(fmi3GetNumberOfContinuousStates, size_t *count)
REFUSED(fmi3ActivateModelPartition, fmi3ValueReference clock, fmi3Float64 time)
#pragma GCC diagnostic pop

// Importers look for these too, and get nothing: NULL is a failure.
FMI3_EXPORT fmi3Instance fmi3InstantiateModelExchange(void);
FMI3_EXPORT fmi3Instance fmi3InstantiateModelExchange(void) { return NULL; }
FMI3_EXPORT fmi3Instance fmi3InstantiateScheduledExecution(void);
FMI3_EXPORT fmi3Instance fmi3InstantiateScheduledExecution(void) { return NULL; }
