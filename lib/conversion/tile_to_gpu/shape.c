// Ops that move elements: by renaming registers where every thread has what it wants, through shared memory otherwise.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- moves --------------------------------------------------------------------------------===//

typedef struct Shape {
  intptr_t rank;
  int64_t sizes[MaxRank];
} Shape;

static Shape shapeOf(MlirType type) {
  Shape shape = {.rank = tileTypeGetRank(type)};
  for (intptr_t axis = 0; axis < shape.rank; ++axis)
    shape.sizes[axis] = tileTypeGetSize(type, axis);
  return shape;
}

// table[r]: the register of the operand that register r of the result is; -1: of another operand.
static bool findMoves(Gpu *g, MlirOperation op, intptr_t operand, intptr_t *table) {
  return tileMovesOf(op, operand, 0, g->exchange.lanes, g->exchange.warps, table);
}

// Registers of the result from those of the only operand; false where they cannot be renamed.
static bool moveTile(Gpu *g, MlirOperation op) {
  MlirValue result = tileOnlyResult(op);
  intptr_t count = gpuRegisters(mlirValueGetType(result)), *table = gpuAllocate(g, (size_t)count * sizeof *table);
  if (!findMoves(g, op, 0, table))
    return false;
  const MlirValue *in = gpuTile(g, tileOpOperand(op, "input"));
  MlirValue *out = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < count; ++reg)
    out[reg] = in[table[reg]];
  return true;
}

static bool mustMove(MlirOperation op, bool moved) {
  return moved || gpuRefuse(op, "layouts between which elements would have to move: put a tile.convert_layout before");
}

//===--- iota, broadcast, transpose, reshape -----------------------------------------------------===//

static bool lowerIota(Gpu *g, MlirOperation op) {
  MlirValue result = tileIotaOpGetResult(op);
  MlirType type = mlirValueGetType(result), element = tileTypeGetElement(type);
  TileLayout layout = gpuLayoutOf(type);
  const Map *map = gpuMap(g, &layout, tileTypeGetRank(type));
  intptr_t axis = tileIotaOpGetDimValue(op);
  MlirValue from = tileIotaOpGetFrom(op), *registers = gpuRecordTile(g, result);
  from = mlirValueIsNull(from) ? from : gpuScalar(g, from);
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg) {
    MlirValue at = gpuCast(g, gpuCoordinate(g, map, axis, reg), element, true);
    registers[reg] = gpuAdd(g, at, from);
  }
  return true;
}

static bool lowerBroadcast(Gpu *g, MlirOperation op) {
  MlirValue input = tileBroadcastOpGetInput(op), result = tileBroadcastOpGetResult(op);
  if (gpuIsTile(mlirValueGetType(input)))
    return mustMove(op, moveTile(g, op));
  MlirValue scalar = gpuScalar(g, input), *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(result)); ++reg)
    registers[reg] = scalar;
  return true;
}

// Gives the memory other names for its axes: the layout of its offsets, changed likewise.
static bool reinterpret(Gpu *g, MlirOperation op) {
  MlirValue result = tileOnlyResult(op);
  const Buffer *source = gpuRecord(g, tileOpOperand(op, "input"))->buffer;
  Record *record = gpuRecordNew(g, result, Record_Buffer);
  record->buffer = gpuAllocate(g, sizeof *record->buffer);
  *record->buffer = *source;
  record->buffer->type = mlirValueGetType(result);
  record->buffer->layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(record->buffer->type));
  return true;
}

static bool lowerTranspose(Gpu *g, MlirOperation op) {
  return tileTypeIsABuffer(tileTransposeOpGetInputType(op)) ? reinterpret(g, op) : mustMove(op, moveTile(g, op));
}

static bool lowerReshape(Gpu *g, MlirOperation op) {
  MlirValue input = tileReshapeOpGetInput(op), result = tileReshapeOpGetResult(op);
  MlirType from = mlirValueGetType(input), to = mlirValueGetType(result);
  if (tileTypeIsABuffer(from))
    return reinterpret(g, op);
  if (!gpuIsTile(from) || !gpuIsTile(to)) { // one element: all threads have it
    MlirValue one = gpuIsTile(from) ? gpuTile(g, input)[0] : gpuScalar(g, input);
    if (!gpuIsTile(to)) {
      gpuRecordScalar(g, result, one);
      return true;
    }
    MlirValue *registers = gpuRecordTile(g, result);
    for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg)
      registers[reg] = one;
    return true;
  }
  if (moveTile(g, op))
    return true;
  gpuThroughRows(g, from, gpuTile(g, input), to, gpuRecordTile(g, result));
  return true;
}

