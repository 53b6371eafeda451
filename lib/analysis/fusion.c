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
