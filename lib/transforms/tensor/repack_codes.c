// Packs codes of constants in another order. See repack_codes.h.
#include "lib/transforms/tensor/repack_codes.h"

#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "lib/layout/codes.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>
#include <string.h>

enum { MostPerWord = 32, MostRuns = 8, MostAxes = 12, Alignment = 64 };

//===--- what an op unpacks ---------------------------------------------------------------------===//

// (word >> shift) & mask along one more dimension, behind the axis of the words.
typedef struct Unpack {
  MlirOperation op, collapse;
  MlirValue words;
  int rank, axis;           // of the words; the axis that `perWord` codes lie along
  int group;                // of the collapse_shape: the one whose last two axes are those of words and codes
  int width, perWord, bits; // bits of a word and of a code
  int shifts[MostPerWord];  // of each code
  const unsigned char *bytes;
} Unpack;

// `value` and nothing else of the body is the word shifted down and cut to `bits`.
static bool cutsCode(MlirBlock body, int bits) {
  MlirValue word = mlirBlockGetArgument(body, 0), shift = mlirBlockGetArgument(body, 1);
  if (!tileHasOneUse(word) || !tileHasOneUse(shift))
    return false;
  MlirOperation shifted = mlirOpOperandGetOwner(mlirValueGetFirstUse(word));
  if (!(arithShRUIOpIsA(shifted) || arithShRSIOpIsA(shifted)) || !mlirValueEqual(tileBinaryLhs(shifted), word) ||
      !mlirValueEqual(tileBinaryRhs(shifted), shift))
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(tileOnlyResult(shifted)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    int64_t mask;
    bool isCut = arithTruncIOpIsA(user) && (int)mlirIntegerTypeGetWidth(tileOnlyResultType(user)) <= bits;
    bool isMasked = arithAndIOpIsA(user) &&
                    (tileConstantIndex(tileBinaryRhs(user), &mask) || tileConstantIndex(tileBinaryLhs(user), &mask)) &&
                    mask >= 0 && mask < (int64_t)1 << bits;
    if (!isCut && !isMasked)
      return false;
  }
  return true;
}

static bool readShifts(MlirValue table, Unpack *u) {
  MlirOperation op = tileDefiningOp(table);
  MlirType type = mlirValueGetType(table);
  size_t size;
  if (!arithConstantOpIsA(op) || !mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) != 1 ||
      mlirShapedTypeGetDimSize(type, 0) > MostPerWord)
    return false;
  u->perWord = (int)mlirShapedTypeGetDimSize(type, 0);
  const unsigned char *bytes = tileElementsBytes(arithConstantOpGetValue(op), &size);
  if (!bytes || u->perWord < 2 || u->width % u->perWord || size != (size_t)(u->perWord * u->width / 8))
    return false;
  u->bits = u->width / u->perWord;
  uint32_t seen = 0;
  for (int i = 0; i < u->perWord; ++i) {
    u->shifts[i] = bytes[i * u->width / 8];
    if (u->shifts[i] % u->bits || u->shifts[i] >= u->width)
      return false;
    seen |= 1u << u->shifts[i] / u->bits;
  }
  return seen == (uint32_t)(((uint64_t)1 << u->perWord) - 1);
}

static MlirAffineMap mapAt(MlirOperation op, intptr_t operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(tileOpAttribute(op, "indexing_maps"), operand));
}

static bool isDim(MlirAffineMap map, intptr_t result, intptr_t dim) {
  MlirAffineExpr expression = mlirAffineMapGetResult(map, result);
  return mlirAffineExprIsADim(expression) && mlirAffineDimExprGetPosition(expression) == dim;
}

