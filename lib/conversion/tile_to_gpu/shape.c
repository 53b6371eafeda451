// Ops that move elements: by renaming registers where every thread has what it wants, through shared memory otherwise.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- moves --------------------------------------------------------------------------------===//

// Registers of the result from those of the only operand; false where they cannot be renamed.
static bool moveTile(Gpu *g, MlirOperation op) {
  MlirValue result = tileOnlyResult(op);
  const intptr_t *table = gpuMoves(g, op, 0, 0);
  if (!table)
    return false;
  const MlirValue *in = gpuTile(g, tileOpOperand(op, "input"));
  MlirValue *out = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(result)); ++reg)
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
  gpuRecordSame(g, result, gpuScalar(g, input));
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
    gpuRecordSame(g, result, gpuTile(g, input)[0]);
    return true;
  }
  if (moveTile(g, op))
    return true;
  gpuThroughRows(g, from, gpuTile(g, input), to, gpuRecordTile(g, result));
  return true;
}

//===--- parts ----------------------------------------------------------------------------------===//

typedef struct Part {
  MlirType small;
  MlirValue offsets[MaxRank]; // i32
} Part;

static Part partOf(Gpu *g, MlirOperation op, MlirType small) {
  Part part = {.small = small};
  intptr_t next, count;
  tileOpOperands(op, "offsets", &next, &count);
  MlirAttribute statics = tileOpAttribute(op, "static_offsets");
  for (intptr_t axis = 0; axis < tileTypeGetRank(small); ++axis) {
    int64_t offset = mlirDenseI64ArrayGetElement(statics, axis);
    bool isDynamic = offset == mlirShapedTypeGetDynamicSize();
    part.offsets[axis] =
        isDynamic ? gpuCast(g, gpuScalar(g, mlirOperationGetOperand(op, next++)), g->i32, true) : gpuI32(g, offset);
  }
  return part;
}

static MlirValue originOf(Gpu *g, const Places *places, const Part *part) {
  MlirValue origin = gpuI32(g, 0);
  for (intptr_t axis = 0; axis < tileTypeGetRank(part->small); ++axis)
    origin = gpuAdd(g, origin, gpuMul(g, part->offsets[axis], gpuI32(g, places->factors[axis])));
  return origin;
}

static bool lowerSlice(Gpu *g, MlirOperation op) {
  MlirValue input = tileSliceOpGetInput(op), result = tileSliceOpGetResult(op);
  MlirType from = mlirValueGetType(input), to = mlirValueGetType(result);
  if (tileTypeIsABuffer(from))
    return gpuRefuse(op, "a slice of a buffer");
  if (moveTile(g, op))
    return true;
  Part part = partOf(g, op, to);
  MlirValue scratch = gpuShare(g, from, gpuTile(g, input)), *registers = gpuRecordTile(g, result);
  TileLayout layout = gpuLayoutOf(to);
  Places places = gpuPlacesIn(g, from, &layout, -1, NULL);
  MlirValue origin = originOf(g, &places, &part);
  for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg)
    gpuReadElement(g, to, places.map, reg, scratch, gpuAdd(g, gpuPlace(g, &places, reg), origin), &registers[reg]);
  return true;
}

// By renaming: from the part where it has the element, from the destination elsewhere.
static bool insertByMoves(Gpu *g, MlirOperation op) {
  MlirValue result = tileInsertOpGetResult(op);
  const intptr_t *inner = gpuMoves(g, op, 0, 0), *outer = inner ? gpuMoves(g, op, 1, 0) : NULL;
  if (!outer)
    return false;
  const MlirValue *small = gpuTile(g, tileInsertOpGetInput(op)), *whole = gpuTile(g, tileInsertOpGetDestination(op));
  MlirValue *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(result)); ++reg)
    registers[reg] = inner[reg] >= 0 ? small[inner[reg]] : whole[outer[reg]];
  return true;
}

static MlirValue isInPart(Gpu *g, const Part *part, const Map *map, intptr_t reg) {
  MlirValue inside = {NULL};
  for (intptr_t axis = 0; axis < tileTypeGetRank(part->small); ++axis) {
    MlirValue at = gpuSub(g, gpuCoordinate(g, map, axis, reg), part->offsets[axis]);
    inside = gpuBoth(g, inside, gpuCompare(g, ArithCmpI_Ult, at, gpuI32(g, tileTypeGetSize(part->small, axis))));
  }
  return inside;
}

static bool lowerInsert(Gpu *g, MlirOperation op) {
  MlirValue input = tileInsertOpGetInput(op), whole = tileInsertOpGetDestination(op);
  MlirType small = mlirValueGetType(input), type = tileInsertOpGetResultType(op), element = tileTypeGetElement(type);
  if (insertByMoves(g, op))
    return true;
  Part part = partOf(g, op, small);
  intptr_t count = gpuRegisters(type);
  MlirValue *old = gpuAllocate(g, (size_t)count * sizeof *old);
  gpuConvertLayout(g, mlirValueGetType(whole), gpuTile(g, whole), type, old);
  MlirValue scratch = gpuScratch(g, tileDenseBytes(small)), *registers = gpuRecordTile(g, tileInsertOpGetResult(op));
  gpuWriteDense(g, small, gpuTile(g, input), scratch);
  gpuBarrier(g);
  TileLayout layout = gpuLayoutOf(type);
  Places places = gpuPlacesIn(g, small, &layout, -1, NULL);
  MlirValue origin = originOf(g, &places, &part);
  for (intptr_t reg = 0; reg < count; ++reg) {
    MlirValue inside = isInPart(g, &part, places.map, reg), value;
    MlirValue at = gpuSelect(g, inside, gpuSub(g, gpuPlace(g, &places, reg), origin), gpuI32(g, 0));
    gpuLoadElements(g, element, 1, gpuElementAt(g, scratch, at, element), tileStoredBytes(element), &value);
    registers[reg] = gpuSelect(g, inside, value, old[reg]);
  }
  return true;
}

//===--- cat ----------------------------------------------------------------------------------------===//

static bool catByMoves(Gpu *g, MlirOperation op, MlirValue *registers) {
  MlirType type = tileCatOpGetResultType(op);
  intptr_t count = gpuRegisters(type);
  for (intptr_t i = 0; i < tileCatOpGetNumInputs(op); ++i) {
    const intptr_t *table = gpuMoves(g, op, i, 0);
    if (!table)
      return false;
    for (intptr_t reg = 0; reg < count; ++reg)
      if (table[reg] >= 0)
        registers[reg] = gpuTile(g, tileCatOpGetInputs(op, i))[table[reg]];
  }
  for (intptr_t reg = 0; reg < count; ++reg) // void in every thread
    registers[reg] = mlirValueIsNull(registers[reg]) ? gpuZero(g, tileTypeGetElement(type)) : registers[reg];
  return true;
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
    MlirValue input = tileCatOpGetInputs(op, i);
    gpuWritePart(g, type, mlirValueGetType(input), gpuTile(g, input), origin * factor, scratch);
    origin += tileTypeGetSize(mlirValueGetType(input), axis);
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
