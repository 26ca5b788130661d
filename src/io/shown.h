// Shows text and values from files to people: in one line, without control characters.
#ifndef FLO_IO_SHOWN_H
#define FLO_IO_SHOWN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// Whether all of it is UTF-8 text without control characters. Control characters are C0, DEL, C1, the
// separators of lines and paragraphs, and the marks that change the direction of writing, which make text
// look like other text.
bool flo_shown_is_plain(const char *text);
// Replaces every byte that is not plain text by '?'.
void flo_shown_mask(char *text);
// Copies the text, with \xNN for every byte that is not plain text. Text that does not fit is cut between
// characters. Returns `out`.
const char *flo_shown_escape(const char *text, char *out, size_t size);
// Describes a value for a message about its type: "a number, 3", "text, "abc"", "a list of 2", "null".
const char *flo_shown_value(const json_t *value, char out[96]);

#endif
