// What a kernel may tile and what was chosen. See tiling.h.
#include "lib/analysis/tiling.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/reduction.h"
#include "lib/search/cpu_product.h"

#include <stdio.h>
#include <string.h>

//===--- what may be tiled ----------------------------------------------------===//

// A reduction dimension that shares an axis with another (a window's) is walked index by index.
static bool isAlone(const TileStructured *s, int dim) {
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i)
    for (int axis = 0; axis < s->operands[i].rank; ++axis)
      if (s->operands[i].factors[axis][dim] && s->operands[i].results[axis] != dim)
        return false;
  return true;
}

// The dimensions that some operand has on an axis, the parallel ones or those of a reduction by combiners.
static uint32_t dimsToTile(const TileStructured *s) {
  uint32_t dims = 0;
  for (int d = 0; d < s->numDims; ++d)
    dims |= !s->dims[d].isReduction || isAlone(s, d) ? 1u << d : 0;
  return dims;
}

static bool isReduction(const TileStructured *s) {
  MlirValue folded;
  for (int o = 0; o < s->numOutputs; ++o)
    if (!tileStructuredMatchReduction(s, o, &folded) || !tileStructuredAccumulates(s, &s->operands[s->numInputs + o]))
      return false;
  return true;
}

int tileStructuredFoldVector(const TileStructured *s) {
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i) {
    int last = s->operands[i].isTensor ? tileOperandLastDim(s, &s->operands[i]) : -1;
    if (last >= 0 && !s->dims[last].isReduction)
      return last;
  }
  return -1;
}

// Running sums and the like: what a step makes is stored.
static bool isScan(const TileStructured *s) {
  for (int o = 0; o < s->numOutputs; ++o)
    if (!tileStructuredAccumulates(s, &s->operands[s->numInputs + o]))
      return true;
  return false;
}

bool tileStructuredFindTiling(const TileStructured *s, TileTiling *tiling) {
  int vector = tileStructuredFoldVector(s);
  *tiling = (TileTiling){.whole = -1};
  tiling->isMatrix = !tileStructuredGpu(s) && tileStructuredMatchMatrixProduct(s, &tiling->product);
  tiling->isProduct = tiling->isMatrix || tileStructuredMatchProduct(s, &tiling->product);
  tiling->tiled =
      tiling->isProduct ? 1u << tiling->product.m | 1u << tiling->product.n | 1u << tiling->product.k : dimsToTile(s);
  if (tiling->isProduct || tileStructuredHasTerms(s))
    return tiling->isProduct;
  if (!tileStructuredHasReduction(s) || isReduction(s))
    return true;
  tiling->tiled = vector < 0 ? 0 : 1u << vector;
  return isScan(s);
}

//===--- the operator -----------------------------------------------------------===//

static int64_t knownOr(int64_t extent, int64_t unknown) {
  return mlirShapedTypeIsDynamicSize(extent) ? unknown : extent < 1 ? 1 : extent;
}

// What an unknown extent of the dimension (-1: of none) is planned for.
static int64_t plannedOr(const TileStructured *s, int dim, int64_t unknown) {
  return dim >= 0 && s->dims[dim].planned ? s->dims[dim].planned : unknown;
}

// Where an output's axis is a sum of dimensions, the next one's elements begin where these end.
static bool runsIntoNext(const TileStructured *s, int dim) {
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    for (int axis = 0; axis < s->operands[i].rank; ++axis)
      if (s->operands[i].factors[axis][dim] && s->operands[i].results[axis] != dim)
        return true;
  return false;
}

static void describeDim(const TileStructured *s, const TileTiling *tiling, int64_t unknown, int dim,
                        TileOperatorDim *described) {
  bool isKnown = !mlirShapedTypeIsDynamicSize(s->dims[dim].extent);
  *described = (TileOperatorDim){.extent = knownOr(s->dims[dim].extent, plannedOr(s, dim, unknown)),
                                 .isReduction = s->dims[dim].isReduction,
                                 .isUnknown = !isKnown,
                                 .divides = runsIntoNext(s, dim),
                                 .least = dim == tiling->whole ? tileSearchBucket(s->dims[dim].extent) : 0};
  described->mayTile =
      tiling->tiled >> dim & 1 && tileStructuredCanTile(s, dim, -1) && (isKnown || !described->divides);
  for (int other = 0; other < s->numDims; ++other)
    described->beside |= tileStructuredCanTile(s, dim, other) ? 1u << other : 0;
}

