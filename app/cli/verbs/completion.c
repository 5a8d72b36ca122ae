// SPDX-License-Identifier: MIT
// Completion scripts for bash, zsh and fish. What may follow an option comes from its row: choices, the names of a table,
// files, or something of the user's own. Scenes are those of the folder at the time, so the scripts ask the program for
// them.
#include "app/cli/verbs/completion.h"

#include <string.h>

#include "app/cli/options/option_table.h"
#include "sandglass/solver.h"
#ifdef SAND_WINDOW
#include "app/render/camera.h"
#endif

#define LIST_SCENES "list scenes 2>/dev/null | cut -d' ' -f1"

static bool takes(int verb, const OptionRow *row) { return row->verbs >> verb & 1; }

// --- words --------------------------------------------------------------------------------------------------

// Words to choose from, separated by spaces.
typedef struct Words {
    char text[2000];
    size_t used;
} Words;

static void add_word(Words *words, const char *word, int length) {
    if (words->used >= sizeof words->text) return;
    words->used += (size_t)snprintf(words->text + words->used, sizeof words->text - words->used, "%s%.*s",
                                    words->used ? " " : "", length, word);
}

static void add_words(Words *words, const char *const *list) {
    for (int i = 0; list[i]; i++) add_word(words, list[i], (int)strlen(list[i]));
}

// The names that an option's value is chosen from; none where it is not a name.
static Words value_words(OptionId id) {
    Words words = {"", 0};
    if (option_table[id].kind == KIND_CHOICE) add_words(&words, option_table[id].choices);
    if (id == OPTION_SOLVER || id == OPTION_SHADOW || id == OPTION_BESIDE || id == OPTION_SOLVERS)
        for (int i = 0; i < sand_solver_count(); i++) add_word(&words, sand_solver_table[i].name, SAND_NAME);
    if (id == OPTION_FRICTION || id == OPTION_BESIDE_FRICTION)
        for (int i = 0; i < SAND_FRICTION_COUNT; i++) add_word(&words, sand_friction_table[i].name, SAND_NAME);
#ifdef SAND_WINDOW
    if (id == OPTION_CAMERA) add_words(&words, camera_preset_names);
#endif
    return words;
}

static bool is_path(const OptionRow *row) {
    return row->value &&
           (!strncmp(row->value, "FILE", 4) || !strncmp(row->value, "PATH", 4) || !strcmp(row->value, "FOLDER"));
}

// What the subject of a verb may be.
typedef struct Subject {
    bool scenes; // with the files of scenes and takes
    bool files;  // of any kind
    Words words;
} Subject;

static Subject verb_subject(int verb) {
    Subject subject = {.scenes = false};
    for (const char *at = verb_table[verb].subject; *at;) {
        int length = (int)strcspn(at, "[]| ");
        if (!strncmp(at, "SCENE", 5)) {
            subject.scenes = true;
        } else if (!strncmp(at, "FILE", 4)) {
            subject.files = true;
        } else if (!strncmp(at, "VERB", 4)) {
            for (int v = 0; v < VERB_COUNT; v++) add_word(&subject.words, verb_table[v].name, SAND_NAME);
        } else if (length > 0 && strncmp(at, "TAKE", 4)) {
            add_word(&subject.words, at, length);
        }
        at += length;
        at += strspn(at, "[]| ");
    }
    return subject;
}

// All verbs, between which `between` stands.
static void print_verbs(const char *between) {
    for (int v = 0; v < VERB_COUNT; v++) printf("%s%s", v ? between : "", verb_table[v].name);
}

// --- bash ---------------------------------------------------------------------------------------------------

// The line of a `case` for the options that `belongs` picks; none where there are none.
static void print_bash_case(bool belongs(OptionId id), const char *action) {
    const char *bar = "        ";
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (!belongs((OptionId)id)) continue;
        printf("%s--%s", bar, option_table[id].name);
        bar = "|";
    }
    if (*bar == '|') printf(") %s ;;\n", action);
}

static bool has_path(OptionId id) { return is_path(&option_table[id]); }

static bool has_other(OptionId id) {
    return option_table[id].kind != KIND_FLAG && !is_path(&option_table[id]) && !value_words(id).used;
}

void completion_print_bash(void) {
    printf("# Completion of sandglass for bash, made by `sandglass help bash`.\n"
           "_sandglass() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=run words= files=\n"
           "    COMPREPLY=()\n"
           "    # --option=value comes as three words.\n"
           "    if [[ $current == = ]]; then\n        current=\n"
           "    elif [[ $before == = ]]; then\n        before=${COMP_WORDS[COMP_CWORD - 2]}\n    fi\n"
           "    if ((COMP_CWORD > 1)); then\n        case ${COMP_WORDS[1]} in\n        ");
    print_verbs("|");
    printf(") verb=${COMP_WORDS[1]} ;;\n        esac\n    fi\n    case $before in\n");
    for (int id = 0; id < OPTION_COUNT; id++) {
        Words words = value_words((OptionId)id);
        if (words.used) printf("        --%s) words='%s' ;;\n", option_table[id].name, words.text);
    }
    print_bash_case(has_path, "files=all");
    print_bash_case(has_other, "return");
    printf("        *)\n            if [[ $current == -* ]]; then\n                case $verb in\n");
    for (int v = 0; v < VERB_COUNT; v++) {
        printf("                %s) words='", verb_table[v].name);
        for (int id = 0; id < OPTION_COUNT; id++)
            if (takes(v, &option_table[id])) printf("--%s ", option_table[id].name);
        printf("' ;;\n");
    }
    printf("                esac\n            else\n                case $verb in\n");
    for (int v = 0; v < VERB_COUNT; v++) {
        Subject subject = verb_subject(v);
        printf("                %s) words='%s'", verb_table[v].name, subject.words.text);
        if (subject.scenes) printf("$(\"$1\" " LIST_SCENES ")");
        printf("%s ;;\n", subject.files ? " files=all" : subject.scenes ? " files=scenes" : "");
    }
    printf("                esac\n                if ((COMP_CWORD == 1)); then words+=' ");
    print_verbs(" ");
    printf("'; fi\n            fi\n            ;;\n    esac\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
           "    [[ $files ]] && compopt -o filenames 2>/dev/null\n"
           "    case $files in\n"
           "    all) mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
           "    scenes) mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -d -- \"$current\"\n"
           "        compgen -f -X '!*.yaml' -- \"$current\"\n        compgen -f -X '!*.take' -- \"$current\") ;;\n"
           "    esac\n}\n"
           "complete -F _sandglass sandglass\n");
}