static bool areMapsPlain(Unpack *u) {
  MlirAffineMap words = mapAt(u->op, 0), shift = mapAt(u->op, 1), result = mapAt(u->op, 2);
  if (!mlirAffineMapIsIdentity(result) || mlirAffineMapGetNumResults(shift) != 1 ||
      mlirAffineMapGetNumDims(result) != u->rank + 1)
    return false;
  for (u->axis = 0; u->axis < u->rank && !isDim(shift, 0, u->axis + 1); ++u->axis)
    ;
  for (int i = 0; i < u->rank; ++i)
    if (!isDim(words, i, i <= u->axis ? i : i + 1))
      return false;
  return u->axis < u->rank;
}

static bool findGroup(Unpack *u) {
  MlirAttribute groups = tileOpAttribute(u->collapse, "reassociation");
  int first = 0;
  for (u->group = 0; u->group < mlirArrayAttrGetNumElements(groups); ++u->group) {
    first += (int)mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(groups, u->group));
    if (first == u->axis + 2)
      return mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(groups, u->group)) >= 2;
  }
  return false;
}

static bool readUnpack(MlirOperation op, Unpack *u) {
  *u = (Unpack){.op = op};
  if (!linalgGenericOpIsA(op) || linalgGenericOpGetNumInputs(op) != 2 || mlirOperationGetNumResults(op) != 1 ||
      !tileGenericIsParallel(op) || !tileHasOneUse(tileOnlyResult(op)))
    return false;
  u->words = linalgGenericOpGetInputs(op, 0);
  u->collapse = mlirOpOperandGetOwner(mlirValueGetFirstUse(tileOnlyResult(op)));
  MlirType type = mlirValueGetType(u->words);
  MlirOperation constant = tileDefiningOp(u->words);
  size_t size;
  if (!arithConstantOpIsA(constant) || !mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type) ||
      !mlirTypeIsAInteger(mlirShapedTypeGetElementType(type)) || !tensorCollapseShapeOpIsA(u->collapse))
    return false;
  u->rank = (int)mlirShapedTypeGetRank(type);
  u->width = (int)mlirIntegerTypeGetWidth(mlirShapedTypeGetElementType(type));
  u->bytes = tileElementsBytes(arithConstantOpGetValue(constant), &size);
  return u->bytes && (u->width == 8 || u->width == 16 || u->width == 32) && u->rank <= MostAxes - MostRuns &&
         readShifts(linalgGenericOpGetInputs(op, 1), u) && areMapsPlain(u) && findGroup(u) &&
         cutsCode(tileOnlyBlock(mlirOperationGetRegion(op, 0)), u->bits);
}

MlirOperation tileUnpackOfFactor(const TileFactor *factor, const char **why) {
  Unpack u;
  *why = "its codes are no constant whose words a shift and a mask unpack";
  for (int i = 0; i < factor->count; ++i)
    if (!mlirOperationIsNull(factor->nodes[i].op) && readUnpack(factor->nodes[i].op, &u))
      return factor->nodes[i].op;
  return (MlirOperation){NULL};
}

int tileUnpackCount(MlirOperation unpack) {
  Unpack u;
  return readUnpack(unpack, &u) ? u.perWord : 0;
}

//===--- the constant ---------------------------------------------------------------------------===//

static uint32_t readWord(const unsigned char *bytes, int64_t index, int width) {
  uint32_t word = 0;
  memcpy(&word, bytes + index * width / 8, (size_t)width / 8);
  return word;
}

static void freeBytes(void *userData, const void *data, size_t size, size_t align) { free((void *)(uintptr_t)data); }

