// tile-merge-dimensions{chip=NAME convolutions=model|merged|direct}: makes matrix products of sums of products over
// more dimensions, so that they get a product's packed blocks: convolutions (implicit GEMM) and einsum-like products.
//   out[n, p, q, f] += sum over r, s, c of x[n, p + r, q + s, c] · w[r, s, c, f]
//   becomes  C[m, f] += sum over k of x'[address(m, k)] · W[k, f]
//   where m counts pixels (n, p, q), k the window's elements (r, s, c), C, W and x' are the same memory with fewer axes
//   (tensor.collapse_shape), and address(m, k) is a sum of terms like m floordiv 56 mod 56 times a stride. Where no
//   element is met twice (a 1 × 1 window at stride 1) A is a matrix like the others.
// Expects: linalg.generic on tensors in func.func, for a CPU (after tile-generalize-named-ops and
// tile-group-ops). Leaves:
//   the merged product, with the elementwise op that alone uses it in the same shape, so that it becomes the product's
//   epilogue. That is where the model expects the packed product to be a tenth faster than the convolution's own kernel
//   (lib/search), or as `convolutions` says. Left alone: sizes inside that are not known, unless A is a matrix, what
//   has a schedule, batched products, images whose channels are not contiguous.
// Source: implicit GEMM without im2col in memory, as in cuDNN (Chetlur et al. 2014).
#include "lib/transforms/schedule/schedule.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/pass.h"
#include "lib/search/construct.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

enum { Merged, Windows };

static const char *const statistics[] = {
    "merged: sums of products that became matrix products",
    "windows: of these, that read their left operand in windows",
    NULL,
};

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
  bool isForced, isDirect; // `convolutions`: merged, or direct
  bool keepsTiles;         // the chosen tile is the one that tile-construct-tiles would choose
  bool explains;
} Run;

// Dimensions that become one, the outermost first.
typedef struct Group {
  int count, dims[MaxDims];
} Group;

typedef struct Merge {
  const TileStructured *s;
  int lhs, rhs;
  Group m, n, k;
  bool isTransposed; // B's columns come before its rows
  int numTerms;      // of A's only axis; 0: it is a matrix
  TileTerm terms[MaxTerms];
  bool isMatrixTransposed; // of such a matrix: k before m
  bool rowsComeFirst;      // A has the rows' axes, some of sizes that are not known, then those of k
} Merge;

//===--- which dimensions --------------------------------------------------------------===//

static void append(Group *group, int dim) { group->dims[group->count++] = dim; }

// The output's dimensions: those of A, then those of B, whose operand has the last one.
static bool groupOutput(Merge *merge) {
  const TileOperand *out = &merge->s->operands[2];
  if (out->rank < 2)
    return false;
  int last = out->results[out->rank - 1];
  if (tileOperandUses(&merge->s->operands[merge->lhs], last)) {
    int lhs = merge->lhs;
    merge->lhs = merge->rhs;
    merge->rhs = lhs;
  }
  for (int i = 0; i < out->rank; ++i) {
    bool inA = tileOperandUses(&merge->s->operands[merge->lhs], out->results[i]);
    bool inB = tileOperandUses(&merge->s->operands[merge->rhs], out->results[i]);
    if (inA == inB || (inA && merge->n.count))
      return false;
    append(inA ? &merge->m : &merge->n, out->results[i]);
  }
  return merge->m.count && merge->n.count;
}

// B's axes: all rows, then all columns, or the other way around; the columns in the output's order.
static bool groupRight(Merge *merge) {
  const TileOperand *b = &merge->s->operands[merge->rhs];
  int columns = 0, changes = 0;
  for (int i = 0, before = -1; i < b->rank; ++i) {
    int d = b->results[i];
    if (d < 0)
      return false;
    bool isRow = merge->s->dims[d].isReduction;
    if (isRow && !tileOperandUses(&merge->s->operands[merge->lhs], d))
      return false;
    if (!isRow && (columns == merge->n.count || merge->n.dims[columns] != d))
      return false;
    columns += !isRow;
    if (isRow)
      append(&merge->k, d);
    changes += before >= 0 && before != isRow;
    before = isRow;
    merge->isTransposed = isRow && columns;
  }
  return merge->k.count && changes == 1 && merge->m.count + merge->n.count + merge->k.count == merge->s->numDims;
}

