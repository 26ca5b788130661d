// How text and values from outside are shown to people: one line, nothing that steers a terminal.
#ifndef FLO_IO_SHOWN_H
#define FLO_IO_SHOWN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// Whether all of it is UTF-8 text without control characters. Those are C0, DEL, C1, the separators of lines
// and paragraphs, and the marks that turn the direction of writing, which make text look like other text.
bool flo_shown_is_plain(const char *text);
// Puts a '?' in place of every byte of what is not plain.
void flo_shown_mask(char *text);
// Copies the text with \xNN for every byte of what is not plain; what does not fit is cut off between
// characters. Returns `out`.
const char *flo_shown_escape(const char *text, char *out, size_t size);
// What was found where something else was wanted: "a number, 3", "text, "abc"", "a list of 2", "null".
const char *flo_shown_value(const json_t *value, char out[96]);

#endif
