// Packed elements by definition (packing.h): reads the layout's text, evaluates it over GF(2), shifts and masks.
#include "lib/interpreter/tile/packing.h"
#include "dialects/tile/tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===--- the layout's text ----------------------------------------------------------===//

static int64_t readNumber(const char **at) {
  char *end;
  int64_t number = strtoll(*at, &end, 10);
  *at = end;
  return number;
}

static bool skip(const char **at, const char *text) {
  if (strncmp(*at, text, strlen(text)) != 0)
    return false;
  *at += strlen(text);
  return true;
}

// Every bit of a digit has a step of its own, steps are XORed; what is left of an odd factor is added.
static int64_t stepped(int64_t digit, int64_t radix, int64_t stride, int64_t coordinate) {
  for (; radix % 2 == 0; radix /= 2, digit /= 2, stride *= 2)
    coordinate ^= digit % 2 * stride;
  return coordinate + digit * stride;
}

// `_` or `dA*S`.
static bool addTerm(const char **at, int64_t digit, int64_t radix, int64_t *coordinates) {
  if (skip(at, "_"))
    return true;
  if (!skip(at, "d"))
    return false;
  int64_t axis = readNumber(at), stride = skip(at, "*") ? readNumber(at) : 1;
  if (axis < 0 || axis >= InterpreterMaxRank)
    return false;
  coordinates[axis] = stepped(digit, radix, stride, coordinates[axis]);
  return true;
}

// The element at an offset, and what is left of the offset: 0 when the layout reaches that far.
static bool coordinatesAt(const char *text, int64_t *offset, int64_t *coordinates) {
  memset(coordinates, 0, InterpreterMaxRank * sizeof *coordinates);
  if (!skip(&text, "offset ["))
    return false;
  while (!skip(&text, "]")) {
    skip(&text, ", ");
    int64_t radix = readNumber(&text);
    if (radix <= 0 || !skip(&text, ":"))
      return false;
    do
      if (!addTerm(&text, *offset % radix, radix, coordinates))
        return false;
    while (skip(&text, "+"));
    *offset /= radix;
  }
  return *text == 0;
}

//===--- the table ------------------------------------------------------------------===//

static int64_t numberInBlock(const InterpretPacking *packing, const int64_t *coordinates) {
  int64_t number = 0;
  for (int axis = 0; axis < packing->rank; ++axis)
    number = number * packing->extents[axis] + coordinates[axis];
  return number;
}

static bool findExtents(InterpretPacking *packing, const char *text) {
  int64_t coordinates[InterpreterMaxRank], all = 1;
  for (int axis = 0; axis < packing->rank; ++axis)
    packing->extents[axis] = 1;
  for (int64_t position = 0; position < packing->count; ++position) {
    int64_t rest = position;
    if (!coordinatesAt(text, &rest, coordinates) || rest != 0)
      return false;
    for (int axis = 0; axis < packing->rank; ++axis)
      if (coordinates[axis] >= packing->extents[axis])
        packing->extents[axis] = coordinates[axis] + 1;
  }
  for (int axis = 0; axis < packing->rank; ++axis)
    all *= packing->extents[axis];
  int64_t next = packing->count;
  return all == packing->count && coordinatesAt(text, &next, coordinates) && next == 1;
}

static bool findPositions(InterpretPacking *packing, const char *text) {
  int64_t coordinates[InterpreterMaxRank];
  memset(packing->positions, -1, sizeof packing->positions);
  for (int position = 0; position < packing->count; ++position) {
    int64_t rest = position;
    coordinatesAt(text, &rest, coordinates);
    signed char *at = &packing->positions[numberInBlock(packing, coordinates)];
    if (*at >= 0)
      return false;
    *at = (signed char)position;
  }
  return true;
}

InterpretPacking *interpretPackingCreate(MlirType viewType, const Format *word) {
  InterpretPacking *packing = calloc(1, sizeof *packing);
  MlirStringRef layout = tileLayoutAttrGetText(tileViewTypeGetPacked(viewType));
  char *text = calloc(layout.length + 1, 1);
  bool ok = packing && text && !word->isFloat && interpretFormatOf(tileTypeGetElement(viewType), &packing->element);
  if (ok) {
    memcpy(text, layout.data, layout.length);
    packing->word = *word;
    packing->rank = (int)tileTypeGetRank(viewType);
    packing->count = (int)(word->width / packing->element.width);
    ok = packing->count <= MaxPackedElements && findExtents(packing, text) && findPositions(packing, text);
  }
  free(text);
  if (ok)
    return packing;
  free(packing);
  return NULL;
}

//===--- words ------------------------------------------------------------------------===//

static uint64_t bitsOf(const Format *format, Element x) {
  return format->isFloat ? interpretFormatToBits(format, x.f) : interpretFormatUnsigned(format, x.i);
}

static Element elementOfBits(const Format *format, uint64_t bits, double bound) {
  Element x = format->isFloat ? elementOfFloat(interpretFormatFromBits(format, bits), bound)
                              : elementOfInteger(interpretFormatWrap(format, bits));
  x.bound = bound;
  return x;
}

Element interpretPackingGet(const InterpretPacking *packing, Element word, int position) {
  const Format *element = &packing->element;
  uint64_t mask = (UINT64_C(1) << element->width) - 1;
  uint64_t bits = bitsOf(&packing->word, word) >> (unsigned)position * element->width;
  return elementOfBits(element, bits & mask, word.bound > 0 ? INFINITY : 0);
}

// What nobody wrote of a word is zero. An element that is not certain makes the whole word uncertain.
Element interpretPackingSet(const InterpretPacking *packing, Element word, int position, Element x) {
  const Format *element = &packing->element;
  unsigned shift = (unsigned)position * element->width;
  uint64_t mask = ((UINT64_C(1) << element->width) - 1) << shift;
  uint64_t old = elementIsMissing(word) ? 0 : bitsOf(&packing->word, word);
  double bound = word.bound > 0 || x.bound > 0 ? INFINITY : 0;
  return elementOfBits(&packing->word, (old & ~mask) | (bitsOf(element, x) << shift & mask), bound);
}
