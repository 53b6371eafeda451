// Loops over levels. See nest.h.
#include "lib/conversion/sparse_tensor_to_tile/nest.h"

#include "lib/ir/support.h"
#include "mlir-c/AffineExpr.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

//===--- values -----------------------------------------------------------------===//

MlirValue sparseNestAnd(TileBuilder *b, MlirValue x, MlirValue y) {
  return mlirValueIsNull(x) ? y : mlirValueIsNull(y) ? x : arithAndIOpBuild(b, x, y);
}

MlirValue sparseNestOr(TileBuilder *b, MlirValue x, MlirValue y) {
  return mlirValueIsNull(x) || mlirValueIsNull(y) ? (MlirValue){NULL} : arithOrIOpBuild(b, x, y);
}

MlirValue sparseNestZero(TileBuilder *b, MlirType type) {
  if (mlirTypeIsAIndex(type))
    return tileBuildIndex(b, 0);
  return mlirTypeIsAFloat(type) ? tileBuildFloat(b, type, 0) : tileBuildInteger(b, type, 0);
}

void sparseNestIf(TileBuilder *b, MlirValue condition, intptr_t count, MlirValue *values, NestBranch build,
                  NestBranch other, void *data) {
  MlirRegion regions[2];
  MlirType types[4];
  const NestBranch branches[] = {build, other};
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(values[i]);
  for (int k = 0; k < 2; ++k) {
    MlirValue results[4];
    TileBuilder inside = tileBuilderInRegion(b, &regions[k], 0, NULL);
    for (intptr_t i = 0; i < count; ++i)
      results[i] = values[i];
    if (branches[k])
      branches[k](&inside, results, data);
    tileBuildYield(&inside, count, results);
  }
  MlirOperation op = scfIfOpBuild(b, count, types, condition, regions[0], regions[1]);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirOperationGetResult(op, i);
}

static MlirValue loadIndex(TileBuilder *b, MlirValue array, MlirValue at) {
  return arithIndexCastOpBuild(b, mlirIndexTypeGet(b->context), memrefLoadOpBuild(b, array, 1, &at));
}

MlirValue sparseNestExpression(const NestPlace *place, TileBuilder *b, MlirAffineExpr expression) {
  if (mlirAffineExprIsADim(expression))
    return place->axes[mlirAffineDimExprGetPosition(expression)];
  if (mlirAffineExprIsAConstant(expression))
    return tileBuildIndex(b, mlirAffineConstantExprGetValue(expression));
  if (!mlirAffineExprIsABinary(expression))
    return (MlirValue){NULL};
  MlirValue lhs = sparseNestExpression(place, b, mlirAffineBinaryOpExprGetLHS(expression));
  MlirValue rhs = sparseNestExpression(place, b, mlirAffineBinaryOpExprGetRHS(expression));
  if (mlirValueIsNull(lhs) || mlirValueIsNull(rhs))
    return (MlirValue){NULL};
  if (mlirAffineExprIsAAdd(expression))
    return tileBuildAdd(b, lhs, rhs);
  if (mlirAffineExprIsAMul(expression))
    return tileBuildMul(b, lhs, rhs);
  return mlirAffineExprIsAFloorDiv(expression) ? arithDivUIOpBuild(b, lhs, rhs)
         : mlirAffineExprIsAMod(expression)    ? arithRemUIOpBuild(b, lhs, rhs)
                                               : tileBuildCeilDiv(b, lhs, rhs);
}

//===--- variables ----------------------------------------------------------------===//

static MlirAffineExpr expressionOf(const NestOperand *operand, const StoredLevel *level) {
  return mlirAffineMapGetResult(operand->map, level->dim);
}

// The variable that a level's coordinate is; -1: it is none.
static intptr_t variableOf(const LevelNest *nest, const NestOperand *operand, const StoredLevel *level) {
  MlirAffineExpr expression = expressionOf(operand, level);
  for (intptr_t v = 0; v < nest->numVariables && mlirAffineExprIsADim(expression); ++v) {
    const NestVariable *variable = &nest->variables[v];
    if (variable->axis == mlirAffineDimExprGetPosition(expression) && variable->by == level->by &&
        variable->isRest == level->isRest)
      return v;
  }
  return -1;
}

