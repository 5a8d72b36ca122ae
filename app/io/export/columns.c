// SPDX-License-Identifier: MIT
// The table of columns, with a function for each that computes its numbers for one body or contact, and the choice of
// columns by name.
#include "app/io/export/columns.h"

#include <stdio.h>
#include <string.h>

#include "sim/core/suggestion.h"

static void put_vector(double *numbers, SandVec3 v) {
    numbers[0] = v.x;
    numbers[1] = v.y;
    numbers[2] = v.z;
}

// --- of bodies ----------------------------------------------------------------------------------------------

static void body_id(const ExportSource *s, int i, double *n) { (void)s, n[0] = i; }
static void body_position(const ExportSource *s, int i, double *n) { put_vector(n, s->world->position[i]); }
static void body_velocity(const ExportSource *s, int i, double *n) { put_vector(n, s->world->velocity[i]); }
static void body_spin(const ExportSource *s, int i, double *n) { put_vector(n, s->world->spin[i]); }
static void body_rotation(const ExportSource *s, int i, double *n) {
    SandQuat q = s->world->rotation[i];
    n[0] = q.w;
    n[1] = q.x;
    n[2] = q.y;
    n[3] = q.z;
}
static void body_radius(const ExportSource *s, int i, double *n) {
    n[0] = s->world->scale[i] * s->world->shapes[s->world->shape[i]].bound;
}
static void body_scale(const ExportSource *s, int i, double *n) { n[0] = s->world->scale[i]; }
static void body_shape(const ExportSource *s, int i, double *n) { n[0] = s->world->shape[i]; }
static void body_material(const ExportSource *s, int i, double *n) { n[0] = s->world->material[i]; }
static void body_mass(const ExportSource *s, int i, double *n) { n[0] = s->world->mass[i]; }
static void body_force(const ExportSource *s, int i, double *n) { put_vector(n, s->force[i]); }
static void body_contacts(const ExportSource *s, int i, double *n) { n[0] = s->contacts[i]; }
static void body_residual(const ExportSource *s, int i, double *n) { n[0] = s->worst[i]; }

static const ExportColumn body_columns[] = {
    {"body", 1, EXPORT_INTEGER, true, true, 0, "", "number of the body", body_id},
    {"position", 3, EXPORT_PLACE, true, true, 0, "m", "center of mass", body_position},
    {"rotation", 4, EXPORT_REAL, false, true, 0, "", "quaternion w, x, y, z, body frame to world frame", body_rotation},
    {"velocity", 3, EXPORT_REAL, false, true, 0, "m/s", "of the center of mass", body_velocity},
    {"spin", 3, EXPORT_REAL, false, true, 0, "rad/s", "angular velocity, world frame", body_spin},
    {"radius", 1, EXPORT_REAL, false, true, 0, "m", "of the sphere around the body", body_radius},
    {"scale", 1, EXPORT_REAL, false, true, 0, "", "size of the body over that of its shape", body_scale},
    {"shape", 1, EXPORT_INTEGER, false, true, 0, "", "number of the shape", body_shape},
    {"material", 1, EXPORT_INTEGER, false, false, 0, "", "number of the material", body_material},
    {"mass", 1, EXPORT_REAL, false, false, 0, "kg", "of the body", body_mass},
    {"contact_force", 3, EXPORT_REAL, false, false, EXPORT_NEEDS_CONTACTS, "N", "sum of the forces of its contacts",
     body_force},
    {"contact_count", 1, EXPORT_INTEGER, false, false, EXPORT_NEEDS_CONTACTS, "", "contacts that carry a force",
     body_contacts},
    {"residual", 1, EXPORT_REAL, false, false, EXPORT_NEEDS_RESIDUALS, "m/s", "the largest of its contacts", body_residual},
};

// --- of contacts --------------------------------------------------------------------------------------------

