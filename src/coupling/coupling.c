#include "coupling/coupling.h"

#include <string.h>

// Every method the program knows; adding one is adding its constant here.
static const FloMethod *const couplings[] = {&flo_wcsph,      &flo_monolithic, &flo_direct_forcing,
                                             &flo_constraint, &flo_elastic,    &flo_unified};

const FloMethod *flo_coupling_find(const char *name) {
  for (size_t k = 0; name && k < FLO_COUNT_OF(couplings); ++k)
    if (!strcmp(couplings[k]->name, name)) return couplings[k];
  return NULL;
}

size_t flo_method_count(void) { return FLO_COUNT_OF(couplings); }

const char *flo_method_name(size_t k) { return k < FLO_COUNT_OF(couplings) ? couplings[k]->name : NULL; }

const char *flo_method_paper(const char *method) {
  const FloMethod *coupling = flo_coupling_find(method);
  return coupling ? coupling->paper : NULL;
}

const FloParam *flo_method_params(const char *method, size_t *count) {
  const FloMethod *coupling = flo_coupling_find(method);
  size_t ignored;
  count = count ? count : &ignored;
  *count = 0;
  if (!coupling) return NULL;
  while (coupling->params[*count].name) ++*count;
  return coupling->params;
}

const char *const *flo_method_words(const char *method, const char *param) {
  const FloMethod *coupling = flo_coupling_find(method);
  for (const FloParam *p = coupling ? coupling->params : NULL; p && p->name; ++p)
    if (param && !strcmp(p->name, param)) return p->words;
  return NULL;
}

bool flo_method_is_announced(const char *name) {
  static const char *const announced[] = {NULL}; // ended by NULL
  for (size_t k = 0; announced[k]; k++)
    if (!strcmp(announced[k], name)) return true;
  return false;
}
