// "Did you mean": the nearest of several words to a mistyped one.
#ifndef FLO_IO_SUGGEST_H
#define FLO_IO_SUGGEST_H

#include <stddef.h>

// Start with the mistyped word, offer every permitted word, then get the text.
typedef struct FloSuggestion {
  const char *word, *best;
  size_t distance;
} FloSuggestion;

// A similar word has few wrong letters, begins with the mistyped word, or is the word for it in other
// programs ("cube").
FloSuggestion flo_suggest_start(const char *word);
void flo_suggest_offer(FloSuggestion *suggestion, const char *candidate); // NULL is ignored

// ", did you mean 'candidate'?" or "" if no offered word is similar.
const char *flo_suggest_text(const FloSuggestion *suggestion, char buffer[128]);

// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the
// other. Upper and lower case count as equal; words are compared by their first 63 bytes.
size_t flo_word_distance(const char *a, const char *b);

#endif
