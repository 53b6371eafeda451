// scf.for, if and while: the same ops, with every tile as its registers. Control flow is the program's: all threads
// take the same way.
#include "lib/conversion/tile_to_gpu/compute.h"

// A tile's registers cross a region's border as vectors of up to so many bytes: upstream's canonicalization is
// quadratic in what a loop carries, and narrow elements share a register.
enum { CarriedBytes = 16 };

//===--- values across a region's border --------------------------------------------------===//

static intptr_t widthOf(MlirType type) {
  if (tileTypeIsAToken(type))
    return 0;
  return gpuIsTile(type) ? gpuRegisters(type) : 1;
}

static MlirType heldTypeOf(Gpu *g, MlirType type) {
  return gpuHeldType(g, gpuIsTile(type) ? tileTypeGetElement(type) : type);
}

// How many registers of a tile cross together, as one vector: words of 32 bits side by side, and narrow elements packed
// into them.
static intptr_t groupOf(Gpu *g, MlirType type) {
  MlirType held = heldTypeOf(g, type);
  bool isPlain = mlirTypeIsAF16(held) || mlirTypeIsABF16(held) || mlirTypeIsAF32(held) ||
                 (mlirTypeIsAInteger(held) && gpuBits(held) % 8 == 0 && gpuBits(held) <= 32);
  intptr_t width = widthOf(type), count = 1;
  while (gpuIsTile(type) && isPlain && width % (2 * count) == 0 && 2 * count * gpuBits(held) <= 8 * CarriedBytes)
    count *= 2;
  return count;
}

typedef struct Flat {
  intptr_t count;
  MlirType *types;
  MlirValue *values;
} Flat;

static Flat flatOf(Gpu *g, intptr_t count, const MlirType *types) {
  Flat flat = {0};
  for (intptr_t i = 0; i < count; ++i)
    flat.count += widthOf(types[i]) / groupOf(g, types[i]);
  flat.types = gpuAllocate(g, (size_t)flat.count * sizeof *flat.types);
  flat.values = gpuAllocate(g, (size_t)flat.count * sizeof *flat.values);
  for (intptr_t i = 0, at = 0; i < count; ++i) {
    int64_t group = groupOf(g, types[i]);
    for (intptr_t reg = 0; reg < widthOf(types[i]); reg += group)
      flat.types[at++] = group == 1 ? heldTypeOf(g, types[i]) : mlirVectorTypeGet(1, &group, heldTypeOf(g, types[i]));
  }
  return flat;
}

// What the operands of `op` from `first` on are now.
static void give(Gpu *g, MlirOperation op, intptr_t first, Flat *flat) {
  intptr_t at = 0;
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    MlirType type = mlirValueGetType(operand);
    intptr_t width = widthOf(type), group = groupOf(g, type);
    if (!gpuIsTile(type) && width)
      flat->values[at++] = gpuScalar(g, operand);
    for (intptr_t reg = 0; gpuIsTile(type) && reg < width; reg += group) {
      const MlirValue *values = gpuTile(g, operand) + reg;
      flat->values[at++] = group == 1 ? values[0] : gpuVectorOf(&g->builder, group, values);
    }
  }
}

static void takeOne(Gpu *g, MlirValue source, const MlirValue *values) {
  MlirType type = mlirValueGetType(source);
  if (tileTypeIsAToken(type))
    gpuRecordNew(g, source, Record_Token);
  else if (gpuIsTile(type)) {
    intptr_t group = groupOf(g, type);
    MlirValue *registers = gpuRecordTile(g, source);
    for (intptr_t reg = 0; reg < widthOf(type); ++reg)
      registers[reg] = group == 1 ? values[reg] : gpuElementOf(&g->builder, values[reg / group], reg % group);
  } else
    gpuRecordScalar(g, source, values[0]);
}

// The values of the program, in order, from those that they became.
typedef MlirValue (*ValueAt)(const void *whose, intptr_t index);

static MlirValue argumentAt(const void *block, intptr_t i) {
  return mlirBlockGetArgument(*(const MlirBlock *)block, i);
}

static MlirValue resultAt(const void *op, intptr_t i) { return mlirOperationGetResult(*(const MlirOperation *)op, i); }