static int64_t extentOf(const Merge *merge, int dim) { return merge->s->dims[dim].extent; }

static bool isKnown(int64_t extent) { return !mlirShapedTypeIsDynamicSize(extent) && extent > 0; }

// All extents but perhaps the outermost are known: merged ones can be taken apart.
static bool areKnown(const Merge *merge, const Group *group, int first) {
  for (int i = first; i < group->count; ++i)
    if (!isKnown(extentOf(merge, group->dims[i])))
      return false;
  return extentOf(merge, group->dims[0]) != 0;
}

// The known ones: all, or all but the outermost.
static int64_t product(const Merge *merge, const Group *group) {
  int64_t extent = 1;
  for (int i = !isKnown(extentOf(merge, group->dims[0])); i < group->count; ++i)
    extent *= extentOf(merge, group->dims[i]);
  return extent;
}

//===--- A's addresses -----------------------------------------------------------------===//

// Elements from one index of `dim` to the next in A, as one row of all its elements; -1: it runs backwards, or sizes
// are not known.
static int64_t strideOf(const Merge *merge, int dim) {
  const TileOperand *a = &merge->s->operands[merge->lhs];
  MlirType type = mlirValueGetType(a->value);
  int64_t stride = 1, sum = 0;
  for (int i = a->rank - 1; i >= 0; --i) {
    if (a->factors[i][dim] < 0 || stride < 0)
      return -1;
    sum += a->factors[i][dim] * stride;
    int64_t size = mlirShapedTypeGetDimSize(type, i);
    stride = isKnown(size) ? stride * size : -1;
  }
  return sum;
}

// The terms of a group, dimension `dim` of the merged product: neighbours that follow each other evenly are one.
static bool addTerms(Merge *merge, const Group *group, int dim) {
  int first = merge->numTerms;
  int64_t inner = 1, extent = 0;
  for (int i = group->count - 1; i >= 0; --i) {
    int64_t own = extentOf(merge, group->dims[i]), stride = strideOf(merge, group->dims[i]);
    if (stride < 0)
      return false;
    if (own == 1)
      continue;
    TileTerm *last = merge->numTerms > first ? &merge->terms[merge->numTerms - 1] : NULL;
    bool isNext = last && stride == last->factor * extent;
    if (!isNext) {
      if (last)
        last->modulus = extent;
      if (merge->numTerms == MaxTerms)
        return false;
      merge->terms[merge->numTerms++] = (TileTerm){dim, inner, 0, stride};
    }
    if (!isKnown(own)) // the outermost
      break;
    extent = isNext ? extent * own : own;
    inner *= own;
  }
  return merge->numTerms > first;
}

// A has m · k elements, all in the order of (m, k) or (k, m).
static bool isMatrix(Merge *merge) {
  const TileOperand *a = &merge->s->operands[merge->lhs];
  MlirType type = mlirValueGetType(a->value);
  int outermost = merge->m.dims[0];
  int64_t m = product(merge, &merge->m), k = product(merge, &merge->k), inner = 1;
  bool isOpen = !isKnown(extentOf(merge, outermost));
  for (int i = isOpen; i < a->rank; ++i)
    inner *= mlirShapedTypeGetDimSize(type, i);
  if (merge->numTerms != 2 || inner != m * k || (isOpen && a->results[0] != outermost))
    return false;
  merge->isMatrixTransposed = merge->terms[0].factor == 1 && merge->terms[1].factor == m && !isOpen && k > 1;
  return merge->isMatrixTransposed || (merge->terms[0].factor == k && merge->terms[1].factor == 1);
}

// A has the rows' axes, then those of k, as the output has the rows': a matrix whatever the sizes are.
static bool hasRowsBeforeDepth(const Merge *merge) {
  const TileOperand *a = &merge->s->operands[merge->lhs];
  bool hasThem = a->rank == merge->m.count + merge->k.count && tileOperandIsPlain(a);
  for (int i = 0; hasThem && i < a->rank; ++i)
    hasThem = a->results[i] == (i < merge->m.count ? merge->m.dims[i] : merge->k.dims[i - merge->m.count]);
  return hasThem;
}

