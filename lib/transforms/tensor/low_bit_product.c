// Plans and builds products that read a factor as codes. See low_bit_product.h.
#include "lib/transforms/tensor/low_bit_product.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/converted.h"
#include "lib/analysis/low_bit/dots.h"
#include "lib/analysis/low_bit/packed_elements.h"
#include "lib/analysis/low_bit/scaled.h"
#include "lib/analysis/product.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <string.h>

enum { MaxMapped = 256 };

//===--- whether ------------------------------------------------------------------------------===//

// How often an element of the input takes part in the product: for each index of the dimensions that it does not have.
// INT64_MAX: as often as a size says that is not known.
int64_t tileLowBitRepeats(const TileStructured *s, int input) {
  int64_t repeats = 1;
  for (int d = 0; d < s->numDims; ++d)
    if (!tileOperandUses(&s->operands[input], d) && (mlirShapedTypeIsDynamicSize(s->dims[d].extent) ||
                                                     __builtin_mul_overflow(repeats, s->dims[d].extent, &repeats)))
      return INT64_MAX;
  return repeats;
}

static bool isFull(const TileOperand *operand) {
  bool full = tileOperandIsPlain(operand) && !operand->numTerms;
  for (int i = 0; i < operand->rank; ++i)
    full = full && operand->results[i] >= 0;
  return full;
}

// Less is read than by the product as it is: by a quarter, so that a conversion is worth its instructions.
static bool gains(const TileStructured *s, const TileLowBitSide *side) {
  int64_t before = tileTensorBytes(s->operands[side->input].value);
  return before > 0 && tileFactorReadBytes(&side->factor) * 4 <= before * 3;
}

// Where the factors cut dimension `dim`, as tileFactorCuts does for one.
static int cutsOf(const TileLowBitPlan *plan, int dim, int64_t extent, int64_t *cuts) {
  int count = tileFactorCuts(&plan->sides[0].factor, dim, extent, cuts, TileLowBitParts);
  for (int side = 1; count && side < plan->count; ++side) {
    int64_t more[TileLowBitParts];
    int numMore = tileFactorCuts(&plan->sides[side].factor, dim, extent, more, TileLowBitParts);
    if (!numMore)
      return 0;
    for (int i = 0; i < numMore; ++i) {
      int at = 0;
      while (at < count && cuts[at] < more[i])
        ++at;
      if (at < count && cuts[at] == more[i])
        continue;
      if (count == TileLowBitParts)
        return 0;
      memmove(&cuts[at + 1], &cuts[at], (size_t)(count - at) * sizeof *cuts);
      cuts[at] = more[i];
      ++count;
    }
  }
  for (int i = 1; i < count; ++i)
    if (cuts[i] % cuts[i - 1])
      return 0;
  return count;
}

static bool planParts(TileLowBitPlan *plan) {
  const TileStructured *s = plan->s;
  for (int d = 0; d < s->numDims; ++d) {
    TileLowBitCuts *parts = &plan->parts[d];
    int64_t extent = s->dims[d].extent;
    parts->count = cutsOf(plan, d, extent, parts->cuts);
    if (!parts->count || (parts->count > 1 && !s->dims[d].isReduction))
      return false;
    for (int i = 0; i < parts->count; ++i)
      parts->sizes[i] = (i + 1 < parts->count ? parts->cuts[i + 1] : extent) / parts->cuts[i];
  }
  return true;
}

// The part of a reduction along which the largest tensor that is read has an axis comes last: what lies beside each
// other in memory is multiplied by neighbours.
static void orderParts(TileLowBitPlan *plan) {
  const TileFactorNode *largest = NULL;
  for (int i = 0; i < plan->sides[0].factor.count; ++i) {
    const TileFactorNode *node = &plan->sides[0].factor.nodes[i];
    if (mlirOperationIsNull(node->op) && node->rank &&
        (!largest || tileTensorElements(node->value) > tileTensorElements(largest->value)))
      largest = node;
  }
  uint32_t seen = 0;
  for (int axis = largest ? largest->rank - 1 : -1; axis >= 0; --axis) {
    const TileDigit *digit = &largest->at[axis];
    if (digit->dim < 0 || seen >> digit->dim & 1)
      continue;
    TileLowBitCuts *parts = &plan->parts[digit->dim];
    while (parts->cuts[parts->last] < digit->divisor)
      ++parts->last;
    plan->isAlongReduction = seen ? plan->isAlongReduction : plan->s->dims[digit->dim].isReduction;
    seen |= 1u << digit->dim;
  }
}

