// Optimal string alignment distance: the table of Wagner and Fischer (1974) with swaps of neighbours; only
// three rows are stored.
#include "io/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORD = 63 };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static size_t least(size_t a, size_t b, size_t c) {
  size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

size_t flo_word_distance(const char *a, const char *b) {
  size_t n_a = strnlen(a, MAX_WORD), n_b = strnlen(b, MAX_WORD);
  size_t rows[3][MAX_WORD + 1];
  size_t *before = rows[0], *previous = rows[1], *current = rows[2];
  for (size_t j = 0; j <= n_b; j++) previous[j] = j;
  for (size_t i = 1; i <= n_a; i++) {
    current[0] = i;
    for (size_t j = 1; j <= n_b; j++) {
      char p = lower(a[i - 1]), q = lower(b[j - 1]);
      current[j] = least(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (p != q));
      // Two swapped neighbours ("edeg" for "edge") count as one error, not two.
      if (i > 1 && j > 1 && p == lower(b[j - 2]) && q == lower(a[i - 2]) && before[j - 2] + 1 < current[j])
        current[j] = before[j - 2] + 1;
    }
    size_t *oldest = before;
    before = previous;
    previous = current;
    current = oldest;
  }
  return previous[n_b];
}

FloSuggestion flo_suggest_start(const char *word) {
  // Up to a third of the letters may be wrong; a suggestion for more would confuse.
  size_t tolerated = strnlen(word, MAX_WORD) / 3;
  return (FloSuggestion){.word = word, .distance = (tolerated ? tolerated : 1) + 1};
}

// Words of other programs for keys of scenes; they are not similar in spelling.
static bool is_other_name(const char *word, const char *candidate) {
  static const char *const names[][2] = {
      {"cube", "box"},         {"cuboid", "box"},   {"ball", "sphere"},        {"donut", "torus"},
      {"pipe", "tube"},        {"body", "bodies"},  {"fluid", "fluids"},       {"boundary", "boundaries"},
      {"walls", "boundaries"}, {"dt", "time_step"}, {"timestep", "time_step"}, {"fps", "frames_per_second"},
      {"dim", "dimension"},    {"rho", "density"},  {"nu", "viscosity"},       {"position", "at"},
      {"rotation", "rotate"},
  };
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (strcmp(word, names[k][0]) == 0 && strcmp(candidate, names[k][1]) == 0) return true;
  return false;
}

// Whether a word is an abbreviation: the beginning of another. "--f" is too short.
static bool is_beginning(const char *word, const char *candidate) {
  size_t n = 0, n_letters = 0;
  for (; word[n]; n++) {
    if (lower(word[n]) != lower(candidate[n])) return false;
    n_letters += word[n] != '-';
  }
  return n_letters >= 3;
}

void flo_suggest_offer(FloSuggestion *suggestion, const char *candidate) {
  if (!candidate) return;
  size_t distance = flo_word_distance(suggestion->word, candidate);
  if (is_beginning(suggestion->word, candidate) && distance > 1) distance = 1;
  if (is_other_name(suggestion->word, candidate)) distance = 0;
  // A word of one letter is one error away from every other one, so it is not suggested.
  if (distance > suggestion->distance || distance >= strnlen(candidate, MAX_WORD)) return;
  // Of two words at the same distance, the shorter one is used. The initial distance is too large for a
  // suggestion.
  bool is_shorter = suggestion->best && strlen(candidate) < strlen(suggestion->best);
  if (distance == suggestion->distance && !is_shorter) return;
  suggestion->distance = distance;
  suggestion->best = candidate;
}

const char *flo_suggest_text(const FloSuggestion *suggestion, char buffer[128]) {
  buffer[0] = 0;
  if (suggestion->best) snprintf(buffer, 128, ", did you mean '%.60s'?", suggestion->best);
  return buffer;
}