static bool isPlainProduct(const Merge *merge) {
  return merge->m.count == 1 && merge->n.count == 1 && merge->k.count == 1 &&
         tileOperandIsPlain(&merge->s->operands[merge->lhs]);
}

// Asked before an op is read: a plain product, or none at all.
static bool isSettled(MlirOperation op) {
  MlirAttribute maps = tileOpAttribute(op, "indexing_maps");
  bool isPlain = mlirArrayAttrGetNumElements(tileOpAttribute(op, "iterator_types")) <= 3;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(maps); ++i)
    isPlain =
        isPlain && mlirAffineMapIsProjectedPermutation(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i)));
  return isPlain || tileGenericIsParallel(op) || !mlirAttributeIsNull(tileOpGetTileSchedule(op));
}

static bool match(const TileStructured *s, Merge *merge) {
  *merge = (Merge){.s = s};
  if (tileStructuredHasTerms(s) || !mlirAttributeIsNull(s->schedule) ||
      !tileStructuredMatchMultiplyAdd(s, &merge->lhs, &merge->rhs) || !groupOutput(merge) || !groupRight(merge) ||
      isPlainProduct(merge) || !areKnown(merge, &merge->n, 1) || !areKnown(merge, &merge->k, 0))
    return false;
  if (!areKnown(merge, &merge->m, 1)) // taken apart by the sizes of what the output starts from
    return merge->rowsComeFirst = hasRowsBeforeDepth(merge);
  const TileOperand *a = &s->operands[merge->lhs];
  for (int i = 0; i < a->rank; ++i)
    if (a->constants[i])
      return false;
  if (!addTerms(merge, &merge->m, 0) || !addTerms(merge, &merge->k, 2))
    return false;
  TileTerm *last = &merge->terms[merge->numTerms - 1];
  if (isMatrix(merge))
    merge->numTerms = 0;
  else if (merge->numTerms == 2) // rows that lie apart: a modulus keeps the sum one of terms
    last->modulus = product(merge, &merge->k);
  return true;
}

//===--- tensors of fewer axes -----------------------------------------------------------===//

typedef struct Axes {
  int count, sizes[MaxOperandRank]; // how many axes become each one
} Axes;

static MlirAttribute reassociation(TileBuilder *b, const Axes *axes) {
  MlirAttribute groups[MaxOperandRank], numbers[MaxOperandRank];
  for (int group = 0, next = 0; group < axes->count; ++group) {
    for (int i = 0; i < axes->sizes[group]; ++i, ++next)
      numbers[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), next);
    groups[group] = mlirArrayAttrGet(b->context, axes->sizes[group], numbers);
  }
  return mlirArrayAttrGet(b->context, axes->count, groups);
}

static bool changes(const Axes *axes) {
  for (int i = 0; i < axes->count; ++i)
    if (axes->sizes[i] != 1)
      return true;
  return false;
}

static MlirType collapsedType(MlirType type, const Axes *axes) {
  int64_t shape[MaxOperandRank], next = 0;
  for (int group = 0; group < axes->count; ++group) {
    shape[group] = 1;
    for (int i = 0; i < axes->sizes[group]; ++i, ++next) {
      int64_t size = mlirShapedTypeGetDimSize(type, next);
      bool isOpen = mlirShapedTypeIsDynamicSize(size) || mlirShapedTypeIsDynamicSize(shape[group]);
      shape[group] = isOpen ? mlirShapedTypeGetDynamicSize() : shape[group] * size;
    }
  }
  return mlirRankedTensorTypeGet(axes->count, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
}

static MlirValue collapse(TileBuilder *b, MlirValue tensor, const Axes *axes) {
  if (!changes(axes))
    return tensor;
  return tensorCollapseShapeOpBuild(b, collapsedType(mlirValueGetType(tensor), axes), tensor, reassociation(b, axes));
}

// `tensor` in the shape of `like`, whose collapsed type it has.
static MlirValue expand(TileBuilder *b, MlirValue tensor, MlirValue like, const Axes *axes) {
  MlirType type = mlirValueGetType(like);
  MlirValue sizes[MaxOperandRank];
  int64_t shape[MaxOperandRank];
  intptr_t rank = mlirShapedTypeGetRank(type), count = 0;
  if (!changes(axes))
    return tensor;
  for (intptr_t i = 0; i < rank; ++i) {
    shape[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicSize(shape[i]))
      sizes[count++] = tileBuildDim(b, like, i);
  }
  return tensorExpandShapeOpBuild(b, type, tensor, count, sizes, reassociation(b, axes),
                                  mlirDenseI64ArrayGet(b->context, rank, shape));
}

//===--- ops over fewer dimensions --------------------------------------------------------===//

static MlirAttribute mapOf(TileBuilder *b, int dims, intptr_t count, const int *results) {
  MlirAffineExpr expressions[MaxOperandRank];
  for (intptr_t i = 0; i < count; ++i)
    expressions[i] = mlirAffineDimExprGet(b->context, results[i]);
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, dims, 0, count, expressions));
}