// Numbers the new op's dimensions.
static void numberParts(TileLowBitPlan *plan) {
  plan->numDims = 0;
  for (int d = 0; d < plan->s->numDims; ++d) {
    TileLowBitCuts *parts = &plan->parts[d];
    for (int i = parts->count - 1; i >= 0; --i)
      if (i != parts->last)
        parts->dims[i] = plan->numDims++;
    parts->dims[parts->last] = plan->numDims++;
  }
}

// Reads the factor; values of fewer than `least` elements stay what they are.
static bool readFactor(const TileStructured *s, TileLowBitSide *side, int64_t least) {
  TileDigit at[MaxOperandRank];
  const TileOperand *operand = &s->operands[side->input];
  side->factor = (TileFactor){.target = s->target, .least = least};
  for (int i = 0; i < operand->rank; ++i)
    at[i] = (TileDigit){.dim = operand->results[i], .divisor = 1};
  side->root = tileFactorRead(&side->factor, operand->value, at);
  return side->root >= 0 && !mlirOperationIsNull(side->factor.nodes[side->root].op) && gains(s, side);
}

static bool orderPlan(TileLowBitPlan *plan) {
  orderParts(plan);
  numberParts(plan);
  return plan->numDims <= MaxDims;
}

// Where zeros are packed in another way than the codes, they are made first, as they are few.
static bool makePlan(const TileStructured *s, int converted, int64_t rows, TileLowBitPlan *plan) {
  enum { Few = 16 };
  *plan = (TileLowBitPlan){.s = s, .other = 1 - converted, .count = 1};
  TileLowBitSide *side = &plan->sides[0];
  side->input = converted;
  int64_t few = tileTensorElements(s->operands[converted].value) / Few + 1;
  return tileLowBitRepeats(s, converted) <= rows &&
         ((readFactor(s, side, 0) && planParts(plan)) || (readFactor(s, side, few) && planParts(plan))) &&
         orderPlan(plan);
}

// Both factors are read as codes, as block-scaled products are.
static bool makePlanOfBoth(const TileStructured *s, TileLowBitPlan *plan) {
  *plan = (TileLowBitPlan){.s = s, .other = -1, .count = 2, .sides = {{.input = 1}, {.input = 0}}};
  return s->target->search.isGpu && readFactor(s, &plan->sides[0], 0) && readFactor(s, &plan->sides[1], 0) &&
         planParts(plan) && orderPlan(plan);
}

//===--- operands -----------------------------------------------------------------------------===//

// A new op's operand while it is made: what reads it, and the dimension of each of its axes (-1: one element).
typedef struct Operand {
  MlirValue value;
  int rank, dims[MaxDims];
} Operand;

// The parts [begin, end) that a digit has.
static void partsOfDigit(const TileLowBitCuts *parts, const TileDigit *digit, int *begin, int *end) {
  *begin = 0;
  while (parts->cuts[*begin] < digit->divisor)
    ++*begin;
  *end = parts->count;
  for (int i = parts->count - 1; digit->modulus && i > *begin && parts->cuts[i] >= digit->divisor * digit->modulus; --i)
    *end = i;
}

// The elements lie packed in bytes, and `columns` of them fill whole bytes.
static bool isPackedInRows(MlirValue value, int64_t columns) {
  enum { ByteBits = 8 };
  int64_t bits = tileElementWidth(mlirShapedTypeGetElementType(mlirValueGetType(value)));
  return !mlirValueIsNull(tilePackedBytesOf(value)) && columns * bits % ByteBits == 0;
}

