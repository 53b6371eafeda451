// Values that threads compute or read for each other, for tile-exchange-in-shared-memory: bits that become elements of
// another width, elements of constants, and what atomics read. See exchange_memory.h.
#include "lib/transforms/pipeline/exchange_memory.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"

//===--- bitcast: one width is a power of two times the other -----------------------------------------===//

static bool movesRegisters(const Exchange *x, MlirOperation bitcast, const TileCast *cast) {
  for (int64_t part = 0; part < (cast->narrows ? 1 : cast->factor); ++part)
    if (!tileMovesOf(bitcast, 0, part, x->threads.lanes, x->threads.warps, NULL))
      return false;
  return true;
}

// The last coordinate of the operand's first element that a step or an odd factor of the result leads to.
static uint32_t inOperand(const TileCast *cast, uint32_t coordinate) {
  return cast->narrows ? coordinate / (uint32_t)cast->factor : coordinate * (uint32_t)cast->factor;
}

// The operand's layout in which each thread has the bits of its elements of the result. False: there is none.
static bool layoutOfOperand(const TileLayout *result, uint32_t last, const TileCast *cast, TileLayout *operand) {
  uint32_t first = 0;
  *operand = tileLayoutEmpty(TileLayoutValues);
  for (uint32_t unit = 1; !cast->narrows && unit < cast->factor; unit *= 2) {
    TileLayoutPoint step = {{0}};
    step.at[last] = unit;
    if (!tileLayoutAppendBit(operand, TileLayoutReg, step, NULL))
      return false;
  }
  for (uint32_t dim = TileLayoutReg; dim <= TileLayoutWarp; first += result->bits[dim++])
    for (uint32_t bit = 0; bit < result->bits[dim]; ++bit) {
      TileLayoutPoint step = result->steps[first + bit];
      step.at[last] = inOperand(cast, step.at[last]);
      if (!tileLayoutAppendBit(operand, dim, step, NULL))
        return false;
    }
  for (uint32_t i = 0; i < result->repeatCount; ++i) {
    TileLayoutRepeat repeat = result->repeats[i];
    if (repeat.axis == (int32_t)last)
      repeat.stride = inOperand(cast, repeat.stride);
    if (!tileLayoutAppendRepeat(operand, repeat, NULL))
      return false;
  }
  return tileLayoutCheck(operand, NULL, NULL);
}

//===--- bitcast: other widths ------------------------------------------------------------------------===//

static MlirType withBits(MlirType tile, unsigned bits) {
  return tileTypeWithElement(tile, mlirIntegerTypeGet(mlirTypeGetContext(tile), bits));
}

static unsigned bitsOf(MlirType tile) {
  unsigned width = tileElementWidth(tileTypeGetElement(tile));
  return width ? width : 64;
}

// The bits of each element as i64.
static MlirValue asWords(TileBuilder *b, MlirValue tile) {
  MlirType type = mlirValueGetType(tile), element = tileTypeGetElement(type);
  if (mlirTypeIsAIndex(element))
    return tileBuildCast(b, ArithOp_IndexCast, tile, withBits(type, 64));
  if (mlirTypeIsAFloat(element))
    tile = arithBitcastOpBuild(b, withBits(type, bitsOf(type)), tile);
  return bitsOf(type) < 64 ? arithExtUIOpBuild(b, withBits(type, 64), tile) : tile;
}

static MlirValue ofWords(TileBuilder *b, MlirValue words, MlirType type) {
  MlirType element = tileTypeGetElement(type), narrow = withBits(type, bitsOf(type));
  if (mlirTypeIsAIndex(element))
    return tileBuildCast(b, ArithOp_IndexCast, words, type);
  if (bitsOf(type) < 64)
    words = arithTruncIOpBuild(b, narrow, words);
  return mlirTypeIsAFloat(element) ? arithBitcastOpBuild(b, type, words) : words;
}

// Each element of the result meets some elements of the operand, which memory holds row by row. A row's last bits are
// its last element's: what would be read behind them is not wanted.
static MlirValue recast(Exchange *x, MlirOperation op) {
  TileBuilder *b = &x->builder;
  MlirValue memref = tileExchangeShare(x, tileBitcastOpGetInput(op)), numbers, whole = {NULL};
  MlirType from = tileBitcastOpGetInputType(op), to = tileBitcastOpGetResultType(op);
  MlirType index = tileTypeWithElement(to, mlirIndexTypeGet(b->context)), words = withBits(to, 64);
  int64_t in = bitsOf(from), out = bitsOf(to);
  numbers = arithMulIOpBuild(b, tileExchangeNumbers(x, to), tileBuildInteger(b, index, out));
  MlirValue first = arithDivUIOpBuild(b, numbers, tileBuildInteger(b, index, in));
  MlirValue skipped = arithRemUIOpBuild(b, numbers, tileBuildInteger(b, index, in));
  skipped = tileBuildCast(b, ArithOp_IndexCast, skipped, words);
  for (int64_t part = 0; part * in < out + in - 1; ++part) {
    MlirValue at = arithAddIOpBuild(b, first, tileBuildInteger(b, index, part));
    at = arithMinUIOpBuild(b, at, tileBuildInteger(b, index, tileTypeGetCount(from) - 1));
    MlirType type = tileTypeWithElement(to, tileTypeGetElement(from));
    MlirValue bits = asWords(b, tileExchangeGatherNumbers(x, type, memref, at));
    if (!part) {
      whole = arithShRUIOpBuild(b, bits, skipped);
      continue;
    }
    // At 64 and beyond there is nothing left to fill.
    MlirValue up = arithSubIOpBuild(b, tileBuildInteger(b, words, part * in), skipped);
    MlirValue fits = arithCmpIOpBuild(b, up, tileBuildInteger(b, words, 64), ArithCmpI_Ult);
    bits = arithShLIOpBuild(b, bits, arithAndIOpBuild(b, up, tileBuildInteger(b, words, 63)));
    whole = arithOrIOpBuild(b, whole, arithSelectOpBuild(b, fits, bits, tileBuildInteger(b, words, 0)));
  }
  return ofWords(b, whole, to);
}

