// Control flow. Loops and conditions whose regions end at their ends become scf. A kernel with a break, or a return in
// a region, becomes blocks and branches, which convert-tt-to-tile lifts to scf. Reductions and scans have regions too.
#include "lib/conversion/cuda_tile_to_tt/cuda_tile_kernel.h"

#include "upstream/arith.h"
#include "upstream/cf.h"
#include "upstream/scf.h"

#include <stdlib.h>

//===--- values that are carried ------------------------------------------------------------===//

typedef struct Parts {
  intptr_t count;
  MlirValue *values;
  MlirType *types;
} Parts;

static bool isCarried(MlirType old) { return !cudaTileTypeIsAToken(old); }

// Values [first, …) of the op's operands, without tokens.
static bool getOperands(CudaTileKernel *k, MlirOperation op, intptr_t first, Parts *parts) {
  intptr_t count = mlirOperationGetNumOperands(op);
  *parts = (Parts){.values = tileArenaAllocate(&k->arena, sizeof(MlirValue) * (size_t)(count + 1)),
                   .types = tileArenaAllocate(&k->arena, sizeof(MlirType) * (size_t)(count + 1))};
  for (intptr_t i = first; i < count; ++i) {
    MlirValue old = mlirOperationGetOperand(op, i);
    if (!isCarried(mlirValueGetType(old)))
      continue;
    MlirValue value = cudaTileGet(k, old);
    if (mlirValueIsNull(value))
      return false;
    parts->values[parts->count] = value;
    parts->types[parts->count++] = mlirValueGetType(value);
  }
  return true;
}

// The old results (or a block's arguments from `first` on) stand for these values.
static void setResults(CudaTileKernel *k, MlirOperation op, MlirValue (*at)(void *from, intptr_t i), void *from) {
  for (intptr_t i = 0, next = 0; i < mlirOperationGetNumResults(op); ++i)
    if (isCarried(tileResultType(op, i)))
      cudaTileSet(k, mlirOperationGetResult(op, i), at(from, next++));
}
static void setArguments(CudaTileKernel *k, MlirBlock old, intptr_t first, MlirBlock made, intptr_t next) {
  for (intptr_t i = first; i < mlirBlockGetNumArguments(old); ++i)
    if (isCarried(mlirValueGetType(mlirBlockGetArgument(old, i))))
      cudaTileSet(k, mlirBlockGetArgument(old, i), mlirBlockGetArgument(made, next++));
}
static MlirValue resultAt(void *op, intptr_t i) { return mlirOperationGetResult((MlirOperation){op}, i); }
static MlirValue argumentAt(void *block, intptr_t i) { return mlirBlockGetArgument((MlirBlock){block}, i); }

static bool resultTypes(CudaTileKernel *k, MlirOperation op, Parts *parts) {
  intptr_t count = mlirOperationGetNumResults(op);
  *parts = (Parts){.types = tileArenaAllocate(&k->arena, sizeof(MlirType) * (size_t)(count + 1))};
  for (intptr_t i = 0; i < count; ++i) {
    MlirType old = tileResultType(op, i), type = cudaTileConvertType(old);
    if (!isCarried(old))
      continue;
    if (mlirTypeIsNull(type))
      return tileError(op, "gives %s, which has no conversion to tt", tileTypeText(old, (char[128]){0}, 128));
    parts->types[parts->count++] = type;
  }
  return true;
}

