// Facts through linalg's loops: the body is interpreted once for each combination of classes of indices. See
// module_facts.h.
//
// A result that several points of the loops accumulate into starts as its init, and joins what the body makes of it
// until nothing changes. Cost: the product of the classes along each loop, at most MaxPoints; where there are more, the
// facts of the operands are made coarser.
#include "lib/analysis/sparsity/module_facts.h"

#include "lib/analysis/sparsity/body_facts.h"
#include "lib/capi/elements.h"
#include "lib/capi/op.h"
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"

#include <math.h>
#include <stdlib.h>

enum { MaxPoints = 1 << 21, MaxIndexPoints = 1 << 14, CoarseCells = 256 };

//===--- loops ----------------------------------------------------------------===//

static void readMap(SparseLoops *loops, intptr_t operand, MlirAffineMap map) {
  loops->operands[operand].rank = mlirAffineMapGetNumResults(map);
  for (intptr_t axis = 0; axis < loops->operands[operand].rank; ++axis) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, axis);
    intptr_t dim = mlirAffineExprIsADim(expr) ? mlirAffineDimExprGetPosition(expr) : -1;
    loops->operands[operand].dims[axis] = dim;
    if (dim < 0)
      continue;
    int64_t size = mlirShapedTypeGetDimSize(mlirValueGetType(loops->operands[operand].value), axis);
    if (!mlirShapedTypeIsDynamicSize(size) || loops->extents[dim] == -2)
      loops->extents[dim] = mlirShapedTypeIsDynamicSize(size) ? -1 : size;
  }
}

static bool readOperand(SparseLoops *loops, intptr_t i, MlirAttribute maps) {
  MlirValue value = mlirOperationGetOperand(loops->op, i);
  MlirType type = mlirValueGetType(value);
  loops->operands[i].value = value;
  loops->operands[i].isTensor = mlirTypeIsARankedTensor(type);
  if (!loops->operands[i].isTensor)
    return !mlirTypeIsAShaped(type) || mlirTypeIsAVector(type);
  if (mlirShapedTypeGetRank(type) > SparseMaxFactRank)
    return false;
  readMap(loops, i, mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i)));
  return true;
}

// Every axis of an output has a loop of its own; loops that no output has are reductions.
static bool readOutputs(SparseLoops *loops) {
  for (intptr_t d = 0; d < loops->numDims; ++d)
    loops->isReduction[d] = true;
  for (intptr_t i = loops->numInputs; i < loops->numOperands; ++i) {
    uint64_t seen = 0;
    for (intptr_t axis = 0; axis < loops->operands[i].rank; ++axis) {
      intptr_t dim = loops->operands[i].dims[axis];
      if (dim < 0 || seen >> dim & 1)
        return false;
      seen |= UINT64_C(1) << dim;
      loops->isReduction[dim] = false;
    }
  }
  for (intptr_t i = loops->numInputs; i < loops->numOperands; ++i) // outputs of one shape of loops only
    for (intptr_t d = 0; d < loops->numDims; ++d) {
      bool has = false;
      for (intptr_t axis = 0; axis < loops->operands[i].rank; ++axis)
        has |= loops->operands[i].dims[axis] == d;
      if (has == loops->isReduction[d])
        return false;
    }
  return true;
}

bool sparseLoopsRead(MlirOperation op, SparseLoops *loops) {
  intptr_t count = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
  if (!tileOpIsStructured(op) || !results || count > SparseMaxLoopOperands ||
      mlirRegionIsNull(mlirOperationGetRegion(op, 0)))
    return false;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirArrayAttrGetNumElements(maps) != count)
    return false;
  *loops = (SparseLoops){.op = op, .numOperands = count, .numInputs = count - results};
  loops->numDims = mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0)));
  loops->body = tileOnlyBlock(mlirOperationGetRegion(op, 0));
  if (loops->numDims > SparseMaxFactRank || mlirBlockGetNumArguments(loops->body) != count)
    return false;
  for (intptr_t d = 0; d < loops->numDims; ++d)
    loops->extents[d] = -2;
  for (intptr_t i = 0; i < count; ++i)
    if (!readOperand(loops, i, maps))
      return false;
  for (intptr_t d = 0; d < loops->numDims; ++d)
    if (loops->extents[d] == -2)
      return false;
  return readOutputs(loops);
}

//===--- points ---------------------------------------------------------------===//

// The classes along each loop, and the facts of the operands at them.
typedef struct Grid {
  const SparseLoops *loops;
  SparseBody *body;
  SparseCells *operands[SparseMaxLoopOperands]; // an axis that no loop indexes alone has one class; null: scalars
  uint8_t scalars[SparseMaxLoopOperands];
  SparseCells *points; // one axis for each loop; holds no facts
} Grid;

