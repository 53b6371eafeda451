// Questions that the passes which decide share. See decide.h.
#include "lib/transforms/schedule/decide.h"

#include "dialects/tile/tile.h"

int tileScheduleAxisOf(const TileOperand *operand, int dim) {
  for (int axis = 0; axis < operand->rank; ++axis)
    if (operand->results[axis] == dim)
      return axis;
  return -1;
}

static bool areSizesKnown(const TileStructured *s) {
  for (int d = 0; d < s->numDims; ++d)
    if (mlirShapedTypeIsDynamicSize(s->dims[d].extent) || s->dims[d].extent < 1)
      return false;
  return true;
}

bool tileScheduleCanSplit(const TileStructured *s, const TileTiling *tiling) {
  if (!tiling->isProduct || s->numInputs != 2 || s->numOutputs != 1 || s->numCaptures || !areSizesKnown(s) ||
      s->numDims >= MaxDims)
    return false;
  for (int i = 0; i < 3; ++i)
    if (s->operands[i].rank >= MaxOperandRank)
      return false;
  MlirType out = tileOperandElementType(&s->operands[2]);
  return (mlirTypeIsAF32(out) || mlirTypeIsAF64(out)) && tileScheduleAxisOf(&s->operands[0], tiling->product.k) >= 0 &&
         tileScheduleAxisOf(&s->operands[1], tiling->product.k) >= 0;
}

MlirAttribute tileScheduleWithNumber(MlirAttribute schedule, const char *key, int64_t value) {
  enum { MostEntries = 32 };
  MlirNamedAttribute entries[MostEntries];
  MlirAttribute old = tileScheduleAttrGetEntries(schedule);
  MlirContext context = mlirAttributeGetContext(schedule);
  intptr_t count = 0;
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(old) && count + 1 < MostEntries; ++i)
    entries[count++] = mlirDictionaryAttrGetElement(old, i);
  entries[count++] = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString(key)),
                                           mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), value));
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, count, entries));
}
