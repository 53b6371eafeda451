// What a kernel may tile and what was chosen. See tiling.h.
#include "lib/analysis/tiling.h"

#include "lib/support/integer.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/extremum.h"
#include "lib/analysis/reduction.h"
#include "lib/ir/op_query.h"
#include "lib/search/construct.h"
#include "lib/search/cpu_cost.h"
#include "lib/search/kinds/window_kind.h"
#include "lib/support/status.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/math.h"

#include <stdio.h>
#include <string.h>

enum { GroupWarps = 4 }; // that multiply or load together (wgmma)

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

bool tileStructuredIsReduction(const TileStructured *s) {
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
  if (mlirBlockIsNull(s->body)) {
    *tiling =
        linalgSoftmaxOpIsA(s->op) ? tileStructuredSoftmaxTiling(s) : (TileTiling){.whole = -1, .tiled = dimsToTile(s)};
    return tileStructuredGpu(s) && linalgSoftmaxOpIsA(s->op);
  }
  int vector = tileStructuredFoldVector(s);
  TileExtremum extremum;
  *tiling = (TileTiling){.whole = -1};
  tiling->isMatrix = !tileStructuredGpu(s) && tileStructuredMatchMatrixProduct(s, &tiling->product);
  // A matrix product whose k is one step is a product of a GPU too, though no tile needs an axis for k.
  tiling->isProduct = tiling->isMatrix || tileStructuredMatchProduct(s, &tiling->product) ||
                      (tileStructuredGpu(s) && tileStructuredMatchMatrixProduct(s, &tiling->product));
  tiling->tiled =
      tiling->isProduct ? 1u << tiling->product.m | 1u << tiling->product.n | 1u << tiling->product.k : dimsToTile(s);
  if (tiling->isProduct || tileStructuredHasTerms(s))
    return tiling->isProduct;
  if (!tileStructuredHasReduction(s) || tileStructuredIsReduction(s))
    return true;
  tiling->tiled = vector < 0 ? 0 : 1u << vector;
  if (!tileStructuredGpu(s) && tileExtremumMatch(s, &extremum))
    tiling->tiled |= 1u << extremum.vector;
  return isScan(s) || (tileStructuredGpu(s) && vector >= 0);
}

static bool areSizesKnown(const TileStructured *s) {
  for (int d = 0; d < s->numDims; ++d)
    if (mlirShapedTypeIsDynamicSize(s->dims[d].extent) || s->dims[d].extent < 1)
      return false;
  return true;
}

bool tileStructuredCanSplit(const TileStructured *s, const TileTiling *tiling) {
  if (!tiling->isProduct || s->numInputs != 2 || s->numOutputs != 1 || s->numCaptures || !areSizesKnown(s) ||
      s->numDims >= MaxDims)
    return false;
  for (int i = 0; i < 3; ++i)
    if (s->operands[i].rank >= MaxOperandRank)
      return false;
  MlirType out = tileOperandElementType(&s->operands[2]);
  return (mlirTypeIsAF32(out) || mlirTypeIsAF64(out)) && tileOperandAxisOf(&s->operands[0], tiling->product.k) >= 0 &&
         tileOperandAxisOf(&s->operands[1], tiling->product.k) >= 0;
}

//===--- the operator -----------------------------------------------------------===//

static int64_t knownOr(int64_t extent, int64_t unknown) {
  return mlirShapedTypeIsDynamicSize(extent) ? unknown : extent < 1 ? 1 : extent;
}

// What an unknown extent of the dimension (-1: of none) is planned for.
static int64_t plannedOr(const TileStructured *s, int dim, int64_t unknown) {
  return dim >= 0 && s->dims[dim].planned ? s->dims[dim].planned : unknown;
}

bool tileStructuredRunsIntoNext(const TileStructured *s, int dim) {
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
                                 .divides = tileStructuredRunsIntoNext(s, dim),
                                 .least = dim == tiling->whole ? tessera_bucket(s->dims[dim].extent) : 0};
  described->mayTile =
      tiling->tiled >> dim & 1 && tileStructuredCanTile(s, dim, -1) && (isKnown || !described->divides);
  for (int other = 0; other < s->numDims; ++other)
    described->beside |= tileStructuredCanTile(s, dim, other) ? 1u << other : 0;
}

static bool isUsed(MlirBlock body, int argument) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body, argument)));
}