static void gridDestroy(Grid *grid) {
  for (intptr_t i = 0; i < grid->loops->numOperands; ++i)
    sparseCellsDestroy(grid->operands[i]);
  sparseCellsDestroy(grid->points);
  sparseBodyDestroy(grid->body);
}

static void splitBy(Grid *grid, intptr_t operand, const SparseCells *cells) {
  for (intptr_t axis = 0; axis < cells->rank; ++axis) {
    intptr_t dim = grid->loops->operands[operand].dims[axis];
    if (dim >= 0 && cells->classOf[axis] && cells->sizes[axis] == grid->points->sizes[dim])
      sparseCellsSplit(grid->points, dim, cells->classOf[axis]);
  }
}

static void splitByIndex(Grid *grid) {
  for (intptr_t d = 0; d < grid->loops->numDims; ++d) {
    int64_t size = grid->points->sizes[d];
    if (!sparseBodyUsesIndex(grid->body, d) || size <= 0)
      continue;
    int32_t *classOf = malloc((size_t)size * sizeof *classOf);
    for (int64_t i = 0; i < size; ++i)
      classOf[i] = (int32_t)i;
    sparseCellsSplit(grid->points, d, classOf);
    free(classOf);
  }
}

static bool usesIndex(const SparseLoops *loops, const SparseBody *body, bool *isDynamic) {
  bool uses = false;
  *isDynamic = false;
  for (intptr_t d = 0; d < loops->numDims; ++d)
    if (sparseBodyUsesIndex(body, d)) {
      uses = true;
      *isDynamic |= loops->extents[d] < 0;
    }
  return uses;
}

static void readOperands(Grid *grid, SparseRules *rules) {
  for (intptr_t i = 0; i < grid->loops->numOperands; ++i) {
    MlirValue value = grid->loops->operands[i].value;
    const SparseCells *cells = rules->may(rules, value);
    MlirAttribute constant = mlirExtValueGetConstant(value);
    if (cells) {
      grid->operands[i] = sparseCellsCopy(cells);
      for (intptr_t axis = 0; axis < cells->rank; ++axis)
        if (grid->loops->operands[i].dims[axis] < 0)
          sparseCellsMerge(grid->operands[i], axis);
    } else {
      grid->scalars[i] = !mlirAttributeIsNull(constant) ? sparseMayOfConstant(constant)
                                                        : sparseMayOfElement(mlirValueGetType(value), rules->finite);
    }
  }
}

// `needs`: null, or the needs of the results, whose classes split loops too. False: the body is not interpreted, or has
// too many points.
static bool gridCreate(Grid *grid, const SparseLoops *loops, SparseRules *rules, SparseCells **needs) {
  bool isDynamic = false;
  *grid = (Grid){.loops = loops, .body = sparseBodyRead(loops->body, rules->finite)};
  if (!grid->body)
    return false;
  bool indexed = usesIndex(loops, grid->body, &isDynamic);
  readOperands(grid, rules);
  for (int64_t most = SparseMaxCells; !isDynamic; most = most > CoarseCells ? CoarseCells : most / 16) {
    sparseCellsDestroy(grid->points);
    grid->points = sparseCellsCreateOfSizes(loops->numDims, loops->extents, 0);
    for (intptr_t i = 0; i < loops->numOperands; ++i) {
      bool isOutput = i >= loops->numInputs;
      if (most < SparseMaxCells && grid->operands[i])
        sparseCellsCompress(grid->operands[i], most);
      if (most < SparseMaxCells && needs && isOutput)
        sparseCellsCompress(needs[i - loops->numInputs], most);
      if (grid->operands[i])
        splitBy(grid, i, grid->operands[i]);
      if (needs && isOutput)
        splitBy(grid, i, needs[i - loops->numInputs]);
    }
    splitByIndex(grid);
    int64_t count = 1, limit = indexed ? MaxIndexPoints : MaxPoints;
    for (intptr_t d = 0; d < loops->numDims && count <= limit; ++d)
      count *= grid->points->numClasses[d];
    if (count <= limit)
      return true;
    if (most <= 1)
      break;
  }
  return false;
}

static int64_t *operandIndex(const Grid *grid, intptr_t operand, const int64_t *index, int64_t *at) {
  for (intptr_t axis = 0; axis < grid->loops->operands[operand].rank; ++axis) {
    intptr_t dim = grid->loops->operands[operand].dims[axis];
    at[axis] = dim >= 0 ? index[dim] : 0;
  }
  return at;
}

