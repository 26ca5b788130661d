// The scene format as its tables have it, told to readers and to other programs.
#ifndef FLO_IO_SCENE_SCHEMA_H
#define FLO_IO_SCENE_SCHEMA_H

#include "io/scene_tables.h"

enum { FLO_SCENE_MAX_TABLES = 64 };

// Every table, each once, in the order in which a reader meets them from the scene's downwards; returns how
// many.
size_t flo_scene_list_tables(const FloSceneTable *tables[FLO_SCENE_MAX_TABLES]);
// "fluid" for "a fluid": what a table is called where there is no room for words.
void flo_scene_table_slug(const FloSceneTable *table, char slug[64]);

// A JSON Schema (draft 7) of scenes; the caller releases it. NULL: no memory.
json_t *flo_scene_schema(void);

// All tables as JSON: name, what goes together, and of each key name, type, unit, range, default, choices and
// help. NULL: no memory.
json_t *flo_scene_describe(void);
// The same in Markdown; free() it. NULL: no memory.
char *flo_scene_reference(void);

#endif
