// Layouts that follow from layouts, as the verifiers of reduce, broadcast, transpose and reshape demand (layouts.h).
// Why: these ops move no data between threads; where data must move, tile.convert_layout says so.
// Expects: shapes verified. Leaves: true, or a diagnostic with the layout seen and the layout wanted, and false.
#include "dialects/tile/layouts.h"
#include "dialects/tile/questions.h"
#include "lib/layout/algebra.h"

static bool layoutOf(MlirValue value, TileLayout *layout) {
  MlirAttribute attribute = tileTypeGetLayout(mlirValueGetType(value));
  if (mlirAttributeIsNull(attribute) || !tileAttributeIsALayout(attribute))
    return false;
  *layout = tileLayoutAttrGetLayout(attribute);
  return true;
}

static bool expectLayout(MlirOperation op, MlirValue value, const TileLayout *wanted, MlirValue reference) {
  MlirAttribute seen = tileTypeGetLayout(mlirValueGetType(value));
  TileLayout layout = tileLayoutAttrGetLayout(seen);
  if (tileLayoutEquals(&layout, wanted))
    return true;
  MlirStringRef seenText = tileLayoutAttrGetText(seen);
  MlirStringRef wantedText = tileLayoutAttrGetText(tileLayoutAttrGet(mlirOperationGetContext(op), wanted));
  return tileErrorWithNote(
      op, mlirValueGetLocation(reference), "the other layout is given here",
      "has a tile of layout <%.*s>, expected <%.*s>: no data moves here (tile.convert_layout does that)",
      (int)seenText.length, seenText.data, (int)wantedText.length, wantedText.data);
}

bool tileExpectFreedLayout(MlirOperation op, MlirValue wide, MlirValue narrow) {
  TileLayout layout, freed, seen;
  if (!layoutOf(wide, &layout) || !layoutOf(narrow, &seen))
    return true;
  for (intptr_t i = tileArrayCount(op, "axes"); i-- > 0; layout = freed)
    tileLayoutRemoveAxis(&layout, (uint32_t)tileArrayAt(op, "axes", i), &freed);
  return expectLayout(op, narrow, &layout, wide);
}

bool tileExpectPermutedLayout(MlirOperation op, MlirValue result, MlirValue source) {
  TileLayout layout, permuted, seen;
  TileError error;
  uint32_t order[TILE_LAYOUT_MAX_AXES];
  intptr_t rank = tileArrayCount(op, "permutation");
  if (!layoutOf(source, &layout) || !layoutOf(result, &seen) || rank > TILE_LAYOUT_MAX_AXES)
    return true;
  for (intptr_t i = 0; i < rank; ++i)
    order[i] = (uint32_t)tileArrayAt(op, "permutation", i);
  if (!tileLayoutTranspose(&layout, order, (uint32_t)rank, &permuted, &error))
    return tileError(op, "permutes a layout that cannot be permuted: %s", error.text);
  return expectLayout(op, result, &permuted, source);
}

static uint32_t shapeOf(MlirType type, int64_t *shape) {
  intptr_t rank = tileTypeGetRank(type);
  for (intptr_t i = 0; i < rank && i < TILE_LAYOUT_MAX_AXES; ++i)
    shape[i] = tileTypeGetSize(type, i);
  return (uint32_t)rank;
}

bool tileExpectReshapedLayout(MlirOperation op, MlirValue result, MlirValue source) {
  TileLayout layout, reshaped, seen;
  TileError error;
  int64_t from[TILE_LAYOUT_MAX_AXES], to[TILE_LAYOUT_MAX_AXES];
  if (!layoutOf(source, &layout) || !layoutOf(result, &seen))
    return true;
  uint32_t fromRank = shapeOf(mlirValueGetType(source), from), toRank = shapeOf(mlirValueGetType(result), to);
  if (fromRank > TILE_LAYOUT_MAX_AXES || toRank > TILE_LAYOUT_MAX_AXES ||
      !tileLayoutIsReshapeLinear(from, fromRank, to, toRank))
    return true;
  if (!tileLayoutReshape(&layout, from, fromRank, to, toRank, &reshaped, &error))
    return tileError(op, "reshapes a layout that cannot be seen in the result's shape: %s", error.text);
  return expectLayout(op, result, &reshaped, source);
}

//===--- more warps --------------------------------------------------------------------------===//

static MlirType overWarps(MlirType type, int64_t warps) {
  MlirAttribute attribute = tileTypeGetLayout(type);
  if (!tileTypeIsATile(type) || mlirAttributeIsNull(attribute) || !tileAttributeIsALayout(attribute))
    return type;
  TileLayout layout = tileLayoutAttrGetLayout(attribute);
  TileError error;
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  if ((int64_t)tileLayoutDimSize(&layout, TileLayoutWarp) >= warps)
    return type;
  while ((int64_t)tileLayoutDimSize(&layout, TileLayoutWarp) < warps)
    if (!tileLayoutAppendBit(&layout, TileLayoutWarp, (TileLayoutPoint){{0}}, &error))
      return type;
  uint32_t rank = shapeOf(type, shape);
  return tileTileTypeGet(rank, shape, tileTypeGetElement(type), tileLayoutAttrGet(mlirTypeGetContext(type), &layout));
}

static void copyToWarps(MlirValue value, int64_t warps) {
  MlirType type = overWarps(mlirValueGetType(value), warps);
  if (mlirTypeEqual(type, mlirValueGetType(value)))
    return;
  mlirValueSetType(value, type);
  MlirOperation op = mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
  MlirAttribute constant = mlirOperationIsNull(op) ? (MlirAttribute){NULL} : tileOpAttribute(op, "value");
  if (!mlirAttributeIsNull(constant) && mlirAttributeIsADenseElements(constant))
    mlirOperationSetAttributeByName(op, tileString("value"), mlirDenseElementsAttrReshapeGet(constant, type));
}

static MlirWalkResult copyResults(MlirOperation op, void *warps) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    copyToWarps(mlirOperationGetResult(op, i), *(int64_t *)warps);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        copyToWarps(mlirBlockGetArgument(block, i), *(int64_t *)warps);
  return MlirWalkResultAdvance;
}

void tileCopyTilesToWarps(MlirOperation root, int64_t warps) {
  mlirOperationWalk(root, copyResults, &warps, MlirWalkPreOrder);
}
