// Scalars: arithmetic on integers that folds constants on the spot, memory by address, branches and loops of our own.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "lib/ir/emit/number.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

//===--- constants and plain ops ------------------------------------------------===//

MlirValue gpuInteger(Gpu *g, MlirType type, int64_t value) { return tileBuildInteger(&g->builder, type, value); }

MlirValue gpuI32(Gpu *g, int64_t value) { return gpuInteger(g, g->i32, value); }

MlirValue gpuOp(Gpu *g, TileUpstream op, MlirType type, MlirValue a) { return tileBuildCast(&g->builder, op, a, type); }

MlirValue gpuBinary(Gpu *g, TileUpstream op, MlirValue a, MlirValue b) {
  return tileBuildBinary(&g->builder, op, a, b);
}

//===--- integers -----------------------------------------------------------------===//

MlirValue gpuAdd(Gpu *g, MlirValue a, MlirValue b) {
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return mlirValueIsNull(a) ? b : a;
  return tileBuildAdd(&g->builder, a, b);
}

MlirValue gpuSub(Gpu *g, MlirValue a, MlirValue b) { return tileBuildSub(&g->builder, a, b); }

MlirValue gpuMul(Gpu *g, MlirValue a, MlirValue b) { return tileBuildMul(&g->builder, a, b); }

MlirValue gpuXor(Gpu *g, MlirValue a, MlirValue b) {
  int64_t x, y;
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return mlirValueIsNull(a) ? b : a;
  bool hasX = tileConstantIndex(a, &x), hasY = tileConstantIndex(b, &y);
  if (hasX && hasY)
    return gpuInteger(g, mlirValueGetType(a), x ^ y);
  return hasY && !y ? a : gpuBinary(g, ArithOp_XOrI, a, b);
}

MlirValue gpuAnd(Gpu *g, MlirValue a, int64_t mask) {
  int64_t x;
  MlirType type = mlirValueGetType(a);
  if (tileConstantIndex(a, &x))
    return gpuInteger(g, type, x & mask);
  return gpuBinary(g, ArithOp_AndI, a, gpuInteger(g, type, mask));
}

static MlirValue shift(Gpu *g, TileUpstream op, MlirValue a, int64_t bits) {
  return bits ? gpuBinary(g, op, a, gpuInteger(g, mlirValueGetType(a), bits)) : a;
}

MlirValue gpuShiftLeft(Gpu *g, MlirValue a, int64_t bits) { return shift(g, ArithOp_ShLI, a, bits); }

MlirValue gpuShiftRight(Gpu *g, MlirValue a, int64_t bits) { return shift(g, ArithOp_ShRUI, a, bits); }

//===--- conditions ---------------------------------------------------------------===//

MlirValue gpuCompare(Gpu *g, ArithCmpI predicate, MlirValue a, MlirValue b) {
  return arithCmpIOpBuild(&g->builder, a, b, predicate);
}

MlirValue gpuBoth(Gpu *g, MlirValue a, MlirValue b) {
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return mlirValueIsNull(a) ? b : a;
  return gpuBinary(g, ArithOp_AndI, a, b);
}

MlirValue gpuNot(Gpu *g, MlirValue a) { return gpuBinary(g, ArithOp_XOrI, a, gpuInteger(g, g->i1, 1)); }

MlirValue gpuSelect(Gpu *g, MlirValue condition, MlirValue a, MlirValue b) {
  if (mlirValueIsNull(condition) || mlirValueEqual(a, b))
    return a;
  return arithSelectOpBuild(&g->builder, condition, a, b);
}

MlirValue gpuCast(Gpu *g, MlirValue value, MlirType type, bool isSigned) {
  MlirType from = mlirValueGetType(value);
  int64_t constant;
  if (mlirTypeEqual(from, type))
    return value;
  if (isSigned && tileMemoryBits(type) >= 32 && tileConstantIndex(value, &constant))
    return gpuInteger(g, type, constant);
  return tileBuildIntegerCast(&g->builder, value, type, isSigned);
}

//===--- memory -------------------------------------------------------------------===//

MlirValue gpuAddress(Gpu *g, MlirValue base, MlirValue bytes) {
  int64_t constant = 0;
  bool isConstant = !mlirValueIsNull(bytes) && tileConstantIndex(bytes, &constant);
  if (mlirValueIsNull(bytes) || (isConstant && !constant))
    return base;
  bool isStatic = isConstant && constant > INT32_MIN && constant <= INT32_MAX;
  int32_t index = isStatic ? (int32_t)constant : INT32_MIN;
  if (!isStatic && mlirTypeIsAIndex(mlirValueGetType(bytes)))
    bytes = gpuCast(g, bytes, g->i64, true);
  MlirAttribute indices = mlirDenseI32ArrayGet(g->context, 1, &index);
  return llvmGEPOpBuild(&g->builder, mlirValueGetType(base), base, !isStatic, &bytes, indices, mlirTypeAttrGet(g->i8));
}