// For merged dimensions: the matrix that its elements make, some of them more than once.
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
  *described = (TileOperatorOperand){.bits = tileMemoryBits(tileOperandElementType(operand)),
                                     .rank = operand->rank,
                                     .isOutput = index >= s->numInputs};
  // What the body does not look at is not read, nor an output that starts from a constant. The body of dots of codes is
  // not that of the operands.
  bool isOwnBody = !mlirBlockIsNull(s->body) && mlirBlockGetNumArguments(s->body) == s->numInputs + s->numOutputs;
  bool isSeen = !isOwnBody || isUsed(s->body, index);
  described->isRead = isSeen && operand->isTensor && mlirAttributeIsNull(operand->initial);
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
    *gathered = (TileOperatorOperand){.bits = tileMemoryBits(mlirShapedTypeGetElementType(type)),
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

static double functionsOf(const TileStructured *s) {
  double functions = 0;
  if (mlirBlockIsNull(s->body))
    return linalgSoftmaxOpIsA(s->op) ? 1 : 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    functions += tileOpIsFunction(op);
  return functions;
}

static double operationsOf(const TileStructured *s) {
  double operations = 0;
  if (mlirBlockIsNull(s->body))
    return linalgSoftmaxOpIsA(s->op) ? 8 : 0; // exp, and what stands around it; a copy
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    operations += tileOpIsElementwise(op);
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

// Bits of an element that a product stores: elementwise ops that follow may narrow the sums. Half of a word at most
// where what follows is not known.
static int64_t storedBits(const TileStructured *s) {
  enum { Narrow = 16 };
  if (mlirOperationGetNumResults(s->op) != 1)
    return 0;
  MlirValue value = tileOnlyResult(s->op);
  MlirOperation user = {NULL};
  while (tileHasOneUse(value)) {
    user = mlirOpOperandGetOwner(mlirValueGetFirstUse(value));
    if (!linalgGenericOpIsA(user) || mlirOperationGetNumResults(user) != 1)
      break;
    value = tileOnlyResult(user);
  }
  int64_t bits = tileMemoryBits(mlirShapedTypeGetElementType(mlirValueGetType(value)));
  bool isLast = !mlirOperationIsNull(user) && funcReturnOpIsA(user);
  return isLast ? bits : tessera_min(bits, Narrow);
}

TileOperator tileStructuredDescribe(const TileStructured *s, const TileTiling *tiling, int64_t unknown) {
  TileOperator op = {.numDims = s->numDims,
                     .numOperands = s->numInputs + s->numOutputs,
                     .operations = operationsOf(s),
                     .functions = functionsOf(s),
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
    op.storedBits = storedBits(s);
    const TileDot *dot = tiling->isMatrix ? tileStructuredProductDot(s, op.lhs, op.rhs) : NULL;
    op.group = dot ? dot->group : 1;
    op.isByTiles = dot && dot->isByTiles;
    bool areUnsigned[2];
    tileStructuredUnsignedFactors(s, op.lhs, areUnsigned);
    op.needsDot = areUnsigned[0] || areUnsigned[1];
    op.dims[op.k].run = tileStructuredRun(s, &s->operands[op.lhs], op.k);
  }
  return op;
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

// Seven unknown extents of a convolution make more nanoseconds than an integer holds.
static int64_t rounded(double value) {
  static const double most = 9e18;
  return !(value >= 1) ? 1 : value > most ? (int64_t)most : (int64_t)(value + 0.5);
}

static void addNumber(Entries *entries, const char *key, double value) {
  add(entries, key, mlirIntegerAttrGet(mlirIntegerTypeGet(entries->context, 64), rounded(value)));
}

static void addList(Entries *entries, const char *key, intptr_t count, const int64_t *values) {
  add(entries, key, mlirDenseI64ArrayGet(entries->context, count, values));
}

static void addText(Entries *entries, const char *key, const char *text) {
  add(entries, key, mlirStringAttrGet(entries->context, tileString(text)));
}

static void addWarps(Entries *entries, const TileOperator *op, const TileSearchTile *tile) {
  int64_t warps[] = {tile->gpu.warpsM, tile->gpu.warps / tile->gpu.warpsM, 1};
  if (op->m >= 0)
    addList(entries, "warps", 3, warps);
  else
    addList(entries, "warps", 1, &tile->gpu.warps);
}

// What the kind has beside the block.
static void addKind(Entries *entries, const TileOperator *op, const TileSearchCandidate *candidate) {
  const TileSearchTile *tile = &candidate->tile;
  const TilePrediction *p = &candidate->prediction;
  const TileKernelKind *kind = tileKernelKinds[tile->kind];
  addText(entries, "kind", kind->name);
  addList(entries, "block", op->numDims, tile->size);
  if (kind->hasRegisterTile)
    addList(entries, "register", 2, (int64_t[]){tile->registers.rows, tile->registers.columns});
  int64_t parts = kind->isForGpu ? tile->gpu.parts : tileParts(tile);
  if (parts > 1)
    addNumber(entries, "split", (double)parts);
  if (!kind->isForGpu)
    return;
  addWarps(entries, op, tile);
  if (tile->kind == TileKind_Product)
    addNumber(entries, "stages", (double)tile->gpu.stages);
  if (p->group > 1)
    addList(entries, "group", 1, &p->group);
  if (p->cluster > 1)
    addList(entries, "cluster", 1, &p->cluster);
  if (p->registerLimit)
    addNumber(entries, "registers", (double)p->registerLimit);
  if (tile->gpu.isAlternating)
    addList(entries, "specialize", 3, (int64_t[]){GroupWarps, GroupWarps, GroupWarps});
}

MlirAttribute tileScheduleOfBlock(MlirContext context, int count, const int64_t *sizes) {
  return tileScheduleOfGroupedBlock(context, count, sizes, 0, 0);
}

MlirAttribute tileScheduleOfGroupedBlock(MlirContext context, int count, const int64_t *sizes, int64_t group,
                                         int64_t cluster) {
  Entries entries = {.context = context};
  addList(&entries, "block", count, sizes);
  if (group > 0)
    addList(&entries, "group", 1, &group);
  if (cluster > 1)
    addList(&entries, "cluster", 1, &cluster);
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, entries.count, entries.items));
}

MlirAttribute tileScheduleOfTile(MlirContext context, const TileOperator *op, const TileSearchCandidate *candidate) {
  Entries entries = {.context = context};
  addKind(&entries, op, candidate);
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, entries.count, entries.items));
}

