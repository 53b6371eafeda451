// Which ops one kernel can compute. See fusion.h.
#include "lib/analysis/fusion.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/product.h"
#include "lib/analysis/reduction.h"
#include "lib/capi/op.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/tensor.h"

//===--- epilogues ----------------------------------------------------------===//

bool tileStructuredIsMap(const TileStructured *s) {
  if (tileStructuredHasReduction(s) || s->numOutputs != 1 ||
      !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(s->body, s->numInputs))))
    return false;
  for (int i = 0; i <= s->numInputs; ++i)
    if (!tileOperandIsPlain(&s->operands[i]))
      return false;
  return true;
}

// In one kernel it has other operands beside it, and its dimensions change their numbers.
bool tileEpilogueCanFollow(const TileStructured *elementwise) {
  return tileStructuredIsMap(elementwise) && !tileStructuredUsesPosition(elementwise);
}

bool tileEpilogueRead(const TileStructured *elementwise, int index, TileStructured *producer, TileEpilogue *epilogue) {
  const TileOperand *operand = &elementwise->operands[index];
  MlirOperation op = operand->isTensor ? tileDefiningOp(operand->value) : (MlirOperation){NULL};
  int dims[MaxDims];
  *epilogue = (TileEpilogue){.elementwise = elementwise, .argument = index};
  // In a loop around the use, the producer would be computed again in every step.
  if (!linalgGenericOpIsA(op) || !tileHasOneUse(operand->value) ||
      !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(elementwise->op)) ||
      !tileStructuredRead(op, elementwise->target, producer) || producer->numOutputs != 1 ||
      operand->rank != elementwise->numDims ||
      !tileOperandMatch(operand, &producer->operands[producer->numInputs], dims))
    return false;
  for (int d = 0; d < elementwise->numDims; ++d)
    if (mlirShapedTypeIsDynamicSize(producer->dims[dims[d]].extent))
      producer->dims[dims[d]].extent = elementwise->dims[d].extent;
  return true;
}

static bool hasRoom(const TileStructured *elementwise, const TileStructured *s) {
  return s->numInputs + elementwise->numInputs + 1 <= MaxOperands &&
         s->numCaptures + elementwise->numCaptures <= MaxCaptures;
}

// A matrix product's sums go through its output, which has their type.
static bool isMatrixProduct(const TileStructured *elementwise, const TileStructured *s) {
  TileProduct product;
  return tileStructuredMatchMatrixProduct(s, &product) &&
         mlirTypeEqual(tileOperandElementType(&s->operands[s->numInputs]),
                       tileOperandElementType(&elementwise->operands[elementwise->numInputs]));
}

// A CPU's kernel of a matrix product packs; as one of the other products it would be many times slower.
static bool isProductOrReduction(const TileStructured *s) {
  TileProduct product;
  MlirValue folded;
  if (!tileStructuredGpu(s) && tileStructuredMatchMatrixProduct(s, &product))
    return false;
  return !tileStructuredHasTerms(s) && (tileStructuredMatchProduct(s, &product) ||
                                        (tileStructuredHasReduction(s) && tileStructuredMatchReduction(s, 0, &folded) &&
                                         tileStructuredAccumulates(s, &s->operands[s->numInputs])));
}

bool tileEpilogueFind(const TileStructured *elementwise, TileStructured *producer, TileEpilogue *epilogue) {
  if (!tileEpilogueCanFollow(elementwise))
    return false;
  for (int wantsMatrix = 1; wantsMatrix >= 0; --wantsMatrix)
    for (int i = 0; i < elementwise->numInputs; ++i) {
      if (!tileEpilogueRead(elementwise, i, producer, epilogue) || !hasRoom(elementwise, producer) ||
          !(wantsMatrix ? isMatrixProduct(elementwise, producer) : isProductOrReduction(producer)))
        continue;
      tileStructuredStartFromConstants(producer);
      if (!mlirAttributeIsNull(producer->operands[producer->numInputs].initial)) // else: one more input
        return true;
    }
  return false;
}

bool tileOperandSource(const TileOperand *operand, const TileTarget *target, bool isCopy, TileOperand *source) {
  TileStructured s;
  int dims[MaxDims];
  if (!tileStructuredRead(tileDefiningOp(operand->value), target, &s) || !tileStructuredIsMap(&s) || s.numInputs != 1 ||
      !tileOperandMatch(&s.operands[1], operand, dims))
    return false;
  MlirValue yielded = tileStructuredYielded(&s);
  if (!isCopy && arithTruncFOpIsA(tileDefiningOp(yielded)))
    yielded = tileOnlyOperand(tileDefiningOp(yielded));
  if (!s.operands[0].isTensor || tileStructuredInputOf(&s, yielded) != 0)
    return false;
  *source = s.operands[0];
  tileOperandRenumber(source, dims, s.numDims);
  return true;
}