static void readInputs(const Grid *grid, const int64_t *index, uint8_t *inputs) {
  int64_t at[SparseMaxFactRank];
  for (intptr_t i = 0; i < grid->loops->numOperands; ++i)
    inputs[i] =
        grid->operands[i] ? sparseCellsAt(grid->operands[i], operandIndex(grid, i, index, at)) : grid->scalars[i];
}

// Cells of an operand's type with the classes of the loops that index it.
static SparseCells *cellsLike(const Grid *grid, intptr_t operand, uint8_t fact) {
  SparseCells *cells = sparseCellsCreate(mlirValueGetType(grid->loops->operands[operand].value), fact);
  for (intptr_t axis = 0; cells && axis < cells->rank; ++axis) {
    intptr_t dim = grid->loops->operands[operand].dims[axis];
    if (dim >= 0 && grid->points->classOf[dim] && cells->sizes[axis] == grid->points->sizes[dim])
      sparseCellsSplit(cells, axis, grid->points->classOf[dim]);
  }
  return cells;
}

typedef void (*Visit)(Grid *grid, const int64_t *index, void *data);

static void visitPoints(Grid *grid, Visit visit, void *data) {
  int64_t *firsts[SparseMaxFactRank], at[SparseMaxFactRank] = {0}, index[SparseMaxFactRank];
  intptr_t numDims = grid->loops->numDims;
  int64_t count = sparseCellsCount(grid->points);
  for (intptr_t d = 0; d < numDims; ++d)
    firsts[d] = sparseCellsFirsts(grid->points, d);
  for (int64_t i = 0; i < count; ++i) {
    for (intptr_t d = 0; d < numDims; ++d)
      index[d] = firsts[d][at[d]];
    visit(grid, index, data);
    for (intptr_t d = numDims - 1; d >= 0 && ++at[d] == grid->points->numClasses[d]; --d)
      at[d] = 0;
  }
  for (intptr_t d = 0; d < numDims; ++d)
    free(firsts[d]);
}

static void joinAt(SparseCells *cells, const int64_t *at, uint8_t fact, bool *changed) {
  int64_t cell = 0;
  for (intptr_t axis = 0; axis < cells->rank; ++axis)
    cell = cell * cells->numClasses[axis] + (cells->classOf[axis] ? cells->classOf[axis][at[axis]] : 0);
  *changed |= (cells->cells[cell] | fact) != cells->cells[cell];
  cells->cells[cell] |= fact;
}

//===--- forward --------------------------------------------------------------===//

typedef struct Forward {
  SparseCells *results[SparseMaxLoopOperands];
  bool accumulates, changed;
} Forward;

static void forwardPoint(Grid *grid, const int64_t *index, void *data) {
  Forward *forward = data;
  const SparseLoops *loops = grid->loops;
  uint8_t inputs[SparseMaxLoopOperands], yielded[SparseMaxLoopOperands];
  int64_t at[SparseMaxFactRank];
  readInputs(grid, index, inputs);
  for (intptr_t i = loops->numInputs; forward->accumulates && i < loops->numOperands; ++i)
    inputs[i] = sparseCellsAt(forward->results[i - loops->numInputs], operandIndex(grid, i, index, at));
  sparseBodyRun(grid->body, inputs, index, yielded);
  for (intptr_t i = loops->numInputs; i < loops->numOperands; ++i)
    joinAt(forward->results[i - loops->numInputs], operandIndex(grid, i, index, at), yielded[i - loops->numInputs],
           &forward->changed);
}

typedef struct Init {
  const Grid *grid;
  intptr_t operand;
} Init;

static uint8_t initAt(const int64_t *index, void *data) {
  const Init *init = data;
  return sparseCellsAt(init->grid->operands[init->operand], index);
}

bool sparseForwardStructured(SparseRules *rules, MlirOperation op) {
  SparseLoops loops;
  Grid grid;
  Forward forward = {.accumulates = false};
  if (!sparseLoopsRead(op, &loops))
    return false;
  bool ok = gridCreate(&grid, &loops, rules, NULL);
  for (intptr_t d = 0; d < loops.numDims; ++d)
    forward.accumulates |= loops.isReduction[d];
  for (intptr_t i = loops.numInputs; ok && i < loops.numOperands; ++i) {
    forward.results[i - loops.numInputs] = cellsLike(&grid, i, SparseMay_Zero);
    if (forward.accumulates)
      sparseCellsFill(forward.results[i - loops.numInputs], initAt, &(Init){&grid, i});
  }
  do {
    forward.changed = false;
    if (ok)
      visitPoints(&grid, forwardPoint, &forward);
  } while (forward.accumulates && forward.changed);
  for (intptr_t i = loops.numInputs; ok && i < loops.numOperands; ++i) {
    sparseCellsCompress(forward.results[i - loops.numInputs], SparseMaxCells);
    rules->tell(rules, mlirOperationGetResult(op, i - loops.numInputs), forward.results[i - loops.numInputs]);
  }
  gridDestroy(&grid);
  return ok;
}