// The axes of the bytes are cut in place of those of the elements, so that the product still reads bytes.
static MlirValue expandPacked(TileBuilder *b, MlirValue value, MlirType expanded, MlirAttribute axes) {
  int64_t shape[MaxDims];
  MlirType bytes = tilePackedBytesType(expanded);
  intptr_t rank = mlirShapedTypeGetRank(bytes);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(bytes, i);
  MlirValue cut = tensorExpandShapeOpBuild(b, bytes, tilePackedBytesOf(value), 0, NULL, axes,
                                           mlirDenseI64ArrayGet(b->context, rank, shape));
  return tileBitcastOpBuild(b, expanded, cut);
}

// `value`, whose axes are at these digits, with an axis for each part.
static Operand expand(TileBuilder *b, const TileLowBitPlan *plan, MlirValue value, int rank, const TileDigit *at) {
  Operand operand = {.value = value};
  MlirType type = mlirValueGetType(value), i64 = mlirIntegerTypeGet(b->context, 64);
  MlirAttribute groups[MaxOperandRank];
  MlirValue open[MaxOperandRank];
  int64_t shape[MaxDims];
  intptr_t numOpen = 0;
  for (int axis = 0; axis < rank; ++axis) {
    int begin = 0, end = 1, count = 0;
    MlirAttribute axes[2 * TileLowBitParts];
    const TileLowBitCuts *parts = at[axis].dim < 0 ? NULL : &plan->parts[at[axis].dim];
    const TileLowBitCuts *outer = at[axis].outer ? &plan->parts[at[axis].outer - 1] : NULL;
    for (int i = outer ? outer->count - 1 : -1; i >= 0; --i) {
      axes[count++] = mlirIntegerAttrGet(i64, operand.rank);
      shape[operand.rank] = outer->sizes[i];
      operand.dims[operand.rank++] = outer->dims[i];
    }
    if (parts)
      partsOfDigit(parts, &at[axis], &begin, &end);
    for (int i = end - 1; i >= begin; --i) {
      axes[count++] = mlirIntegerAttrGet(i64, operand.rank);
      shape[operand.rank] = end - begin > 1 || outer ? parts->sizes[i] : mlirShapedTypeGetDimSize(type, axis);
      if (mlirShapedTypeIsDynamicSize(shape[operand.rank]))
        open[numOpen++] = tileBuildDim(b, value, axis);
      operand.dims[operand.rank++] = parts ? parts->dims[i] : -1;
    }
    groups[axis] = mlirArrayAttrGet(b->context, count, axes);
  }
  if (operand.rank == rank)
    return operand;
  MlirType expanded =
      mlirRankedTensorTypeGet(operand.rank, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  MlirAttribute axes = mlirArrayAttrGet(b->context, rank, groups);
  operand.value = isPackedInRows(value, shape[operand.rank - 1])
                      ? expandPacked(b, value, expanded, axes)
                      : tensorExpandShapeOpBuild(b, expanded, value, numOpen, open, axes,
                                                 mlirDenseI64ArrayGet(b->context, operand.rank, shape));
  return operand;
}

static MlirAttribute mapOf(const TileBuilder *b, int numDims, const Operand *operand) {
  MlirAffineExpr results[MaxDims];
  for (int i = 0; i < operand->rank; ++i)
    results[i] = operand->dims[i] < 0 ? mlirAffineConstantExprGet(b->context, 0)
                                      : mlirAffineDimExprGet(b->context, operand->dims[i]);
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, numDims, 0, operand->rank, results));
}

