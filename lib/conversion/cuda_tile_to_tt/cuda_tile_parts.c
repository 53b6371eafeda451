// Parts of tiles: a subtile that is replaced, elements as bytes and bytes as elements.
#include "lib/conversion/cuda_tile_to_tt/cuda_tile_kernel.h"

#include "upstream/arith.h"

static MlirType sized(intptr_t rank, const int64_t *sizes, MlirType element) {
  return mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
}

static MlirValue fill(CudaTileKernel *k, MlirType type, int64_t value) {
  return cudaTileSplat(k, tileBuildInteger(&k->b, cudaTileElement(type), value), type);
}

//===--- insert ---------------------------------------------------------------------------===//

// Each place of the destination takes the source's element, its number modulo the source's size, where the place lies
// in the subtile.
static bool insert(CudaTileKernel *k, MlirOperation op) {
  MlirValue x = cudaTileGet(k, cudaTileInsertOpGetSource(op)),
            into = cudaTileGet(k, cudaTileInsertOpGetDestination(op));
  MlirValue indices[CudaTileMaxRank], isInside = {NULL};
  MlirExtShape from, to;
  int64_t sizes[CudaTileMaxRank];
  if (mlirValueIsNull(x) || mlirValueIsNull(into) || !mlirExtTypeGetShape(cudaTileInsertOpGetSourceType(op), &from) ||
      !mlirExtTypeGetShape(tileOnlyResultType(op), &to))
    return false;
  if (from.rank != to.rank || from.rank == 0 || cudaTileInsertOpGetNumIndices(op) != from.rank || from.rank > TtMaxRank)
    return tileError(op, "has %ld indices for tiles of %ld and %ld dimensions, expected as many",
                     (long)cudaTileInsertOpGetNumIndices(op), (long)from.rank, (long)to.rank);
  if (!cudaTileGetAll(k, from.rank, cudaTileInsertOpGetIndices, op, indices))
    return false;
  for (intptr_t axis = 0; axis < from.rank; ++axis)
    sizes[axis] = from.sizes[axis];
  MlirType element = cudaTileElement(mlirValueGetType(x));
  for (intptr_t axis = 0; axis < from.rank; ++axis) {
    int64_t size = from.sizes[axis];
    if (to.sizes[axis] % size)
      return tileError(op, "puts %ld places into %ld, expected a divisor", (long)size, (long)to.sizes[axis]);
    sizes[axis] = to.sizes[axis];
    MlirValue range = cudaTileRange(k, from.rank, sizes, axis, 32);
    MlirValue place = tileBuildBinary(&k->b, ArithOp_RemSI, range, fill(k, mlirValueGetType(range), size));
    x = ttGatherOpBuild(&k->b, sized(from.rank, sizes, element), x, place, cudaTileI32(k, axis));
    range = cudaTileRange(k, from.rank, to.sizes, axis, 32);
    MlirValue part = tileBuildBinary(&k->b, ArithOp_DivSI, range, fill(k, mlirValueGetType(range), size));
    MlirValue wanted = cudaTileSplat(k, cudaTileWiden(k, indices[axis], 32), mlirValueGetType(part));
    MlirValue isHere = arithCmpIOpBuild(&k->b, part, wanted, ArithCmpI_Eq);
    isInside = axis ? tileBuildBinary(&k->b, ArithOp_AndI, isInside, isHere) : isHere;
  }
  cudaTileSet(k, tileOnlyResult(op), arithSelectOpBuild(&k->b, isInside, x, into));
  return true;
}

//===--- bytes ----------------------------------------------------------------------------===//

enum { MostParts = 8 };

// Tiles of n numbers, as n rows with one number of each.
static MlirValue interleave(CudaTileKernel *k, intptr_t count, const MlirValue *parts) {
  MlirValue even[MostParts], odd[MostParts];
  if (count == 1)
    return parts[0];
  for (intptr_t i = 0; i < count; ++i)
    (i & 1 ? odd : even)[i / 2] = parts[i];
  MlirValue left = interleave(k, count / 2, even), right = interleave(k, count / 2, odd);
  MlirExtShape shape;
  mlirExtTypeGetShape(mlirValueGetType(left), &shape);
  int64_t joined[] = {shape.sizes[0], count / 2, 2}, rows[] = {shape.sizes[0], count};
  if (count == 2)
    return ttJoinOpBuild(&k->b, sized(2, rows, shape.element), left, right);
  MlirValue pairs = ttJoinOpBuild(&k->b, sized(3, joined, shape.element), left, right);
  return ttReshapeOpBuild(&k->b, sized(2, rows, shape.element), pairs);
}

