// A YAML file read along a schema of cyaml, and the check that turns whatever is wrong into one line.
//
// cyaml alone is not strict enough for us: it takes `3x` for 3, -1 for an unsigned number, any word for true, and
// tells the line of the event before the fault. So the text is first walked along the same schema with libyaml's
// events, and cyaml only sees files that passed. The same walk later finds the line of a key by its path.
#pragma once
#include "sim/core/error.h"

enum { SAND_MAX_YAML_BYTES = 64 << 20 };

struct cyaml_schema_value;

typedef struct SandYaml {
    const char *kind; // what such a file is called in messages: "scene"
    char *name;       // of the file, for messages
    char *text;       // kept, so that a later message can say the line
    size_t size;
    const struct cyaml_schema_value *schema;
    void *def; // what cyaml made of it: the struct of the schema
} SandYaml;

// Reads a whole file into memory, from `free`'s heap.
bool sand_yaml_text(const char *path, const char *kind, char **text, size_t *size, SandError *error);

// Reads and checks a text: syntax, keys, types, names of choices. What numbers mean is the caller's.
// False leaves nothing to free.
bool sand_yaml_read(SandYaml *yaml, const char *kind, const struct cyaml_schema_value *schema, const char *text, size_t size,
                    const char *name, SandError *error);
void sand_yaml_free(SandYaml *yaml);

// Writes `file:line: key: sentence` and returns false. `path` names the place, like "fills[0].radius" (from 0); where
// the file does not have it, the line is that of the nearest thing around it, and the key is the path's last.
__attribute__((format(printf, 4, 5))) bool sand_yaml_wrong(const SandYaml *yaml, SandError *error, const char *path,
                                                           const char *format, ...);
// Checks that a number, where it is given, lies in [least, most]; `place` is the path of what holds the key.
bool sand_yaml_range(const SandYaml *yaml, SandError *error, const char *place, const char *key, const double *value,
                     double least, double most);