// A copy of a generic with one result: other operands, maps and iterators.
static MlirOperation rebuild(TileBuilder *b, MlirOperation op, const MlirValue *operands, const MlirAttribute *maps,
                             MlirAttribute iteratorTypes) {
  MlirOperation copy = tileBuilderInsert(b, mlirOperationClone(op));
  intptr_t count = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < count; ++i)
    mlirOperationSetOperand(copy, i, operands[i]);
  mlirOperationSetAttributeByName(copy, tileString("indexing_maps"), mlirArrayAttrGet(b->context, count, maps));
  mlirOperationSetAttributeByName(copy, tileString("iterator_types"), iteratorTypes);
  mlirValueSetType(tileOnlyResult(copy), mlirValueGetType(operands[count - 1]));
  return copy;
}

// What an output starts from with fewer axes: filled anew where it was filled with a number, so that the product starts
// from that number.
static MlirValue collapseStart(TileBuilder *b, MlirValue start, const Axes *axes) {
  MlirOperation fill = tileDefiningOp(start);
  intptr_t last = mlirOperationIsNull(fill) ? 0 : mlirOperationGetNumOperands(fill) - 1;
  bool isFill = linalgGenericOpIsA(fill) && mlirOperationGetNumResults(fill) == 1 && last <= 1;
  for (intptr_t i = 0; isFill && i < last; ++i)
    isFill = !mlirTypeIsAShaped(tileOperandType(fill, i));
  if (!isFill || !changes(axes))
    return collapse(b, start, axes);
  int all[MaxOperandRank];
  for (int i = 0; i < axes->count; ++i)
    all[i] = i;
  MlirValue operands[2] = {last ? linalgGenericOpGetInputs(fill, 0) : (MlirValue){NULL}};
  MlirAttribute maps[2] = {mapOf(b, axes->count, 0, NULL)};
  operands[last] = collapse(b, mlirOperationGetOperand(fill, last), axes);
  maps[last] = mapOf(b, axes->count, axes->count, all);
  return tileOnlyResult(rebuild(b, fill, operands, maps, tileBuildIteratorTypes(b, axes->count, 0)));
}

static MlirAffineExpr termOf(TileBuilder *b, const TileTerm *term) {
  MlirAffineExpr expr = mlirAffineDimExprGet(b->context, term->dim);
  if (term->divisor > 1)
    expr = mlirAffineFloorDivExprGet(expr, mlirAffineConstantExprGet(b->context, term->divisor));
  if (term->modulus)
    expr = mlirAffineModExprGet(expr, mlirAffineConstantExprGet(b->context, term->modulus));
  return mlirAffineMulExprGet(expr, mlirAffineConstantExprGet(b->context, term->factor));
}

static MlirAttribute mapOfTerms(TileBuilder *b, const Merge *merge) {
  MlirAffineExpr sum = termOf(b, &merge->terms[0]);
  for (int i = 1; i < merge->numTerms; ++i)
    sum = mlirAffineAddExprGet(sum, termOf(b, &merge->terms[i]));
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, 3, 0, 1, &sum));
}

// How A's axes become those of a matrix; false where some axis has elements of both, or of none.
static bool axesOfMatrix(const Merge *merge, Axes *axes) {
  const TileOperand *a = &merge->s->operands[merge->lhs];
  int64_t left = product(merge, merge->isMatrixTransposed ? &merge->k : &merge->m), rows = 1;
  MlirType type = mlirValueGetType(a->value);
  bool isOpen = !isKnown(extentOf(merge, merge->m.dims[0]));
  *axes = (Axes){.count = 2, .sizes = {isOpen}};
  while (axes->sizes[0] < a->rank - 1 && (rows < left || !axes->sizes[0]))
    rows *= mlirShapedTypeGetDimSize(type, axes->sizes[0]++);
  axes->sizes[1] = a->rank - axes->sizes[0];
  return rows == left;
}