// Copies the operand so that its axes follow the new op's dimensions.
static void sortAxes(TileBuilder *b, Operand *operand) {
  int order[MaxDims];
  bool isSorted = true;
  for (int i = 0; i < operand->rank; ++i) {
    order[i] = 0;
    for (int j = 0; j < operand->rank; ++j)
      order[i] += operand->dims[j] < operand->dims[i];
    isSorted = isSorted && order[i] == i;
  }
  if (isSorted)
    return;
  MlirType type = mlirValueGetType(operand->value), element = mlirShapedTypeGetElementType(type);
  Operand from = {.rank = operand->rank}, to = {.rank = operand->rank};
  int64_t shape[MaxDims];
  MlirValue open[MaxDims];
  intptr_t numOpen = 0;
  for (int i = 0; i < operand->rank; ++i) {
    from.dims[i] = order[i];
    to.dims[i] = i;
    shape[order[i]] = mlirShapedTypeGetDimSize(type, i);
    for (int j = 0; j < operand->rank; ++j)
      if (order[j] == i && mlirShapedTypeIsDynamicDim(type, j))
        open[numOpen++] = tileBuildDim(b, operand->value, j);
  }
  MlirType sorted = mlirRankedTensorTypeGet(operand->rank, shape, element, mlirAttributeGetNull());
  MlirValue empty = tensorEmptyOpBuild(b, sorted, numOpen, open);
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 2, (MlirType[]){element, element});
  MlirValue copied = mlirBlockGetArgument(inside.block, 0);
  linalgYieldOpBuild(&inside, 1, &copied);
  MlirAttribute maps[] = {mapOf(b, operand->rank, &from), mapOf(b, operand->rank, &to)}, none = {NULL};
  operand->value = tileOnlyResult(
      linalgGenericOpCreate(b, 1, &sorted, 1, &operand->value, 1, &empty, mlirArrayAttrGet(b->context, 2, maps),
                            tileBuildIteratorTypes(b, operand->rank, 0), none, none, region));
  int dims[MaxDims];
  memcpy(dims, operand->dims, sizeof dims);
  for (int i = 0; i < operand->rank; ++i)
    operand->dims[order[i]] = dims[i];
}

// An operand of the product itself, whose axes are whole dimensions.
static Operand expandOwn(TileBuilder *b, const TileLowBitPlan *plan, int index) {
  TileDigit at[MaxOperandRank];
  const TileOperand *operand = &plan->s->operands[index];
  for (int i = 0; i < operand->rank; ++i)
    at[i] = (TileDigit){.dim = operand->results[i], .divisor = 1};
  return expand(b, plan, mlirOperationGetOperand(plan->s->op, index), operand->rank, at);
}

//===--- the body -----------------------------------------------------------------------------===//

typedef struct Mapping {
  int count;
  MlirValue from[MaxMapped], to[MaxMapped];
} Mapping;

static MlirValue mapped(const Mapping *mapping, MlirValue value) {
  for (int i = mapping->count - 1; i >= 0; --i)
    if (mlirValueEqual(mapping->from[i], value))
      return mapping->to[i];
  return value; // of outside
}

static void map(Mapping *mapping, MlirValue from, MlirValue to) {
  mapping->from[mapping->count] = from;
  mapping->to[mapping->count++] = to;
}

// The element of a stack: of the part whose number `part` is.
static MlirValue chooseAmong(TileBuilder *b, int count, const MlirValue *parts, MlirValue part) {
  MlirValue chosen = parts[0];
  for (int i = 1; i < count; ++i) {
    MlirValue number = tileBuildInteger(b, mlirValueGetType(part), i);
    chosen = arithSelectOpBuild(b, arithCmpIOpBuild(b, part, number, ArithCmpI_Eq), parts[i], chosen);
  }
  return chosen;
}

// Copies the ops of `body`, whose arguments `mapping` has; returns what it yields.
static MlirValue copyBody(TileBuilder *b, MlirBlock body, Mapping *mapping) {
  MlirOperation end = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation copy = tileBuilderInsert(b, mlirOperationClone(op));
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      mlirOperationSetOperand(copy, i, mapped(mapping, mlirOperationGetOperand(op, i)));
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
      map(mapping, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
  }
  return mapped(mapping, tileOnlyOperand(end));
}

// The element of a node; `elements` has those that are known: of all that are read, from the start; of stacks, first
// the number of the part.
static MlirValue buildNode(TileBuilder *b, const TileFactor *factor, int index, MlirValue *elements, bool *areParts) {
  const TileFactorNode *node = &factor->nodes[index];
  if (!mlirValueIsNull(elements[index]) && !areParts[index])
    return elements[index];
  if (areParts[index]) {
    MlirValue parts[MaxOperands];
    areParts[index] = false;
    for (int i = 0; i < node->numParts; ++i)
      parts[i] = buildNode(b, factor, node->inputs[i], elements, areParts);
    return elements[index] = chooseAmong(b, node->numParts, parts, elements[index]);
  }
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(node->op, 0));
  Mapping mapping = {0};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(node->op) - 1; ++i)
    map(&mapping, mlirBlockGetArgument(body, i), buildNode(b, factor, node->inputs[i], elements, areParts));
  return elements[index] = copyBody(b, body, &mapping);
}

