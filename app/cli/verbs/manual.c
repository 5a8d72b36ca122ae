// SPDX-License-Identifier: MIT
// `sandglass help`: the help of a verb and the manual page, from the tables of verbs and options (option_table.h).
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/verbs/completion.h"
#include "app/cli/options/option_table.h"
#include "sim/core/suggestion.h"

enum { HELP_WIDTH = 110, HELP_COLUMN = 29 };

static bool takes(int verb, const OptionRow *row) { return row->verbs >> verb & 1; }

// --- help ---------------------------------------------------------------------------------------------------

// Prints a text that begins in column `at`, and its further lines from `column` on.
static void print_wrapped(const char *text, int at, int column) {
    if (at > column) {
        printf("\n%*s", column, "");
        at = column;
    }
    for (const char *word = text; *word;) {
        int length = (int)strcspn(word, " ");
        if (at > column && at + 1 + length > HELP_WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", length, word);
        word += length + (word[length] == ' ');
    }
    putchar('\n');
}

static void print_option(const OptionRow *row) {
    char left[96], value[64], text[400];
    snprintf(left, sizeof left, "--%s %s", row->name, option_value_text(row, value, sizeof value));
    snprintf(text, sizeof text, row->preset ? "%s (default: %s)" : "%s", row->text, row->preset);
    print_wrapped(text, printf("  %-*s", HELP_COLUMN - 2, left), HELP_COLUMN);
}

static void print_calls(void) {
    printf("Sandglass: hard-contact granular dynamics\n\nUsage:\n");
    for (int v = 0; v < VERB_COUNT; v++) {
        char call[80];
        snprintf(call, sizeof call, "sandglass %s %s", v == VERB_RUN ? "[run]" : verb_table[v].name, verb_table[v].subject);
        print_wrapped(verb_table[v].text, printf("  %-*s", 52, call), 54);
    }
    printf("\nWithout a verb `sandglass SCENE` runs the scene, and `sandglass` alone the hourglass.\n"
           "SCENE is a name that `sandglass list scenes` gives, or the path of a scene file.\n"
           "TAKE is the path of a take, which ends in .take: a run that was saved with all that was done in it.\n"
           "`sandglass help VERB` names the options of a verb.\n\nOptions of run:\n");
}

void print_help(Verb verb) {
    const VerbRow *row = &verb_table[verb];
    if (verb == VERB_RUN) {
        print_calls();
    } else {
        printf("sandglass %s %s [options]\n  ", row->name, row->subject);
        print_wrapped(row->text, 2, 2);
        printf("\nOptions:\n");
    }
    for (int i = 0; i < OPTION_COUNT; i++)
        if (takes(verb, &option_table[i])) print_option(&option_table[i]);
    printf("\nExample: %s\nExit status: 0 done, 1 the run failed, 2 the call or the scene is wrong.\n", row->example);
}

// --- manual page --------------------------------------------------------------------------------------------

// Prints a text for troff: dashes as they are typed, words in backquotes in bold.
static void put_troff(const char *text) {
    bool bold = false;
    for (; *text; text++) {
        if (*text == '-') {
            printf("\\-");
        } else if (*text == '\\') {
            printf("\\e");
        } else if (*text == '`') {
            bold = !bold;
            printf(bold ? "\\fB" : "\\fR");
        } else {
            putchar(*text);
        }
    }
}

static void put_verbs(unsigned verbs) {
    int left = 0;
    for (int v = 0; v < VERB_COUNT; v++) left += verbs >> v & 1;
    for (int v = 0; v < VERB_COUNT; v++) {
        if (!(verbs >> v & 1)) continue;
        left--;
        printf("%s%s", verb_table[v].name, left > 1 ? ", " : left == 1 ? " and " : "");
    }
}

static void put_option(const OptionRow *row) {
    char value[64];
    printf(".TP\n\\fB\\-\\-");
    put_troff(row->name);
    printf("\\fR \\fI");
    put_troff(option_value_text(row, value, sizeof value));
    printf("\\fR\n\\&");
    put_troff(row->text);
    if (row->preset) {
        printf(" (default: ");
        put_troff(row->preset);
        putchar(')');
    }
    putchar('\n');
}

// Options in groups that belong to the same verbs, in the order of the table.
static void put_options(void) {
    printf(".SH OPTIONS\nA value is given as \\fB\\-\\-option\\fR \\fIvalue\\fR or \\fB\\-\\-option=\\fIvalue\\fR.\n");
    for (int first = 0; first < OPTION_COUNT; first++) {
        unsigned verbs = option_table[first].verbs;
        bool met = false;
        for (int i = 0; i < first; i++) met = met || option_table[i].verbs == verbs;
        if (met) continue;
        printf(".SS Of ");
        put_verbs(verbs);
        putchar('\n');
        for (int i = first; i < OPTION_COUNT; i++)
            if (option_table[i].verbs == verbs) put_option(&option_table[i]);
    }
}

static void print_page(void) {
    printf(".\\\" Made by `sandglass help man`.\n"
           ".TH SANDGLASS 1 \"\" \"Sandglass %s\" \"User Commands\"\n"
           ".SH NAME\nsandglass \\- hard\\-contact granular dynamics\n.SH SYNOPSIS\n.nf\n",
           sand_version());
    for (int v = 0; v < VERB_COUNT; v++) {
        printf(v == VERB_RUN ? "\\fBsandglass\\fR [\\fB%s\\fR] " : "\\fBsandglass %s\\fR ", verb_table[v].name);
        put_troff(verb_table[v].subject);
        printf(" [\\fIoptions\\fR]\n");
    }
    printf(".fi\n.SH DESCRIPTION\n"
           "Sandglass simulates sand, pebbles and rubble: rigid bodies that touch, roll and slide with Coulomb friction.\n"
           "The contacts of each time step make one optimization problem, which a choice of methods solves; the program\n"
           "shows the bodies in a window, films them, measures the methods and compares them.\n.PP\n"
           "\\fISCENE\\fR is a name that \\fBsandglass list scenes\\fR gives, or the path of a scene file.\n"
           "\\fITAKE\\fR is the path of a take, which ends in .take: a run that was saved with all that was done in it.\n"
           "Results go to standard output, progress and messages to standard error.\n.SH VERBS\n");
    for (int v = 0; v < VERB_COUNT; v++) {
        printf(".TP\n.B %s\n", verb_table[v].name);
        put_troff(verb_table[v].text);
        putchar('\n');
    }
    put_options();
    printf(".SH EXIT STATUS\n0 when all is done, 1 when the run failed, 2 when the call or the scene is wrong.\n"
           ".SH ENVIRONMENT\n.TP\n.B SANDGLASS_SCENES\nthe folder of the scenes\n"
           ".SH FILES\n.TP\n.I ~/.config/sandglass/settings\nwhat the window remembers\n.SH EXAMPLES\n.nf\n");
    for (int v = 0; v < VERB_COUNT; v++) {
        put_troff(verb_table[v].example);
        putchar('\n');
    }
    printf(".fi\n");
}

// --- the verb -----------------------------------------------------------------------------------------------

Outcome print_manual(const Options *options, SandError *error) {
    static const struct {
        const char *name;
        void (*print)(void);
    } pages[] = {{"man", print_page},
                 {"bash", completion_print_bash},
                 {"zsh", completion_print_zsh},
                 {"fish", completion_print_fish}};
    enum { PAGES = sizeof pages / sizeof *pages };
    if (!options->subject) return print_help(VERB_RUN), OUTCOME_DONE;
    int verb = options_find_verb(options->subject);
    if (verb >= 0) return print_help((Verb)verb), OUTCOME_DONE;
    SandSuggestion names = sand_suggestion(options->subject);
    for (int v = 0; v < VERB_COUNT; v++) sand_suggestion_add(&names, verb_table[v].name);
    for (int k = 0; k < PAGES; k++) {
        if (strcmp(pages[k].name, options->subject) == 0) return pages[k].print(), OUTCOME_DONE;
        sand_suggestion_add(&names, pages[k].name);
    }
    return sand_fail(error, "help %.60s: no help of that name; %s", options->subject, sand_suggestion_text(&names)),
           OUTCOME_WRONG;
}