//===--- what a kernel does with an output ----------------------------------===//

// A view of whole tiles, side by side.
static bool isPlainView(MlirType view) {
  for (intptr_t i = 0; i < tileViewTypeGetRank(view); ++i)
    if (tileViewTypeGetStep(view, i) != tileViewTypeGetSize(view, i) || tileViewTypeGetStride(view, i) != 1 ||
        tileViewTypeGetOrder(view, i) != i)
      return false;
  return mlirAttributeIsNull(tileViewTypeGetPacked(view));
}

static void noteUse(TileOutputUses *uses, MlirOperation op, MlirValue memory) {
  bool isLoad = tileLoadOpIsA(op) || memrefLoadOpIsA(op);
  if ((tileStoreOpIsA(op) && mlirValueEqual(tileStoreOpGetDestination(op), memory)) ||
      (memrefStoreOpIsA(op) && mlirValueEqual(memrefStoreOpGetMemref(op), memory))) {
    if (tileStoreOpIsA(op))
      uses->isPlain &= mlirAttributeIsNull(tileTypeGetLayout(tileStoreOpGetValueType(op))); // not yet for threads
    if (!mlirAttributeIsNull(tileOpGetFinal(op)))
      tileOpsAppend(&uses->stores, op);
  } else if (isLoad) {
    if (!mlirAttributeIsNull(tileOpGetInitial(op)))
      tileOpsAppend(&uses->loads, op);
    else
      uses->isRead = true;
  } else {
    uses->isPlain &= tilePrefetchOpIsA(op) || memrefDimOpIsA(op) || tileNumTilesOpIsA(op);
  }
}

static MlirWalkResult noteView(MlirOperation op, void *data) {
  TileOutputUses *uses = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    if (!mlirValueEqual(mlirOperationGetOperand(op, i), uses->parameter))
      continue;
    if (!tileViewOpIsA(op) || i > 0) {
      noteUse(uses, op, uses->parameter);
      continue;
    }
    MlirValue view = tileViewOpGetResult(op);
    uses->isPlain &= isPlainView(mlirValueGetType(view));
    for (MlirOpOperand use = mlirValueGetFirstUse(view); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
      noteUse(uses, mlirOpOperandGetOwner(use), view);
  }
  return MlirWalkResultAdvance;
}

TileOutputUses tileOutputUses(MlirOperation kernel, intptr_t parameter) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  TileOutputUses uses = {.parameter = mlirBlockGetArgument(body, parameter), .isPlain = true};
  mlirOperationWalk(kernel, noteView, &uses, MlirWalkPreOrder);
  return uses;
}

void tileOutputUsesFree(TileOutputUses *uses) {
  tileOpsFree(&uses->stores);
  tileOpsFree(&uses->loads);
}

//===--- launches -----------------------------------------------------------===//

enum { MostOperands = 60 };

static bool readLaunch(MlirOperation op, intptr_t more, TileJoinedLaunch *launch) {
  if (!tileLaunchOpIsA(op) || mlirOperationGetNumResults(op) != 1 || tileLaunchOpGetNumOutputs(op) != 1 ||
      !mlirAttributeIsNull(tileLaunchOpGetMeets(op)) || mlirOperationGetNumOperands(op) + more > MostOperands)
    return false;
  *launch = (TileJoinedLaunch){.op = op,
                               .kernel = mlirExtSymbolLookup(op, tileLaunchOpGetKernel(op)),
                               .grid = tileLaunchOpGetNumGrid(op),
                               .inputs = tileLaunchOpGetNumInputs(op)};
  return tileKernelOpIsA(launch->kernel) && mlirAttributeIsNull(tileKernelOpGetArgAttrs(launch->kernel));
}

// A column's vector is the column: the reshape between the two, null where there is none.
static bool isColumn(MlirType vector, MlirType column) {
  return mlirShapedTypeGetRank(vector) == 1 && mlirShapedTypeGetRank(column) == 2 &&
         mlirShapedTypeGetDimSize(column, 1) == 1;
}

