// The types of results that an op states although its operands and attributes leave one choice: for those who build ops
// one by one and have no result at hand yet (python/tessera/_kernel).
// Expects: types and lists as a caller has them, checked or not. Leaves: a type; null where there is none, and then the
// op's verifier says why.
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"

#include <stdlib.h>

static bool contains(intptr_t count, const int64_t *values, int64_t wanted) {
  for (intptr_t i = 0; i < count; ++i)
    if (values[i] == wanted)
      return true;
  return false;
}

// Sizes of `type`, in an array with room for one more; the caller frees it. Null: no memory, or not a tile or scalar.
static int64_t *sizesOf(MlirType type) {
  if (!tileTypeIsATile(type) && !tileTypeIsAScalar(type))
    return NULL;
  intptr_t rank = tileTypeGetRank(type);
  int64_t *sizes = malloc(sizeof *sizes * (size_t)(rank + 1));
  for (intptr_t i = 0; sizes && i < rank; ++i)
    sizes[i] = tileTypeGetSize(type, i);
  return sizes;
}

static MlirType takeType(intptr_t rank, int64_t *sizes, MlirType element) {
  MlirType type = tileTileTypeGet(rank, sizes, element, mlirAttributeGetNull());
  free(sizes);
  return type;
}

MlirType tileReduceTypeGet(MlirType input, intptr_t numAxes, const int64_t *axes) {
  int64_t *sizes = sizesOf(input);
  if (!sizes)
    return (MlirType){NULL};
  intptr_t kept = 0;
  for (intptr_t i = 0; i < tileTypeGetRank(input); ++i)
    if (!contains(numAxes, axes, i))
      sizes[kept++] = sizes[i];
  return takeType(kept, sizes, tileTypeGetElement(input));
}

MlirType tileTransposeTypeGet(MlirType input, intptr_t rank, const int64_t *permutation) {
  int64_t *sizes = sizesOf(input);
  if (!sizes)
    return (MlirType){NULL};
  bool fits = rank == tileTypeGetRank(input);
  for (intptr_t i = 0; fits && i < rank; ++i)
    fits = contains(rank, permutation, i);
  for (intptr_t i = 0; fits && i < rank; ++i)
    sizes[i] = tileTypeGetSize(input, permutation[i]);
  if (fits)
    return takeType(rank, sizes, tileTypeGetElement(input));
  free(sizes);
  return (MlirType){NULL};
}

MlirType tileCatTypeGet(intptr_t numPieces, const MlirType *pieces, int64_t axis) {
  int64_t *sizes = numPieces > 0 && tileTypeIsATile(pieces[0]) ? sizesOf(pieces[0]) : NULL;
  if (!sizes)
    return (MlirType){NULL};
  intptr_t rank = tileTypeGetRank(pieces[0]);
  bool fits = axis >= 0 && axis < rank;
  for (intptr_t i = 1; fits && i < numPieces; ++i) {
    fits = tileTypeIsATile(pieces[i]) && tileTypeGetRank(pieces[i]) == rank;
    if (fits)
      sizes[axis] += tileTypeGetSize(pieces[i], axis);
  }
  if (fits)
    return takeType(rank, sizes, tileTypeGetElement(pieces[0]));
  free(sizes);
  return (MlirType){NULL};
}

MlirType tileRandomTypeGet(MlirType counter) {
  int64_t *sizes = sizesOf(counter);
  if (!sizes)
    return (MlirType){NULL};
  intptr_t rank = tileTypeGetRank(counter);
  sizes[rank] = 4;
  return takeType(rank + 1, sizes, mlirIntegerTypeGet(mlirTypeGetContext(counter), 32));
}