// A boundary is -1 minus its number.
static int partner(const ExportSource *s, int index) {
    if (!s->order) return index;
    return index < s->problem->dynamic_count ? s->order[index] : -1 - (index - s->problem->dynamic_count);
}
static void contact_a(const ExportSource *s, int i, double *n) { n[0] = partner(s, s->problem->contacts[i].a); }
static void contact_b(const ExportSource *s, int i, double *n) { n[0] = partner(s, s->problem->contacts[i].b); }
static void contact_position(const ExportSource *s, int i, double *n) {
    const SandContact *c = &s->problem->contacts[i];
    put_vector(n, v3_add(s->problem->bodies[c->a].position, c->arm_a));
}
static void contact_normal(const ExportSource *s, int i, double *n) { put_vector(n, s->problem->contacts[i].normal); }
static void contact_gap(const ExportSource *s, int i, double *n) { n[0] = s->problem->contacts[i].gap; }
static void contact_friction(const ExportSource *s, int i, double *n) { n[0] = s->problem->contacts[i].mu; }
static void contact_force(const ExportSource *s, int i, double *n) {
    put_vector(n, v3_scale(1 / s->problem->step, sand_contact_impulse(s->problem, s->solution, i)));
}
static void contact_impulse(const ExportSource *s, int i, double *n) {
    put_vector(n, sand_contact_impulse(s->problem, s->solution, i));
}
static void contact_state(const ExportSource *s, int i, double *n) { n[0] = s->results[i].status; }
static void contact_residual(const ExportSource *s, int i, double *n) { n[0] = s->residuals[i]; }

static const ExportColumn contact_columns[] = {
    {"a", 1, EXPORT_INTEGER, true, true, 0, "", "number of the first body", contact_a},
    {"b", 1, EXPORT_INTEGER, true, true, 0, "", "number of the second; -1 minus its number of a boundary", contact_b},
    {"position", 3, EXPORT_PLACE, true, true, 0, "m", "in the middle of the gap, at the start of the step",
     contact_position},
    {"normal", 3, EXPORT_REAL, false, true, 0, "", "unit, from a to b", contact_normal},
    {"gap", 1, EXPORT_REAL, false, true, 0, "m", "at the start of the step; negative: a penetration", contact_gap},
    {"contact_force", 3, EXPORT_REAL, false, true, EXPORT_NEEDS_CONTACTS, "N", "on b, mean over the step", contact_force},
    {"impulse", 3, EXPORT_REAL, false, false, EXPORT_NEEDS_CONTACTS, "N s", "on b, of the step", contact_impulse},
    {"friction", 1, EXPORT_REAL, false, false, 0, "", "coefficient of friction", contact_friction},
    {"friction_state", 1, EXPORT_INTEGER, false, true, EXPORT_NEEDS_CONTACTS, "", "0 open, 1 sticks, 2 slides",
     contact_state},
    {"residual", 1, EXPORT_REAL, false, false, EXPORT_NEEDS_RESIDUALS, "m/s", "share of the residual of the step",
     contact_residual},
};

// --- of the bodies of a problem -----------------------------------------------------------------------------

static void solved_position(const ExportSource *s, int i, double *n) { put_vector(n, s->problem->bodies[i].position); }
static void solved_velocity(const ExportSource *s, int i, double *n) { put_vector(n, s->solution->velocity[i]); }
static void solved_spin(const ExportSource *s, int i, double *n) { put_vector(n, s->solution->spin[i]); }

static const ExportColumn solution_columns[] = {
    {"body", 1, EXPORT_INTEGER, true, true, 0, "", "number of the body in the problem", body_id},
    {"position", 3, EXPORT_PLACE, true, true, 0, "m", "center of mass", solved_position},
    {"velocity", 3, EXPORT_REAL, true, true, 0, "m/s", "after contact", solved_velocity},
    {"spin", 3, EXPORT_REAL, true, true, 0, "rad/s", "after contact", solved_spin},
};

// --- choosing -----------------------------------------------------------------------------------------------

const ExportColumn *export_columns(ExportSubject subject, int *count) {
    *count = subject == EXPORT_BODIES ? (int)(sizeof body_columns / sizeof *body_columns)
                                      : (int)(sizeof contact_columns / sizeof *contact_columns);
    return subject == EXPORT_BODIES ? body_columns : contact_columns;
}