static MlirOperation collapseOf(MlirOperation op) {
  bool is = tensorCollapseShapeOpIsA(op) &&
            isColumn(tensorCollapseShapeOpGetResultType(op), tensorCollapseShapeOpGetSrcType(op));
  return is ? op : (MlirOperation){NULL};
}

static MlirOperation expandOf(MlirOperation op) {
  bool is =
      tensorExpandShapeOpIsA(op) && isColumn(tensorExpandShapeOpGetSrcType(op), tensorExpandShapeOpGetResultType(op));
  return is ? op : (MlirOperation){NULL};
}

// The launch that makes the value, whose kernel marks the stores of its last values.
static bool makesFinal(const TileStructured *s, MlirValue value, TileJoinedLaunch *launch) {
  MlirOperation maker = tileDefiningOp(value), reshape = collapseOf(maker);
  if (!mlirOperationIsNull(reshape))
    value = tensorCollapseShapeOpGetSrc(reshape);
  if (!tileHasOneUse(value) || !readLaunch(tileDefiningOp(value), s->numInputs + s->numCaptures, launch) ||
      !mlirBlockEqual(mlirOperationGetBlock(launch->op), mlirOperationGetBlock(s->op)))
    return false;
  launch->reshape = reshape;
  TileOutputUses uses = tileOutputUses(launch->kernel, launch->inputs);
  bool isMarkedPlain = uses.isPlain && uses.stores.count > 0;
  tileOutputUsesFree(&uses);
  return isMarkedPlain;
}

bool tileJoinCanFollow(const TileStructured *s, int argument) {
  bool takesOutput = s->numInputs == 0; // a body that changes what its output holds
  MlirValue value = s->operands[argument].value;
  return (takesOutput || tileEpilogueCanFollow(s)) && !tileStructuredHasReduction(s) && s->numOutputs == 1 &&
         !tileStructuredUsesPosition(s) && tileOperandIsInOrder(s, &s->operands[s->numInputs], -1) &&
         tileOperandIsInOrder(s, &s->operands[argument], -1) && tileHasOneUse(value) &&
         mlirTypeEqual(mlirValueGetType(value), tileOnlyResultType(s->op));
}

bool tileJoinFindLaunch(const TileStructured *s, int *argument, TileJoinedLaunch *launch) {
  for (*argument = 0; *argument < s->numInputs + (s->numInputs == 0); ++*argument)
    if (tileJoinCanFollow(s, *argument) && makesFinal(s, s->operands[*argument].value, launch))
      return true;
  return false;
}

// What every element is filled with: a scalar of the host; null where the op does something else.
static MlirValue filledWith(const TileStructured *s) {
  MlirValue none = {NULL};
  if (s->numOutputs != 1 || s->numInputs > 1 || tileStructuredHasReduction(s))
    return none;
  MlirValue yielded = tileOnlyOperand(mlirBlockGetTerminator(s->body));
  if (s->numInputs == 1 && !s->operands[0].isTensor && mlirValueEqual(yielded, mlirBlockGetArgument(s->body, 0)))
    return s->operands[0].value;
  MlirOperation definition = tileDefiningOp(yielded);
  bool isOutside = !mlirOperationIsNull(definition) ? !mlirBlockEqual(mlirOperationGetBlock(definition), s->body)
                                                    : !mlirBlockEqual(mlirBlockArgumentGetOwner(yielded), s->body);
  return isOutside ? yielded : none;
}

bool tileJoinFindFill(const TileStructured *fill, MlirOperation user, MlirValue *scalar, TileJoinedLaunch *launch) {
  MlirValue filled = tileOnlyResult(fill->op);
  MlirOperation expand = expandOf(user);
  *scalar = filledWith(fill);
  if (!mlirOperationIsNull(expand)) {
    filled = tileOnlyResult(expand);
    if (!tileHasOneUse(filled))
      return false;
    user = mlirOpOperandGetOwner(mlirValueGetFirstUse(filled));
  }
  if (mlirValueIsNull(*scalar) || !readLaunch(user, 1, launch) ||
      !mlirValueEqual(tileLaunchOpGetOutputs(user, 0), filled))
    return false;
  for (intptr_t i = 0; i < launch->grid + launch->inputs; ++i)
    if (mlirValueEqual(mlirOperationGetOperand(user, i), filled))
      return false;
  launch->reshape = expand;
  TileOutputUses uses = tileOutputUses(launch->kernel, launch->inputs);
  bool canStart = uses.isPlain && uses.loads.count > 0 && uses.stores.count > 0 && !uses.isRead;
  tileOutputUsesFree(&uses);
  return canStart;
}