static MlirBlock onlyBlock(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

//===--- what is structured -----------------------------------------------------------------===//

static bool isEnd(MlirOperation op) {
  return cudaTileYieldOpIsA(op) || cudaTileContinueOpIsA(op) || cudaTileBreakOpIsA(op) || cudaTileReturnOpIsA(op);
}

bool cudaTileIsStructured(MlirOperation op) {
  bool isLoop = cudaTileForOpIsA(op), ok = !cudaTileLoopOpIsA(op);
  if (cudaTileReduceOpIsA(op) || cudaTileScanOpIsA(op))
    return true;
  for (intptr_t r = 0; ok && r < mlirOperationGetNumRegions(op); ++r) {
    MlirBlock block = onlyBlock(op, r);
    if (mlirBlockIsNull(block))
      continue;
    for (MlirOperation each = mlirBlockGetFirstOperation(block); ok && !mlirOperationIsNull(each);
         each = mlirOperationGetNextInBlock(each))
      ok = isEnd(each) ? (isLoop ? cudaTileContinueOpIsA(each) : cudaTileYieldOpIsA(each)) : cudaTileIsStructured(each);
  }
  return ok;
}

// All but the terminator, into the builder's block; then the terminator's values.
static bool convertRegion(CudaTileKernel *k, MlirBlock block, Parts *parts) {
  MlirOperation end = mlirBlockGetTerminator(block);
  return cudaTileConvertBlock(k, block) && getOperands(k, end, 0, parts);
}

static bool structuredIf(CudaTileKernel *k, MlirOperation op, MlirValue condition) {
  Parts types, values;
  MlirRegion regions[2];
  if (!resultTypes(k, op, &types))
    return false;
  TileBuilder outer = k->b;
  intptr_t done = 0;
  bool ok = true;
  for (; ok && done < 2; ++done) {
    MlirBlock block = onlyBlock(op, done);
    k->b = tileBuilderInRegion(&outer, &regions[done], 0, NULL);
    values = (Parts){0};
    ok = mlirBlockIsNull(block) || convertRegion(k, block, &values);
    if (ok)
      scfYieldOpBuild(&k->b, values.count, values.values);
  }
  k->b = outer;
  for (intptr_t i = 0; !ok && i < done; ++i)
    mlirRegionDestroy(regions[i]);
  if (!ok)
    return false;
  MlirOperation made = scfIfOpBuild(&k->b, types.count, types.types, condition, regions[0], regions[1]);
  setResults(k, op, resultAt, made.ptr);
  return true;
}

static bool structuredFor(CudaTileKernel *k, MlirOperation op, const MlirValue *bounds) {
  Parts initial, next;
  MlirBlock old = onlyBlock(op, 0), body;
  if (!getOperands(k, op, 3, &initial))
    return false;
  MlirOperation loop = tileBuildFor(&k->b, bounds[0], bounds[1], bounds[2], initial.count, initial.values, &body);
  TileBuilder outer = k->b;
  k->b = tileBuilderAtEnd(body, outer.location);
  setArguments(k, old, 0, body, 0);
  bool ok = convertRegion(k, old, &next);
  if (ok)
    tileBuildYield(&k->b, next.count, next.values);
  k->b = outer;
  setResults(k, op, resultAt, loop.ptr);
  return ok;
}

//===--- blocks and branches ------------------------------------------------------------------===//

static MlirBlock newBlock(CudaTileKernel *k, const Parts *types) {
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  for (intptr_t i = 0; i < types->count; ++i)
    mlirBlockAddArgument(block, types->types[i], k->b.location);
  return block;
}

// Blocks stand in the order in which they are filled.
static void enter(CudaTileKernel *k, MlirBlock block) {
  mlirRegionAppendOwnedBlock(mlirBlockGetParentRegion(k->b.block), block);
  k->b = tileBuilderAtEnd(block, k->b.location);
  k->isDead = false;
}

// What a region does when it ends: `yield` goes on behind the op.
typedef struct Merge {
  MlirBlock block;
  bool isReached;
} Merge;

static bool leave(CudaTileKernel *k, MlirOperation end, Merge *merge) {
  Parts parts;
  if (!getOperands(k, end, 0, &parts))
    return false;
  merge->isReached = true;
  cfBranchOpBuild(&k->b, parts.count, parts.values, merge->block);
  return true;
}

static bool branchRegion(CudaTileKernel *k, MlirBlock block, Merge *merge) {
  if (mlirBlockIsNull(block)) {
    merge->isReached = true;
    cfBranchOpBuild(&k->b, 0, NULL, merge->block);
    return true;
  }
  if (!cudaTileConvertBlock(k, block))
    return false;
  MlirOperation end = mlirBlockGetTerminator(block);
  return k->isDead || !cudaTileYieldOpIsA(end) || leave(k, end, merge);
}

static bool branchingIf(CudaTileKernel *k, MlirOperation op, MlirValue condition) {
  Parts types, none = {0};
  if (!resultTypes(k, op, &types))
    return false;
  Merge merge = {newBlock(k, &types), false};
  MlirBlock branches[2] = {newBlock(k, &none), newBlock(k, &none)};
  cfCondBranchOpBuild(&k->b, condition, 0, NULL, 0, NULL, branches[0], branches[1]);
  bool ok = true;
  for (int i = 0; i < 2; ++i) {
    enter(k, branches[i]);
    ok = ok && branchRegion(k, onlyBlock(op, i), &merge);
  }
  if (ok && !merge.isReached) {
    mlirBlockDestroy(merge.block);
    k->isDead = true;
    return true;
  }
  enter(k, merge.block);
  setResults(k, op, argumentAt, merge.block.ptr);
  return ok;
}

// `bounds`: of a `for`; null: a `loop`.
static bool branchingLoop(CudaTileKernel *k, MlirOperation op, const MlirValue *bounds) {
  Parts initial, types, none = {0};
  MlirBlock old = onlyBlock(op, 0);
  if (!getOperands(k, op, bounds ? 3 : 0, &initial) || !resultTypes(k, op, &types))
    return false;
  Parts carried = {.values = tileArenaAllocate(&k->arena, sizeof(MlirValue) * (size_t)(initial.count + 1)),
                   .types = tileArenaAllocate(&k->arena, sizeof(MlirType) * (size_t)(initial.count + 1))};
  if (bounds) {
    carried.values[0] = bounds[0];
    carried.types[carried.count++] = mlirValueGetType(bounds[0]);
  }
  for (intptr_t i = 0; i < initial.count; ++i, ++carried.count) {
    carried.values[carried.count] = initial.values[i];
    carried.types[carried.count] = initial.types[i];
  }
  CudaTileLoop loop = {.header = newBlock(k, &carried), .exit = newBlock(k, &types)}, *outer = k->loop;
  cfBranchOpBuild(&k->b, carried.count, carried.values, loop.header);
  enter(k, loop.header);
  if (bounds) {
    MlirBlock body = newBlock(k, &none);
    loop.counter = mlirBlockGetArgument(loop.header, 0);
    loop.step = bounds[2];
    loop.isLeft = true;
    MlirValue goes = arithCmpIOpBuild(&k->b, loop.counter, bounds[1], ArithCmpI_Slt), last[CudaTileMaxValues];
    for (intptr_t i = 0; i < initial.count && i < CudaTileMaxValues; ++i)
      last[i] = mlirBlockGetArgument(loop.header, i + 1);
    cfCondBranchOpBuild(&k->b, goes, 0, NULL, initial.count, last, body, loop.exit);
    enter(k, body);
  }
  setArguments(k, old, 0, loop.header, 0);
  k->loop = &loop;
  bool ok = cudaTileConvertBlock(k, old);
  k->loop = outer;
  if (ok && !loop.isLeft) {
    mlirBlockDestroy(loop.exit);
    k->isDead = true;
    return true;
  }
  enter(k, loop.exit);
  setResults(k, op, argumentAt, loop.exit.ptr);
  return ok;
}

// A break or continue, of the loop around.
static bool jump(CudaTileKernel *k, MlirOperation op) {
  Parts parts;
  if (!k->loop)
    return tileError(op, "is in no loop");
  if (!getOperands(k, op, 0, &parts))
    return false;
  bool isBreak = cudaTileBreakOpIsA(op);
  MlirBlock target = isBreak ? k->loop->exit : k->loop->header;
  MlirValue *values = tileArenaAllocate(&k->arena, sizeof *values * (size_t)(parts.count + 1));
  intptr_t count = 0;
  if (!isBreak && !mlirValueIsNull(k->loop->step))
    values[count++] = tileBuildBinary(&k->b, ArithOp_AddI, k->loop->counter, k->loop->step);
  for (intptr_t i = 0; i < parts.count; ++i)
    values[count++] = parts.values[i];
  if (count != mlirBlockGetNumArguments(target))
    return tileError(op, "gives %ld values, expected %ld", (long)count, (long)mlirBlockGetNumArguments(target));
  k->loop->isLeft |= isBreak;
  cfBranchOpBuild(&k->b, count, values, target);
  k->isDead = true;
  return true;
}

//===--- ops --------------------------------------------------------------------------------===//

// In a kernel whose other ops branch, a structured op stays structured.
static bool convertIf(CudaTileKernel *k, MlirOperation op) {
  MlirValue condition = cudaTileGet(k, cudaTileIfOpGetCondition(op));
  if (mlirValueIsNull(condition))
    return false;
  return cudaTileIsStructured(op) ? structuredIf(k, op, condition) : branchingIf(k, op, condition);
}

static bool convertFor(CudaTileKernel *k, MlirOperation op) {
  MlirValue bounds[] = {cudaTileGet(k, cudaTileForOpGetLowerBound(op)), cudaTileGet(k, cudaTileForOpGetUpperBound(op)),
                        cudaTileGet(k, cudaTileForOpGetStep(op))};
  for (int i = 0; i < 3; ++i)
    if (mlirValueIsNull(bounds[i]))
      return false;
  if (cudaTileForOpHasUnsignedCmp(op))
    return tileError(op, "counts unsigned integers, expected signed ones");
  if (mlirBlockGetNumArguments(onlyBlock(op, 0)) != mlirOperationGetNumOperands(op) - 2 ||
      mlirOperationGetNumOperands(op) > CudaTileMaxValues)
    return tileError(op, "has a region of %ld arguments, expected %ld",
                     (long)mlirBlockGetNumArguments(onlyBlock(op, 0)), (long)mlirOperationGetNumOperands(op) - 2);
  return cudaTileIsStructured(op) ? structuredFor(k, op, bounds) : branchingLoop(k, op, bounds);
}

static bool convertLoop(CudaTileKernel *k, MlirOperation op) {
  if (mlirBlockGetNumArguments(onlyBlock(op, 0)) != mlirOperationGetNumOperands(op))
    return tileError(op, "has a region of %ld arguments, expected %ld",
                     (long)mlirBlockGetNumArguments(onlyBlock(op, 0)), (long)mlirOperationGetNumOperands(op));
  return branchingLoop(k, op, NULL);
}

// tt's region takes all first elements, then all second ones; here they stand in pairs.
static bool combine(CudaTileKernel *k, MlirOperation op, MlirRegion *region) {
  MlirBlock old = onlyBlock(op, 0);
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirType types[CudaTileMaxValues];
  if (2 * count > CudaTileMaxValues || mlirBlockGetNumArguments(old) != 2 * count)
    return tileError(op, "has a region of %ld arguments, expected %ld", (long)mlirBlockGetNumArguments(old),
                     (long)(2 * count));
  for (intptr_t i = 0; i < 2 * count; ++i)
    types[i] = cudaTileElement(cudaTileConvertType(tileOperandType(op, i % count)));
  TileBuilder outer = k->b;
  k->b = tileBuilderInRegion(&outer, region, 2 * count, types);
  for (intptr_t i = 0; i < 2 * count; ++i)
    cudaTileSet(k, mlirBlockGetArgument(old, i), mlirBlockGetArgument(k->b.block, i / 2 + i % 2 * count));
  Parts parts;
  bool ok = convertRegion(k, old, &parts);
  if (ok && cudaTileReduceOpIsA(op))
    ttReduceReturnOpBuild(&k->b, parts.count, parts.values);
  else if (ok)
    ttScanReturnOpBuild(&k->b, parts.count, parts.values);
  else
    mlirRegionDestroy(*region);
  k->b = outer;
  k->isDead = false;
  return ok;
}

static bool convertReduction(CudaTileKernel *k, MlirOperation op) {
  Parts sources, results;
  MlirRegion region;
  if (!getOperands(k, op, 0, &sources) || !resultTypes(k, op, &results) || !combine(k, op, &region))
    return false;
  MlirOperation made;
  if (cudaTileReduceOpIsA(op))
    made = ttReduceOpBuild(&k->b, results.count, results.types, sources.count, sources.values,
                           cudaTileI32(k, cudaTileReduceOpGetDimValue(op)), region);
  else
    made = ttScanOpBuild(&k->b, results.count, results.types, sources.count, sources.values,
                         cudaTileI32(k, cudaTileScanOpGetDimValue(op)), cudaTileScanOpGetReverse(op), region);
  setResults(k, op, resultAt, made.ptr);
  return true;
}

static bool end(CudaTileKernel *k, MlirOperation op) {
  ttReturnOpBuild(&k->b, 0, NULL);
  k->isDead = true;
  return true;
}

// Terminators of structured regions are their op's.
static bool isOfParent(MlirOperation op) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  return cudaTileYieldOpIsA(op) ||
         (cudaTileContinueOpIsA(op) && cudaTileForOpIsA(parent) && cudaTileIsStructured(parent));
}

bool cudaTileControl(void *kernel, MlirOperation op, bool *isKnown) {
  CudaTileKernel *k = kernel;
  *isKnown = true;
  switch (cudaTileOpKind(op)) {
  case CudaTileOp_If:
    return convertIf(k, op);
  case CudaTileOp_For:
    return convertFor(k, op);
  case CudaTileOp_Loop:
    return convertLoop(k, op);
  case CudaTileOp_Reduce:
  case CudaTileOp_Scan:
    return convertReduction(k, op);
  case CudaTileOp_Return:
    return end(k, op);
  case CudaTileOp_Yield:
  case CudaTileOp_Break:
  case CudaTileOp_Continue:
    return isOfParent(op) || jump(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