// Addresses in shared memory have 32 bits and wrap as i32 does: a place is scaled as i32, and its constant part becomes
// the offset of an instruction.
static MlirValue elementInShared(Gpu *g, MlirValue base, MlirValue place, int64_t bytes) {
  int64_t constant = 0;
  MlirOperation op = tileDefiningOp(place);
  if (arithIndexCastOpIsA(op) && mlirTypeEqual(mlirValueGetType(tileOnlyOperand(op)), g->i32))
    op = tileDefiningOp(place = tileOnlyOperand(op));
  if (arithAddIOpIsA(op) && tileConstantIndex(tileBinaryRhs(op), &constant))
    place = tileBinaryLhs(op);
  if (!mlirTypeEqual(mlirValueGetType(place), g->i32))
    place = gpuCast(g, place, g->i32, true);
  return gpuAddress(g, gpuAddress(g, base, gpuMul(g, place, gpuI32(g, bytes))), gpuI32(g, constant * bytes));
}

MlirValue gpuElementAt(Gpu *g, MlirValue base, MlirValue place, MlirType element) {
  MlirType pointer = mlirValueGetType(base), type = mlirValueGetType(place);
  int64_t bytes = tileStoredBytes(element);
  if (mlirTypeIsALLVMPointerType(pointer) && mlirLLVMPointerTypeGetAddressSpace(pointer) == SharedSpace)
    return elementInShared(g, base, place, bytes);
  return gpuAddress(g, base, gpuMul(g, place, gpuInteger(g, type, bytes)));
}

MlirValue gpuLoad(Gpu *g, MlirType type, MlirValue address, int64_t align) {
  MlirValue value = llvmLoadOpBuild(&g->builder, type, address);
  llvmLoadOpSetAlignment(mlirOpResultGetOwner(value), mlirIntegerAttrGet(g->i64, align));
  return value;
}

void gpuStore(Gpu *g, MlirValue value, MlirValue address, int64_t align) {
  llvmStoreOpSetAlignment(llvmStoreOpBuild(&g->builder, value, address), mlirIntegerAttrGet(g->i64, align));
}

//===--- branches and loops ---------------------------------------------------------===//

void gpuEnter(Gpu *g, MlirBlock block) {
  g->builder = tileBuilderAtEnd(block, g->builder.location);
  g->builder.memo = g->memo;
}

MlirRegion gpuRegion(Gpu *g, intptr_t count, const MlirType *types, MlirBlock *block) {
  MlirLocation *locations = gpuAllocate(g, (size_t)count * sizeof *locations);
  for (intptr_t i = 0; i < count; ++i)
    locations[i] = g->builder.location;
  MlirRegion region = mlirRegionCreate();
  *block = mlirBlockCreate(count, types, locations);
  mlirRegionAppendOwnedBlock(region, *block);
  return region;
}

GpuIf gpuIf(Gpu *g, MlirValue condition, intptr_t count, const MlirType *types) {
  GpuIf branch = {.op = {NULL}, .before = g->builder};
  if (mlirValueIsNull(condition))
    return branch;
  MlirBlock block;
  MlirRegion then = gpuRegion(g, 0, NULL, &block),
             otherwise = count ? gpuRegion(g, 0, NULL, &block) : mlirRegionCreate();
  branch.op = scfIfOpBuild(&g->builder, count, types, condition, then, otherwise);
  branch.before = g->builder;
  gpuEnter(g, mlirRegionGetFirstBlock(scfIfOpGetThenRegion(branch.op)));
  return branch;
}

void gpuElse(Gpu *g, GpuIf *branch, intptr_t count, const MlirValue *values) {
  if (mlirOperationIsNull(branch->op))
    return;
  MlirRegion otherwise = scfIfOpGetElseRegion(branch->op);
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(otherwise)))
    mlirRegionAppendOwnedBlock(otherwise, mlirBlockCreate(0, NULL, NULL));
  tileBuildYield(&g->builder, count, values);
  gpuEnter(g, mlirRegionGetFirstBlock(otherwise));
}

void gpuEndIf(Gpu *g, GpuIf *branch, intptr_t count, const MlirValue *values, MlirValue *results) {
  if (mlirOperationIsNull(branch->op))
    return;
  tileBuildYield(&g->builder, count, values);
  g->builder = branch->before;
  for (intptr_t i = 0; i < count; ++i)
    results[i] = mlirOperationGetResult(branch->op, i);
}

MlirValue gpuFor(Gpu *g, MlirValue low, MlirValue high, int64_t step, TileBuilder *before) {
  MlirBlock body;
  tileBuildFor(&g->builder, low, high, gpuInteger(g, mlirValueGetType(low), step), 0, NULL, &body);
  *before = g->builder;
  gpuEnter(g, body);
  return mlirBlockGetArgument(body, 0);
}

void gpuEndFor(Gpu *g, TileBuilder before) {
  tileBuildYield(&g->builder, 0, NULL);
  g->builder = before;
}
