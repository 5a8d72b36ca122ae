// SPDX-License-Identifier: MIT
// Lines of CSV files: cells with commas between them, in quotes where a cell has a comma or a quote.
#pragma once
#include <stdbool.h>
#include <stdio.h>

void csv_put_text(FILE *out, const char *text);   // a cell, without its comma; the end of a line in it becomes a space
void csv_put_number(FILE *out, double number);    // likewise; all digits; empty where it is not finite
int csv_columns(const char *line);                // cells of a line
int csv_find(const char *line, const char *name); // index of the first cell with this text, or -1
// Copies the text of a cell, without quotes and cut to `size`. False, with an empty text, where there is none.
bool csv_cell(const char *line, int index, char *text, size_t size);
