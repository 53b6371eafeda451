// Ops that move elements: by renaming registers where every thread has what it wants, through shared memory otherwise.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"

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

// Registers of `result` from those of `source`; false where they cannot be renamed.
static bool moveTile(Gpu *g, MlirValue source, MlirValue result, GpuMove move, const void *data) {
  MlirType from = mlirValueGetType(source), to = mlirValueGetType(result);
  TileLayout before = gpuLayoutOf(from), after = gpuLayoutOf(to);
  intptr_t count = gpuRegisters(to), *table = gpuAllocate(g, (size_t)count * sizeof *table);
  if (!gpuMoveRegisters(g, &before, &after, move, data, table))
    return false;
  const MlirValue *in = gpuTile(g, source);
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
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(result), element = tileTypeGetElement(type);
  TileLayout layout = gpuLayoutOf(type);
  const Map *map = gpuMap(g, &layout, tileTypeGetRank(type));
  intptr_t axis = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "dim"));
  MlirValue from = {NULL}, *registers = gpuRecordTile(g, result);
  if (mlirOperationGetNumOperands(op))
    from = gpuScalar(g, mlirOperationGetOperand(op, 0));
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg) {
    MlirValue at = gpuCast(g, gpuCoordinate(g, map, axis, reg), element, true);
    registers[reg] = gpuAdd(g, at, from);
  }
  return true;
}

typedef struct Axes {
  intptr_t rank; // of the wide one
  MlirAttribute axes;
} Axes;

static bool dropAxes(const TileLayoutPoint *to, TileLayoutPoint *from, const void *data) {
  const Axes *axes = data;
  intptr_t at = 0;
  for (intptr_t axis = 0; axis < axes->rank; ++axis)
    if (!axes->axes.ptr || !tileListContains(axes->axes, axis))
      from->at[at++] = to->at[axis];
  return true;
}

static bool lowerBroadcast(Gpu *g, MlirOperation op) {
  MlirValue input = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
  if (gpuIsTile(mlirValueGetType(input))) {
    Axes axes = {tileTypeGetRank(mlirValueGetType(result)), tileOpAttribute(op, "axes")};
    return mustMove(op, moveTile(g, input, result, dropAxes, &axes));
  }
  MlirValue scalar = gpuScalar(g, input), *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(result)); ++reg)
    registers[reg] = scalar;
  return true;
}

static bool permute(const TileLayoutPoint *to, TileLayoutPoint *from, const void *data) {
  MlirAttribute permutation = *(const MlirAttribute *)data;
  for (intptr_t axis = 0; axis < mlirDenseArrayGetNumElements(permutation); ++axis)
    from->at[mlirDenseI64ArrayGetElement(permutation, axis)] = to->at[axis];
  return true;
}

// The same memory with other names for its axes: the layout of its offsets, changed likewise.
static bool reinterpret(Gpu *g, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  const Buffer *source = gpuRecord(g, mlirOperationGetOperand(op, 0))->buffer;
  Record *record = gpuRecordNew(g, result, Record_Buffer);
  record->buffer = gpuAllocate(g, sizeof *record->buffer);
  *record->buffer = *source;
  record->buffer->type = mlirValueGetType(result);
  record->buffer->layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(record->buffer->type));
  return true;
}

static bool lowerTranspose(Gpu *g, MlirOperation op) {
  MlirAttribute permutation = tileOpAttribute(op, "permutation");
  MlirValue input = mlirOperationGetOperand(op, 0);
  if (tileTypeIsABuffer(mlirValueGetType(input)))
    return reinterpret(g, op);
  return mustMove(op, moveTile(g, input, mlirOperationGetResult(op, 0), permute, &permutation));
}

typedef struct Shapes {
  Shape from, to;
} Shapes;

static bool renumber(const TileLayoutPoint *to, TileLayoutPoint *from, const void *data) {
  const Shapes *shapes = data;
  int64_t number = 0;
  for (intptr_t axis = 0; axis < shapes->to.rank; ++axis)
    number = number * shapes->to.sizes[axis] + to->at[axis];
  for (intptr_t axis = shapes->from.rank; axis-- > 0; number /= shapes->from.sizes[axis])
    from->at[axis] = (uint32_t)(number % shapes->from.sizes[axis]);
  return true;
}

static bool lowerReshape(Gpu *g, MlirOperation op) {
  MlirValue input = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
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
  Shapes shapes = {shapeOf(from), shapeOf(to)};
  if (moveTile(g, input, result, renumber, &shapes))
    return true;
  MlirValue scratch = gpuScratch(g, gpuTileBytes(from)); // row-major order is the same in both shapes
  gpuWriteDense(g, from, gpuTile(g, input), scratch);
  gpuScratchReady(g);
  gpuReadDense(g, to, scratch, gpuRecordTile(g, result));
  gpuScratchDone(g);
  return true;
}

//===--- parts ----------------------------------------------------------------------------------===//

typedef struct Part {
  Shape small;
  int64_t offsets[MaxRank];  // static ones
  MlirValue values[MaxRank]; // i32
  bool isStatic;
} Part;

