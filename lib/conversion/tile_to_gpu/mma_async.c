// Products of warpgroups that run by themselves (wgmma). The right factor lies in shared memory, where a descriptor
// finds it; the left one lies there too, or in registers; the accumulator is in registers. A tile in registers has the
// atom's fragment, repeated. Each group of four warps multiplies the parts of the result that its registers hold. Where
// these lie depends on the warp, and so does where its factors begin.
#include "lib/conversion/tile_to_gpu/asynchronous.h"

#include "dialects/tile/questions.h"
#include "lib/layout/algebra.h"
#include "lib/layout/descriptor.h"
#include "lib/layout/text.h"

#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"

#include <string.h>

enum { AddressMask = 0x3ffff, AddressShift = 4, WordBits = 32 };

typedef struct Factor {
  MlirType type;
  const Buffer *buffer; // null: in registers
  TileLayout repeated;  // then: the factor in whole fragments
  intptr_t numWords;    // of a fragment
  MlirValue *words;     // i32, fragment by fragment
  TileDescriptorPlan plan;
  MlirValue low; // i32: the descriptor's low word, of this warpgroup
} Factor;

typedef struct Product {
  MlirOperation op;
  TileMachineAtom atom;
  char name[GpuAtomName];
  TileLayout repeated; // the accumulator in whole fragments: which tile of m and n a register and a warp have
  uint32_t groupBits;  // of the warps in one fragment
  int64_t depth;       // of the product
  Factor factors[2];
} Product;

//===--- reading ------------------------------------------------------------------------------===//

static bool readAtom(Gpu *g, Product *product) {
  TileError error;
  if (!gpuFindAtom(g, product->op, product->name, &product->atom, &error))
    return tileError(product->op, "%s", error.text);
  bool isInMemory = !mlirOperationGetNumResults(product->op);
  return strncmp(product->name, isInMemory ? "tcgen05." : "wgmma.", isInMemory ? 8 : 6) == 0 ||
         tileError(product->op, "has atom \"%s\", which does not run by itself; expected a \"%s…\"", product->name,
                   isInMemory ? "tcgen05." : "wgmma.");
}

static bool readFragments(const Product *product, MlirValue tile, int which, const char *name, TileLayout *fragment,
                          TileLayout *repeated) {
  const char *text = product->atom.fragment[which];
  TileLayout layout = gpuLayoutOf(mlirValueGetType(tile));
  TileError error;
  return (tileLayoutParse(text, strlen(text), fragment, &error) &&
          tileLayoutDivide(&layout, fragment, repeated, &error)) ||
         tileError(product->op, "%s is in a layout that is not the atom's fragment <%s>, repeated: %s", name, text,
                   error.text);
}

static bool readAccumulator(Product *product) {
  TileLayout fragment;
  if (!readFragments(product, tileMmaAsyncOpGetAccumulator(product->op), 2, "accumulator", &fragment,
                     &product->repeated))
    return false;
  product->groupBits = fragment.bits[TileLayoutWarp];
  return true;
}

static TileLayoutPoint warpStep(const TileLayout *repeated, uint32_t bit) {
  TileLayoutPoint none = {{0}};
  uint32_t before = repeated->bits[TileLayoutReg] + repeated->bits[TileLayoutLane];
  return bit < repeated->bits[TileLayoutWarp] ? repeated->steps[before + bit] : none;
}

// Each warp has the rows of its part of the accumulator, and all of k.
static bool expectRows(const Product *product) {
  const TileLayout *left = &product->factors[0].repeated, *sum = &product->repeated;
  for (uint32_t bit = 0; bit < left->bits[TileLayoutWarp] || bit < sum->bits[TileLayoutWarp]; ++bit)
    if (warpStep(left, bit).at[0] != warpStep(sum, bit).at[0] || warpStep(left, bit).at[1])
      return tileError(product->op,
                       "lhs is spread over warps in another way than the accumulator; expected each warp to have the "
                       "rows of its part of the result, and all of what is summed");
  return true;
}

