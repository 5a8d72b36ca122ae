// SPDX-License-Identifier: MIT
// The rows of the tables of verbs and options (options.c), from which the parser, the help, the manual page and the
// completion of shells are made.
#pragma once
#include "app/cli/options/options.h"

typedef struct VerbRow {
    const char *name;
    const char *subject; // as in the help: SCENE, TAKE, FILE and VERB stand for names, other words are meant as they are
    bool needs_subject;
    const char *text;
    const char *example;
} VerbRow;

typedef enum OptionKind {
    KIND_FLAG,
    KIND_TEXT,
    KIND_PAIR,
    KIND_INTEGER,
    KIND_REAL,
    KIND_ABOVE,
    KIND_INTEGERS,
    KIND_REALS,
    KIND_CHOICE,
    KIND_SIZE
} OptionKind;

typedef struct OptionRow {
    const char *name;
    OptionKind kind;    // KIND_ABOVE: a real strictly above `least`; KIND_REAL may equal it. KIND_INTEGERS and KIND_REALS:
                        // rising numbers with commas between them
    unsigned verbs;     // bit 1 << Verb for each verb that takes it
    const char *value;  // name of the value in the help
    const char *preset; // default as written on the command line, or NULL
    double least, most; // limits of a number
    const char *text;
    const char *const *choices; // NULL-terminated
} OptionRow;

extern const VerbRow verb_table[VERB_COUNT];
extern const OptionRow option_table[OPTION_COUNT];

// Returns the id of the option with this name, without its dashes, or -1.
int option_find(const char *name, size_t length);
// Returns the value of an option in the help: its name, or the choices; empty for a flag.
const char *option_value_text(const OptionRow *row, char *text, size_t size);