static Part partOf(Gpu *g, MlirOperation op, intptr_t firstOffset, MlirType small) {
  Part part = {.small = shapeOf(small), .isStatic = true};
  MlirAttribute statics = tileOpAttribute(op, "static_offsets");
  for (intptr_t axis = 0; axis < part.small.rank; ++axis) {
    int64_t offset = mlirDenseI64ArrayGetElement(statics, axis);
    bool isDynamic = offset == mlirShapedTypeGetDynamicSize();
    part.offsets[axis] = isDynamic ? 0 : offset;
    part.isStatic &= !isDynamic;
    part.values[axis] = isDynamic ? gpuCast(g, gpuScalar(g, mlirOperationGetOperand(op, firstOffset++)), g->i32, true)
                                  : gpuI32(g, offset);
  }
  return part;
}

static bool shiftInto(const TileLayoutPoint *to, TileLayoutPoint *from, const void *data) {
  const Part *part = data;
  for (intptr_t axis = 0; axis < part->small.rank; ++axis)
    from->at[axis] = to->at[axis] + (uint32_t)part->offsets[axis];
  return true;
}

static bool shiftOut(const TileLayoutPoint *to, TileLayoutPoint *from, const void *data) {
  const Part *part = data;
  for (intptr_t axis = 0; axis < part->small.rank; ++axis) {
    from->at[axis] = to->at[axis] - (uint32_t)part->offsets[axis];
    if (from->at[axis] >= part->small.sizes[axis])
      return false;
  }
  return true;
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
    origin = gpuAdd(g, origin, gpuMul(g, part->values[axis], gpuI32(g, places->factors[axis])));
  return origin;
}

static bool sliceBuffer(MlirOperation op) { return gpuRefuse(op, "a slice of a buffer"); }

static bool lowerSlice(Gpu *g, MlirOperation op) {
  MlirValue input = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
  MlirType from = mlirValueGetType(input), to = mlirValueGetType(result), element = tileTypeGetElement(from);
  if (tileTypeIsABuffer(from))
    return sliceBuffer(op);
  Part part = partOf(g, op, 1, to);
  if (part.isStatic && moveTile(g, input, result, shiftInto, &part))
    return true;
  int64_t bytes = gpuStoredBytes(element);
  MlirValue scratch = gpuScratch(g, gpuTileBytes(from)), *registers = gpuRecordTile(g, result);
  gpuWriteDense(g, from, gpuTile(g, input), scratch);
  gpuScratchReady(g);
  TileLayout layout = gpuLayoutOf(to);
  Places places = placesIn(g, from, &layout);
  MlirValue origin = originOf(g, &places, &part);
  for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg) {
    MlirValue at = gpuMul(g, gpuAdd(g, gpuPlace(g, &places, reg), origin), gpuI32(g, bytes));
    gpuLoadWhere(g, gpuIsElement(g, places.map, to, AllAxes, reg), element, 1, gpuAddress(g, scratch, at), bytes,
                 gpuZero(g, element), &registers[reg]);
  }
  gpuScratchDone(g);
  return true;
}

static bool sameElement(const TileLayoutPoint *to, TileLayoutPoint *from, const void *data) {
  (void)data;
  *from = *to;
  return true;
}

// By renaming: from the part where it has the element, from the destination elsewhere.
static bool insertByMoves(Gpu *g, MlirOperation op, const Part *part) {
  MlirValue input = mlirOperationGetOperand(op, 0), whole = mlirOperationGetOperand(op, 1);
  MlirValue result = mlirOperationGetResult(op, 0);
  TileLayout small = gpuLayoutOf(mlirValueGetType(input)), large = gpuLayoutOf(mlirValueGetType(whole));
  TileLayout after = gpuLayoutOf(mlirValueGetType(result));
  intptr_t count = gpuRegisters(mlirValueGetType(result));
  intptr_t *inner = gpuAllocate(g, 2 * (size_t)count * sizeof *inner), *outer = inner + count;
  if (!part->isStatic || !gpuMoveRegisters(g, &small, &after, shiftOut, part, inner) ||
      !gpuMoveRegisters(g, &large, &after, sameElement, NULL, outer))
    return false;
  MlirValue *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < count; ++reg)
    registers[reg] = inner[reg] >= 0 ? gpuTile(g, input)[inner[reg]] : gpuTile(g, whole)[outer[reg]];
  return true;
}

static MlirValue isInPart(Gpu *g, const Part *part, const Map *map, intptr_t reg) {
  MlirValue inside = {NULL};
  for (intptr_t axis = 0; axis < part->small.rank; ++axis) {
    MlirValue at = gpuSub(g, gpuCoordinate(g, map, axis, reg), part->values[axis]);
    inside = gpuBoth(g, inside, gpuCompare(g, Compare_UnsignedLess, at, gpuI32(g, part->small.sizes[axis])));
  }
  return inside;
}