// --- zsh ----------------------------------------------------------------------------------------------------

// Prints a text inside single quotes, with a backslash before each of `special`.
static void put_quoted(const char *text, const char *special) {
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else
            printf(strchr(special, *text) ? "\\%c" : "%c", *text);
    }
}

static void print_zsh_option(OptionId id) {
    const OptionRow *row = &option_table[id];
    Words words = value_words(id);
    bool again = id == OPTION_SET || id == OPTION_PROBE || id == OPTION_VARY || id == OPTION_CAMERA_KEY;
    printf("            '%s--%s%s[", again ? "*" : "", row->name, row->kind == KIND_FLAG ? "" : "=");
    put_quoted(row->text, "[]\\");
    putchar(']');
    if (row->kind != KIND_FLAG) {
        putchar(':');
        put_quoted(row->value ? row->value : row->name, ":\\");
        printf(words.used ? ":(%s)" : is_path(row) ? ":_files%s" : ":%s", words.text);
    }
    printf("'\n");
}

void completion_print_zsh(void) {
    printf("#compdef sandglass\n# Completion of sandglass for zsh, made by `sandglass help zsh`.\n"
           "_sandglass_subject() {\n    case $verb in\n");
    for (int v = 0; v < VERB_COUNT; v++) {
        Subject subject = verb_subject(v);
        printf("    %s) ", verb_table[v].name);
        if (subject.scenes) printf("compadd -- ${(f)\"$($service " LIST_SCENES ")\"}; ");
        if (subject.words.used) printf("compadd -- %s; ", subject.words.text);
        printf("%s;;\n", subject.files ? "_files " : subject.scenes ? "_files -g '*.(yaml|take)' " : "");
    }
    printf("    esac\n    if ((CURRENT == 2)); then compadd -- ");
    print_verbs(" ");
    printf("; fi\n}\n\n_sandglass() {\n    local verb=run\n    local -a options\n"
           "    if ((CURRENT > 2)); then\n        case $words[2] in\n        ");
    print_verbs("|");
    printf(") verb=$words[2] ;;\n        esac\n    fi\n    case $verb in\n");
    for (int v = 0; v < VERB_COUNT; v++) {
        printf("    %s)\n        options=(\n", verb_table[v].name);
        for (int id = 0; id < OPTION_COUNT; id++)
            if (takes(v, &option_table[id])) print_zsh_option((OptionId)id);
        printf("        ) ;;\n");
    }
    printf("    esac\n    _arguments -S $options '*: :_sandglass_subject'\n}\n\n_sandglass \"$@\"\n");
}

// --- fish ---------------------------------------------------------------------------------------------------

// The condition that the verb of the line is one of `verbs`. Without a verb it is run.
static void print_fish_condition(unsigned verbs) {
    bool run = verbs >> VERB_RUN & 1;
    printf(" -n '%s__fish_seen_subcommand_from", run ? "not " : "");
    for (int v = 0; v < VERB_COUNT; v++)
        if ((verbs >> v & 1) != run) printf(" %s", verb_table[v].name);
    putchar('\'');
}

void completion_print_fish(void) {
    printf("# Completion of sandglass for fish, made by `sandglass help fish`.\ncomplete -c sandglass -f\n");
    for (int v = 0; v < VERB_COUNT; v++) {
        Subject subject = verb_subject(v);
        printf("complete -c sandglass -n __fish_use_subcommand -a %s -d '", verb_table[v].name);
        put_quoted(verb_table[v].text, "\\");
        printf("'\ncomplete -c sandglass");
        print_fish_condition(1u << v);
        if (subject.files) printf(" -F");
        printf(" -a '%s", subject.words.text);
        if (subject.scenes)
            put_quoted("(sandglass " LIST_SCENES "; __fish_complete_suffix .yaml; __fish_complete_suffix .take)", "");
        printf("'\n");
    }
    for (int id = 0; id < OPTION_COUNT; id++) {
        const OptionRow *row = &option_table[id];
        Words words = value_words((OptionId)id);
        printf("complete -c sandglass");
        print_fish_condition(row->verbs);
        printf(" -l %s", row->name);
        if (row->kind != KIND_FLAG) printf(is_path(row) ? " -r -F" : " -x");
        if (words.used) printf(" -a '%s'", words.text);
        printf(" -d '");
        put_quoted(row->text, "\\");
        printf("'\n");
    }
}
