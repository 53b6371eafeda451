// #sparse.attribute from facts, and facts from it. See attribute.h.
#include "lib/analysis/sparsity/attribute.h"

#include "lib/ir/support.h"

#include <stdlib.h>

const char sparseAttributeName[] = "sparse.attribute";

enum { MaxRectangles = 1 << 16 };

static int64_t rectanglesOf(int64_t size, int64_t grain) { return size / grain + (size % grain > 0); }

//===--- reading --------------------------------------------------------------===//

typedef struct Reader {
  MlirAttribute known, map;
  MlirType type;
  intptr_t rank;
} Reader;

static uint8_t ruleAt(const int64_t *index, void *data) {
  const Reader *reader = data;
  int64_t at = 0;
  for (intptr_t axis = 0; axis < reader->rank; ++axis)
    at = at * mlirShapedTypeGetDimSize(reader->type, axis) + index[axis] / sparseKnownGetGrain(reader->known, axis);
  return mlirDenseElementsAttrGetBoolValue(reader->map, at) ? 0 : UINT8_MAX;
}

bool sparseAttributeFits(MlirAttribute known, MlirType type) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  if (sparseKnownGetRank(known) != rank)
    return false;
  for (int key = SparseKnown_Zero; key <= SparseKnown_Bits; ++key) {
    MlirAttribute map = sparseKnownGetMap(known, (SparseKnownKey)key);
    for (intptr_t axis = 0; !mlirAttributeIsNull(map) && axis < rank; ++axis) {
      int64_t size = mlirShapedTypeGetDimSize(type, axis);
      if (!mlirShapedTypeIsDynamicSize(size) && mlirShapedTypeGetDimSize(mlirAttributeGetType(map), axis) !=
                                                    rectanglesOf(size, sparseKnownGetGrain(known, axis)))
        return false;
    }
  }
  return true;
}

SparseCells *sparseCellsOfAttribute(MlirAttribute known, MlirType type, SparseKnownKey key) {
  Reader reader = {.known = known, .map = sparseKnownGetMap(known, key)};
  SparseCells *cells = sparseCellsCreate(type, UINT8_MAX);
  if (!cells || mlirAttributeIsNull(reader.map) || !sparseAttributeFits(known, type)) {
    sparseCellsDestroy(cells);
    return NULL;
  }
  reader.type = mlirAttributeGetType(reader.map);
  reader.rank = cells->rank;
  for (intptr_t axis = 0; axis < cells->rank; ++axis) {
    if (cells->sizes[axis] < 0 && mlirShapedTypeGetDimSize(reader.type, axis) != 1) {
      sparseCellsDestroy(cells);
      return NULL;
    }
    if (cells->sizes[axis] <= 0)
      continue;
    int32_t *classOf = malloc((size_t)cells->sizes[axis] * sizeof *classOf);
    for (int64_t i = 0; i < cells->sizes[axis]; ++i)
      classOf[i] = (int32_t)(i / sparseKnownGetGrain(known, axis));
    sparseCellsSplit(cells, axis, classOf);
    free(classOf);
  }
  sparseCellsFill(cells, ruleAt, &reader);
  sparseCellsCompress(cells, SparseMaxCells);
  return cells;
}

//===--- writing --------------------------------------------------------------===//

static int64_t divisor(int64_t a, int64_t b) { return b ? divisor(b, a % b) : a; }

// The largest size such that indices of one rectangle are in one class.
static int64_t grainOf(const SparseCells *cells, intptr_t axis) {
  int64_t grain = 0;
  for (int64_t i = 1; cells && cells->classOf[axis] && i < cells->sizes[axis]; ++i)
    if (cells->classOf[axis][i] != cells->classOf[axis][i - 1])
      grain = divisor(i, grain);
  return grain;
}

// Every element of the rectangle has the fact 0.
static bool isAllZero(const SparseCells *cells, intptr_t axis, const int64_t *first, const int64_t *grain,
                      int64_t *index) {
  if (axis == cells->rank)
    return sparseCellsAt(cells, index) == 0;
  int64_t last = first[axis] + grain[axis];
  if (cells->sizes[axis] >= 0 && last > cells->sizes[axis])
    last = cells->sizes[axis];
  for (index[axis] = first[axis]; index[axis] < last; ++index[axis]) {
    int64_t at = index[axis];
    bool isSame =
        at > first[axis] && (!cells->classOf[axis] || cells->classOf[axis][at] == cells->classOf[axis][at - 1]);
    if (isSame && !cells->classOf[axis])
      break; // all others are as the first one
    if (!isSame && !isAllZero(cells, axis + 1, first, grain, index))
      return false;
  }
  return true;
}

static MlirAttribute mapOf(const SparseCells *cells, MlirContext context, const int64_t *counts, const int64_t *grain) {
  MlirAttribute map = mlirAttributeGetNull();
  int64_t count = 1, first[SparseMaxFactRank], index[SparseMaxFactRank];
  bool some = false;
  for (intptr_t axis = 0; axis < cells->rank; ++axis)
    count *= counts[axis];
  int *values = calloc((size_t)count + 1, sizeof *values);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (intptr_t axis = cells->rank - 1; axis >= 0; --axis) {
      first[axis] = rest % counts[axis] * grain[axis];
      rest /= counts[axis];
    }
    values[i] = isAllZero(cells, 0, first, grain, index);
    some |= values[i];
  }
  MlirType type = mlirRankedTensorTypeGet(cells->rank, counts, mlirIntegerTypeGet(context, 1), mlirAttributeGetNull());
  if (some)
    map = mlirDenseElementsAttrBoolGet(type, count, values);
  free(values);
  return map;
}

MlirAttribute sparseAttributeOfCells(MlirType type, const SparseCells *may, const SparseCells *need) {
  const SparseCells *any = may ? may : need;
  MlirContext context = mlirTypeGetContext(type);
  int64_t grain[SparseMaxFactRank], counts[SparseMaxFactRank], count = 1;
  if (!any || any->rank == 0 || any->rank > SparseMaxRank)
    return mlirAttributeGetNull();
  for (intptr_t axis = 0; axis < any->rank; ++axis) {
    int64_t size = mlirShapedTypeGetDimSize(type, axis), both = divisor(grainOf(may, axis), grainOf(need, axis));
    if (size == 0)
      return mlirAttributeGetNull();
    grain[axis] = both ? both : mlirShapedTypeIsDynamicSize(size) ? INT32_MAX : size;
  }
  for (bool fits = false; !fits;) {
    intptr_t most = 0;
    count = 1;
    for (intptr_t axis = 0; axis < any->rank; ++axis) {
      counts[axis] = any->sizes[axis] < 0 ? 1 : rectanglesOf(any->sizes[axis], grain[axis]);
      count *= counts[axis];
      most = counts[axis] > counts[most] ? axis : most;
    }
    fits = count <= MaxRectangles;
    grain[most] *= fits ? 1 : 2;
  }
  MlirAttribute none = mlirAttributeGetNull();
  MlirAttribute zero = may ? mapOf(may, context, counts, grain) : none;
  MlirAttribute dead = need ? mapOf(need, context, counts, grain) : none;
  if (mlirAttributeIsNull(zero) && mlirAttributeIsNull(dead))
    return none;
  return sparseKnownMake(context, any->rank, grain, zero, dead, none);
}