//===--- backward -------------------------------------------------------------===//

typedef struct Backward {
  SparseCells *needs[SparseMaxLoopOperands];    // of the results
  SparseCells *operands[SparseMaxLoopOperands]; // of the operands
  bool accumulates, fromPlusZero;
} Backward;

static void backwardPoint(Grid *grid, const int64_t *index, void *data) {
  Backward *backward = data;
  const SparseLoops *loops = grid->loops;
  uint8_t inputs[SparseMaxLoopOperands], yielded[SparseMaxLoopOperands], needs[SparseMaxLoopOperands];
  int64_t at[SparseMaxFactRank];
  bool isNeeded = false, changed = false;
  for (intptr_t i = loops->numInputs; i < loops->numOperands; ++i) {
    needs[i - loops->numInputs] =
        sparseCellsAt(backward->needs[i - loops->numInputs], operandIndex(grid, i, index, at));
    isNeeded |= needs[i - loops->numInputs] != SparseNeed_Nothing;
  }
  if (!isNeeded)
    return;
  readInputs(grid, index, inputs);
  for (intptr_t i = loops->numInputs; backward->accumulates && i < loops->numOperands; ++i)
    inputs[i] = SparseMay_Anything; // any sum on the way
  sparseBodyRun(grid->body, inputs, index, yielded);
  sparseBodyAsk(grid->body, needs, backward->fromPlusZero, inputs);
  for (intptr_t i = 0; i < loops->numOperands; ++i)
    if (backward->operands[i])
      joinAt(backward->operands[i], operandIndex(grid, i, index, at), inputs[i], &changed);
}

static bool isMinusZero(MlirAttribute number) {
  double value = mlirAttributeIsAFloat(number) ? mlirFloatAttrGetValueDouble(number) : -0.0;
  return value == 0 && signbit(value);
}

// No element is -0: a bias, say. False if the elements cannot be read.
static bool hasNoMinusZero(MlirAttribute constant) {
  size_t size = 0, width = tileElementWidth(mlirShapedTypeGetElementType(mlirAttributeGetType(constant))) / 8;
  if (mlirAttributeIsADenseElements(constant) && mlirDenseElementsAttrIsSplat(constant))
    return !isMinusZero(mlirDenseElementsAttrGetSplatValue(constant));
  const unsigned char *bytes = mlirExtElementsGetBytes(constant, &size);
  for (size_t at = 0; bytes && at + width <= size; at += width) {
    bool isZero = (bytes[at + width - 1] & 0x7F) == 0; // of the last byte, the first bit is the sign
    for (size_t i = 0; i + 1 < width && isZero; ++i)
      isZero = bytes[at + i] == 0;
    if (isZero && bytes[at + width - 1])
      return false;
  }
  return bytes && width;
}

// The operand whose elements a fill, a broadcast or a transpose repeats. Null: the op is none of them.
static MlirValue repeated(MlirOperation op) {
  SparseLoops loops;
  if (mlirOperationIsNull(op) || !sparseLoopsRead(op, &loops) || loops.numOperands != loops.numInputs + 1)
    return (MlirValue){NULL};
  MlirValue yielded = linalgYieldOpGetValues(mlirBlockGetTerminator(loops.body), 0);
  intptr_t number = mlirValueIsABlockArgument(yielded) ? mlirBlockArgumentGetArgNumber(yielded) : loops.numInputs;
  return number < loops.numInputs ? loops.operands[number].value : (MlirValue){NULL};
}

bool sparseSumStartsFromPlusZero(MlirValue init) {
  MlirValue source = repeated(tileDefiningOp(init));
  if (!mlirValueIsNull(source))
    return sparseSumStartsFromPlusZero(source);
  MlirAttribute constant = mlirExtValueGetConstant(init);
  if (mlirAttributeIsNull(constant) || !mlirTypeIsAShaped(mlirAttributeGetType(constant)))
    return !mlirAttributeIsNull(constant) && !isMinusZero(constant);
  return mlirTypeIsAFloat(mlirShapedTypeGetElementType(mlirAttributeGetType(constant))) && hasNoMinusZero(constant);
}

