// SPDX-License-Identifier: MIT
// `sandglass list`: scenes, solvers, friction models, backends, formats and columns of exports, printed from the tables that
// the program itself uses.
#include <string.h>

#include "app/engine/backends.h"
#include "app/io/export/exporter.h"
#include "sim/core/array.h"
#include "sim/core/suggestion.h"
#include "app/cli/commands.h"

// Prints names with a line of text each, as a table or as JSON.
typedef struct Listing {
    bool as_json;
    Json json;
} Listing;

static Listing begin_list(const char *topic, bool as_json) {
    Listing list = {as_json, json_make(stdout)};
    if (as_json) {
        json_open_object(&list.json, NULL);
        json_open_array(&list.json, topic);
    }
    return list;
}

static void add_row(Listing *list, const char *name, const char *text) {
    if (!list->as_json) {
        printf("%-16s %s\n", name, text);
        return;
    }
    json_open_object(&list->json, NULL);
    json_text(&list->json, "name", name);
    json_text(&list->json, "text", text);
    json_close_object(&list->json);
}

static void end_list(Listing *list) {
    if (!list->as_json) return;
    json_close_array(&list->json);
    json_close_object(&list->json);
}

static Outcome list_scenes(bool as_json, SandError *error) {
    SandSceneEntry *entries = NULL;
    int count = 0;
    if (!sand_scenes_list(&entries, &count, error)) return OUTCOME_FAILED;
    Listing list = begin_list("scenes", as_json);
    for (int i = 0; i < count; i++) add_row(&list, entries[i].name, entries[i].about);
    end_list(&list);
    sand_free(entries);
    return OUTCOME_DONE;
}

static Outcome list_friction(bool as_json) {
    Listing list = begin_list("friction", as_json);
    for (int i = 0; i < SAND_FRICTION_COUNT; i++) add_row(&list, sand_friction_table[i].name, sand_friction_table[i].text);
    end_list(&list);
    return OUTCOME_DONE;
}

static Outcome list_backends(bool as_json) {
    Listing list = begin_list("backends", as_json);
    char device[400];
    bool cuda = backends_describe(device, sizeof device);
    add_row(&list, "auto",
            cuda ? "the best that this build and this machine have: cuda"
                 : "the best that this build and this machine have: cpu");
    add_row(&list, "cpu", "the cores of this machine");
    add_row(&list, "cuda", device);
    add_row(&list, "mpi", backends_describe_mpi());
    add_row(&list, "mpi:cuda", backends_describe_mpi_cuda());
    end_list(&list);
    return OUTCOME_DONE;
}

static Outcome list_formats(bool as_json) {
    Listing list = begin_list("formats", as_json);
    for (int k = 0; k < exporter_format_count(); k++) add_row(&list, exporter_format(k)->ending, exporter_format(k)->about);
    end_list(&list);
    return OUTCOME_DONE;
}

// A column of bodies and one of contacts may have the same name.
static Outcome list_columns(bool as_json) {
    Listing list = begin_list("columns", as_json);
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++) {
        int count;
        const ExportColumn *rows = export_columns((ExportSubject)subject, &count);
        for (int k = 0; k < count; k++) {
            char text[200];
            snprintf(text, sizeof text, "of %s: %s%s%s%s", export_subject_names[subject], rows[k].about,
                     *rows[k].unit ? " (" : "", rows[k].unit, *rows[k].unit ? ")" : "");
            add_row(&list, rows[k].name, text);
        }
    }
    end_list(&list);
    return OUTCOME_DONE;
}

// The value of a parameter as it is written on the command line.
static const char *param_text(const SandParam *param, double value, char text[JSON_NUMBER]) {
    return param->kind == SAND_PARAM_CHOICE ? param->choices[(int)value] : json_shortest(value, text);
}

static void print_friction(const SandSolver *solver) {
    const char *comma = "";
    for (int f = 0; f < SAND_FRICTION_COUNT; f++) {
        if (!(solver->friction & 1u << f)) continue;
        printf("%s%s", comma, sand_friction_table[f].name);
        comma = ", ";
    }
    if (solver->friction & SAND_ROLLS) printf("; rolling");
}

