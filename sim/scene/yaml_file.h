// SPDX-License-Identifier: MIT
// Reading a YAML file by a cyaml schema, with a stricter check that reports any fault in one line, `file:line: key: ...`.
//
// cyaml alone is not strict enough: it takes `3x` for 3, -1 for an unsigned number, any word for true, and reports the line
// of the event before the fault. So the text is first walked along the same schema by libyaml's events, and cyaml only sees
// files that passed. The same walk later finds the line of a key by its path.
#pragma once
#include "sandglass/error.h"

enum { SAND_MAX_YAML_BYTES = 64 << 20 };

struct cyaml_schema_value;

typedef struct SandYaml {
    const char *kind; // what such a file is called in messages: "scene"
    char *name;       // of the file, for messages
    char *text;       // kept, so that a later message can name the line
    size_t size;
    const struct cyaml_schema_value *schema;
    void *def; // the struct of the schema, as cyaml filled it
} SandYaml;

// Reads a whole file into memory, to be freed with free().
bool sand_yaml_text(const char *path, const char *kind, char **text, size_t *size, SandError *error);

// Reads and checks a text: syntax, keys, types, names of choices. The caller checks what numbers mean. On failure there is
// nothing to free.
bool sand_yaml_read(SandYaml *yaml, const char *kind, const struct cyaml_schema_value *schema, const char *text, size_t size,
                    const char *name, SandError *error);
void sand_yaml_free(SandYaml *yaml);

// Fails with `file:line: key: sentence`. `path` leads to the key, like "fills[0].radius"; where the file does not have it,
// the line is that of the nearest key around it, and the key is the last of the path.
__attribute__((format(printf, 4, 5))) bool sand_yaml_wrong(const SandYaml *yaml, SandError *error, const char *path,
                                                           const char *format, ...);
// Checks that an optional number lies in [least, most]; `parent` is the path of the mapping that holds the key.
bool sand_yaml_range(const SandYaml *yaml, SandError *error, const char *parent, const char *key, const double *value,
                     double least, double most);