static bool readRegisters(Gpu *g, Product *product, MlirValue value) {
  Factor *factor = &product->factors[0];
  TileLayout fragment;
  if (!readFragments(product, value, 0, "lhs", &fragment, &factor->repeated) || !expectRows(product))
    return false;
  intptr_t count = (intptr_t)tileLayoutDimSize(&fragment, TileLayoutReg), all = gpuRegisters(factor->type);
  unsigned width = gpuBits(tileTypeGetElement(factor->type));
  MlirValue *elements = gpuAllocate(g, (size_t)all * sizeof *elements);
  memcpy(elements, gpuTile(g, value), (size_t)all * sizeof *elements);
  for (intptr_t i = 0; i < all; ++i)
    if (gpuIsSmallFloat(mlirValueGetType(elements[i])))
      elements[i] = gpuOp(g, ArithOp_Bitcast, mlirIntegerTypeGet(g->context, width), elements[i]);
  factor->numWords = count * width / WordBits;
  factor->words = gpuAllocate(g, (size_t)(all / count * factor->numWords) * sizeof *factor->words);
  for (intptr_t i = 0; i < all / count; ++i)
    gpuWordsOf(&g->builder, count, elements + i * count, width, factor->words + i * factor->numWords);
  product->depth = tileTypeGetSize(factor->type, 1);
  return true;
}

// The left factor's rows are m, the right one's n.
static bool readFactor(Gpu *g, Product *product, int which) {
  MlirValue value = which ? tileMmaAsyncOpGetRhs(product->op) : tileMmaAsyncOpGetLhs(product->op);
  const char *name = which ? "rhs" : "lhs";
  Factor *factor = &product->factors[which];
  MlirType type = factor->type = mlirValueGetType(value);
  if (tileTypeGetRank(type) != 2)
    return gpuRefuse(product->op, "a product of more than two axes that runs by itself");
  if (!tileTypeIsABuffer(type))
    return which ? tileError(product->op, "rhs is in registers; atom \"%s\" reads it from shared memory", product->name)
                 : readRegisters(g, product, value);
  factor->buffer = gpuBufferOf(g, product->op, value);
  if (!factor->buffer)
    return false;
  TileError error;
  product->depth = tileTypeGetSize(type, 1 - which);
  if (gpuIsTensorBuffer(type)) // a left one
    return !mlirOperationGetNumResults(product->op) ||
           gpuRefuse(product->op, "a factor in tensor memory of a product whose sums are in registers");
  if (!tilePlanFactorDescriptor(&product->atom, which, type, &factor->buffer->layout, &factor->plan, &error))
    return tileError(product->op, "%s does not suit atom \"%s\": %s", name, product->name, error.text);
  return gpuExpectAligned(product->op, factor->buffer, tileDescriptorAlignment(&factor->plan),
                          factor->plan.swizzleBytes, name);
}

// Factors of f32 are read as tf32: the instruction drops their last digits.
static MlirType elementOf(const Product *product, int which) {
  MlirType element = tileTypeGetElement(product->factors[which].type);
  return mlirTypeIsAF32(element) ? mlirTF32TypeGet(mlirTypeGetContext(element)) : element;
}

//===--- descriptors --------------------------------------------------------------------------===//

static uint32_t rowOf(const Product *product, int which, TileLayoutPoint tile) {
  return tile.at[which] * (uint32_t)(which ? product->atom.n : product->atom.m);
}

// The begin of the factor's rows that this warpgroup has, and the leading distance. Equal in all lanes of a warp: said
// by a shuffle, so that it is computed once. The stage of a ring is added to the descriptor of stage 0, which no round
// changes.
static void beginFactor(Gpu *g, Product *product, int which, MlirValue warp, uint64_t bits) {
  Factor *factor = &product->factors[which];
  const Buffer *buffer = factor->buffer;
  bool isOfRing = !mlirValueIsNull(buffer->ring);
  TileBuilder here = g->builder;
  if (isOfRing && g->partition) // the ring was made ahead of the partition
    g->builder = g->entry;
  MlirValue address = gpuOp(g, LlvmOp_PtrToInt, g->i32, isOfRing ? buffer->ring : buffer->base);
  for (uint32_t bit = 0; bit < product->repeated.bits[TileLayoutWarp]; ++bit) {
    uint64_t bytes = tileDescriptorOffset(&factor->plan, rowOf(product, which, warpStep(&product->repeated, bit)), 0);
    if (!bytes)
      continue;
    MlirValue isSet = gpuAnd(g, gpuShiftRight(g, warp, bit), 1);
    address = gpuAdd(g, address, gpuMul(g, isSet, gpuI32(g, (int64_t)bytes)));
  }
  MlirValue begin = gpuShiftRight(g, gpuAnd(g, address, AddressMask), AddressShift);
  factor->low = gpuBinary(g, ArithOp_OrI, begin, gpuI32(g, (int64_t)(int32_t)(uint32_t)bits));
  g->builder = here;
  if (isOfRing)
    factor->low = gpuAdd(g, factor->low, gpuMul(g, buffer->stage, gpuI32(g, buffer->stageBytes >> AddressShift)));
}