static int64_t bitsOf(MlirType element) {
  return mlirTypeIsAFloat(element)   ? mlirFloatTypeGetWidth(element)
         : mlirTypeIsAIndex(element) ? 64
                                     : mlirIntegerTypeGetWidth(element);
}

static bool isUsed(MlirBlock body, int argument) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body, argument)));
}

// Of merged dimensions: the matrix that its elements make, some of them more than once.
static void describeMerged(const TileStructured *s, int64_t unknown, int index, TileOperatorOperand *described) {
  const TileOperand *operand = &s->operands[index];
  described->rank = 0;
  for (int d = 0; d < s->numDims; ++d)
    if (tileOperandUses(operand, d)) {
      described->extents[described->rank] = knownOr(s->dims[d].extent, unknown);
      described->factors[described->rank++][d] = 1;
    }
  described->held = knownOr(mlirShapedTypeGetDimSize(mlirValueGetType(operand->value), 0), unknown);
}

static void describeOperand(const TileStructured *s, int64_t unknown, int index, TileOperatorOperand *described) {
  const TileOperand *operand = &s->operands[index];
  MlirType type = mlirValueGetType(operand->value);
  *described = (TileOperatorOperand){
      .bits = bitsOf(tileOperandElementType(operand)), .rank = operand->rank, .isOutput = index >= s->numInputs};
  // What the body does not look at is not read, nor an output that starts from a constant. A body with an epilogue is
  // not that of the operands.
  bool isOwnBody = !mlirBlockIsNull(s->body) && mlirBlockGetNumArguments(s->body) == s->numInputs + s->numOutputs;
  bool isSeen = !isOwnBody || isUsed(s->body, index);
  described->isRead = isSeen && operand->isTensor && mlirAttributeIsNull(operand->initial);
  described->isOnce = !described->isOutput && index >= s->numOwnInputs;
  if (operand->numTerms) {
    describeMerged(s, unknown, index, described);
    return;
  }
  for (int axis = 0; axis < operand->rank; ++axis) {
    if (operand->isTensor)
      described->extents[axis] =
          knownOr(mlirShapedTypeGetDimSize(type, axis), plannedOr(s, operand->results[axis], unknown));
    memcpy(described->factors[axis], operand->factors[axis], sizeof operand->factors[axis]);
  }
}

// Tensors that the body takes single elements from: each point of the nest one, anywhere.
static void describeCaptures(const TileStructured *s, TileOperator *op) {
  for (int i = 0; i < s->numCaptures && op->numOperands < TileOperatorOperands; ++i) {
    MlirType type = mlirValueGetType(s->captures[i]);
    if (!mlirTypeIsARankedTensor(type))
      continue;
    TileOperatorOperand *gathered = &op->operands[op->numOperands++];
    *gathered = (TileOperatorOperand){.bits = bitsOf(mlirShapedTypeGetElementType(type)),
                                      .rank = 1,
                                      .isRead = true,
                                      .isGathered = true,
                                      .extents = {1}};
    for (int axis = 0; axis < (int)mlirShapedTypeGetRank(type); ++axis)
      gathered->extents[0] *= knownOr(mlirShapedTypeGetDimSize(type, axis), TileUnknownExtent);
    for (int d = 0; d < s->numDims; ++d)
      gathered->factors[0][d] = 1;
  }
}

static double operationsOf(const TileStructured *s) {
  double operations = 0;
  if (mlirBlockIsNull(s->body))
    return 8; // exp, and what stands around it
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    operations += tileOpNameStartsWith(op, "arith.") || tileOpNameStartsWith(op, "math.");
  return operations;
}