static void takeAll(Gpu *g, ValueAt valueAt, const void *source, intptr_t first, intptr_t end, const void *target) {
  for (intptr_t i = first, at = first; i < end; ++i) {
    MlirValue value = valueAt(source, i);
    intptr_t count = widthOf(mlirValueGetType(value)) / groupOf(g, mlirValueGetType(value));
    MlirValue *values = gpuAllocate(g, (size_t)count * sizeof *values);
    for (intptr_t part = 0; part < count; ++part)
      values[part] = valueAt(target, at++);
    takeOne(g, value, values);
  }
}

static void takeArguments(Gpu *g, MlirBlock source, intptr_t first, MlirBlock target) {
  takeAll(g, argumentAt, &source, first, mlirBlockGetNumArguments(source), &target);
}

static void takeResults(Gpu *g, MlirOperation source, MlirOperation target) {
  takeAll(g, resultAt, &source, 0, mlirOperationGetNumResults(source), &target);
}

static MlirBlock blockOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// Room for what `op` gives. Views, buffers and memrefs have no place in a block's arguments.
static bool flatOfResults(Gpu *g, MlirOperation op, Flat *flat) {
  intptr_t count = mlirOperationGetNumResults(op);
  MlirType *types = gpuAllocate(g, (size_t)count * sizeof *types);
  for (intptr_t i = 0; i < count; ++i) {
    types[i] = tileResultType(op, i);
    if (!gpuIsTile(types[i]) && !tileTypeIsAScalar(types[i]) && !tileTypeIsAToken(types[i]))
      return gpuRefuse(op, "a view, buffer or memref that depends on control flow");
  }
  *flat = flatOf(g, count, types);
  return true;
}

// What stands in `source`, and its yield.
static bool lowerYielding(Gpu *g, MlirBlock source, Flat *flat) {
  if (!gpuLowerBlock(g, source))
    return false;
  give(g, mlirBlockGetTerminator(source), 0, flat);
  tileBuildYield(&g->builder, flat->count, flat->values);
  return true;
}

//===--- for ------------------------------------------------------------------------------===//

// The product that adds to this argument of a loop's body; null: none.
static MlirOperation productInto(MlirValue argument) {
  for (MlirOpOperand use = mlirValueGetFirstUse(argument); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (tileMmaOpIsA(op) && mlirValueEqual(tileMmaOpGetAccumulator(op), argument))
      return op;
  }
  return (MlirOperation){NULL};
}

static bool isZero(MlirValue value) {
  return mlirTypeIsAShaped(mlirValueGetType(value)) &&
         mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirValueGetType(value))) && tileIsPlusZero(value);
}

// Where the machine has an instruction for it, sums that begin with zero come from there.
static void giveZeroSums(Gpu *g, MlirOperation loop, Flat *flat) {
  MlirBlock body = blockOf(loop, 0);
  for (intptr_t i = 3, at = 0; i < mlirOperationGetNumOperands(loop); ++i) {
    MlirValue start = mlirOperationGetOperand(loop, i);
    MlirType type = mlirValueGetType(start);
    intptr_t width = widthOf(type), group = groupOf(g, type);
    MlirOperation product = isZero(start) ? productInto(mlirBlockGetArgument(body, i - 2)) : (MlirOperation){NULL};
    MlirValue *registers = gpuAllocate(g, (size_t)width * sizeof *registers);
    if (!mlirOperationIsNull(product) && gpuZeroSums(g, product, registers))
      for (intptr_t reg = 0; reg < width; reg += group)
        flat->values[at + reg / group] = group == 1 ? registers[reg] : gpuVectorOf(&g->builder, group, registers + reg);
    at += width / group;
  }
}

// No number of the loop reaches 2^31: GPUs count in one register.
static bool countsInWords(MlirOperation op) {
  TileIndexFacts low = tileIndexFacts(scfForOpGetLowerBound(op)), high = tileIndexFacts(scfForOpGetUpperBound(op)),
                 step = tileIndexFacts(scfForOpGetStep(op));
  return mlirTypeIsAIndex(mlirValueGetType(scfForOpGetUpperBound(op))) && low.low >= 0 && high.low >= 0 &&
         high.high <= INT32_MAX / 2 && low.high <= INT32_MAX / 2 && step.low > 0 && step.high <= INT32_MAX / 2;
}