static const NestOperand *operandAt(const LevelNest *nest, intptr_t i) {
  return i < nest->numOperands ? &nest->operands[i] : nest->output;
}

// By how much an axis is divided: as the first level says that it indexes alone, one of the output last.
static int64_t divisorOf(const LevelNest *nest, intptr_t axis) {
  for (intptr_t i = 0; i <= nest->numOperands; ++i) {
    const NestOperand *operand = operandAt(nest, i);
    for (intptr_t l = 0; operand && l < operand->storage.count; ++l) {
      const StoredLevel *level = &operand->storage.levels[l];
      MlirAffineExpr expression = expressionOf(operand, level);
      if (mlirAffineExprIsADim(expression) && mlirAffineDimExprGetPosition(expression) == axis)
        return level->by;
    }
  }
  return 1;
}

static bool addVariable(LevelNest *nest, intptr_t axis, int64_t by, bool isRest) {
  if (nest->numVariables == NestMaxVariables)
    return false;
  nest->variables[nest->numVariables++] = (NestVariable){axis, by, isRest};
  return true;
}

//===--- order --------------------------------------------------------------------===//

typedef struct Order {
  bool before[NestMaxVariables][NestMaxVariables];
} Order;

static bool isCyclic(const LevelNest *nest, const Order *order) {
  Order all = *order;
  intptr_t n = nest->numVariables;
  for (intptr_t k = 0; k < n; ++k)
    for (intptr_t i = 0; i < n; ++i)
      for (intptr_t j = 0; j < n; ++j)
        all.before[i][j] |= all.before[i][k] && all.before[k][j];
  for (intptr_t i = 0; i < n; ++i)
    if (all.before[i][i])
      return true;
  return false;
}

// An operand's levels come after those above them; of dense ones the order does not matter. An operand that contradicts
// those before it is searched instead.
static void addOrder(const LevelNest *nest, const NestOperand *operand, Order *order) {
  Order with = *order;
  for (intptr_t l = 1; l < operand->storage.count; ++l) {
    intptr_t inner = variableOf(nest, operand, &operand->storage.levels[l]);
    for (intptr_t k = 0; k < l && operand->storage.levels[l].kind != LevelKind_Dense; ++k) {
      intptr_t outer = variableOf(nest, operand, &operand->storage.levels[k]);
      if (inner >= 0 && outer >= 0)
        with.before[outer][inner] = true;
    }
  }
  if (!isCyclic(nest, &with))
    *order = with;
}

static bool isOfLevel(const LevelNest *nest, intptr_t variable) {
  for (intptr_t i = 0; i < nest->numOperands; ++i)
    for (intptr_t l = 0; l < nest->operands[i].storage.count; ++l)
      if (variableOf(nest, &nest->operands[i], &nest->operands[i].storage.levels[l]) == variable)
        return true;
  return false;
}

// Variables of levels before those of dense tensors only.
static void chooseOrder(LevelNest *nest) {
  Order order = {{{false}}};
  bool isPlaced[NestMaxVariables] = {false};
  for (intptr_t i = 0; i <= nest->numOperands; ++i)
    if (operandAt(nest, i) &&
        (operandAt(nest, i)->storage.count == 0 || operandAt(nest, i)->storage.levels[0].isOrdered))
      addOrder(nest, operandAt(nest, i), &order);
  for (intptr_t count = 0; count < nest->numVariables; ++count) {
    intptr_t best = -1;
    for (intptr_t v = 0; v < nest->numVariables; ++v) {
      bool isReady = !isPlaced[v];
      for (intptr_t u = 0; u < nest->numVariables; ++u)
        isReady &= isPlaced[u] || !order.before[u][v];
      if (isReady && (best < 0 || isOfLevel(nest, v) > isOfLevel(nest, best)))
        best = v;
    }
    isPlaced[best] = true;
    nest->order[count] = best;
  }
}