MlirAttribute tileScheduleOfCandidate(MlirContext context, const TileOperator *op, const TileSearchCandidate *candidate,
                                      int64_t evaluations) {
  const TilePrediction *p = &candidate->prediction;
  Entries entries = {.context = context};
  bool isRead = p->read + p->written >= 1, isShared = p->shared >= 1;
  int64_t traffic[2] = {rounded(p->read + p->written), rounded(p->shared)};
  addKind(&entries, op, candidate);
  if (!p->misfit) {
    addNumber(&entries, "time", p->seconds * 1e9);
    if (isRead)
      addList(&entries, "traffic", isShared ? 2 : 1, traffic);
    addNumber(&entries, "occupancy", p->occupancy * 100);
    addText(&entries, "bound", p->bound);
  }
  if (evaluations > 0)
    addNumber(&entries, "evaluations", (double)evaluations);
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, entries.count, entries.items));
}

//===--- reading a schedule ---------------------------------------------------------===//

static int64_t firstOf(MlirAttribute schedule, const char *key, int64_t otherwise) {
  MlirAttribute list = mlirAttributeIsNull(schedule) ? schedule : tileScheduleAttrGetEntry(schedule, key);
  return mlirAttributeIsNull(list) ? otherwise : mlirDenseI64ArrayGetElement(list, 0);
}

static bool hasEntry(const TileStructured *s, const char *key) {
  return !mlirAttributeIsNull(tileScheduleAttrGetEntry(s->schedule, key));
}

// The kind that the schedule names, else the one that its fields imply, else the only one that there is for the op.
static TileKind kindOfSchedule(const TileStructured *s, const TileOperator *op, const TileSearchTarget *target) {
  if (hasEntry(s, "kind"))
    return tileStructuredNamedKind(s);
  if (op->isMatrix && hasEntry(s, "register"))
    return TileKind_Packed;
  if (op->isMatrix && hasEntry(s, "split"))
    return TileKind_Split;
  return tileKindOf(op, target);
}

enum { TooManyWarps = 1 << 20 }; // of a schedule: numbers beyond would wrap, and fit no chip either