//===--- the product --------------------------------------------------------------------------===//

static MlirType elementOf(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
}

static MlirAttribute iteratorsOf(const TileBuilder *b, const TileLowBitPlan *plan) {
  MlirAttribute kinds[MaxDims];
  for (int d = 0; d < plan->s->numDims; ++d)
    for (int i = 0; i < plan->parts[d].count; ++i)
      kinds[plan->parts[d].dims[i]] = linalgIteratorTypeAttr(
          b, plan->s->dims[d].isReduction ? LinalgIteratorType_Reduction : LinalgIteratorType_Parallel);
  return mlirArrayAttrGet(b->context, plan->numDims, kinds);
}

// 0, 1, … as a tensor of i8.
static MlirValue buildNumbers(TileBuilder *b, int64_t count) {
  int8_t numbers[MaxOperands];
  for (int i = 0; i < count; ++i)
    numbers[i] = (int8_t)i;
  MlirType type = mlirRankedTensorTypeGet(1, &count, mlirIntegerTypeGet(b->context, 8), mlirAttributeGetNull());
  return tileBuildConstant(b, mlirDenseElementsAttrInt8Get(type, count, numbers));
}

// What an operand of the new op is: a node of one of the sides; side -1: the other factor.
typedef struct Source {
  int side, node;
} Source;

// The operands that are read: the other factor, then what the factors are made of. Returns their number.
static int buildInputs(TileBuilder *b, const TileLowBitPlan *plan, Operand *inputs, Source *sources) {
  int count = 0;
  if (plan->other >= 0) {
    sources[count] = (Source){.side = -1};
    inputs[count] = expandOwn(b, plan, plan->other);
    sortAxes(b, &inputs[count++]);
  }
  for (int side = 0; side < plan->count; ++side)
    for (int i = 0; i < plan->sides[side].factor.count; ++i) {
      const TileFactorNode *node = &plan->sides[side].factor.nodes[i];
      if (!mlirOperationIsNull(node->op) && !node->numParts)
        continue;
      if (count == MaxOperands - 1)
        return 0;
      sources[count] = (Source){.side = side, .node = i};
      inputs[count++] = node->numParts ? expand(b, plan, buildNumbers(b, node->numParts), 1, &node->part)
                                       : expand(b, plan, node->value, node->rank, node->at);
    }
  return count;
}

// The element of a side's factor.
static MlirValue buildElement(TileBuilder *inside, const TileLowBitPlan *plan, int side, int count,
                              const Source *sources) {
  const TileLowBitSide *converted = &plan->sides[side];
  MlirValue elements[MaxFactorNodes] = {{NULL}};
  bool areParts[MaxFactorNodes] = {false};
  for (int i = 0; i < count; ++i)
    if (sources[i].side == side) {
      elements[sources[i].node] = mlirBlockGetArgument(inside->block, i);
      areParts[sources[i].node] = converted->factor.nodes[sources[i].node].numParts > 0;
    }
  return buildNode(inside, &converted->factor, converted->root, elements, areParts);
}

static MlirRegion buildBody(TileBuilder *b, const TileLowBitPlan *plan, int count, const MlirType *types,
                            const Source *sources) {
  const TileStructured *s = plan->s;
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, count + 1, types);
  Mapping mapping = {0};
  for (int side = 0; side < plan->count; ++side)
    map(&mapping, mlirBlockGetArgument(s->body, plan->sides[side].input),
        buildElement(&inside, plan, side, count, sources));
  if (plan->other >= 0)
    map(&mapping, mlirBlockGetArgument(s->body, plan->other), mlirBlockGetArgument(inside.block, 0));
  map(&mapping, mlirBlockGetArgument(s->body, s->numInputs), mlirBlockGetArgument(inside.block, count));
  MlirValue result = copyBody(&inside, s->body, &mapping);
  linalgYieldOpBuild(&inside, 1, &result);
  return region;
}