MlirValue tileExchangeBitcast(Exchange *x, MlirOperation op) {
  MlirValue input = tileBitcastOpGetInput(op);
  MlirType from = mlirValueGetType(input), to = tileBitcastOpGetResultType(op);
  if (!tileTypeIsATile(from) || !tileTypeIsATile(to))
    return (MlirValue){NULL};
  TileCast cast = tileCastOf(op);
  TileLayout layout, result = tileExchangeLayoutOf(to);
  int64_t sizes[MaxRank];
  intptr_t rank = tileExchangeSizesOf(from, sizes);
  if (cast.factor && movesRegisters(x, op, &cast))
    return (MlirValue){NULL};
  if (!cast.factor || !layoutOfOperand(&result, (uint32_t)rank - 1, &cast, &layout))
    return recast(x, op);
  input = tileExchangeConvertLike(x, input, tileExchangeTileOf(from, rank, sizes, &layout));
  return tileBitcastOpBuild(&x->builder, to, input);
}

//===--- constants ------------------------------------------------------------------------------------===//

// The elements differ: one thread stores them, each loads its own.
MlirValue tileExchangeConstant(Exchange *x, MlirOperation op) {
  TileBuilder *b = &x->builder;
  MlirAttribute value = arithConstantOpGetValue(op);
  MlirType type = arithConstantOpGetResultType(op);
  MlirValue origin[MaxRank];
  if (!tileTypeIsATile(type))
    return (MlirValue){NULL};
  MlirValue memref = tileExchangeMemrefLike(x, type);
  for (int64_t number = 0; number < tileTypeGetCount(type); ++number) {
    MlirValue places[MaxRank];
    uint64_t at[MaxRank];
    int64_t rest = number;
    for (intptr_t axis = tileTypeGetRank(type); axis-- > 0; rest /= tileTypeGetSize(type, axis)) {
      at[axis] = (uint64_t)(rest % tileTypeGetSize(type, axis));
      places[axis] = tileBuildIndex(b, (int64_t)at[axis]);
    }
    MlirValue element = tileBuildConstant(b, mlirElementsAttrGetValue(value, tileTypeGetRank(type), at));
    memrefStoreOpBuild(b, element, memref, tileTypeGetRank(type), places);
  }
  tileExchangeOrigin(x, origin);
  return tileExchangeLoadAt(x, memref, type, origin);
}

//===--- atomics --------------------------------------------------------------------------------------===//

static MlirValue throughMemory(Exchange *x, MlirValue value, MlirOperation *store) {
  MlirType type = mlirValueGetType(value);
  MlirValue origin[MaxRank];
  tileExchangeOrigin(x, origin);
  if (tileTypeIsATile(type)) {
    MlirValue memref = tileExchangeMemrefLike(x, type), view = tileExchangeViewOf(x, memref, type);
    *store = tileStoreOpBuild(&x->builder, value, view, tileTypeGetRank(type), origin);
    return tileExchangeLoadAt(x, memref, type, origin);
  }
  MlirType one = mlirMemRefTypeContiguousGet(type, 1, (int64_t[]){1}, mlirAttributeGetNull());
  MlirValue memref = tileAllocOpBuild(&x->builder, one);
  *store = memrefStoreOpBuild(&x->builder, value, memref, 1, origin);
  return memrefLoadOpBuild(&x->builder, memref, 1, origin);
}

MlirValue tileExchangeAtomic(Exchange *x, MlirOperation op) {
  MlirValue old = tileOnlyResult(op);
  MlirOperation store;
  if (!tileSpreadsResult(&x->threads, op))
    return (MlirValue){NULL};
  x->builder = tileBuilderAfter(op);
  MlirValue spread = throughMemory(x, old, &store);
  mlirValueReplaceAllUsesExcept(old, spread, 1, &store);
  return (MlirValue){NULL};
}

//===--- printing -------------------------------------------------------------------------------------===//

// One thread prints, so it needs all elements.
bool tileExchangePrint(Exchange *x, MlirOperation op, MlirValue *results) {
  (void)results;
  for (intptr_t i = 0; i < tilePrintOpGetNumValues(op) && mlirAttributeIsNull(tilePrintOpGetStop(op)); ++i)
    if (tileTypeIsATile(tileOperandType(op, i)))
      mlirOperationSetOperand(op, i, tileExchangeShare(x, tilePrintOpGetValues(op, i)));
  return false;
}