// [4, W]: warps that load, and that multiply. [4, 4, 4]: two groups that multiply tiles of their own in turn.
static bool isAlternating(MlirAttribute specialize) {
  return !mlirAttributeIsNull(specialize) && mlirDenseArrayGetNumElements(specialize) == 3;
}

static void readGpu(const TileStructured *s, const TileOperator *op, TileSearchTile *tile) {
  MlirAttribute warps = tileScheduleAttrGetEntry(s->schedule, "warps");
  if (!mlirAttributeIsNull(warps)) {
    int64_t first = tessera_min(mlirDenseI64ArrayGetElement(warps, 0), TooManyWarps), others = 1;
    for (intptr_t i = 1; i < mlirDenseArrayGetNumElements(warps); ++i)
      others = tessera_min(others * tessera_min(mlirDenseI64ArrayGetElement(warps, i), TooManyWarps), TooManyWarps);
    tile->gpu.warps = first * others;
    tile->gpu.warpsM = op->m >= 0 ? first : 1;
  }
  tile->gpu.stages = tileScheduleAttrGetInteger(s->schedule, "stages", 0);
  tile->gpu.group = firstOf(s->schedule, "group", 0);
  tile->gpu.cluster = firstOf(s->schedule, "cluster", 0);
  tile->gpu.registerLimit = tileScheduleAttrGetInteger(s->schedule, "registers", 0);
  tile->gpu.parts = tileScheduleAttrGetInteger(s->schedule, "split", 1);
  tile->gpu.isAlternating = isAlternating(tileScheduleAttrGetEntry(s->schedule, "specialize"));
}

bool tileStructuredScheduledTile(const TileStructured *s, const TileOperator *op, TileSearchTile *tile) {
  *tile = (TileSearchTile){.kind = TileKind_None};
  if (mlirAttributeIsNull(s->schedule) || !hasEntry(s, "block"))
    return false;
  for (int d = 0; d < s->numDims; ++d)
    tile->size[d] = s->dims[d].scheduled ? s->dims[d].scheduled : 1;
  tile->kind = kindOfSchedule(s, op, &s->target->search);
  if (!tile->kind)
    return true;
  const TileKernelKind *kind = tileKernelKinds[tile->kind];
  if (kind->isForGpu) {
    readGpu(s, op, tile);
  } else if (tile->kind == TileKind_Split) {
    tile->parts = tileScheduleAttrGetInteger(s->schedule, "split", 1);
  } else if (kind->hasRegisterTile) {
    MlirAttribute registers = tileScheduleAttrGetEntry(s->schedule, "register");
    bool isThere = !mlirAttributeIsNull(registers) && mlirDenseArrayGetNumElements(registers) == 2;
    tile->registers.rows = isThere ? mlirDenseI64ArrayGetElement(registers, 0) : 0;
    tile->registers.columns = isThere ? mlirDenseI64ArrayGetElement(registers, 1) : 0;
  }
  return true;
}

// Gives a block without a kind a packed kernel: the plain register tile, or the next smaller one that divides it.
static void fillRegisters(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tile) {
  TileSearchTile plain;
  tileKindPlainTile(op, target, &plain);
  int64_t lanes = tileCpuLanes(op, target);
  while (plain.registers.rows > 1 && tile->size[op->m] % plain.registers.rows)
    --plain.registers.rows;
  while (plain.registers.columns > lanes && tile->size[op->n] % plain.registers.columns)
    plain.registers.columns -= lanes;
  tile->kind = TileKind_Packed;
  tile->registers = plain.registers;
}

bool tileStructuredTile(const TileStructured *s, const TileTiling *tiling, TileSearchTile *tile) {
  TileOperator op = tileStructuredDescribe(s, tiling, TileUnknownExtent);
  TileSearchTarget target = tileStructuredTargetFor(s->target, &op);
  if (!tileStructuredScheduledTile(s, &op, tile))
    return tiling->isProduct && tileKindPlainTile(&op, &target, tile);
  if (!tile->kind && !target.isGpu)
    fillRegisters(&op, &target, tile);
  return true;
}

int64_t tileStructuredLastPanel(const TileStructured *s, const TileTiling *tiling, int64_t columns) {
  TileOperator op = tileStructuredDescribe(s, tiling, TileUnknownExtent);
  TileSearchTarget target = tileStructuredTargetFor(s->target, &op);
  return tileCpuLastPanel(&op, &target, columns);
}