static bool lowerInsert(Gpu *g, MlirOperation op) {
  MlirValue input = mlirOperationGetOperand(op, 0), whole = mlirOperationGetOperand(op, 1);
  MlirType small = mlirValueGetType(input), type = tileResultType(op, 0), element = tileTypeGetElement(type);
  Part part = partOf(g, op, 2, small);
  if (insertByMoves(g, op, &part))
    return true;
  int64_t bytes = gpuStoredBytes(element);
  intptr_t count = gpuRegisters(type);
  MlirValue *old = gpuAllocate(g, (size_t)count * sizeof *old);
  gpuConvertLayout(g, mlirValueGetType(whole), gpuTile(g, whole), type, old);
  MlirValue scratch = gpuScratch(g, gpuTileBytes(small)), *registers = gpuRecordTile(g, mlirOperationGetResult(op, 0));
  gpuWriteDense(g, small, gpuTile(g, input), scratch);
  gpuScratchReady(g);
  TileLayout layout = gpuLayoutOf(type);
  Places places = placesIn(g, small, &layout);
  MlirValue origin = originOf(g, &places, &part);
  for (intptr_t reg = 0; reg < count; ++reg) {
    MlirValue inside = isInPart(g, &part, places.map, reg), value;
    MlirValue at = gpuSelect(g, inside, gpuSub(g, gpuPlace(g, &places, reg), origin), gpuI32(g, 0));
    gpuLoadElements(g, element, 1, gpuAddress(g, scratch, gpuMul(g, at, gpuI32(g, bytes))), bytes, &value);
    registers[reg] = gpuSelect(g, inside, value, old[reg]);
  }
  gpuScratchDone(g);
  return true;
}

//===--- cat ----------------------------------------------------------------------------------------===//

static bool catByMoves(Gpu *g, MlirOperation op, intptr_t axis, MlirValue *registers) {
  MlirType type = tileResultType(op, 0);
  TileLayout after = gpuLayoutOf(type);
  intptr_t count = gpuRegisters(type), *table = gpuAllocate(g, (size_t)count * sizeof *table);
  int64_t offset = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue input = mlirOperationGetOperand(op, i);
    Part part = {.small = shapeOf(mlirValueGetType(input))};
    TileLayout before = gpuLayoutOf(mlirValueGetType(input));
    part.offsets[axis] = offset;
    offset += part.small.sizes[axis];
    if (!gpuMoveRegisters(g, &before, &after, shiftOut, &part, table))
      return false;
    for (intptr_t reg = 0; reg < count; ++reg)
      if (table[reg] >= 0)
        registers[reg] = gpuTile(g, input)[table[reg]];
  }
  for (intptr_t reg = 0; reg < count; ++reg) // void in every thread
    registers[reg] = registers[reg].ptr ? registers[reg] : gpuZero(g, tileTypeGetElement(type));
  return true;
}

static void writePart(Gpu *g, MlirType whole, MlirValue input, int64_t origin, MlirValue scratch) {
  MlirType type = mlirValueGetType(input), element = tileTypeGetElement(type);
  int64_t bytes = gpuStoredBytes(element);
  TileLayout layout = gpuLayoutOf(type);
  Places places = placesIn(g, whole, &layout);
  GpuIf branch = gpuIf(g, gpuIsOwner(g, &layout), 0, NULL);
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg) {
    if (gpuIsFreeRegister(&layout, reg))
      continue;
    MlirValue at = gpuMul(g, gpuAdd(g, gpuPlace(g, &places, reg), gpuI32(g, origin)), gpuI32(g, bytes));
    gpuStoreWhere(g, gpuIsElement(g, places.map, type, AllAxes, reg), element, 1, &gpuTile(g, input)[reg],
                  gpuAddress(g, scratch, at), bytes);
  }
  gpuEndIf(g, &branch, 0, NULL, NULL);
}

static bool lowerCat(Gpu *g, MlirOperation op) {
  MlirType type = tileResultType(op, 0);
  intptr_t axis = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "axis"));
  MlirValue *registers = gpuRecordTile(g, mlirOperationGetResult(op, 0));
  if (catByMoves(g, op, axis, registers))
    return true;
  MlirValue scratch = gpuScratch(g, gpuTileBytes(type));
  int64_t origin = 0, factor = 1;
  for (intptr_t a = axis + 1; a < tileTypeGetRank(type); ++a)
    factor *= tileTypeGetSize(type, a);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    writePart(g, type, mlirOperationGetOperand(op, i), origin * factor, scratch);
    origin += tileTypeGetSize(tileOperandType(op, i), axis);
  }
  gpuScratchReady(g);
  gpuReadDense(g, type, scratch, registers);
  gpuScratchDone(g);
  return true;
}

const GpuRow gpuShapeRows[] = {
    {"tile.iota", lowerIota},
    {"tile.broadcast", lowerBroadcast},
    {"tile.transpose", lowerTranspose},
    {"tile.reshape", lowerReshape},
    {"tile.slice", lowerSlice},
    {"tile.insert", lowerInsert},
    {"tile.cat", lowerCat},
    {NULL},
};