static void needWhole(SparseRules *rules, const SparseLoops *loops) {
  for (intptr_t i = 0; i < loops->numOperands; ++i) {
    SparseCells *all = sparseCellsCreate(mlirValueGetType(loops->operands[i].value), SparseNeed_All);
    if (all)
      rules->tell(rules, loops->operands[i].value, all);
  }
}

bool sparseBackwardStructured(SparseRules *rules, MlirOperation op) {
  SparseLoops loops;
  Grid grid;
  Backward backward = {.accumulates = false};
  bool isNeeded = false;
  if (!sparseLoopsRead(op, &loops))
    return false;
  intptr_t numResults = loops.numOperands - loops.numInputs;
  for (intptr_t i = 0; i < numResults; ++i) {
    backward.needs[i] = sparseCellsCopy(rules->need(rules, mlirOperationGetResult(op, i)));
    isNeeded |= !sparseCellsIsAll(backward.needs[i], SparseNeed_Nothing);
  }
  for (intptr_t d = 0; d < loops.numDims; ++d)
    backward.accumulates |= loops.isReduction[d];
  backward.fromPlusZero =
      numResults == 1 && backward.accumulates && sparseSumStartsFromPlusZero(loops.operands[loops.numInputs].value);
  bool ok = gridCreate(&grid, &loops, rules, backward.needs);
  if (ok && isNeeded) {
    for (intptr_t i = 0; i < loops.numOperands; ++i)
      backward.operands[i] = cellsLike(&grid, i, SparseNeed_Nothing);
    visitPoints(&grid, backwardPoint, &backward);
    for (intptr_t i = 0; i < loops.numOperands; ++i)
      if (backward.operands[i]) {
        sparseCellsCompress(backward.operands[i], SparseMaxCells);
        rules->tell(rules, loops.operands[i].value, backward.operands[i]);
      }
  } else if (isNeeded) {
    needWhole(rules, &loops);
  }
  for (intptr_t i = 0; i < numResults; ++i)
    sparseCellsDestroy(backward.needs[i]);
  gridDestroy(&grid);
  return true;
}

//===--- cutting --------------------------------------------------------------===//

typedef struct Skips {
  SparseCells *needs[SparseMaxLoopOperands];
  intptr_t dim;
  bool mayLoseSigns; // of zeros: integers have none, and a sum that starts at +0 never ends at -0
  bool *isNeeded;    // by class of the loop
} Skips;

static void skipPoint(Grid *grid, const int64_t *index, void *data) {
  Skips *skips = data;
  const SparseLoops *loops = grid->loops;
  uint8_t inputs[SparseMaxLoopOperands], yielded[SparseMaxLoopOperands];
  int64_t at[SparseMaxFactRank];
  const int32_t *classes = grid->points->classOf[skips->dim];
  bool *isNeeded = &skips->isNeeded[classes ? classes[index[skips->dim]] : 0];
  uint8_t need = sparseCellsAt(skips->needs[0], operandIndex(grid, loops->numInputs, index, at));
  if (*isNeeded || need == SparseNeed_Nothing)
    return;
  readInputs(grid, index, inputs);
  inputs[loops->numInputs] = SparseMay_Anything; // any sum on the way
  sparseBodyRun(grid->body, inputs, index, yielded);
  *isNeeded = !sparseBodyKeepsLast(grid->body) || ((need & SparseNeed_Sign) && !skips->mayLoseSigns);
}

void sparseStructuredSkips(SparseRules *rules, const SparseLoops *loops, intptr_t dim, bool *skips) {
  Grid grid;
  MlirValue init = loops->operands[loops->numInputs].value;
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(init));
  Skips found = {.dim = dim, .mayLoseSigns = !mlirTypeIsAFloat(element) || sparseSumStartsFromPlusZero(init)};
  bool hasOne = loops->numOperands - loops->numInputs == 1;
  if (hasOne)
    found.needs[0] = sparseCellsCopy(rules->need(rules, tileOnlyResult(loops->op)));
  bool ok = gridCreate(&grid, loops, rules, hasOne ? found.needs : NULL) && hasOne;
  if (ok) {
    found.isNeeded = calloc((size_t)grid.points->numClasses[dim] + 1, sizeof *found.isNeeded);
    visitPoints(&grid, skipPoint, &found);
  }
  for (int64_t i = 0; i < loops->extents[dim]; ++i)
    skips[i] &= ok && !found.isNeeded[grid.points->classOf[dim] ? grid.points->classOf[dim][i] : 0];
  free(found.isNeeded);
  sparseCellsDestroy(found.needs[0]);
  gridDestroy(&grid);
}