static void markAxes(MlirAffineExpr expression, bool *axes) {
  if (mlirAffineExprIsADim(expression))
    axes[mlirAffineDimExprGetPosition(expression)] = true;
  if (!mlirAffineExprIsABinary(expression))
    return;
  markAxes(mlirAffineBinaryOpExprGetLHS(expression), axes);
  markAxes(mlirAffineBinaryOpExprGetRHS(expression), axes);
}

static intptr_t depthOf(const LevelNest *nest) {
  bool axes[NestMaxAxes] = {false};
  intptr_t depth = 0;
  for (intptr_t i = 0; nest->output && i < mlirAffineMapGetNumResults(nest->output->map); ++i)
    markAxes(mlirAffineMapGetResult(nest->output->map, i), axes);
  for (intptr_t k = 0; k < nest->numVariables; ++k)
    if (axes[nest->variables[nest->order[k]].axis])
      depth = k + 1;
  return depth;
}

bool sparseNestPlan(LevelNest *nest) {
  nest->numVariables = 0;
  for (intptr_t axis = 0; axis < nest->numAxes; ++axis) {
    int64_t by = divisorOf(nest, axis);
    if (!addVariable(nest, axis, by, false) || (by > 1 && !addVariable(nest, axis, by, true)))
      return false;
  }
  chooseOrder(nest);
  nest->depth = depthOf(nest);
  return true;
}

bool sparseNestIsInOrder(const LevelNest *nest) {
  const NestOperand *output = nest->output;
  bool isOrdered = false;
  for (intptr_t l = 0; l < output->storage.count; ++l)
    isOrdered |= output->storage.levels[l].isOrdered;
  if (!isOrdered && nest->depth == nest->numVariables)
    return true;
  for (intptr_t k = 0; k < nest->depth; ++k)
    if (k >= output->storage.count || variableOf(nest, output, &output->storage.levels[k]) != nest->order[k])
      return false;
  for (intptr_t i = 0; i < nest->numOperands; ++i)
    if (!sparseLevelStorageIsUnique(&nest->operands[i].storage) && nest->depth < nest->numVariables)
      return false;
  for (intptr_t i = 0; i < nest->numOperands; ++i)
    for (intptr_t l = 0; l < nest->operands[i].storage.count; ++l)
      if (!nest->operands[i].storage.levels[l].isOrdered)
        return false;
  return nest->depth == output->storage.count;
}

//===--- levels -------------------------------------------------------------------===//

MlirValue sparseNestCoordinate(LevelNest *nest, TileBuilder *b, const NestPlace *place, const NestOperand *operand,
                               intptr_t level) {
  const StoredLevel *here = &operand->storage.levels[level];
  intptr_t variable = variableOf(nest, operand, here);
  if (variable >= 0)
    return place->variables[variable];
  MlirValue value = sparseNestExpression(place, b, expressionOf(operand, here));
  if (mlirValueIsNull(value) || here->by == 1)
    return value;
  MlirValue by = tileBuildIndex(b, here->by);
  return here->isRest ? arithRemUIOpBuild(b, value, by) : arithDivUIOpBuild(b, value, by);
}

typedef struct Segment {
  const NestOperand *operand;
  const StoredLevel *level;
  MlirValue position;
} Segment;

static void buildSegment(TileBuilder *b, MlirValue *ends, void *data) {
  const Segment *segment = data;
  const StoredLevel *level = segment->level;
  MlirValue one = tileBuildIndex(b, 1), p = segment->position;
  if (level->kind == LevelKind_Loose)
    p = tileBuildMul(b, p, tileBuildIndex(b, 2));
  ends[0] = loadIndex(b, segment->operand->arrays[level->positions], p);
  ends[1] = loadIndex(b, segment->operand->arrays[level->positions], tileBuildAdd(b, p, one));
}