// The other way.
static void take(CudaTileKernel *k, MlirValue rows, intptr_t count, MlirValue *parts) {
  MlirExtShape shape;
  if (count == 1) {
    parts[0] = rows;
    return;
  }
  mlirExtTypeGetShape(mlirValueGetType(rows), &shape);
  int64_t pairs[] = {shape.sizes[0], count / 2, 2};
  MlirType half = sized(count == 2 ? 1 : 2, pairs, shape.element);
  MlirValue even[MostParts], odd[MostParts];
  if (count > 2)
    rows = ttReshapeOpBuild(&k->b, sized(3, pairs, shape.element), rows);
  MlirOperation split = ttSplitOpBuild(&k->b, half, half, rows);
  take(k, ttSplitOpGetOutLHS(split), count / 2, even);
  take(k, ttSplitOpGetOutRHS(split), count / 2, odd);
  for (intptr_t i = 0; i < count; ++i)
    parts[i] = (i & 1 ? odd : even)[i / 2];
}

static MlirValue asIntegers(CudaTileKernel *k, MlirValue x, unsigned bits) {
  MlirType type = cudaTileShaped(mlirValueGetType(x), mlirIntegerTypeGet(k->b.context, bits));
  return mlirTypeEqual(mlirValueGetType(x), type) ? x : ttBitcastOpBuild(&k->b, type, x);
}

// `narrow` numbers behind each other, the lowest first, as one of `wide` bits; and the other way.
static MlirValue merge(CudaTileKernel *k, MlirValue x, int64_t count, unsigned narrow, unsigned wide) {
  int64_t rows[] = {count, wide / narrow};
  MlirType narrowType = mlirIntegerTypeGet(k->b.context, narrow), wideType = mlirIntegerTypeGet(k->b.context, wide);
  MlirValue parts[MostParts], sum = {NULL};
  take(k, ttReshapeOpBuild(&k->b, sized(2, rows, narrowType), x), rows[1], parts);
  for (intptr_t i = 0; i < rows[1]; ++i) {
    MlirType type = sized(1, &count, wideType);
    MlirValue part = tileBuildCast(&k->b, ArithOp_ExtUI, parts[i], type);
    part = i ? tileBuildBinary(&k->b, ArithOp_ShLI, part, fill(k, type, narrow * i)) : part;
    sum = i ? tileBuildBinary(&k->b, ArithOp_OrI, sum, part) : part;
  }
  return sum;
}

static MlirValue divide(CudaTileKernel *k, MlirValue x, int64_t count, unsigned wide, unsigned narrow) {
  int64_t number = wide / narrow, total = count * number;
  MlirType type = sized(1, &count, mlirIntegerTypeGet(k->b.context, narrow));
  MlirValue parts[MostParts];
  for (intptr_t i = 0; i < number; ++i) {
    MlirValue part = i ? tileBuildBinary(&k->b, ArithOp_ShRUI, x, fill(k, mlirValueGetType(x), narrow * i)) : x;
    parts[i] = tileBuildCast(&k->b, ArithOp_TruncI, part, type);
  }
  return ttReshapeOpBuild(&k->b, sized(1, &total, mlirIntegerTypeGet(k->b.context, narrow)),
                          interleave(k, number, parts));
}

// `isPack`: of the op's operand, else of its result, the elements are bytes.
static bool repack(CudaTileKernel *k, MlirOperation op, bool isPack) {
  MlirType bytes = isPack ? tileOnlyResultType(op) : tileOnlyOperandType(op);
  MlirType whole = isPack ? tileOnlyOperandType(op) : tileOnlyResultType(op);
  MlirValue x = cudaTileGet(k, tileOnlyOperand(op));
  unsigned bits = tileElementWidth(cudaTileElement(whole));
  MlirExtShape few, many;
  if (mlirValueIsNull(x) || !mlirExtTypeGetShape(bytes, &few) || !mlirExtTypeGetShape(whole, &many))
    return false;
  bool fits = few.rank == 1 && many.rank == 1 && mlirTypeIsAInteger(few.element) &&
              tileElementWidth(few.element) == 8 && few.sizes[0] * 8 == many.sizes[0] * bits;
  if (!fits || (bits != 4 && bits != 8 && bits != 16 && bits != 32 && bits != 64))
    return tileError(op, "has the types %s and %s, expected lines of elements and of as many bytes",
                     tileTypeText(whole, (char[64]){0}, 64), tileTypeText(bytes, (char[64]){0}, 64));
  int64_t elements = many.sizes[0], count = few.sizes[0];
  x = asIntegers(k, x, isPack ? bits : 8);
  if (bits < 8)
    x = isPack ? merge(k, x, count, bits, 8) : divide(k, x, count, 8, bits);
  else if (bits > 8)
    x = isPack ? divide(k, x, elements, bits, 8) : merge(k, x, elements, 8, bits);
  MlirType type = cudaTileConvertType(tileOnlyResultType(op));
  cudaTileSet(k, tileOnlyResult(op), mlirTypeEqual(mlirValueGetType(x), type) ? x : ttBitcastOpBuild(&k->b, type, x));
  return true;
}

bool cudaTileParts(void *kernel, MlirOperation op, bool *isKnown) {
  CudaTileKernel *k = kernel;
  *isKnown = true;
  switch (cudaTileOpKind(op)) {
  case CudaTileOp_Insert:
    return insert(k, op);
  case CudaTileOp_Pack:
    return repack(k, op, true);
  case CudaTileOp_Unpack:
    return repack(k, op, false);
  default:
    *isKnown = false;
    return true;
  }
}