// The machine's word for the type of the arithmetic. The texts are constants: an operator outlives the buffer.
static const char *typeName(MlirType element) {
  static const char *const names[] = {"f32",  "f16",      "bf16",   "f64",        "i8",         "i16", "i32",  "i64",
                                      "tf32", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "i4",  "index"};
  char text[64];
  tileTypeText(element, text, sizeof text);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (!strcmp(text, names[i]))
      return names[i];
  return "f32";
}

TileOperator tileStructuredDescribe(const TileStructured *s, const TileTiling *tiling, int64_t unknown) {
  TileOperator op = {.numDims = s->numDims,
                     .numOperands = s->numInputs + s->numOutputs,
                     .operations = operationsOf(s),
                     .mostTiled = tiling->isProduct ? 3 : 2,
                     .m = -1,
                     .n = -1,
                     .k = -1,
                     .out = s->numInputs};
  for (int d = 0; d < s->numDims; ++d)
    describeDim(s, tiling, unknown, d, &op.dims[d]);
  for (int i = 0; i < op.numOperands; ++i)
    describeOperand(s, unknown, i, &op.operands[i]);
  op.type = typeName(tileOperandElementType(&s->operands[tiling->isProduct ? tiling->product.lhs : s->numInputs]));
  describeCaptures(s, &op);
  if (tiling->isProduct) {
    op.operations = 2;
    op.m = tiling->product.m;
    op.n = tiling->product.n;
    op.k = tiling->product.k;
    op.lhs = tiling->product.lhs;
    op.rhs = tiling->product.rhs;
    op.isMatrix = tiling->isMatrix;
    const TileDot *dot = tiling->isMatrix ? tileStructuredProductDot(s, op.lhs, op.rhs) : NULL;
    op.group = dot ? dot->group : 1;
    op.dims[op.k].run = tileStructuredRun(s, &s->operands[op.lhs], op.k);
  }
  return op;
}

bool tileTargetRead(TileTarget *target, TileError *error) {
  if (!tileSearchReadTarget(target->machine, &target->search, error))
    return false;
  for (int i = 0; i < TileNumDots && !target->search.isGpu; ++i)
    target->hasDot[i] = tileMachineFindAtom(target->machine, tileDots[i].atom, &(TileMachineAtom){.m = 0}, NULL);
  return true;
}

TileSearchTarget tileStructuredTargetFor(const TileTarget *target, const TileOperator *op) {
  TileSearchTarget search = target->search;
  tileSearchSetOperator(target->machine, op, &search);
  return search;
}

//===--- the schedule ------------------------------------------------------------===//

typedef struct Entries {
  MlirContext context;
  intptr_t count;
  MlirNamedAttribute items[12];
} Entries;

static void add(Entries *entries, const char *key, MlirAttribute value) {
  entries->items[entries->count++] = mlirNamedAttributeGet(mlirIdentifierGet(entries->context, tileString(key)), value);
}

static void addNumber(Entries *entries, const char *key, double value) {
  MlirType i64 = mlirIntegerTypeGet(entries->context, 64);
  add(entries, key, mlirIntegerAttrGet(i64, value < 1 ? 1 : (int64_t)(value + 0.5)));
}

static void addList(Entries *entries, const char *key, intptr_t count, const int64_t *values) {
  add(entries, key, mlirDenseI64ArrayGet(entries->context, count, values));
}

static void addWarps(Entries *entries, const TileOperator *op, const TileSearchTile *tile) {
  int64_t warps[] = {tile->warpsM, tile->warps / tile->warpsM, 1};
  if (op->m >= 0)
    addList(entries, "warps", 3, warps);
  else
    addList(entries, "warps", 1, &tile->warps);
}

static void addPlace(Entries *entries, const char *operand, const char *place) {
  add(entries, operand, mlirStringAttrGet(entries->context, tileString(place)));
}