// Positions [ends[0], ends[1]) of the operand's next level: none where its parent is absent.
static void buildEnds(const LevelNest *nest, TileBuilder *b, const NestPlace *place, intptr_t operand,
                      MlirValue ends[2]) {
  const NestOperand *of = &nest->operands[operand];
  Segment segment = {of, &of->storage.levels[place->at[operand].level], place->at[operand].position};
  MlirValue present = place->at[operand].present;
  ends[0] = ends[1] = tileBuildIndex(b, 0);
  if (segment.level->positions >= 0) {
    if (mlirValueIsNull(present))
      buildSegment(b, ends, &segment);
    else
      sparseNestIf(b, present, 2, ends, buildSegment, NULL, &segment);
    return;
  }
  MlirValue n = tileBuildIndex(b, segment.level->kind == LevelKind_Structured ? segment.level->n : 1);
  ends[0] = tileBuildMul(b, segment.position, n);
  ends[1] = tileBuildAdd(b, ends[0], n);
  if (!mlirValueIsNull(present))
    ends[1] = arithSelectOpBuild(b, present, ends[1], ends[0]);
}

typedef struct Coordinate {
  MlirValue array, at;
} Coordinate;

static void buildCoordinate(TileBuilder *b, MlirValue *value, void *data) {
  const Coordinate *coordinate = data;
  *value = loadIndex(b, coordinate->array, coordinate->at);
}

// The coordinate at a position below `end`; else one that is larger than all.
static MlirValue coordinateBelow(TileBuilder *b, MlirValue array, MlirValue at, MlirValue isBelow) {
  Coordinate coordinate = {array, at};
  MlirValue value = tileBuildIndex(b, INT64_MAX);
  sparseNestIf(b, isBelow, 1, &value, buildCoordinate, NULL, &coordinate);
  return value;
}

// Halves [low, high) until it is empty: the first position whose coordinate is not below `wanted`.
static MlirValue search(TileBuilder *b, MlirValue array, MlirValue ends[2], MlirValue wanted) {
  MlirType index = mlirIndexTypeGet(b->context), types[] = {index, index};
  MlirRegion before, after;
  TileBuilder asks = tileBuilderInRegion(b, &before, 2, types), does = tileBuilderInRegion(b, &after, 2, types);
  MlirValue seen[] = {mlirBlockGetArgument(asks.block, 0), mlirBlockGetArgument(asks.block, 1)};
  scfConditionOpBuild(&asks, arithCmpIOpBuild(&asks, seen[0], seen[1], ArithCmpI_Slt), 2, seen);
  MlirValue low = mlirBlockGetArgument(does.block, 0), high = mlirBlockGetArgument(does.block, 1);
  MlirValue middle = arithDivUIOpBuild(&does, tileBuildAdd(&does, low, high), tileBuildIndex(&does, 2));
  MlirValue isBelow = arithCmpIOpBuild(&does, loadIndex(&does, array, middle), wanted, ArithCmpI_Slt);
  MlirValue more = tileBuildAdd(&does, middle, tileBuildIndex(&does, 1));
  const MlirValue next[] = {arithSelectOpBuild(&does, isBelow, more, low),
                            arithSelectOpBuild(&does, isBelow, high, middle)};
  tileBuildYield(&does, 2, next);
  return tileFirstResult(scfWhileOpBuild(b, 2, types, 2, ends, before, after));
}

// Searches the operand's next level for a coordinate.
static void searchLevel(const LevelNest *nest, TileBuilder *b, NestPlace *place, intptr_t operand, MlirValue wanted) {
  const NestOperand *of = &nest->operands[operand];
  MlirValue ends[2], array = of->arrays[of->storage.levels[place->at[operand].level].coordinates];
  buildEnds(nest, b, place, operand, ends);
  MlirValue at = search(b, array, ends, wanted);
  MlirValue isBelow = arithCmpIOpBuild(b, at, ends[1], ArithCmpI_Slt);
  MlirValue found = arithCmpIOpBuild(b, coordinateBelow(b, array, at, isBelow), wanted, ArithCmpI_Eq);
  place->at[operand].position = at;
  place->at[operand].present = sparseNestAnd(b, place->at[operand].present, found);
  ++place->at[operand].level;
}

