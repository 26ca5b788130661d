// Describes the scene format, from its tables, to people and other programs.
#ifndef FLO_IO_SCENE_SCHEMA_H
#define FLO_IO_SCENE_SCHEMA_H

#include "io/scene_tables.h"

enum { FLO_SCENE_MAX_TABLES = 64 };

// All tables, each once, in the order in which they are reached from the scene's table; returns their number.
size_t flo_scene_list_tables(const FloSceneTable *tables[FLO_SCENE_MAX_TABLES]);
// The short name of a table: "fluid" for "a fluid".
void flo_scene_table_slug(const FloSceneTable *table, char slug[64]);

// A JSON Schema (draft 7) of scenes; the caller releases it. NULL: no memory.
json_t *flo_scene_schema(void);

// All tables as JSON: name, groups of exclusive keys, and for each key its name, type, unit, range, default,
// choices and help. NULL: no memory.
json_t *flo_scene_describe(void);
// The same in Markdown; free() it. NULL: no memory.
char *flo_scene_reference(void);

#endif