TileTiling tileStructuredSoftmaxTiling(const TileStructured *s) {
  TileTiling tiling = {.whole = -1};
  int row = -1;
  for (int d = 0; d < s->numDims; ++d)
    tiling.whole = s->dims[d].isReduction ? d : tiling.whole;
  for (int d = s->numDims - 1; d >= 0 && row < 0; --d)
    row = d == tiling.whole ? -1 : d;
  tiling.tiled = 1u << tiling.whole | (row < 0 ? 0 : 1u << row);
  return tiling;
}

bool tileStructuredWalksDepthAround(const TileStructured *s, const TileTiling *tiling) {
  TileOperator op = tileStructuredDescribe(s, tiling, TileUnknownExtent);
  return !tileStructuredGpu(s) && tileWindowWalksDepthAround(&op);
}

//===--- faults -----------------------------------------------------------------------===//

// A field that no kernel of ours obeys: those of the dialect that wait for a kernel.
static const char *unusedField(const TileStructured *s) {
  static const char *const fields[] = {"warp", "atom", "cache"};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
    if (hasEntry(s, fields[i]))
      return fields[i];
  return NULL;
}

// Writes what is wrong with a schedule; a long name loses its middle.
__attribute__((format(printf, 3, 4))) static const char *say(char *buffer, size_t capacity, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tessera_sentence(buffer, capacity, format, arguments);
  va_end(arguments);
  return buffer;
}

// A field that the kind does not have.
static const char *fieldFault(const TileStructured *s, const TileSearchTile *tile, char *buffer, size_t capacity) {
  static const char *const gpuFields[] = {"warps", "stages", "group", "cluster", "registers", "specialize"},
                           *const productFields[] = {"group", "cluster", "specialize"};
  const TileKernelKind *kind = tile->kind ? tileKernelKinds[tile->kind] : NULL;
  const char *wrong = unusedField(s), *owner = "GPU kinds";
  if (wrong)
    return say(buffer, capacity, "`%s` has no effect on any kind of kernel yet; remove it", wrong);
  for (size_t i = 0; i < sizeof gpuFields / sizeof *gpuFields; ++i)
    wrong = hasEntry(s, gpuFields[i]) && !(kind && kind->isForGpu) ? gpuFields[i] : wrong;
  for (size_t i = 0; i < sizeof productFields / sizeof *productFields; ++i)
    if (hasEntry(s, productFields[i]) && tile->kind != TileKind_Product) {
      wrong = productFields[i];
      owner = "GPU products";
    }
  if (hasEntry(s, "register") && !(kind && kind->hasRegisterTile)) {
    wrong = "register";
    owner = "the kinds packed, direct and along-depth";
  }
  if (hasEntry(s, "panels") && !(kind && kind->hasRegisterTile)) {
    wrong = "panels";
    owner = "the kinds packed, direct and along-depth";
  }
  if (hasEntry(s, "split") && !tileStructuredGpu(s) && tile->kind != TileKind_Split) {
    wrong = "split";
    owner = "the kind split";
  }
  if (!wrong)
    return NULL;
  if (kind)
    return say(buffer, capacity, "`%s` applies only to %s; this kernel is of kind \"%s\"", wrong, owner, kind->name);
  return say(buffer, capacity, "`%s` applies only to %s", wrong, owner);
}

// Panels are made of a constant when the program is compiled.
static const char *panelsFault(const TileStructured *s, const TileTiling *tiling, char *buffer, size_t capacity) {
  int64_t panels = tileScheduleAttrGetInteger(s->schedule, "panels", 0);
  if (panels != 0 && panels != 1)
    return say(buffer, capacity, "`panels` is %lld; expected 0 or 1", (long long)panels);
  if (!panels || !tiling->isMatrix || arithConstantOpIsA(tileDefiningOp(s->operands[tiling->product.rhs].value)))
    return NULL;
  return say(buffer, capacity, "`panels` is 1, but the right operand is not a constant; remove `panels`");
}