// Where a CPU's product packs its operands: A in each block of k, B in each panel of columns; B alone, by columns along
// k; or neither.
static void addPacking(Entries *entries, const TileSearchTile *tile) {
  Entries places = {.context = entries->context};
  bool isPacked = tile->rows && !tile->isUnpacked;
  addPlace(&places, "a", isPacked ? "k" : "none");
  addPlace(&places, "b", isPacked ? "n" : tile->isAlongDepth ? "k" : "none");
  if (tile->rows)
    addList(entries, "register", 2, (int64_t[]){tile->rows, tile->columns});
  add(entries, "pack", mlirDictionaryAttrGet(entries->context, places.count, places.items));
  if (tile->split > 1)
    addNumber(entries, "split", (double)tile->split);
}

MlirAttribute tileScheduleOfCandidate(MlirContext context, const TileOperator *op, const TileSearchTarget *target,
                                      const TileSearchCandidate *candidate, int64_t evaluations) {
  const TilePrediction *p = &candidate->prediction;
  Entries entries = {.context = context};
  int64_t traffic[2] = {(int64_t)(p->read + p->written), (int64_t)p->shared};
  addList(&entries, "block", op->numDims, candidate->tile.size);
  if (!target->isGpu && op->isMatrix)
    addPacking(&entries, &candidate->tile);
  if (target->isGpu) {
    addWarps(&entries, op, &candidate->tile);
    if (op->m >= 0)
      addNumber(&entries, "stages", (double)candidate->tile.stages);
    if (p->group > 1)
      addList(&entries, "group", 1, &p->group);
    if (p->registerLimit)
      addNumber(&entries, "registers", (double)p->registerLimit);
  }
  if (!p->misfit) {
    addNumber(&entries, "time", p->seconds * 1e9);
    if (traffic[0] > 0)
      addList(&entries, "traffic", traffic[1] > 0 ? 2 : 1, traffic);
    addNumber(&entries, "occupancy", p->occupancy * 100);
    add(&entries, "bound", mlirStringAttrGet(context, tileString(p->bound)));
  }
  if (evaluations > 0)
    addNumber(&entries, "evaluations", (double)evaluations);
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, entries.count, entries.items));
}

static bool isPlace(MlirAttribute schedule, const char *operand, const char *place) {
  MlirAttribute places = tileScheduleAttrGetEntry(schedule, "pack");
  MlirAttribute said =
      mlirAttributeIsNull(places) ? places : mlirDictionaryAttrGetElementByName(places, tileString(operand));
  return !mlirAttributeIsNull(said) && tileStringEquals(mlirStringAttrGetValue(said), place);
}

int64_t tileStructuredScheduledGroup(const TileStructured *s, int64_t whenNotSaid) {
  MlirAttribute group = mlirAttributeIsNull(s->schedule) ? s->schedule : tileScheduleAttrGetEntry(s->schedule, "group");
  return mlirAttributeIsNull(group) ? whenNotSaid : mlirDenseI64ArrayGetElement(group, 0);
}

bool tileStructuredScheduledTile(const TileStructured *s, const TileOperator *op, TileSearchTile *tile) {
  *tile = (TileSearchTile){.warps = 0};
  if (mlirAttributeIsNull(s->schedule) || mlirAttributeIsNull(tileScheduleAttrGetEntry(s->schedule, "block")))
    return false;
  for (int d = 0; d < s->numDims; ++d)
    tile->size[d] = s->dims[d].scheduled ? s->dims[d].scheduled : 1;
  MlirAttribute warps = tileScheduleAttrGetEntry(s->schedule, "warps");
  if (!mlirAttributeIsNull(warps)) {
    tile->warps = 1;
    for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(warps); ++i)
      tile->warps *= mlirDenseI64ArrayGetElement(warps, i);
    tile->warpsM = op->m >= 0 ? mlirDenseI64ArrayGetElement(warps, 0) : 1;
  }
  tile->stages = tileScheduleAttrGetInteger(s->schedule, "stages", 0);
  tile->group = tileStructuredScheduledGroup(s, 0);
  tile->registerLimit = tileScheduleAttrGetInteger(s->schedule, "registers", 0);
  MlirAttribute registers = tileScheduleAttrGetEntry(s->schedule, "register");
  if (op->isMatrix && !mlirAttributeIsNull(registers) && mlirDenseArrayGetNumElements(registers) == 2) {
    tile->rows = mlirDenseI64ArrayGetElement(registers, 0);
    tile->columns = mlirDenseI64ArrayGetElement(registers, 1);
  }
  tile->isAlongDepth = op->isMatrix && isPlace(s->schedule, "a", "none") && isPlace(s->schedule, "b", "k");
  tile->isUnpacked = tile->isAlongDepth || (op->isMatrix && isPlace(s->schedule, "b", "none"));
  tile->split = op->isMatrix ? tileScheduleAttrGetInteger(s->schedule, "split", 0) : 0;
  return true;
}