// Places all operands as deep as the known variables allow.
static void placeOperands(LevelNest *nest, TileBuilder *b, NestPlace *place) {
  for (intptr_t i = 0; i < nest->numOperands; ++i) {
    const NestOperand *operand = &nest->operands[i];
    while (place->at[i].level < operand->storage.count) {
      const StoredLevel *level = &operand->storage.levels[place->at[i].level];
      MlirValue coordinate = sparseNestCoordinate(nest, b, place, operand, place->at[i].level);
      if (mlirValueIsNull(coordinate))
        break;
      if (level->kind != LevelKind_Dense) {
        searchLevel(nest, b, place, i, coordinate);
        continue;
      }
      MlirValue size = sparseLevelSize(b, level, operand->sizes);
      place->at[i].position = tileBuildAdd(b, tileBuildMul(b, place->at[i].position, size), coordinate);
      ++place->at[i].level;
    }
  }
}

typedef struct Element {
  MlirValue array, at;
} Element;

static void buildElement(TileBuilder *b, MlirValue *value, void *data) {
  const Element *element = data;
  *value = memrefLoadOpBuild(b, element->array, 1, &element->at);
}

NestTerm sparseNestLoad(LevelNest *nest, TileBuilder *b, const NestPlace *place, intptr_t operand) {
  const NestOperand *of = &nest->operands[operand];
  if (of->storage.count) {
    MlirValue present = place->at[operand].present, value = sparseNestZero(b, of->storage.element);
    Element element = {of->arrays[of->storage.values], place->at[operand].position};
    if (mlirValueIsNull(present))
      buildElement(b, &value, &element);
    else
      sparseNestIf(b, present, 1, &value, buildElement, NULL, &element);
    return (NestTerm){value, present, false};
  }
  MlirValue indices[LevelMax];
  for (intptr_t i = 0; i < of->storage.rank; ++i)
    indices[i] = sparseNestExpression(place, b, mlirAffineMapGetResult(of->map, i));
  return (NestTerm){memrefLoadOpBuild(b, of->arrays[0], of->storage.rank, indices), {NULL}, false};
}

//===--- loops ----------------------------------------------------------------------===//

static void buildLoop(LevelNest *nest, TileBuilder *b, intptr_t depth, const NestPlace *place, MlirValue *carried);

typedef struct Inside {
  LevelNest *nest;
  intptr_t depth;
  NestPlace *place;
} Inside;

static void buildInside(TileBuilder *b, MlirValue *carried, void *data) {
  const Inside *inside = data;
  placeOperands(inside->nest, b, inside->place);
  buildLoop(inside->nest, b, inside->depth + 1, inside->place, carried);
}

static intptr_t carriedAt(const LevelNest *nest, intptr_t depth) { return depth >= nest->depth ? nest->numCarried : 0; }

// The loop's variable has a value. An axis is known with both its parts, and may end within the last block.
static void enter(LevelNest *nest, TileBuilder *b, intptr_t depth, NestPlace *place, MlirValue value,
                  MlirValue *carried) {
  intptr_t variable = nest->order[depth];
  const NestVariable *part = &nest->variables[variable];
  Inside inside = {nest, depth, place};
  place->variables[variable] = value;
  if (part->by == 1) {
    place->axes[part->axis] = value;
    buildInside(b, carried, &inside);
    return;
  }
  intptr_t quotient = part->isRest ? variable - 1 : variable; // the rest stands behind its quotient
  if (mlirValueIsNull(place->variables[quotient]) || mlirValueIsNull(place->variables[quotient + 1])) {
    buildInside(b, carried, &inside);
    return;
  }
  MlirValue begin = tileBuildMul(b, place->variables[quotient], tileBuildIndex(b, part->by));
  MlirValue axis = place->axes[part->axis] = tileBuildAdd(b, begin, place->variables[quotient + 1]);
  MlirValue isInside = arithCmpIOpBuild(b, axis, nest->sizes[part->axis], ArithCmpI_Slt);
  sparseNestIf(b, isInside, carriedAt(nest, depth), carried, buildInside, NULL, &inside);
}