static const char *kindFault(const TileStructured *s, const TileOperator *op, const TileSearchTarget *target,
                             const TileSearchTile *tile, char *buffer, size_t capacity) {
  MlirAttribute named = tileScheduleAttrGetEntry(s->schedule, "kind");
  const TileKernelKind *kind = tile->kind ? tileKernelKinds[tile->kind] : NULL;
  if (!mlirAttributeIsNull(named) && !kind) {
    TESSERA_LIST(names);
    MlirStringRef text = mlirStringAttrGetValue(named);
    tileKindListNames(&names);
    return say(buffer, capacity, "`kind` \"%.*s\" is unknown; the kinds are %s", (int)text.length, text.data,
               names.text);
  }
  if (!kind || tileKindFits(tile->kind, op, target))
    return NULL;
  return say(buffer, capacity, "`kind` \"%s\" does not apply to this op on %s", kind->name,
             tileMachineGetName(s->target->machine));
}

// Partitions of warps: one group loads, the schedule's warps multiply, together or in turn.
static const char *partitionsFault(const TileStructured *s, const TileSearchTarget *target, const TileSearchTile *tile,
                                   char *buffer, size_t capacity) {
  MlirAttribute list = tileScheduleAttrGetEntry(s->schedule, "specialize");
  if (mlirAttributeIsNull(list))
    return NULL;
  if (!target->hasGroupAtom && !target->hasTensorAtom)
    return say(buffer, capacity, "`specialize` needs products of groups of warps, which %s lacks for these types",
               tileMachineGetName(s->target->machine));
  intptr_t count = mlirDenseArrayGetNumElements(list);
  bool isRight = count >= 2 && count <= 3 && mlirDenseI64ArrayGetElement(list, 0) == GroupWarps;
  for (intptr_t i = 1; i < count; ++i)
    isRight = isRight && mlirDenseI64ArrayGetElement(list, i) == (count == 2 ? tile->gpu.warps : GroupWarps);
  if (isRight && (count == 2 || tile->gpu.warps == GroupWarps))
    return NULL;
  return say(buffer, capacity,
             "`specialize` does not suit `warps` of %ld; it takes [4, %ld], or [4, 4, 4] where `warps` are 4",
             (long)tile->gpu.warps, (long)tile->gpu.warps);
}

// The tile that the schedule names is one that the kind can have. Where the schedule names none, one is chosen later.
static const char *tileFault(const TileStructured *s, const TileOperator *op, const TileSearchTarget *target,
                             const TileSearchTile *tile, char *buffer, size_t capacity) {
  MlirAttribute registers = tileScheduleAttrGetEntry(s->schedule, "register");
  if (!mlirAttributeIsNull(registers) && mlirDenseArrayGetNumElements(registers) != 2) {
    return say(buffer, capacity, "`register` has %ld sizes; it takes rows and columns",
               (long)mlirDenseArrayGetNumElements(registers));
  }
  if (tile->kind && tileKernelKinds[tile->kind]->isForGpu && tile->gpu.registerLimit > target->registersPerThread) {
    return say(buffer, capacity, "`registers` is %ld; a thread of %s has at most %ld", (long)tile->gpu.registerLimit,
               tileMachineGetName(s->target->machine), (long)target->registersPerThread);
  }
  if (tile->kind == TileKind_Product && tile->gpu.cluster > target->clusterBlocks) {
    return say(buffer, capacity, "`cluster` has %ld programs; %s has clusters of at most %ld", (long)tile->gpu.cluster,
               tileMachineGetName(s->target->machine), (long)target->clusterBlocks);
  }
  if (tile->kind == TileKind_Product && tile->gpu.cluster > 1 && tile->gpu.group > 1) {
    const TileOperatorDim *rows = &op->dims[op->m];
    int64_t tiles = tessera_ceil_div(rows->extent, tessera_max(tile->size[op->m], 1));
    if (rows->isUnknown || tile->gpu.group % tile->gpu.cluster ||
        tessera_round_up(tiles, tile->gpu.cluster) % tile->gpu.group)
      return say(
          buffer, capacity,
          "`cluster` of %ld in `group` of %ld takes known rows of tiles that make whole groups of whole clusters",
          (long)tile->gpu.cluster, (long)tile->gpu.group);
  }
  if (tile->kind == TileKind_Product) {
    const char *fault = partitionsFault(s, target, tile, buffer, capacity);
    if (fault)
      return fault;
  }
  bool canBeFaulty = op->isMatrix && tile->kind && tileKernelKinds[tile->kind]->fault;
  return canBeFaulty ? tileKernelKinds[tile->kind]->fault(op, target, tile, buffer, capacity) : NULL;
}

