// Names, and what follows from a row's text alone: shared by both generators.
#include "tools/tessera-opgen/opgen.h"
#include <ctype.h>
#include <string.h>

const char *opgenCamel(const char *name, bool capital, char *buffer, size_t capacity) {
  size_t used = 0;
  for (; *name && used + 1 < capacity; ++name) {
    if (*name == '_' || *name == '.') {
      capital = true;
      continue;
    }
    buffer[used++] = capital ? (char)toupper((unsigned char)*name) : *name;
    capital = false;
  }
  buffer[used] = 0;
  return buffer;
}

static bool isInferable(const TileOpSpec *spec, const TileValueSpec *result) {
  for (int steps = spec->numResults; steps-- >= 0;) {
    if (result->constraintName && tileConstraintIsUnique(result->constraintName))
      return result->arity == TileArity_One;
    if (result->like.kind != TilePlace_Result)
      return result->like.kind == TilePlace_Operand && spec->operands[result->like.index].arity == result->arity;
    result = &spec->results[result->like.index];
  }
  return false;
}

bool opgenInfersResults(const TileOpSpec *spec) {
  if (spec->statesInference || (spec->row->hooksText && strstr(spec->row->hooksText, ".inferTypes")))
    return true;
  for (int i = 0; i < spec->numResults; ++i)
    if (!isInferable(spec, &spec->results[i]))
      return false;
  return spec->numResults > 0;
}