static void countUp(LevelNest *nest, TileBuilder *b, intptr_t depth, const NestPlace *place, const MlirValue ends[2],
                    intptr_t walked, MlirValue *carried) {
  MlirBlock body;
  NestPlace inner = *place;
  intptr_t count = carriedAt(nest, depth);
  MlirOperation loop = tileBuildFor(b, ends[0], ends[1], tileBuildIndex(b, 1), count, carried, &body);
  TileBuilder inside = tileBuilderAtEnd(body, b->location);
  MlirValue at = mlirBlockGetArgument(body, 0), values[4];
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirBlockGetArgument(body, 1 + i);
  if (walked >= 0) {
    const NestOperand *operand = &nest->operands[walked];
    const StoredLevel *level = &operand->storage.levels[inner.at[walked].level++];
    inner.at[walked].position = at;
    at = loadIndex(&inside, operand->arrays[level->coordinates], at);
  }
  enter(nest, &inside, depth, &inner, at, values);
  tileBuildYield(&inside, count, values);
  for (intptr_t i = 0; i < count; ++i)
    carried[i] = mlirOperationGetResult(loop, i);
}

typedef struct Merge {
  Inside inside;
  MlirValue place;
  MlirValue at[NestMaxOperands];
  intptr_t operands[NestMaxOperands], count;
} Merge;

static void enterMerged(TileBuilder *b, MlirValue *carried, void *data) {
  const Merge *merge = data;
  NestPlace inner = *merge->inside.place;
  enter(merge->inside.nest, b, merge->inside.depth, &inner, merge->place, carried);
}

// Walks several levels side by side, from coordinate to coordinate: all of them, or while all have any.
static void mergeLevels(LevelNest *nest, TileBuilder *b, intptr_t depth, const NestPlace *place, intptr_t count,
                        const intptr_t *operands, bool needsAll, MlirValue *carried) {
  MlirType types[NestMaxOperands + 4], index = mlirIndexTypeGet(b->context);
  MlirValue starts[NestMaxOperands + 4], ends[NestMaxOperands];
  intptr_t through = carriedAt(nest, depth), total = count + through;
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue both[2];
    buildEnds(nest, b, place, operands[i], both);
    starts[i] = both[0];
    ends[i] = both[1];
    types[i] = index;
  }
  for (intptr_t i = 0; i < through; ++i) {
    starts[count + i] = carried[i];
    types[count + i] = mlirValueGetType(carried[i]);
  }
  MlirRegion before, after;
  TileBuilder asks = tileBuilderInRegion(b, &before, total, types), does = tileBuilderInRegion(b, &after, total, types);
  MlirValue all[NestMaxOperands + 4], goes = {NULL};
  for (intptr_t i = 0; i < total; ++i)
    all[i] = mlirBlockGetArgument(asks.block, i);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue more = arithCmpIOpBuild(&asks, all[i], ends[i], ArithCmpI_Slt);
    goes = mlirValueIsNull(goes) ? more
           : needsAll            ? arithAndIOpBuild(&asks, goes, more)
                                 : arithOrIOpBuild(&asks, goes, more);
  }
  scfConditionOpBuild(&asks, goes, total, all);

  NestPlace inner = *place;
  Merge merge = {.inside = {nest, depth, &inner}};
  MlirValue seen[NestMaxOperands], here[NestMaxOperands], together = {NULL}, values[4];
  for (intptr_t i = 0; i < count; ++i) {
    const NestOperand *operand = &nest->operands[operands[i]];
    MlirValue at = mlirBlockGetArgument(does.block, i);
    MlirValue array = operand->arrays[operand->storage.levels[place->at[operands[i]].level].coordinates];
    seen[i] = needsAll ? loadIndex(&does, array, at)
                       : coordinateBelow(&does, array, at, arithCmpIOpBuild(&does, at, ends[i], ArithCmpI_Slt));
    merge.place = i ? tileBuildMin(&does, merge.place, seen[i]) : seen[i];
  }
  for (intptr_t i = 0; i < count; ++i) {
    here[i] = arithCmpIOpBuild(&does, seen[i], merge.place, ArithCmpI_Eq);
    together = i ? arithAndIOpBuild(&does, together, here[i]) : here[i];
    inner.at[operands[i]].position = mlirBlockGetArgument(does.block, i);
    inner.at[operands[i]].level += 1;
    if (!needsAll)
      inner.at[operands[i]].present = sparseNestAnd(&does, inner.at[operands[i]].present, here[i]);
  }
  for (intptr_t i = 0; i < through; ++i)
    values[i] = mlirBlockGetArgument(does.block, count + i);
  if (needsAll)
    sparseNestIf(&does, together, through, values, enterMerged, NULL, &merge);
  else
    enterMerged(&does, values, &merge);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue at = mlirBlockGetArgument(does.block, i);
    all[i] = arithSelectOpBuild(&does, here[i], tileBuildAdd(&does, at, tileBuildIndex(&does, 1)), at);
  }
  for (intptr_t i = 0; i < through; ++i)
    all[count + i] = values[i];
  tileBuildYield(&does, total, all);
  MlirOperation loop = scfWhileOpBuild(b, total, types, total, starts, before, after);
  for (intptr_t i = 0; i < through; ++i)
    carried[i] = mlirOperationGetResult(loop, count + i);
}