//===--- parts ----------------------------------------------------------------------------------===//

typedef struct Part {
  Shape small;
  MlirValue offsets[MaxRank]; // i32
} Part;

static Part partOf(Gpu *g, MlirOperation op, MlirType small) {
  Part part = {.small = shapeOf(small)};
  intptr_t next, count;
  tileOpOperands(op, "offsets", &next, &count);
  MlirAttribute statics = tileOpAttribute(op, "static_offsets");
  for (intptr_t axis = 0; axis < part.small.rank; ++axis) {
    int64_t offset = mlirDenseI64ArrayGetElement(statics, axis);
    bool isDynamic = offset == mlirShapedTypeGetDynamicSize();
    part.offsets[axis] =
        isDynamic ? gpuCast(g, gpuScalar(g, mlirOperationGetOperand(op, next++)), g->i32, true) : gpuI32(g, offset);
  }
  return part;
}

// The dense place in `whole` of coordinates of `layout` moved by the part's offsets, in elements.
static Places placesIn(Gpu *g, MlirType whole, const TileLayout *layout) {
  int64_t factors[MaxRank], factor = 1;
  for (intptr_t axis = tileTypeGetRank(whole); axis-- > 0; factor *= tileTypeGetSize(whole, axis))
    factors[axis] = factor;
  return gpuPlaces(g, gpuMap(g, layout, tileTypeGetRank(whole)), factors);
}

static MlirValue originOf(Gpu *g, const Places *places, const Part *part) {
  MlirValue origin = gpuI32(g, 0);
  for (intptr_t axis = 0; axis < part->small.rank; ++axis)
    origin = gpuAdd(g, origin, gpuMul(g, part->offsets[axis], gpuI32(g, places->factors[axis])));
  return origin;
}

static bool sliceBuffer(MlirOperation op) { return gpuRefuse(op, "a slice of a buffer"); }

static bool lowerSlice(Gpu *g, MlirOperation op) {
  MlirValue input = tileSliceOpGetInput(op), result = tileSliceOpGetResult(op);
  MlirType from = mlirValueGetType(input), to = mlirValueGetType(result), element = tileTypeGetElement(from);
  if (tileTypeIsABuffer(from))
    return sliceBuffer(op);
  if (moveTile(g, op))
    return true;
  Part part = partOf(g, op, to);
  int64_t bytes = tileStoredBytes(element);
  MlirValue scratch = gpuShare(g, from, gpuTile(g, input)), *registers = gpuRecordTile(g, result);
  TileLayout layout = gpuLayoutOf(to);
  Places places = placesIn(g, from, &layout);
  MlirValue origin = originOf(g, &places, &part);
  for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg) {
    MlirValue at = gpuMul(g, gpuAdd(g, gpuPlace(g, &places, reg), origin), gpuI32(g, bytes));
    gpuLoadWhere(g, gpuIsElement(g, places.map, to, AllAxes, reg), element, 1, gpuAddress(g, scratch, at), bytes,
                 gpuZero(g, element), &registers[reg]);
  }
  return true;
}

// By renaming: from the part where it has the element, from the destination elsewhere.
static bool insertByMoves(Gpu *g, MlirOperation op) {
  MlirValue result = tileInsertOpGetResult(op);
  intptr_t count = gpuRegisters(mlirValueGetType(result));
  intptr_t *inner = gpuAllocate(g, 2 * (size_t)count * sizeof *inner), *outer = inner + count;
  if (!findMoves(g, op, 0, inner) || !findMoves(g, op, 1, outer))
    return false;
  const MlirValue *small = gpuTile(g, tileInsertOpGetInput(op)), *whole = gpuTile(g, tileInsertOpGetDestination(op));
  MlirValue *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < count; ++reg)
    registers[reg] = inner[reg] >= 0 ? small[inner[reg]] : whole[outer[reg]];
  return true;
}

static MlirValue isInPart(Gpu *g, const Part *part, const Map *map, intptr_t reg) {
  MlirValue inside = {NULL};
  for (intptr_t axis = 0; axis < part->small.rank; ++axis) {
    MlirValue at = gpuSub(g, gpuCoordinate(g, map, axis, reg), part->offsets[axis]);
    inside = gpuBoth(g, inside, gpuCompare(g, ArithCmpI_Ult, at, gpuI32(g, part->small.sizes[axis])));
  }
  return inside;
}