static MlirValue buildLeft(TileBuilder *b, const Merge *merge, MlirAttribute *map) {
  const TileOperand *a = &merge->s->operands[merge->lhs];
  Axes axes = {.count = 1, .sizes = {a->rank}};
  if (merge->numTerms) {
    *map = mapOfTerms(b, merge);
    return collapse(b, a->value, &axes);
  }
  if (merge->rowsComeFirst)
    axes = (Axes){.count = 2, .sizes = {merge->m.count, merge->k.count}};
  else if (!axesOfMatrix(merge, &axes))
    return (MlirValue){NULL};
  *map = mapOf(b, 3, 2, merge->isMatrixTransposed ? (int[]){2, 0} : (int[]){0, 2});
  return collapse(b, a->value, &axes);
}

// The merged product, before the op; null where it cannot be.
static MlirOperation buildProduct(TileBuilder *b, const Merge *merge, const Axes *out) {
  MlirValue operands[3];
  MlirAttribute maps[3];
  Axes right = {.count = 2, .sizes = {merge->k.count, merge->n.count}};
  if (merge->isTransposed)
    right = (Axes){.count = 2, .sizes = {merge->n.count, merge->k.count}};
  operands[merge->lhs] = buildLeft(b, merge, &maps[merge->lhs]);
  if (mlirValueIsNull(operands[merge->lhs]))
    return (MlirOperation){NULL};
  operands[merge->rhs] = collapse(b, merge->s->operands[merge->rhs].value, &right);
  maps[merge->rhs] = mapOf(b, 3, 2, merge->isTransposed ? (int[]){1, 2} : (int[]){2, 1});
  operands[2] = collapseStart(b, merge->s->operands[2].value, out);
  maps[2] = mapOf(b, 3, 2, (int[]){0, 1});
  return rebuild(b, merge->s->op, operands, maps, tileBuildIteratorTypes(b, 2, 1));
}

//===--- the elementwise op that follows ---------------------------------------------------===//

// How the operand's axes become those of the product's output, if they do: all of its rows' dimensions in their order
// or none, then the same of its columns'. Axes of one element that no dimension indexes go with their neighbours.
static bool axesOfOperand(const TileOperand *operand, const int *dims, const Axes *out, Axes *axes, int *results) {
  int next = 0, loose = 0;
  *axes = (Axes){.count = 0};
  for (int i = 0; i < operand->rank;) {
    if (operand->results[i] < 0) {
      bool isOne = operand->constants[i] == 0 && mlirShapedTypeGetDimSize(mlirValueGetType(operand->value), i) == 1;
      for (int d = 0; d < MaxDims; ++d)
        isOne = isOne && !operand->factors[i][d];
      if (!isOne)
        return false;
      ++loose;
      ++i;
      continue;
    }
    int group = operand->results[i] == dims[out->sizes[0]] ? 1 : 0, first = group ? out->sizes[0] : 0;
    if (group < next || i + out->sizes[group] > operand->rank)
      return false;
    for (int j = 0; j < out->sizes[group]; ++j)
      if (operand->results[i + j] != dims[first + j])
        return false;
    results[axes->count] = group;
    axes->sizes[axes->count++] = loose + out->sizes[group];
    loose = 0;
    next = group + 1;
    i += out->sizes[group];
  }
  if (loose && !axes->count)
    return false;
  if (loose)
    axes->sizes[axes->count - 1] += loose;
  return true;
}

