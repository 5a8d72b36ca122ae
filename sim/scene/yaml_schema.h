// SPDX-License-Identifier: MIT
// Short names for the fields of a cyaml schema. An optional key is a pointer in the struct; _NEEDED marks required ones.
#pragma once
#include <cyaml/cyaml.h>

#define OPTIONAL_PTR (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define REAL(type, key) CYAML_FIELD_FLOAT_PTR(#key, OPTIONAL_PTR, type, key)
#define REAL_NEEDED(type, key) CYAML_FIELD_FLOAT(#key, CYAML_FLAG_DEFAULT, type, key)
#define NUMBERS(type, key, n) CYAML_FIELD_SEQUENCE_FIXED(#key, OPTIONAL_PTR, type, key, &real_value, n)
#define NUMBERS_NEEDED(type, key, n) CYAML_FIELD_SEQUENCE_FIXED(#key, CYAML_FLAG_DEFAULT, type, key, &real_value, n)
#define WHOLE(type, key) CYAML_FIELD_UINT_PTR(#key, OPTIONAL_PTR, type, key)
#define INTEGER(type, key) CYAML_FIELD_INT_PTR(#key, OPTIONAL_PTR, type, key)
#define WHOLE_NEEDED(type, key) CYAML_FIELD_UINT(#key, CYAML_FLAG_DEFAULT, type, key)
#define FLAG(type, key) CYAML_FIELD_BOOL_PTR(#key, OPTIONAL_PTR, type, key)
#define TEXT(type, key) CYAML_FIELD_STRING_PTR(#key, OPTIONAL_PTR, type, key, 1, SAND_NAME - 1)
#define TEXT_NEEDED(type, key) CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER, type, key, 1, SAND_NAME - 1)
#define LONG_TEXT(type, key, most) CYAML_FIELD_STRING_PTR(#key, OPTIONAL_PTR, type, key, 1, most)
#define CHOICE(type, key, names) CYAML_FIELD_ENUM_PTR(#key, OPTIONAL_PTR, type, key, names, CYAML_ARRAY_LEN(names))
#define CHOICE_NEEDED(type, key, names) CYAML_FIELD_ENUM(#key, CYAML_FLAG_STRICT, type, key, names, CYAML_ARRAY_LEN(names))
#define PART(type, key, fields) CYAML_FIELD_MAPPING_PTR(#key, OPTIONAL_PTR, type, key, fields)
#define LIST(type, key, entry, most) CYAML_FIELD_SEQUENCE(#key, OPTIONAL_PTR, type, key, &entry, 0, most)

static const cyaml_schema_value_t real_value = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};