static const char *blockFault(const TileStructured *s, const TileOperator *op, char *buffer, size_t capacity) {
  int wide = 0;
  for (int d = 0; d < s->numDims; ++d) {
    int64_t size = s->dims[d].scheduled;
    if (size <= 1)
      continue;
    bool fits =
        op->dims[d].mayTile && ++wide <= op->mostTiled && (!op->dims[d].divides || op->dims[d].extent % size == 0);
    for (int other = 0; other < s->numDims; ++other)
      fits = fits && (s->dims[other].scheduled <= 1 || op->dims[d].beside >> other & 1);
    if (!fits || (tileStructuredGpu(s) && !tessera_is_power_of_two(size))) {
      return say(buffer, capacity,
                 fits ? "`block` takes %ld of dimension %d; a GPU's sizes are powers of two"
                      : "`block` takes %ld of dimension %d; this kernel takes 1 of it",
                 (long)size, d);
    }
  }
  return NULL;
}

const char *tileStructuredScheduleFault(const TileStructured *s, const TileTiling *tiling, char *buffer,
                                        size_t capacity) {
  MlirAttribute block = tileScheduleAttrGetEntry(s->schedule, "block");
  intptr_t sizes = mlirAttributeIsNull(block) ? 0 : mlirDenseArrayGetNumElements(block);
  TileSearchTile tile;
  if (!sizes && hasEntry(s, "split") && !hasEntry(s, "kind"))
    return NULL; // for tile-split-reductions, which checks it; the parts' tile is chosen
  if (sizes != s->numDims) {
    return say(buffer, capacity, "`block` has %ld sizes; the op has %d dimensions", (long)sizes, s->numDims);
  }
  TileOperator op = tileStructuredDescribe(s, tiling, TileUnknownExtent);
  TileSearchTarget target = tileStructuredTargetFor(s->target, &op);
  tileStructuredScheduledTile(s, &op, &tile);
  const char *fault = kindFault(s, &op, &target, &tile, buffer, capacity);
  fault = fault ? fault : fieldFault(s, &tile, buffer, capacity);
  fault = fault ? fault : panelsFault(s, tiling, buffer, capacity);
  fault = fault ? fault : tileFault(s, &op, &target, &tile, buffer, capacity);
  return fault ? fault : blockFault(s, &op, buffer, capacity);
}

bool tileStructuredCheckSchedule(const TileStructured *s) {
  TileTiling tiling;
  TileSearchTile tile;
  char text[256];
  if (!tileStructuredCheckExtents(s))
    return false;
  if (mlirAttributeIsNull(s->schedule))
    return true;
  tileStructuredFindTiling(s, &tiling);
  const char *fault = tileStructuredScheduleFault(s, &tiling, text, sizeof text);
  if (fault)
    return tileError(s->op, "schedule: %s", fault);
  TileOperator op = tileStructuredDescribe(s, &tiling, TileUnknownExtent);
  if (!tileStructuredScheduledTile(s, &op, &tile))
    return true;
  if (tile.kind == TileKind_Split)
    return tileError(s->op, "schedule: `kind` is \"split\"; run tile-split-reductions, which cuts the op, before");
  if (tile.kind || s->target->search.isGpu)
    return true;
  TileSearchTarget target = tileStructuredTargetFor(s->target, &op);
  fillRegisters(&op, &target, &tile);
  fault = tilePackedKind.fault(&op, &target, &tile, text, sizeof text);
  return !fault || tileError(s->op, "schedule: %s", fault);
}

bool tileStructuredPlanTiles(TileStructured *s, const TileTiling *tiling) {
  TileSearchTile tile;
  int axis = 0;
  if (!tileStructuredTile(s, tiling, &tile))
    return false;
  for (int d = 0; d < s->numDims; ++d) {
    s->dims[d].tile = tile.size[d];
    s->dims[d].axis = tile.size[d] > 1 ? axis++ : -1;
  }
  if (tileStructuredGpu(s)) {
    s->warps = tile.gpu.warps;
    s->registers = tile.gpu.registerLimit;
    s->group = tile.kind == TileKind_Product ? tile.gpu.group : 0;
  }
  // A product's kernel has an axis for each of m, n and k, be it of one element. Its emission puts m and n last.
  const int dims[3] = {tiling->product.m, tiling->product.n, tiling->product.k};
  for (int i = 0; i < 3 && tiling->isProduct; ++i)
    s->dims[dims[i]].axis = i;
  return true;
}