// Words in another order of their codes: in each block of `period` codes, place p has code from[p] of before. `shifts`:
// of the code t of a word in the new constant.
static unsigned char *packedBytes(const Unpack *u, const int64_t *from, int64_t period, const int *shifts,
                                  size_t *size) {
  MlirType type = mlirValueGetType(u->words);
  int64_t outer = 1, along = mlirShapedTypeGetDimSize(type, u->axis), inner = 1, words = period / u->perWord;
  for (int i = 0; i < u->rank; ++i)
    *(i < u->axis ? &outer : i > u->axis ? &inner : &(int64_t){0}) *= mlirShapedTypeGetDimSize(type, i);
  *size = (size_t)(outer * along * inner * u->width / 8);
  unsigned char *bytes = aligned_alloc(Alignment, (*size + Alignment - 1) / Alignment * Alignment);
  const uint32_t mask = u->bits == 32 ? UINT32_MAX : (1u << u->bits) - 1;
  for (int64_t row = 0; bytes && row < outer * along; ++row) {
    int64_t base = row / words * words, here = row % words;
    for (int64_t i = 0; i < inner; ++i) {
      uint32_t word = 0;
      for (int t = 0; t < u->perWord; ++t) {
        int64_t k = from[here * u->perWord + t];
        uint32_t old = readWord(u->bytes, (base + k / u->perWord) * inner + i, u->width);
        word |= (old >> u->shifts[k % u->perWord] & mask) << shifts[t];
      }
      memcpy(bytes + (row * inner + i) * u->width / 8, &word, (size_t)u->width / 8);
    }
  }
  return bytes;
}

static MlirValue constantOf(TileBuilder *b, MlirType type, unsigned char *bytes, size_t size) {
  return tileBuildConstant(b, mlirUnmanagedDenseResourceElementsAttrGet(type, tileString("codes"), bytes, size,
                                                                        Alignment, false, freeBytes, NULL));
}

bool tilePermuteCodes(MlirOperation op, const int64_t *places, int64_t count, const char **why) {
  Unpack u;
  size_t size;
  *why = "its codes are no constant whose words a shift and a mask unpack";
  if (!readUnpack(op, &u))
    return false;
  *why = "its words hold another number of codes than the order has";
  if (mlirShapedTypeGetDimSize(mlirValueGetType(u.words), u.axis) * u.perWord != count)
    return false;
  unsigned char *bytes = packedBytes(&u, places, count, u.shifts, &size);
  *why = "there is no memory for the codes";
  if (!bytes)
    return false;
  TileBuilder b = tileBuilderBefore(op);
  tileSetFirstOperand(op, constantOf(&b, mlirValueGetType(u.words), bytes, size));
  return true;
}

MlirValue tilePermuteConstant(MlirValue constant, int axis, const int64_t *places) {
  MlirType type = mlirValueGetType(constant);
  MlirAttribute value = arithConstantOpGetValue(tileDefiningOp(constant));
  unsigned width = tileElementWidth(mlirShapedTypeGetElementType(type));
  bool isDense = mlirAttributeIsADenseElements(value);
  int64_t outer = 1, along = mlirShapedTypeGetDimSize(type, axis), inner = 1;
  size_t size;
  if (isDense && mlirDenseElementsAttrIsSplat(value))
    return constant; // all elements are equal
  // MLIR keeps a byte for each element of fewer than 8 bits, but for those of one.
  const unsigned char *old =
      isDense && width > 1 ? mlirDenseElementsAttrGetRawData(value) : tileElementsBytes(value, &size);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    *(i < axis ? &outer : i > axis ? &inner : &(int64_t){0}) *= mlirShapedTypeGetDimSize(type, i);
  size_t run = (size_t)inner * (width < 8 ? 1 : width / 8), all = (size_t)(outer * along) * run;
  unsigned char *bytes = old && width > 1 ? malloc(all + 1) : NULL;
  if (!bytes)
    return (MlirValue){NULL};
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < along; ++k)
      memcpy(bytes + (size_t)(o * along + k) * run, old + (size_t)(o * along + places[k]) * run, run);
  TileBuilder b = tileBuilderBefore(tileDefiningOp(constant));
  MlirValue permuted = tileBuildConstant(&b, mlirDenseElementsAttrRawBufferGet(type, (intptr_t)all, bytes));
  free(bytes);
  return permuted;
}

//===--- the op ---------------------------------------------------------------------------------===//

// The axes of the new ops: `before`, blocks of a period, one for each run, `behind`.
typedef struct Axes {
  int runs, first; // number of the axis of the blocks
  TileLayoutRun run[MostRuns];
  int inWords;             // runs below this number are digits of the code in its word
  int atElement[MostRuns]; // the place of run i among the axes of the result, behind the blocks
} Axes;