static MlirValue joinDescriptor(Gpu *g, MlirValue begin, uint64_t bytes, uint64_t bits) {
  MlirValue low = gpuAdd(g, begin, gpuI32(g, (int64_t)(bytes >> AddressShift)));
  MlirValue high = gpuInteger(g, g->i64, (int64_t)(bits >> WordBits << WordBits));
  return gpuBinary(g, ArithOp_OrI, gpuCast(g, low, g->i64, false), high);
}

static MlirValue descriptorOf(Gpu *g, const Product *product, int which, TileLayoutPoint tile, int64_t k) {
  const Factor *factor = &product->factors[which];
  uint64_t bytes = tileDescriptorOffset(&factor->plan, rowOf(product, which, tile), (uint32_t)k);
  return joinDescriptor(g, factor->low, bytes, factor->plan.bits);
}

// The number of this thread's group of warps, computed at the entry: no loop computes it again.
static MlirValue groupOf(Gpu *g, const Product *product) {
  TileBuilder here = g->builder;
  g->builder = g->entry;
  MlirValue group = gpuShiftRight(g, g->thread, g->laneBits + product->groupBits);
  if (product->repeated.bits[TileLayoutWarp])
    group = g->vocabulary->shuffleFrom(&g->builder, group, gpuI32(g, 0));
  g->builder = here;
  return group;
}

//===--- the op -------------------------------------------------------------------------------===//

// The fragment of the left factor for a row of tiles and a step of k.
static const MlirValue *wordsAt(const Product *product, uint32_t row, uint32_t step) {
  const Factor *factor = &product->factors[0];
  uint32_t count = (uint32_t)tileLayoutDimSize(&factor->repeated, TileLayoutReg);
  for (uint32_t i = 0; i < count; ++i) {
    TileLayoutPoint index = {{i}}, at = tileLayoutApply(&factor->repeated, index);
    if (at.at[0] == row && at.at[1] == step)
      return factor->words + i * factor->numWords;
  }
  return NULL;
}

// Nothing is added to. Such sums need no registers before the product.
static bool areZero(intptr_t count, const MlirValue *sums) {
  for (intptr_t i = 0; i < count; ++i) {
    MlirOperation op = tileDefiningOp(sums[i]);
    MlirAttribute value =
        !mlirOperationIsNull(op) && arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
    if (mlirAttributeIsNull(value))
      return false;
    bool isZero = mlirAttributeIsAInteger(value) ? mlirIntegerAttrGetValueInt(value) == 0 : tileIsPlusZero(sums[i]);
    if (!isZero)
      return false;
  }
  return true;
}

static bool multiplyTile(Gpu *g, const Product *product, uint32_t part, intptr_t count, int64_t k, MlirValue *sums) {
  TileLayoutPoint index = {{part}}, tile = tileLayoutApply(&product->repeated, index);
  GpuAsyncProduct one = {.atom = &product->atom, .name = product->name, .count = count, .sums = sums};
  one.isFromZero = k == 0 && areZero(count, sums);
  one.element[2] = tileTypeGetElement(mlirValueGetType(tileMmaAsyncOpGetAccumulator(product->op)));
  for (int which = 0; which < 2; ++which) {
    one.element[which] = elementOf(product, which);
    if (!product->factors[which].buffer)
      continue;
    one.descriptor[which] = descriptorOf(g, product, which, tile, k);
    one.isAlongDepth[which] = !product->factors[which].plan.isRowMajor;
  }
  if (!product->factors[0].buffer) {
    one.words = wordsAt(product, tile.at[0], (uint32_t)(k / product->atom.k));
    one.numWords = product->factors[0].numWords;
    if (!one.words)
      return gpuRefuse(product->op, "a left factor that lacks a fragment the product needs");
  }
  return g->vocabulary->engines->multiplyAsync(&g->builder, product->op, &one);
}

