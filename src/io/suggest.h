// "Did you mean": the nearest of several words to a mistyped one.
#ifndef FLO_IO_SUGGEST_H
#define FLO_IO_SUGGEST_H

#include <stddef.h>

// Start with the mistyped word, offer every word that would have been right, then ask for the text.
typedef struct FloSuggestion {
  const char *word, *best;
  size_t distance;
} FloSuggestion;

// A word that is near has few letters wrong, begins like the mistyped one, or is called so elsewhere
// ("cube").
FloSuggestion flo_suggest_start(const char *word);
void flo_suggest_offer(FloSuggestion *suggestion, const char *candidate); // NULL is ignored

// ", did you mean 'candidate'?" or "" where nothing offered comes close.
const char *flo_suggest_text(const FloSuggestion *suggestion, char buffer[128]);

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. Upper and
// lower case count as equal; words are compared by their first 63 bytes.
size_t flo_word_distance(const char *a, const char *b);

#endif