static bool findAxes(const Unpack *u, const TileLayout *order, Axes *axes) {
  uint32_t cut = (uint32_t)__builtin_ctz((unsigned)u->perWord);
  *axes = (Axes){.first = u->axis};
  axes->runs = (int)tileLayoutRunsOfOrder(order, cut, axes->run, MostRuns);
  for (int i = 0; i < axes->runs; ++i) {
    axes->inWords += axes->run[i].place < cut;
    for (int j = 0; j < axes->runs; ++j)
      axes->atElement[i] += axes->run[j].element > axes->run[i].element;
  }
  return axes->runs > 0;
}

// The type of a tensor whose axes [first, first + count) have these sizes, between those of `like` around `axis`.
static MlirType typeOf(const Unpack *u, MlirType element, int count, const int64_t *sizes) {
  int64_t shape[MostAxes];
  MlirType like = mlirValueGetType(u->words);
  int rank = 0;
  for (int i = 0; i < u->axis; ++i)
    shape[rank++] = mlirShapedTypeGetDimSize(like, i);
  for (int i = 0; i < count; ++i)
    shape[rank++] = sizes[i];
  for (int i = u->axis + 1; i < u->rank; ++i)
    shape[rank++] = mlirShapedTypeGetDimSize(like, i);
  return mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull());
}

static MlirAttribute wordsMap(MlirContext context, const Unpack *u, const Axes *axes) {
  MlirAffineExpr results[MostAxes];
  int count = 0, dims = u->rank + axes->runs;
  for (int i = 0; i <= u->axis; ++i)
    results[count++] = mlirAffineDimExprGet(context, i);
  for (int i = axes->runs - 1; i >= axes->inWords; --i)
    results[count++] = mlirAffineDimExprGet(context, u->axis + 1 + axes->atElement[i]);
  for (int i = u->axis + 1; i < u->rank; ++i)
    results[count++] = mlirAffineDimExprGet(context, i + axes->runs);
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, dims, 0, count, results));
}

static MlirAttribute shiftsMap(MlirContext context, const Unpack *u, const Axes *axes) {
  MlirAffineExpr results[MostRuns];
  int count = 0;
  for (int i = axes->inWords - 1; i >= 0; --i)
    results[count++] = mlirAffineDimExprGet(context, u->axis + 1 + axes->atElement[i]);
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, u->rank + axes->runs, 0, count, results));
}

// 0, bits, 2 · bits, …, an axis for each run of the code in its word.
static MlirValue buildShifts(TileBuilder *b, const Unpack *u, const Axes *axes) {
  int64_t shape[MostRuns];
  unsigned char bytes[MostPerWord * 4] = {0};
  for (int i = 0; i < axes->inWords; ++i)
    shape[axes->inWords - 1 - i] = (int64_t)1 << axes->run[i].bits;
  for (int t = 0; t < u->perWord; ++t)
    bytes[t * u->width / 8] = (unsigned char)(t * u->bits);
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(u->words));
  MlirType type = mlirRankedTensorTypeGet(axes->inWords, shape, element, mlirAttributeGetNull());
  return tileBuildConstant(b, mlirDenseElementsAttrRawBufferGet(type, u->perWord * u->width / 8, bytes));
}

// The groups of the collapse_shape, with all axes of the blocks and the runs in the group of words and codes.
static MlirAttribute groupsOf(const Unpack *u, const Axes *axes) {
  MlirAttribute old = tileOpAttribute(u->collapse, "reassociation"), groups[MostAxes];
  MlirContext context = mlirAttributeGetContext(old);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  int next = 0;
  intptr_t count = mlirArrayAttrGetNumElements(old);
  for (intptr_t g = 0; g < count; ++g) {
    MlirAttribute all[MostAxes];
    intptr_t size = mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(old, g)) + (g == u->group ? axes->runs - 1 : 0);
    for (intptr_t i = 0; i < size; ++i)
      all[i] = mlirIntegerAttrGet(i64, next++);
    groups[g] = mlirArrayAttrGet(context, size, all);
  }
  return mlirArrayAttrGet(context, count, groups);
}

