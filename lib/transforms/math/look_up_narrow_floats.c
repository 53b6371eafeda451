// tile-look-up-narrow-floats{chip=NAME}: two neighbouring vectors of f8E4M3FN are widened to f32 together, by tables.
//
//   %a = vector.load %m[%i, %c0],  %b = vector.load %m[%i, %c16]; arith.extf of both
//   becomes  one load of 32 bytes, two lookups of a byte each among 128 (vpermi2b), and shuffles
// The upper 16 bits of f32 (bf16) hold each number of the format, nan and subnormal numbers too: one table has their
// upper bytes, the other one their lower bytes; the sign is the code's. By arithmetic each vector of 16 takes eight
// instructions, here four. Expects: vectors of 16 lanes on a CPU, before tile-expand-float-conversions. Leaves: single
// vectors, and machines without avx512vbmi, as they are. Cost: linear in the code.
#include "lib/transforms/math/look_up_narrow_floats.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/ir/support.h"
#include "lib/support/array.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"
#include "upstream/vector.h"

#include <math.h>
#include <string.h>

enum { Lanes = 16, Bytes = 64, Entries = 128, SpanBytes = 16, MaxLoadRank = TESSERA_MAX_RANK };

//===--- which loads ----------------------------------------------------------------------------------===//

static bool isNarrowLoad(MlirOperation op) {
  if (!vectorLoadOpIsA(op))
    return false;
  MlirType type = tileOnlyResultType(op);
  return mlirShapedTypeGetRank(type) == 1 && mlirShapedTypeGetDimSize(type, 0) == Lanes &&
         mlirTypeIsAFloat8E4M3FN(mlirShapedTypeGetElementType(type));
}

// The only op that reads the vector, if it widens it to f32.
static MlirOperation wideningOf(MlirOperation load) {
  MlirOperation none = {NULL};
  if (!tileHasOneUse(tileOnlyResult(load)))
    return none;
  MlirOperation op = mlirOpOperandGetOwner(mlirValueGetFirstUse(tileOnlyResult(load)));
  return arithExtFOpIsA(op) && mlirTypeIsAF32(mlirShapedTypeGetElementType(tileOnlyResultType(op))) ? op : none;
}

// An index as a value (null: none) and a constant, their sum.
static MlirValue baseOf(MlirValue index, int64_t *constant) {
  MlirOperation op = tileDefiningOp(index);
  *constant = 0;
  if (tileConstantIndex(index, constant))
    return (MlirValue){NULL};
  return arithAddIOpIsA(op) && tileConstantIndex(tileBinaryRhs(op), constant) ? tileBinaryLhs(op) : index;
}

static bool areNeighbours(MlirOperation first, MlirOperation second) {
  intptr_t count = mlirOperationGetNumOperands(first);
  int64_t from, to;
  if (count != mlirOperationGetNumOperands(second))
    return false;
  for (intptr_t i = 0; i < count - 1; ++i)
    if (!mlirValueEqual(mlirOperationGetOperand(first, i), mlirOperationGetOperand(second, i)))
      return false;
  MlirValue base = baseOf(mlirOperationGetOperand(first, count - 1), &from);
  MlirValue other = baseOf(mlirOperationGetOperand(second, count - 1), &to);
  bool areAlike = mlirValueIsNull(base) ? mlirValueIsNull(other) : mlirValueEqual(base, other);
  return areAlike && to == from + Lanes;
}

static bool onlyReads(MlirOperation op) {
  return arithOpKind(op) != ArithOp_None || vectorLoadOpIsA(op) || vectorBroadcastOpIsA(op) || memrefLoadOpIsA(op);
}

// The load of the next 16 elements in the same block, where nothing between them writes; null: there is none.
static MlirOperation nextOf(MlirOperation load) {
  MlirOperation op = mlirOperationGetNextInBlock(load);
  while (!mlirOperationIsNull(op) && onlyReads(op) && !(isNarrowLoad(op) && areNeighbours(load, op)))
    op = mlirOperationGetNextInBlock(op);
  bool isFound = !mlirOperationIsNull(op) && isNarrowLoad(op) && areNeighbours(load, op);
  return isFound && !mlirOperationIsNull(wideningOf(op)) ? op : (MlirOperation){NULL};
}

//===--- what is built --------------------------------------------------------------------------------===//

static MlirType vectorOf(int64_t lanes, MlirType element) { return mlirVectorTypeGet(1, &lanes, element); }

static MlirType integer(const TileBuilder *b, unsigned bits) { return mlirIntegerTypeGet(b->context, bits); }

static MlirValue shuffled(TileBuilder *b, MlirValue one, MlirValue other, int count, const int64_t *lanes) {
  return vectorShuffleOpBuild(b, one, other, mlirDenseI64ArrayGet(b->context, count, lanes));
}

// The number of a code without its sign, as bits of f32.
static uint32_t bitsOf(int code) {
  int exponent = code >> 3, fraction = code & 7;
  float value = code == Entries - 1 ? NAN
                : exponent          ? ldexpf((float)(8 + fraction), exponent - 10)
                                    : ldexpf((float)fraction, -9);
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits & 0x7fffffff;
}

