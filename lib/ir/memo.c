// Constants and parsed texts that are asked for again and again (TileMemo of builder.h): an open-addressed table of
// constants by their attribute, and a short list of texts.
#include "lib/ir/builder.h"
#include "lib/ir/support.h"

#include <stdlib.h>
#include <string.h>

enum { FirstCapacity = 64, MaxTexts = 64 };

typedef struct Constant {
  const void *key;
  MlirValue value;
} Constant;

typedef struct Text {
  char *text;
  MlirAttribute attribute;
  MlirType type;
} Text;

struct TileMemo {
  MlirBlock block;
  Constant *constants;
  size_t count, capacity; // a power of two
  Text texts[MaxTexts];
  int numTexts;
};

TileMemo *tileMemoCreate(MlirBlock block) {
  TileMemo *memo = calloc(1, sizeof *memo);
  memo->block = block;
  memo->capacity = FirstCapacity;
  memo->constants = calloc(memo->capacity, sizeof *memo->constants);
  return memo;
}

void tileMemoDestroy(TileMemo *memo) {
  if (!memo)
    return;
  for (int i = 0; i < memo->numTexts; ++i)
    free(memo->texts[i].text);
  free(memo->constants);
  free(memo);
}

MlirBlock tileMemoBlock(const TileMemo *memo) { return memo->block; }

//===--- constants --------------------------------------------------------------===//

static Constant *placeOf(const TileMemo *memo, const void *key) {
  size_t at = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20;
  for (;; ++at) {
    Constant *constant = &memo->constants[at & (memo->capacity - 1)];
    if (!constant->key || constant->key == key)
      return constant;
  }
}

MlirValue tileMemoFind(const TileMemo *memo, const void *key) { return placeOf(memo, key)->value; }

void tileMemoAdd(TileMemo *memo, const void *key, MlirValue value) {
  if (2 * ++memo->count > memo->capacity) {
    Constant *old = memo->constants;
    size_t capacity = memo->capacity;
    memo->capacity *= 2;
    memo->constants = calloc(memo->capacity, sizeof *memo->constants);
    for (size_t i = 0; i < capacity; ++i)
      if (old[i].key)
        *placeOf(memo, old[i].key) = old[i];
    free(old);
  }
  *placeOf(memo, key) = (Constant){key, value};
}

//===--- texts --------------------------------------------------------------------===//

// The text's entry, made where there is room; null: no memo, or no room.
static Text *textOf(TileMemo *memo, const char *text) {
  if (!memo)
    return NULL;
  for (int i = 0; i < memo->numTexts; ++i)
    if (!strcmp(memo->texts[i].text, text))
      return &memo->texts[i];
  if (memo->numTexts == MaxTexts)
    return NULL;
  memo->texts[memo->numTexts].text = strdup(text);
  return &memo->texts[memo->numTexts++];
}

MlirAttribute tileBuildAttribute(const TileBuilder *builder, const char *text) {
  Text *known = textOf(builder->memo, text);
  if (known && !mlirAttributeIsNull(known->attribute))
    return known->attribute;
  MlirAttribute attribute = mlirAttributeParseGet(builder->context, tileString(text));
  if (known)
    known->attribute = attribute;
  return attribute;
}

MlirType tileBuildType(const TileBuilder *builder, const char *text) {
  Text *known = textOf(builder->memo, text);
  if (known && !mlirTypeIsNull(known->type))
    return known->type;
  MlirType type = mlirTypeParseGet(builder->context, tileString(text));
  if (known)
    known->type = type;
  return type;
}