// Operands whose next level is walked by this loop.
static intptr_t walkedBy(const LevelNest *nest, intptr_t variable, const NestPlace *place, intptr_t *operands) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < nest->numOperands; ++i) {
    const LevelStorage *storage = &nest->operands[i].storage;
    intptr_t level = place->at[i].level;
    if (level < storage->count && storage->levels[level].kind != LevelKind_Dense &&
        variableOf(nest, &nest->operands[i], &storage->levels[level]) == variable)
      operands[count++] = i;
  }
  return count;
}

// Whether something may be at a place where none of these operands is (or, for one number, where that one is not).
static bool mayBeWithout(const LevelNest *nest, intptr_t count, const intptr_t *operands) {
  bool present[NestMaxOperands];
  for (intptr_t i = 0; i < NestMaxOperands; ++i)
    present[i] = true;
  for (intptr_t i = 0; i < count; ++i)
    present[operands[i]] = false;
  return nest->mayBe(nest, present);
}

static MlirValue sizeOf(const LevelNest *nest, TileBuilder *b, intptr_t variable) {
  const NestVariable *part = &nest->variables[variable];
  MlirValue by = tileBuildIndex(b, part->by);
  return part->isRest ? by : part->by == 1 ? nest->sizes[part->axis] : tileBuildCeilDiv(b, nest->sizes[part->axis], by);
}

static void buildLoop(LevelNest *nest, TileBuilder *b, intptr_t depth, const NestPlace *place, MlirValue *carried) {
  MlirValue own[4];
  bool isBeginning = depth == nest->depth;
  MlirValue *values = isBeginning ? own : carried;
  if (isBeginning)
    nest->begin(nest, b, place, own);
  if (depth == nest->numVariables) {
    nest->leaf(nest, b, place, values);
  } else {
    intptr_t operands[NestMaxOperands], variable = nest->order[depth];
    intptr_t count = walkedBy(nest, variable, place, operands);
    bool needsAll = true;
    for (intptr_t i = 0; i < count; ++i)
      needsAll &= !mayBeWithout(nest, 1, &operands[i]);
    if (!count || mayBeWithout(nest, count, operands)) {
      const MlirValue ends[] = {tileBuildIndex(b, 0), sizeOf(nest, b, variable)};
      countUp(nest, b, depth, place, ends, -1, values);
    } else if (count == 1) {
      MlirValue ends[2];
      buildEnds(nest, b, place, operands[0], ends);
      countUp(nest, b, depth, place, ends, operands[0], values);
    } else {
      mergeLevels(nest, b, depth, place, count, operands, needsAll, values);
    }
  }
  if (isBeginning)
    nest->end(nest, b, place, own);
}

void sparseNestBuild(LevelNest *nest, TileBuilder *b) {
  NestPlace place = {.variables = {{NULL}}};
  for (intptr_t i = 0; i < nest->numOperands; ++i)
    place.at[i].position = tileBuildIndex(b, 0);
  placeOperands(nest, b, &place);
  buildLoop(nest, b, 0, &place, NULL);
}