static bool isPowerOfTwo(int64_t value) { return !(value & (value - 1)); }

// Of a CPU's matrix product: what it packs, its register tile, and whether that divides the block.
static const char *packingFault(const TileStructured *s, const TileOperator *op, char *buffer, size_t capacity) {
  MlirAttribute pack = tileScheduleAttrGetEntry(s->schedule, "pack");
  MlirAttribute registers = tileScheduleAttrGetEntry(s->schedule, "register");
  bool isPacked = isPlace(s->schedule, "a", "k") && isPlace(s->schedule, "b", "n");
  bool isUnpacked =
      isPlace(s->schedule, "a", "none") && (isPlace(s->schedule, "b", "none") || isPlace(s->schedule, "b", "k"));
  TileSearchTile tile;
  if (!mlirAttributeIsNull(pack) && !isPacked && !isUnpacked)
    return "pack is not known, want [a:\"k\", b:\"n\"], [a:\"none\", b:\"none\"] or [a:\"none\", b:\"k\"]";
  if (!mlirAttributeIsNull(registers) && mlirDenseArrayGetNumElements(registers) != 2)
    return "register tile has not two sizes, want rows and columns";
  TileSearchTarget target = tileStructuredTargetFor(s->target, op);
  tileStructuredScheduledTile(s, op, &tile);
  if (!tile.rows && !tile.isUnpacked) {
    TileSearchResult result;
    tile = tileSearchComplete(op, &target, &tile, &result).tile;
  }
  return tileCpuProductFault(op, &target, &tile, buffer, capacity);
}

const char *tileStructuredScheduleFault(const TileStructured *s, const TileTiling *tiling, char *buffer,
                                        size_t capacity) {
  MlirAttribute block = tileScheduleAttrGetEntry(s->schedule, "block");
  int wide = 0;
  if (mlirAttributeIsNull(block))
    return NULL;
  if (mlirDenseArrayGetNumElements(block) != s->numDims) {
    snprintf(buffer, capacity, "block has %ld sizes, want one for each of %d dimensions",
             (long)mlirDenseArrayGetNumElements(block), s->numDims);
    return buffer;
  }
  if (tileStructuredScheduledGroup(s, 0) && !(tiling->isProduct && tileStructuredGpu(s)))
    return "group is said, want it of a GPU's product only";
  TileOperator op = tileStructuredDescribe(s, tiling, TileUnknownExtent);
  const char *fault = op.isMatrix ? packingFault(s, &op, buffer, capacity) : NULL;
  if (fault)
    return fault;
  for (int d = 0; d < s->numDims; ++d) {
    int64_t size = s->dims[d].scheduled;
    if (size <= 1)
      continue;
    bool fits = op.dims[d].mayTile && ++wide <= op.mostTiled && (!op.dims[d].divides || op.dims[d].extent % size == 0);
    for (int other = 0; other < s->numDims; ++other)
      fits = fits && (s->dims[other].scheduled <= 1 || op.dims[d].beside >> other & 1);
    if (!fits || (tileStructuredGpu(s) && !isPowerOfTwo(size))) {
      snprintf(buffer, capacity,
               fits ? "block takes %ld of dimension %d, want a power of two on a GPU"
                    : "block takes %ld of dimension %d, want 1: this kernel cannot tile it so",
               (long)size, d);
      return buffer;
    }
  }
  return NULL;
}
