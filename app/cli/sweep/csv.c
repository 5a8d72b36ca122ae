// SPDX-License-Identifier: MIT
// Writing cells of CSV, with quotes where they are needed, and finding a cell of a line by its number or its name.
#include "app/cli/sweep/csv.h"

#include <math.h>
#include <string.h>

#include "app/io/json.h"

void csv_put_text(FILE *out, const char *text) {
    bool quoted = text[strcspn(text, ",\"\n")] != '\0';
    if (quoted) fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    if (quoted) fputc('"', out);
}

void csv_put_number(FILE *out, double number) {
    char text[JSON_NUMBER];
    if (isfinite(number)) fputs(json_shortest(number, text), out);
}

// Where the cell that begins here ends: at a comma outside of quotes, or at the end of the line.
static const char *cell_end(const char *at) {
    for (bool quoted = false; *at && *at != '\n' && (quoted || *at != ','); at++)
        if (*at == '"') quoted = !quoted;
    return at;
}

int csv_columns(const char *line) {
    int count = 1;
    for (const char *end = cell_end(line); *end == ','; end = cell_end(end + 1)) count++;
    return count;
}

bool csv_cell(const char *line, int index, char *text, size_t size) {
    const char *at = line, *end = cell_end(at);
    size_t used = 0;
    text[0] = '\0';
    for (; index > 0 && *end == ','; index--) {
        at = end + 1;
        end = cell_end(at);
    }
    if (index != 0) return false;
    bool quoted = *at == '"';
    for (at += quoted, end -= quoted; at < end && used + 1 < size; at++) {
        text[used++] = *at;
        at += quoted && *at == '"'; // a quote inside is written twice
    }
    text[used] = '\0';
    return true;
}

int csv_find(const char *line, const char *name) {
    char cell[256];
    for (int i = 0; csv_cell(line, i, cell, sizeof cell); i++)
        if (!strcmp(cell, name)) return i;
    return -1;
}