static bool lowerInsert(Gpu *g, MlirOperation op) {
  MlirValue input = tileInsertOpGetInput(op), whole = tileInsertOpGetDestination(op);
  MlirType small = mlirValueGetType(input), type = tileInsertOpGetResultType(op), element = tileTypeGetElement(type);
  if (insertByMoves(g, op))
    return true;
  Part part = partOf(g, op, small);
  int64_t bytes = tileStoredBytes(element);
  intptr_t count = gpuRegisters(type);
  MlirValue *old = gpuAllocate(g, (size_t)count * sizeof *old);
  gpuConvertLayout(g, mlirValueGetType(whole), gpuTile(g, whole), type, old);
  MlirValue scratch = gpuScratch(g, tileDenseBytes(small)), *registers = gpuRecordTile(g, tileInsertOpGetResult(op));
  gpuWriteDense(g, small, gpuTile(g, input), scratch);
  gpuBarrier(g);
  TileLayout layout = gpuLayoutOf(type);
  Places places = placesIn(g, small, &layout);
  MlirValue origin = originOf(g, &places, &part);
  for (intptr_t reg = 0; reg < count; ++reg) {
    MlirValue inside = isInPart(g, &part, places.map, reg), value;
    MlirValue at = gpuSelect(g, inside, gpuSub(g, gpuPlace(g, &places, reg), origin), gpuI32(g, 0));
    gpuLoadElements(g, element, 1, gpuAddress(g, scratch, gpuMul(g, at, gpuI32(g, bytes))), bytes, &value);
    registers[reg] = gpuSelect(g, inside, value, old[reg]);
  }
  return true;
}

//===--- cat ----------------------------------------------------------------------------------------===//

static bool catByMoves(Gpu *g, MlirOperation op, MlirValue *registers) {
  MlirType type = tileCatOpGetResultType(op);
  intptr_t count = gpuRegisters(type), *table = gpuAllocate(g, (size_t)count * sizeof *table);
  for (intptr_t i = 0; i < tileCatOpGetNumInputs(op); ++i) {
    if (!findMoves(g, op, i, table))
      return false;
    for (intptr_t reg = 0; reg < count; ++reg)
      if (table[reg] >= 0)
        registers[reg] = gpuTile(g, tileCatOpGetInputs(op, i))[table[reg]];
  }
  for (intptr_t reg = 0; reg < count; ++reg) // void in every thread
    registers[reg] = mlirValueIsNull(registers[reg]) ? gpuZero(g, tileTypeGetElement(type)) : registers[reg];
  return true;
}

static void writePart(Gpu *g, MlirType whole, MlirValue input, int64_t origin, MlirValue scratch) {
  MlirType type = mlirValueGetType(input), element = tileTypeGetElement(type);
  int64_t bytes = tileStoredBytes(element);
  TileLayout layout = gpuLayoutOf(type);
  Places places = placesIn(g, whole, &layout);
  GpuIf branch = gpuIf(g, gpuIsOwner(g, &layout), 0, NULL);
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg) {
    if (tileIsFreeRegister(&layout, reg))
      continue;
    MlirValue at = gpuMul(g, gpuAdd(g, gpuPlace(g, &places, reg), gpuI32(g, origin)), gpuI32(g, bytes));
    gpuStoreWhere(g, gpuIsElement(g, places.map, type, AllAxes, reg), element, 1, &gpuTile(g, input)[reg],
                  gpuAddress(g, scratch, at), bytes);
  }
  gpuEndIf(g, &branch, 0, NULL, NULL);
}

static bool lowerCat(Gpu *g, MlirOperation op) {
  MlirType type = tileCatOpGetResultType(op);
  intptr_t axis = tileCatOpGetAxisValue(op);
  MlirValue *registers = gpuRecordTile(g, tileCatOpGetResult(op));
  if (catByMoves(g, op, registers))
    return true;
  MlirValue scratch = gpuScratch(g, tileDenseBytes(type));
  int64_t origin = 0, factor = 1;
  for (intptr_t a = axis + 1; a < tileTypeGetRank(type); ++a)
    factor *= tileTypeGetSize(type, a);
  for (intptr_t i = 0; i < tileCatOpGetNumInputs(op); ++i) {
    writePart(g, type, tileCatOpGetInputs(op, i), origin * factor, scratch);
    origin += tileTypeGetSize(mlirValueGetType(tileCatOpGetInputs(op, i)), axis);
  }
  gpuBarrier(g);
  gpuReadDense(g, type, scratch, registers);
  return true;
}

const GpuRow gpuShapeRows[] = {
    {TileOp_Iota, lowerIota},
    {TileOp_Broadcast, lowerBroadcast},
    {TileOp_Transpose, lowerTranspose},
    {TileOp_Reshape, lowerReshape},
    {TileOp_Slice, lowerSlice},
    {TileOp_Insert, lowerInsert},
    {TileOp_Cat, lowerCat},
    {.lower = NULL},
};