static void build(const Unpack *u, const Axes *axes, const TileLayout *order, unsigned char *bytes, size_t size) {
  TileBuilder b = tileBuilderBefore(u->op);
  MlirType words = mlirValueGetType(u->words), element = mlirShapedTypeGetElementType(tileOnlyResultType(u->op));
  int64_t period = (int64_t)tileLayoutDimSize(order, TileLayoutOffset), sizes[MostAxes], lie[MostAxes];
  int inWords = axes->inWords;
  sizes[0] = lie[0] = mlirShapedTypeGetDimSize(words, u->axis) * u->perWord / period;
  for (int i = 0; i < axes->runs; ++i) {
    int64_t extent = (int64_t)1 << axes->run[i].bits;
    sizes[1 + axes->atElement[i]] = extent;
    if (i >= inWords)
      lie[axes->runs - i] = extent;
  }
  MlirType packed = typeOf(u, mlirShapedTypeGetElementType(words), 1 + axes->runs - inWords, lie);
  MlirType whole = typeOf(u, element, 1 + axes->runs, sizes);
  MlirValue inputs[2] = {
      tileBuildConstant(&b, mlirUnmanagedDenseResourceElementsAttrGet(packed, tileString("codes"), bytes, size,
                                                                      Alignment, false, freeBytes, NULL)),
      buildShifts(&b, u, axes)};
  MlirValue out = tensorEmptyOpBuild(&b, whole, 0, NULL);
  int dims = u->rank + axes->runs;
  MlirAttribute none = {NULL}, maps[3] = {wordsMap(b.context, u, axes), shiftsMap(b.context, u, axes),
                                          mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b.context, dims))};
  MlirOperation copy = tileBuilderInsert(&b, mlirOperationClone(u->op));
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, mlirOperationGetRegion(copy, 0));
  MlirOperation unpack = linalgGenericOpCreate(&b, 1, &whole, 2, inputs, 1, &out, mlirArrayAttrGet(b.context, 3, maps),
                                               tileBuildIteratorTypes(&b, dims, 0), none, none, region);
  mlirOperationDestroy(copy);
  b = tileBuilderBefore(u->collapse);
  MlirValue joined =
      tensorCollapseShapeOpBuild(&b, tileOnlyResultType(u->collapse), tileOnlyResult(unpack), groupsOf(u, axes));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(u->collapse), joined);
  mlirOperationDestroy(u->collapse);
  mlirOperationDestroy(u->op);
}

bool tileRepackCodes(MlirOperation op, const TileLayout *order, const char **why) {
  Unpack u;
  Axes axes;
  size_t size;
  int64_t period = (int64_t)tileLayoutDimSize(order, TileLayoutOffset);
  *why = "its codes are no constant whose words a shift and a mask unpack";
  if (!readUnpack(op, &u))
    return false;
  *why = "the order is no permutation of the bits of a place";
  if (!findAxes(&u, order, &axes))
    return false;
  *why = "the order is not of whole words, or its size does not divide the codes along k";
  if (period % u.perWord || mlirShapedTypeGetDimSize(mlirValueGetType(u.words), u.axis) * u.perWord % period)
    return false;
  int64_t *from = malloc((size_t)period * sizeof *from);
  int shifts[MostPerWord];
  for (int t = 0; t < u.perWord; ++t)
    shifts[t] = t * u.bits;
  for (int64_t p = 0; from && p < period; ++p)
    from[p] = tileLayoutApply(order, (TileLayoutPoint){{(uint32_t)p}}).at[0];
  unsigned char *bytes = from ? packedBytes(&u, from, period, shifts, &size) : NULL;
  free(from);
  *why = "there is no memory for the codes";
  if (!bytes)
    return false;
  build(&u, &axes, order, bytes, size);
  return true;
}