// For each byte of `codes`, byte number `which` of the number of f32 that its low seven bits stand for.
static MlirValue lookUp(TileBuilder *b, MlirValue codes, int which) {
  int8_t bytes[Entries];
  MlirType type = mlirValueGetType(codes);
  for (int code = 0; code < Entries; ++code)
    bytes[code] = (int8_t)(bitsOf(code) >> 8 * which);
  MlirValue operands[] = {tileBuildConstant(b, mlirDenseElementsAttrInt8Get(type, Bytes, bytes)), codes,
                          tileBuildConstant(b, mlirDenseElementsAttrInt8Get(type, Bytes, bytes + Bytes))};
  MlirAttribute name = mlirStringAttrGet(b->context, tileString("llvm.x86.avx512.vpermi2var.qi.512"));
  return llvmCallIntrinsicOpGetResults(
      llvmCallIntrinsicOpBuild(b, type, 3, operands, 0, NULL, name, mlirDenseI32ArrayGet(b->context, 0, NULL)));
}

// 16 of f32 from the first or second four words in each span of eight: a word becomes the upper half of a number.
static MlirValue numbersOf(TileBuilder *b, MlirValue words, int half) {
  enum { Words = Bytes / 2, SpanWords = SpanBytes / 2 };
  int64_t lanes[Words];
  for (int i = 0; i < Words; ++i) {
    int word = i / SpanWords * SpanWords + half * SpanWords / 2 + i % SpanWords / 2;
    lanes[i] = i % 2 ? Words + word : word;
  }
  MlirValue zeros = tileBuildInteger(b, mlirValueGetType(words), 0);
  return vectorBitCastOpBuild(b, vectorOf(Lanes, mlirF32TypeGet(b->context)), shuffled(b, zeros, words, Words, lanes));
}

// A span of 16 bytes gets four codes of the first vector and four of the second, so that they become neighbours when
// bytes become words and words become numbers.
static MlirValue spread(TileBuilder *b, MlirValue codes) {
  int64_t lanes[Bytes];
  for (int i = 0; i < Bytes; ++i)
    lanes[i] = i / SpanBytes * 4 + i % 4 + Lanes * (i / 4 % 2);
  return shuffled(b, codes, codes, Bytes, lanes);
}

static void widen(TileBuilder *b, MlirOperation load, MlirValue numbers[2]) {
  MlirType byte = integer(b, 8);
  MlirValue indices[MaxLoadRank];
  intptr_t count = mlirOperationGetNumOperands(load) - 1;
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = vectorLoadOpGetIndices(load, i);
  MlirType both = vectorOf(2 * Lanes, mlirShapedTypeGetElementType(tileOnlyResultType(load)));
  MlirValue codes = vectorLoadOpBuild(b, both, vectorLoadOpGetBase(load), count, indices);
  codes = spread(b, arithBitcastOpBuild(b, vectorOf(2 * Lanes, byte), codes));
  MlirValue sign = arithAndIOpBuild(b, codes, tileBuildInteger(b, mlirValueGetType(codes), INT8_MIN));
  MlirValue upper = arithOrIOpBuild(b, lookUp(b, codes, 3), sign), lower = lookUp(b, codes, 2);
  int64_t lanes[Bytes];
  for (int i = 0; i < Bytes; ++i)
    lanes[i] = i / SpanBytes * SpanBytes + i % SpanBytes / 2 + (i % 2 ? Bytes : 0);
  MlirValue words =
      vectorBitCastOpBuild(b, vectorOf(Bytes / 2, integer(b, 16)), shuffled(b, lower, upper, Bytes, lanes));
  for (int half = 0; half < 2; ++half)
    numbers[half] = numbersOf(b, words, half);
}

static void replace(MlirOperation load, MlirValue numbers) {
  MlirOperation widening = wideningOf(load);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(widening), numbers);
  mlirOperationDestroy(widening);
  mlirOperationDestroy(load);
}

//===--- the pass -------------------------------------------------------------------------------------===//

static bool hasLookUps(const TileMachine *machine) {
  const char *features = tileMachineGetText(machine, "features");
  return features && strstr(features, "+avx512vbmi,");
}

static uint64_t pairLoads(TileOps *loads) {
  uint64_t count = 0;
  for (intptr_t i = 0; i < loads->count; ++i) {
    MlirOperation load = loads->items[i], next = {NULL};
    bool fits = !mlirOperationIsNull(load) && mlirOperationGetNumOperands(load) <= MaxLoadRank &&
                !mlirOperationIsNull(wideningOf(load));
    if (fits)
      next = nextOf(load);
    if (mlirOperationIsNull(next))
      continue;
    for (intptr_t j = i; j < loads->count; ++j)
      if (mlirOperationEqual(loads->items[j], next))
        loads->items[j] = (MlirOperation){NULL};
    MlirValue numbers[2];
    TileBuilder b = tileBuilderBefore(load);
    widen(&b, load, numbers);
    replace(next, numbers[1]);
    replace(load, numbers[0]);
    ++count;
  }
  return count;
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps loads = tileCollectOps(function, isNarrowLoad);
  TileMachine *machine = loads.count ? tileMachineOf(function, pass, NULL) : NULL;
  bool ok = !loads.count || machine;
  if (machine && hasLookUps(machine))
    mlirExtPassAddStatistic(pass, 0, pairLoads(&loads));
  tileMachineDestroy(machine);
  tileOpsFree(&loads);
  return ok;
}

const MlirExtPassDefinition tileLookUpNarrowFloatsPass = {
    .argument = "tile-look-up-narrow-floats",
    .summary = "Widen neighbouring vectors of f8E4M3FN together, by tables in registers",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = (const char *const[]){"pairs: pairs of vectors that are widened by tables", NULL},
    .dialects = (const char *const[]){"arith", "vector", "llvm", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