// The product on codes; null where it has too many operands.
MlirValue tileLowBitBuild(TileBuilder *b, const TileLowBitPlan *plan) {
  Operand inputs[MaxOperands];
  Source sources[MaxOperands];
  int count = buildInputs(b, plan, inputs, sources);
  if (!count)
    return (MlirValue){NULL};
  MlirAttribute maps[MaxOperands], none = {NULL};
  MlirValue values[MaxOperands];
  MlirType types[MaxOperands];
  inputs[count] = expandOwn(b, plan, plan->s->numInputs);
  for (int i = 0; i <= count; ++i) {
    maps[i] = mapOf(b, plan->numDims, &inputs[i]);
    values[i] = inputs[i].value;
    types[i] = elementOf(values[i]);
  }
  MlirRegion body = buildBody(b, plan, count, types, sources);
  MlirType type = mlirValueGetType(values[count]);
  return tileOnlyResult(linalgGenericOpCreate(b, 1, &type, count, values, 1, &values[count],
                                              mlirArrayAttrGet(b->context, count + 1, maps), iteratorsOf(b, plan), none,
                                              none, body));
}

// Ops without a reader that move elements, and what they alone read.
static void destroyDead(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  bool isOurs = tensorExpandShapeOpIsA(op) || linalgGenericOpIsA(op) || tensorEmptyOpIsA(op) || tileBitcastOpIsA(op) ||
                arithConstantOpIsA(op) || tensorDimOpIsA(op);
  if (!isOurs || mlirOperationGetNumResults(op) != 1 || !mlirOpOperandIsNull(mlirValueGetFirstUse(value)))
    return;
  MlirValue operands[MaxOperands];
  intptr_t count = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < count && i < MaxOperands; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  mlirOperationDestroy(op);
  for (intptr_t i = 0; i < count && i < MaxOperands; ++i) {
    bool isAgain = false;
    for (intptr_t j = 0; j < i; ++j)
      isAgain = isAgain || mlirValueEqual(operands[i], operands[j]);
    if (!isAgain)
      destroyDead(operands[i]);
  }
}

void tileLowBitDestroy(MlirValue product) { destroyDead(product); }

//===--- scales -------------------------------------------------------------------------------===//

// The only op that reads the body's argument, if it widens a float of 8 bits or fewer that has no instruction on a CPU.
static MlirOperation widening(MlirValue argument) {
  MlirOpOperand use = mlirValueGetFirstUse(argument);
  MlirType type = mlirValueGetType(argument);
  bool isNarrow = mlirTypeIsAFloat(type) && tileElementWidth(type) <= 8 && !mlirTypeIsAFloat8E8M0FNU(type);
  if (!isNarrow || mlirOpOperandIsNull(use) || !tileHasOneUse(argument))
    return (MlirOperation){NULL};
  MlirOperation op = mlirOpOperandGetOwner(use);
  return arithExtFOpIsA(op) ? op : (MlirOperation){NULL};
}

// A tensor of as many elements as `value`, widened as `like` widens one.
static MlirValue widened(TileBuilder *b, MlirValue value, MlirOperation like) {
  MlirType from = elementOf(value), to = tileOnlyResultType(like);
  Operand all = {.rank = (int)mlirShapedTypeGetRank(mlirValueGetType(value))};
  int64_t shape[MaxDims];
  for (int i = 0; i < all.rank; ++i) {
    all.dims[i] = i;
    shape[i] = mlirShapedTypeGetDimSize(mlirValueGetType(value), i);
  }
  MlirType type = mlirRankedTensorTypeGet(all.rank, shape, to, mlirAttributeGetNull());
  MlirValue empty = tensorEmptyOpBuild(b, type, 0, NULL);
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 2, (MlirType[]){from, to});
  MlirValue element = arithExtFOpBuild(&inside, to, mlirBlockGetArgument(inside.block, 0));
  linalgYieldOpBuild(&inside, 1, &element);
  MlirAttribute maps[] = {mapOf(b, all.rank, &all), mapOf(b, all.rank, &all)}, none = {NULL};
  return tileOnlyResult(linalgGenericOpCreate(b, 1, &type, 1, &value, 1, &empty, mlirArrayAttrGet(b->context, 2, maps),
                                              tileBuildIteratorTypes(b, all.rank, 0), none, none, region));
}