static const ExportColumn *find_row(ExportSubject subject, const char *name, size_t length) {
    int count;
    const ExportColumn *rows = export_columns(subject, &count);
    for (int k = 0; k < count; k++)
        if (strlen(rows[k].name) == length && !memcmp(rows[k].name, name, length)) return &rows[k];
    return NULL;
}

static bool refuse(const char *name, size_t length, bool contacts, SandError *error) {
    char word[SAND_NAME];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    if (!contacts && find_row(EXPORT_CONTACTS, name, length))
        return sand_fail(error, "--export-columns: %s is a column of contacts; give --export-contacts as well", word);
    SandSuggestion names = sand_suggestion(word);
    for (int subject = 0; subject <= (contacts ? EXPORT_CONTACTS : EXPORT_BODIES); subject++) {
        int count;
        const ExportColumn *rows = export_columns((ExportSubject)subject, &count);
        for (int k = 0; k < count; k++) sand_suggestion_add(&names, rows[k].name);
    }
    return sand_fail(error, "--export-columns %s: %s", word, sand_suggestion_text(&names));
}

static bool is_named(const ExportColumn *row, const char *names) {
    size_t length = strlen(row->name);
    for (const char *word = names; word; word = strchr(word, ',')) {
        word += *word == ',';
        if (strcspn(word, ",") == length && !memcmp(word, row->name, length)) return true;
    }
    return false;
}

static void choose_rows(ExportChoice *choice, ExportSubject subject, const char *names) {
    int count;
    const ExportColumn *rows = export_columns(subject, &count);
    choice->count = 0;
    for (int k = 0; k < count; k++)
        if (rows[k].always || (names ? is_named(&rows[k], names) : rows[k].preset))
            choice->columns[choice->count++] = &rows[k];
}

bool export_choose(ExportChoice choice[EXPORT_SUBJECTS], const char *names, bool contacts, SandError *error) {
    choice[EXPORT_CONTACTS].count = 0;
    for (const char *word = names; word && *word; word += strcspn(word, ","), word += *word == ',') {
        size_t length = strcspn(word, ",");
        if (!find_row(EXPORT_BODIES, word, length) && !(contacts && find_row(EXPORT_CONTACTS, word, length)))
            return refuse(word, length, contacts, error);
    }
    choose_rows(&choice[EXPORT_BODIES], EXPORT_BODIES, names);
    if (contacts) choose_rows(&choice[EXPORT_CONTACTS], EXPORT_CONTACTS, names);
    return true;
}

void export_require(ExportChoice *bodies, const char *names) {
    int count;
    const ExportColumn *rows = export_columns(EXPORT_BODIES, &count);
    for (int k = 0; names && k < count; k++)
        if (is_named(&rows[k], names) && export_find(bodies, rows[k].name) < 0) bodies->columns[bodies->count++] = &rows[k];
}

void export_choose_solution(ExportChoice choice[EXPORT_SUBJECTS]) {
    ExportChoice *bodies = &choice[EXPORT_BODIES];
    for (bodies->count = 0; bodies->count < (int)(sizeof solution_columns / sizeof *solution_columns); bodies->count++)
        bodies->columns[bodies->count] = &solution_columns[bodies->count];
    choose_rows(&choice[EXPORT_CONTACTS], EXPORT_CONTACTS, "normal,gap,impulse,friction,friction_state");
}

unsigned export_needs(const ExportChoice choice[EXPORT_SUBJECTS]) {
    unsigned needs = choice[EXPORT_CONTACTS].count ? EXPORT_NEEDS_CONTACTS : 0;
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++)
        for (int k = 0; k < choice[subject].count; k++) needs |= choice[subject].columns[k]->needs;
    return needs & EXPORT_NEEDS_RESIDUALS ? needs | EXPORT_NEEDS_CONTACTS : needs;
}

int export_find(const ExportChoice *choice, const char *name) {
    for (int k = 0; k < choice->count; k++)
        if (!strcmp(choice->columns[k]->name, name)) return k;
    return -1;
}