// The elementwise op that alone uses the value, by its operand `index`, in the value's order; null: none.
static MlirOperation findFollower(MlirValue value, const TileTarget *target, TileStructured *s, int *index) {
  MlirOperation none = {NULL}, user = tileHasOneUse(value) ? mlirOpOperandGetOwner(mlirValueGetFirstUse(value)) : none;
  if (!linalgGenericOpIsA(user) || !tileStructuredRead(user, target, s) || tileStructuredHasReduction(s) ||
      s->numOutputs != 1 || tileStructuredHasTerms(s) || tileStructuredUsesPosition(s) ||
      !mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(tileDefiningOp(value))))
    return none;
  *index = (int)mlirOpOperandGetOperandNumber(mlirValueGetFirstUse(value));
  return *index < s->numInputs && s->operands[*index].rank == s->numDims && tileOperandIsPlain(&s->operands[*index]) &&
                 mlirAttributeIsNull(s->schedule)
             ? user
             : none;
}

// Puts the follower, over two dimensions, behind the merged product; null where it stays as it is.
static MlirOperation mergeFollower(const Run *run, MlirValue value, MlirOperation merged, const Axes *out) {
  TileStructured s;
  MlirOperation none = {NULL};
  Axes axes[MaxOperands];
  int index, results[MaxOperands][MaxOperandRank], dims[MaxDims];
  MlirOperation follower = findFollower(value, &run->target, &s, &index);
  if (mlirOperationIsNull(follower))
    return none;
  for (int i = 0; i < s.numDims; ++i)
    if ((dims[i] = s.operands[index].results[i]) < 0)
      return none;
  for (int i = 0; i <= s.numInputs; ++i)
    if (!axesOfOperand(&s.operands[i], dims, out, &axes[i], results[i]))
      return none;
  if (axes[s.numInputs].count != 2)
    return none;
  TileBuilder b = tileBuilderBefore(follower);
  MlirValue operands[MaxOperands];
  MlirAttribute maps[MaxOperands];
  for (int i = 0; i <= s.numInputs; ++i) {
    MlirValue operand = mlirOperationGetOperand(follower, i);
    operands[i] = i == index               ? tileOnlyResult(merged)
                  : s.operands[i].isTensor ? collapse(&b, operand, &axes[i])
                                           : operand;
    maps[i] = mapOf(&b, 2, axes[i].count, results[i]);
  }
  MlirOperation copy = rebuild(&b, follower, operands, maps, tileBuildIteratorTypes(&b, 2, 0));
  MlirValue expanded =
      expand(&b, tileOnlyResult(copy), mlirOperationGetOperand(follower, s.numInputs), &axes[s.numInputs]);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(follower), expanded);
  return follower;
}

//===--- whether ----------------------------------------------------------------------------===//

// The best tile of the merged product, which is decided with that: the op keeps the tile.
static TilePrediction decide(const Run *run, const TileStructured *s, const TileTiling *tiling) {
  TileOperator op = tileStructuredDescribe(s, tiling, TileUnknownExtent);
  TileSearchTarget target = tileStructuredTargetFor(&run->target, &op);
  TileSearchOptions options = tileSearchDefaults();
  TileSearchResult result;
  tileSearchConstruct(&op, &target, &options, &result);
  if (!result.count)
    return (TilePrediction){.misfit = "everything"};
  if (run->keepsTiles)
    tileOpSetSchedule(s->op, tileScheduleOfTile(mlirOperationGetContext(s->op), &op, &result.best[0]));
  return result.best[0].prediction;
}

// Whether the merged product, which stands beside the op, takes its place.
static bool pays(const Run *run, const Merge *merge, MlirOperation merged) {
  TileStructured s;
  TileTiling tiling, own;
  if (!tileStructuredRead(merged, &run->target, &s))
    return false;
  tileStructuredStartFromConstants(&s);
  if (!tileStructuredFindTiling(&s, &tiling) || !tiling.isMatrix)
    return false;
  if (run->isForced || run->isDirect)
    return run->isForced;
  TilePrediction packed = decide(run, &s, &tiling);
  if (!tileStructuredFindTiling(merge->s, &own) || !own.isProduct)
    return !packed.misfit;
  TileOperator op = tileStructuredDescribe(merge->s, &own, TileUnknownExtent);
  TileSearchTarget target = tileStructuredTargetFor(&run->target, &op);
  TileSearchTile tile;
  tileWindowKind.starts(&op, &target, &tile);
  TilePrediction direct = tilePredict(&op, &target, &tile);
  if (run->explains)
    tileRemark(merge->s->op, "merged %.4g us (%s), direct %.4g us (%s)", packed.seconds * 1e6, packed.bound,
               direct.seconds * 1e6, direct.bound);
  return !packed.misfit && tileSearchGains(&target, packed.seconds, direct.seconds);
}