void tileLowBitWidenScales(MlirOperation product, int64_t weights) {
  enum { Few = 8 }; // a scale is one for so many weights, or more
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(product, 0));
  TileBuilder b = tileBuilderBefore(product);
  for (intptr_t i = 0; i < linalgGenericOpGetNumInputs(product); ++i) {
    MlirValue argument = mlirBlockGetArgument(body, i), input = linalgGenericOpGetInputs(product, i);
    MlirOperation op = widening(argument);
    bool isKnown =
        mlirTypeIsARankedTensor(mlirValueGetType(input)) && mlirShapedTypeHasStaticShape(mlirValueGetType(input));
    if (mlirOperationIsNull(op) || !isKnown || tileTensorElements(input) > weights / Few)
      continue;
    mlirOperationSetOperand(product, i, widened(&b, input, op));
    mlirValueSetType(argument, tileOnlyResultType(op));
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), argument);
    mlirOperationDestroy(op);
  }
}

//===--- what passes ask ----------------------------------------------------------------------===//

bool tileLowBitHasMadeInput(MlirOperation op) {
  for (intptr_t i = 0; i < linalgGenericOpGetNumInputs(op); ++i)
    if (!mlirOperationIsNull(tileDefiningOp(linalgGenericOpGetInputs(op, i))))
      return true;
  return false;
}

bool tileLowBitRead(MlirOperation op, const TileTarget *target, TileStructured *s) {
  int lhs, rhs;
  return tileLowBitHasMadeInput(op) && tileStructuredRead(op, target, s) && mlirAttributeIsNull(s->schedule) &&
         tileStructuredMatchMultiplyAdd(s, &lhs, &rhs) && isFull(&s->operands[0]) && isFull(&s->operands[1]);
}

bool tileLowBitMakePlan(const TileStructured *s, int attempt, int64_t rows, TileLowBitPlan *plan) {
  int lhs, rhs;
  if (attempt == 0)
    return makePlanOfBoth(s, plan);
  return tileStructuredMatchMultiplyAdd(s, &lhs, &rhs) && makePlan(s, attempt == 1 ? rhs : lhs, rows, plan);
}

TileConvert tileLowBitPlace(const TileLowBitPlan *plan, MlirValue product, const char **why) {
  TileStructured s;
  TileConverted converted;
  TileScaledProduct scaled;
  TileDots dots;
  *why = "no kernel computes the product on its codes";
  if (!tileStructuredRead(tileDefiningOp(product), plan->s->target, &s))
    return TileConvert_Unsaid;
  bool isGpu = s.target->search.isGpu;
  if (plan->count == 2 || tileStructuredMatchDots(&s, &dots)) {
    bool isTaken = plan->count == 2 ? tileStructuredMatchScaledProduct(&s, &scaled) : true;
    *why = isTaken ? "an instruction multiplies these codes in registers" : *why;
    return isTaken && s.convert != TileConvert_Shared ? TileConvert_Register : TileConvert_Unsaid;
  }
  if (tileStructuredMatchConverted(&s, &converted))
    return isGpu && s.convert != TileConvert_Shared ? TileConvert_Register : TileConvert_Shared;
  // A sum converts a weight for each row. A GPU has matrix instructions for more rows than one.
  int64_t rows = tileLowBitRepeats(plan->s, plan->sides[0].input);
  bool isAsked = s.convert == TileConvert_Register && !isGpu;
  if (s.convert == TileConvert_Shared) {
    *why = "no kernel that shares converted weights computes this product";
    return TileConvert_Unsaid;
  }
  if (!plan->isAlongReduction) {
    *why = "the weights lie along the columns, so that a sum along k would not read neighbours";
    return TileConvert_Unsaid;
  }
  *why = "no kernel of several rows has it, and a sum would convert each weight again for each row";
  return isAsked || rows <= (isGpu ? 1 : TileLowBitFewRows) ? TileConvert_Register : TileConvert_Unsaid;
}