static bool lowerFor(Gpu *g, MlirOperation op) {
  Flat flat;
  if (!flatOfResults(g, op, &flat))
    return false;
  give(g, op, 3, &flat);
  giveZeroSums(g, op, &flat);
  MlirValue bounds[3];
  bool isShort = countsInWords(op);
  for (int i = 0; i < 3; ++i) {
    bounds[i] = gpuScalar(g, mlirOperationGetOperand(op, i));
    bounds[i] = isShort ? gpuCast(g, bounds[i], g->i32, true) : bounds[i];
  }
  MlirBlock source = blockOf(op, 0), body;
  MlirOperation loop = tileBuildFor(&g->builder, bounds[0], bounds[1], bounds[2], flat.count, flat.values, &body);
  TileBuilder here = g->builder;
  gpuEnter(g, body);
  MlirValue counter = mlirBlockGetArgument(body, 0);
  gpuRecordScalar(g, mlirBlockGetArgument(source, 0), isShort ? gpuCast(g, counter, g->index, false) : counter);
  takeArguments(g, source, 1, body);
  if (!lowerYielding(g, source, &flat))
    return false;
  g->builder = here;
  takeResults(g, op, loop);
  return true;
}

//===--- if -------------------------------------------------------------------------------===//

static bool lowerIf(Gpu *g, MlirOperation op) {
  Flat flat;
  if (!flatOfResults(g, op, &flat))
    return false;
  bool hasElse = !mlirBlockIsNull(blockOf(op, 1));
  MlirValue condition = gpuScalar(g, scfIfOpGetCondition(op));
  MlirBlock block;
  MlirRegion then = gpuRegion(g, 0, NULL, &block),
             otherwise = hasElse ? gpuRegion(g, 0, NULL, &block) : mlirRegionCreate();
  MlirOperation choice = scfIfOpBuild(&g->builder, flat.count, flat.types, condition, then, otherwise);
  TileBuilder here = g->builder;
  for (int i = 0; i < 1 + hasElse; ++i) {
    gpuEnter(g, blockOf(choice, i));
    if (!lowerYielding(g, blockOf(op, i), &flat))
      return false;
  }
  g->builder = here;
  takeResults(g, op, choice);
  return true;
}

//===--- while ----------------------------------------------------------------------------===//

static bool lowerBefore(Gpu *g, MlirBlock source, MlirBlock target, Flat *forwarded) {
  gpuEnter(g, target);
  takeArguments(g, source, 0, target);
  if (!gpuLowerBlock(g, source))
    return false;
  MlirOperation condition = mlirBlockGetTerminator(source);
  give(g, condition, 1, forwarded);
  scfConditionOpBuild(&g->builder, gpuScalar(g, scfConditionOpGetCondition(condition)), forwarded->count,
                      forwarded->values);
  return true;
}

static bool lowerAfter(Gpu *g, MlirBlock source, MlirBlock target, Flat *carried) {
  gpuEnter(g, target);
  takeArguments(g, source, 0, target);
  return lowerYielding(g, source, carried);
}

static bool lowerWhile(Gpu *g, MlirOperation op) {
  Flat forwarded;
  if (!flatOfResults(g, op, &forwarded))
    return false;
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirType *types = gpuAllocate(g, (size_t)count * sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = tileOperandType(op, i);
  Flat carried = flatOf(g, count, types);
  give(g, op, 0, &carried);
  MlirBlock before, after;
  MlirRegion regions[] = {gpuRegion(g, carried.count, carried.types, &before),
                          gpuRegion(g, forwarded.count, forwarded.types, &after)};
  MlirOperation loop = scfWhileOpBuild(&g->builder, forwarded.count, forwarded.types, carried.count, carried.values,
                                       regions[0], regions[1]);
  TileBuilder here = g->builder;
  bool ok = lowerBefore(g, blockOf(op, 0), before, &forwarded) && lowerAfter(g, blockOf(op, 1), after, &carried);
  g->builder = here;
  if (ok)
    takeResults(g, op, loop);
  return ok;
}

const GpuRow gpuControlRows[] = {
    {ScfOp_For, lowerFor}, {ScfOp_If, lowerIf}, {ScfOp_While, lowerWhile}, {.lower = NULL}};