//===--- the pass ---------------------------------------------------------------------------===//

static void destroyUnused(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !mlirOpOperandIsNull(mlirValueGetFirstUse(value)))
    return;
  MlirValue inner = mlirOperationGetOperand(op, mlirOperationGetNumOperands(op) - 1);
  bool isOurs = tensorCollapseShapeOpIsA(op), isFill = linalgGenericOpIsA(op);
  if (!isOurs && !isFill)
    return;
  mlirOperationDestroy(op);
  destroyUnused(inner);
}

static void destroyMerged(MlirOperation merged) {
  MlirValue operands[3];
  for (int i = 0; i < 3; ++i)
    operands[i] = mlirOperationGetOperand(merged, i);
  mlirOperationDestroy(merged);
  for (int i = 0; i < 3; ++i)
    destroyUnused(operands[i]);
}

// Returns the op that vanished beside `op`, or null.
static MlirOperation merge(const Run *run, MlirOperation op) {
  MlirOperation none = {NULL};
  TileStructured s;
  Merge m;
  if (isSettled(op) || !tileStructuredRead(op, &run->target, &s))
    return none;
  if (!match(&s, &m))
    return none;
  TileBuilder b = tileBuilderBefore(op);
  Axes out = {.count = 2, .sizes = {m.m.count, m.n.count}};
  MlirOperation merged = buildProduct(&b, &m, &out);
  if (mlirOperationIsNull(merged))
    return none;
  if (!pays(run, &m, merged)) {
    destroyMerged(merged);
    return none;
  }
  mlirExtPassAddStatistic(run->pass, Merged, 1);
  mlirExtPassAddStatistic(run->pass, Windows, m.numTerms > 0);
  MlirValue result = tileOnlyResult(op);
  MlirOperation follower = mergeFollower(run, result, merged, &out);
  if (!mlirOperationIsNull(follower)) {
    mlirOperationDestroy(follower);
  } else {
    MlirValue whole = expand(&b, tileOnlyResult(merged), s.operands[2].value, &out);
    mlirValueReplaceAllUsesOfWith(result, whole);
  }
  mlirOperationDestroy(op);
  return follower;
}

static void forget(TileOps *ops, MlirOperation op) {
  for (intptr_t i = 0; i < ops->count; ++i)
    if (mlirOperationEqual(ops->items[i], op))
      ops->items[i] = (MlirOperation){NULL};
}

static bool run(MlirOperation function, MlirExtPass pass) {
  MlirStringRef convolutions = mlirExtPassGetString(pass, "convolutions");
  Run r = {.pass = pass};
  r.isForced = tileStringEquals(convolutions, "merged");
  r.keepsTiles = tileStringEquals(mlirExtPassGetString(pass, "policy"), "construct");
  r.explains = mlirExtPassGetBool(pass, "remarks");
  r.isDirect = tileStringEquals(convolutions, "direct");
  if (!r.isForced && !r.isDirect && !tileStringEquals(convolutions, "model"))
    return tileError(function, "convolutions: unknown '%.*s'; accepts model, merged and direct",
                     (int)convolutions.length, convolutions.data);
  if (!tileTargetOfPass(function, pass, &r.target))
    return false;
  TileOps generics = tileStructuredCollect(function);
  for (intptr_t i = 0; i < generics.count && !r.target.search.isGpu; ++i)
    if (!mlirOperationIsNull(generics.items[i])) {
      MlirOperation gone = merge(&r, generics.items[i]);
      if (!mlirOperationIsNull(gone))
        forget(&generics, gone);
    }
  tileOpsFree(&generics);
  tileTargetFree(&r.target);
  return true;
}

const MlirExtPassDefinition tileMergeDimensionsPass = {
    .argument = "tile-merge-dimensions",
    .summary = "Make matrix products of convolutions and of products over more dimensions, where that is faster",
    .anchor = funcFuncOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"convolutions", "model (the faster way), merged (all that can be) or direct (none)", MlirExtOption_String,
             "model"},
            TILE_POLICY_OPTION,
            {"remarks", "say in a remark what the model expects of both ways", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"tensor", "linalg", "arith", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