static void write_solver(Json *json, const SandSolver *solver) {
    json_open_object(json, NULL);
    json_text(json, "name", solver->name);
    json_text(json, "paper", solver->paper);
    json_text(json, "idea", solver->idea);
    json_text(json, "weakness", solver->weakness);
    json_bool(json, "default", solver == &sand_solver_table[sand_solver_default]);
    json_bool(json, "cuda", solver->on_cuda);
    json_open_array(json, "friction");
    for (int f = 0; f < SAND_FRICTION_COUNT; f++)
        if (solver->friction & 1u << f) json_text(json, NULL, sand_friction_table[f].name);
    json_close_array(json);
    json_bool(json, "rolling", solver->friction & SAND_ROLLS);
    json_open_array(json, "parameters");
    for (int i = 0; i < sand_param_count(solver); i++) {
        const SandParam *param = &solver->params[i];
        char number[JSON_NUMBER];
        json_open_object(json, NULL);
        json_text(json, "name", param->name);
        json_text(json, "text", param->text);
        if (param->kind == SAND_PARAM_CHOICE) {
            json_text(json, "value", param_text(param, param->value, number));
            json_open_array(json, "choices");
            for (int c = 0; param->choices[c]; c++) json_text(json, NULL, param->choices[c]);
            json_close_array(json);
        } else {
            json_number(json, "value", param->value);
            json_number(json, "least", param->least);
            json_number(json, "most", param->most);
        }
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void print_solver(const SandSolver *solver) {
    char value[JSON_NUMBER], least[JSON_NUMBER], most[JSON_NUMBER];
    const char *remark = solver == &sand_solver_table[sand_solver_default] ? " (default)" : "";
    if (sand_solver_absent(solver->name)) remark = " (not in this build; " SAND_PETSC_WANTED ")";
    printf("%s%s\n  %s\n  Weakness: %s\n  From: %s\n  Friction: ", solver->name, remark, solver->idea, solver->weakness,
           solver->paper);
    print_friction(solver);
    putchar('\n');
    for (int i = 0; i < sand_param_count(solver); i++) {
        const SandParam *param = &solver->params[i];
        printf("  --set %s=%s: %s (", param->name, param_text(param, param->value, value), param->text);
        if (param->kind == SAND_PARAM_CHOICE)
            for (int c = 0; param->choices[c]; c++) printf("%s%s", c ? ", " : "", param->choices[c]);
        else
            printf("%s to %s", json_shortest(param->least, least), json_shortest(param->most, most));
        printf(")\n");
    }
}

// A row of the Markdown table, which is the same for all builds.
static void print_solver_row(const SandSolver *solver) {
    char value[JSON_NUMBER];
    printf("| `%s` | %s | %s | %s | ", solver->name, solver->idea, solver->weakness, solver->paper);
    print_friction(solver);
    printf(" | ");
    for (int i = 0; i < sand_param_count(solver); i++)
        printf("%s`%s=%s`", i ? " " : "", solver->params[i].name,
               param_text(&solver->params[i], solver->params[i].value, value));
    printf(" |\n");
}

static Outcome list_solvers(bool as_json, bool as_markdown) {
    if (as_json) {
        Listing list = begin_list("solvers", true);
        for (int i = 0; i < sand_solver_count(); i++) write_solver(&list.json, &sand_solver_table[i]);
        end_list(&list);
        return OUTCOME_DONE;
    }
    if (as_markdown) printf("| name | idea | weakness | from | friction | parameters |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < sand_solver_known; i++) {
        if (as_markdown)
            print_solver_row(&sand_solver_table[i]);
        else
            print_solver(&sand_solver_table[i]);
    }
    return OUTCOME_DONE;
}

Outcome list_topic(const Options *options, SandError *error) {
    bool as_json = options->values[OPTION_JSON].given, as_markdown = options->values[OPTION_MARKDOWN].given;
    const char *topic = options->subject;
    if (as_markdown && (as_json || strcmp(topic, "solvers") != 0))
        return sand_fail(error, "--markdown goes with `list solvers` alone"), OUTCOME_WRONG;
    if (strcmp(topic, "scenes") == 0) return list_scenes(as_json, error);
    if (strcmp(topic, "solvers") == 0) return list_solvers(as_json, as_markdown);
    if (strcmp(topic, "friction") == 0) return list_friction(as_json);
    if (strcmp(topic, "backends") == 0) return list_backends(as_json);
    if (strcmp(topic, "formats") == 0) return list_formats(as_json);
    if (strcmp(topic, "columns") == 0) return list_columns(as_json);
    SandSuggestion topics = sand_suggestion(topic);
    sand_suggestion_add(&topics, "scenes");
    sand_suggestion_add(&topics, "solvers");
    sand_suggestion_add(&topics, "friction");
    sand_suggestion_add(&topics, "backends");
    sand_suggestion_add(&topics, "formats");
    sand_suggestion_add(&topics, "columns");
    return sand_fail(error, "list %.60s: expected scenes, solvers, friction, backends, formats or columns%s", topic,
                     sand_suggestion_hint(&topics)),
           OUTCOME_WRONG;
}