// The left factor's words and the sums go through the fence: the products read both.
static void beginProducts(Gpu *g, Product *product, intptr_t count, MlirValue *sums) {
  Factor *left = &product->factors[0];
  intptr_t words = left->buffer ? 0 : (intptr_t)tileLayoutDimSize(&left->repeated, TileLayoutReg) * left->numWords;
  MlirValue *values = gpuAllocate(g, (size_t)(words + count) * sizeof *values);
  if (areZero(count, sums))
    count = 0;
  if (words) {
    memcpy(values, left->words, (size_t)words * sizeof *values);
    memcpy(values + words, sums, (size_t)count * sizeof *values);
  }
  g->vocabulary->engines->beginProducts(&g->builder, words ? words + count : 0, values);
  if (words) {
    memcpy(left->words, values, (size_t)words * sizeof *values);
    memcpy(sums, values + words, (size_t)count * sizeof *values);
  }
}

static MlirValue descriptorAt(Gpu *g, const GpuTensorFactors *factors, int side, int64_t row, int64_t k) {
  const Product *product = factors->context;
  const Factor *factor = &product->factors[side];
  uint64_t bytes = tileDescriptorOffset(&factor->plan, (uint32_t)row, (uint32_t)k);
  return joinDescriptor(g, factor->low, bytes, factor->plan.tensorBits);
}

static bool lowerTensorProduct(Gpu *g, MlirOperation op) {
  Product product = {.op = op};
  if (!readAtom(g, &product) || !readFactor(g, &product, 0) || !readFactor(g, &product, 1))
    return false;
  GpuAsyncProduct one = {.atom = &product.atom, .name = product.name};
  one.element[2] = tileTypeGetElement(tileMmaAsyncOpGetAccumulatorType(op));
  const Buffer *left = gpuIsTensorBuffer(product.factors[0].type) ? product.factors[0].buffer : NULL;
  for (int side = 0; side < 2; ++side) {
    one.element[side] = elementOf(&product, side);
    one.isAlongDepth[side] = (!side && left) || !product.factors[side].plan.isRowMajor;
    if (side || !left)
      beginFactor(g, &product, side, (MlirValue){NULL}, product.factors[side].plan.tensorBits);
  }
  return gpuMultiplyInTensor(g, op, &one, &(GpuTensorFactors){product.depth, descriptorAt, &product, left});
}

static bool lowerMmaAsync(Gpu *g, MlirOperation op) {
  Product product = {.op = op};
  if (!mlirOperationGetNumResults(op))
    return lowerTensorProduct(g, op);
  if (!readAtom(g, &product) || !readAccumulator(&product) || !readFactor(g, &product, 0) ||
      !readFactor(g, &product, 1))
    return false;
  MlirValue accumulator = tileMmaAsyncOpGetAccumulator(op), *sums = gpuRecordTile(g, tileMmaAsyncOpGetResult(op));
  intptr_t count = gpuRegisters(mlirValueGetType(accumulator));
  intptr_t parts = (intptr_t)tileLayoutDimSize(&product.repeated, TileLayoutReg);
  memcpy(sums, gpuTile(g, accumulator), (size_t)count * sizeof *sums);
  MlirValue warp = groupOf(g, &product);
  for (int which = 0; which < 2; ++which)
    if (product.factors[which].buffer)
      beginFactor(g, &product, which, warp, product.factors[which].plan.bits);
  beginProducts(g, &product, count, sums);
  for (int64_t k = 0; k < product.depth; k += product.atom.k)
    for (intptr_t part = 0; part < parts; ++part)
      if (!multiplyTile(g, &product, (uint32_t)part, count / parts, k, sums + part * (count / parts)))
        return false;
  g->vocabulary->engines->commitProducts(&g->builder);
  return true;
}

static bool lowerMmaWait(Gpu *g, MlirOperation op) {
  int64_t pending = 0;
  tileIntegerOf(op, "pending", &pending);
  MlirValue input = tileMmaWaitOpGetInput(op), *sums = gpuRecordTile(g, tileMmaWaitOpGetResult(op));
  intptr_t count = gpuRegisters(mlirValueGetType(input));
  memcpy(sums, gpuTile(g, input), (size_t)count * sizeof *sums);
  g->vocabulary->engines->waitProducts(&g->builder, pending, count, sums);
  return true;
}

const GpuRow gpuProductRows[] = {
    {TileOp_MmaAsync, lowerMmaAsync, true}, {TileOp_MmaWait, lowerMmaWait, true}, {.lower = NULL}};
