// SPDX-License-Identifier: MIT
// The papers that solvers come from, as BibTeX.
#pragma once
#include <stddef.h>

typedef struct Citation {
    const char *key;   // of the entry
    const char *paper; // how a solver's `paper` names it: `Heyn et al. 2012`
    const char *bibtex;
} Citation;
extern const Citation citation_table[]; // ended by a NULL key

// The entries of all papers that a solver's `paper` names, one after the other. Returns how many there are.
int citation_collect(const char *paper, char *text, size_t size);
