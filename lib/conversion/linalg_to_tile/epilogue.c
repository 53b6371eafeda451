// Elementwise ops that alone use what another op makes, in its kernel: a bias and an activation after a convolution, a
// scale after a pooling. Matrix products have their own way (contraction.c), as their sums go through memory.
//
// Expects: the structured elementwise op. Leaves: one kernel and launch in its place; the producer is unused then.
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

#include <string.h>

//===--- questions ----------------------------------------------------------===//

bool tileEpilogueCanFollow(const TileStructured *elementwise) {
  int output = elementwise->numInputs;
  // Merged, it has other operands beside it, and its dimensions change their numbers.
  if (tileStructuredHasReduction(elementwise) || elementwise->numOutputs != 1 ||
      tileStructuredUsesPosition(elementwise) ||
      !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(elementwise->body, output))))
    return false;
  for (int i = 0; i <= output; ++i)
    if (!tileOperandIsPlain(&elementwise->operands[i]))
      return false;
  return true;
}

bool tileEpilogueReadProducer(const TileStructured *elementwise, int index, TileStructured *producer) {
  const TileOperand *operand = &elementwise->operands[index];
  MlirOperation op = operand->isTensor ? tileDefiningOp(operand->value) : (MlirOperation){NULL};
  // In a loop around the use, the producer would be computed again in every step.
  bool isRead = tileOpIs(op, "linalg.generic") && tileHasOneUse(operand->value) &&
                mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(elementwise->op)) &&
                tileStructuredRead(op, producer) && producer->numOutputs == 1;
  producer->target = elementwise->target;
  return isRead;
}

bool tileEpilogueMatchSpaces(const TileStructured *elementwise, int index, const TileStructured *producer, int *dims) {
  const TileOperand *used = &elementwise->operands[index], *made = &producer->operands[producer->numInputs];
  if (used->rank != elementwise->numDims)
    return false;
  for (int i = 0; i < used->rank; ++i) {
    if (used->results[i] < 0)
      return false;
    dims[used->results[i]] = made->results[i];
  }
  return true;
}

//===--- merging ------------------------------------------------------------===//

static bool hasCapture(const TileStructured *s, MlirValue value) {
  for (int i = 0; i < s->numCaptures; ++i)
    if (mlirValueEqual(s->captures[i], value))
      return true;
  return false;
}

static bool hasRoom(const TileStructured *elementwise, const TileStructured *s) {
  return s->numInputs + elementwise->numInputs + 1 <= MaxOperands &&
         s->numCaptures + elementwise->numCaptures <= MaxCaptures;
}

void tileEpilogueMoveExtents(TileStructured *s, int oldOutput) {
  const TileOperand *output = &s->operands[s->numInputs];
  for (int d = 0; d < s->numDims; ++d)
    for (int i = 0; s->dims[d].operand == oldOutput && i < output->rank; ++i)
      if (output->results[i] == d) {
        s->dims[d].operand = s->numInputs;
        s->dims[d].result = i;
        break;
      }
}

void tileStructuredAddEpilogue(TileStructured *s, const TileEpilogue *epilogue) {
  if (!epilogue)
    return;
  const TileStructured *elementwise = epilogue->elementwise;
  int oldOutput = s->numInputs, next = s->numInputs;
  MlirAttribute initial = s->operands[oldOutput].initial;
  for (int i = 0; i <= elementwise->numInputs; ++i) {
    if (i == epilogue->argument)
      continue;
    s->operands[next] = elementwise->operands[i];
    tileOperandRenumber(&s->operands[next++], epilogue->dims, elementwise->numDims);
  }
  s->numInputs = next - 1;
  s->operands[s->numInputs].initial = initial;
  tileEpilogueMoveExtents(s, oldOutput);
  for (int i = 0; i < elementwise->numCaptures; ++i)
    if (!hasCapture(s, elementwise->captures[i]))
      s->captures[s->numCaptures++] = elementwise->captures[i];
  s->op = elementwise->op;
  s->epilogue = elementwise->body;
  s->epilogueArgument = epilogue->argument;
}

MlirValue tileKernelEpilogue(TileKernelEmission *e, MlirValue result) {
  const TileStructured *s = e->structured;
  if (mlirBlockIsNull(s->epilogue))
    return result;
  TileBodyMap map = {0};
  e->bodyOverOutput = true;
  tileBodyMapSet(&map, mlirBlockGetArgument(s->epilogue, s->epilogueArgument), result);
  for (int i = s->numOwnInputs, argument = 0; i < s->numInputs; ++i, ++argument) {
    argument += argument == s->epilogueArgument;
    MlirValue value = mlirBlockGetArgument(s->epilogue, argument);
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(value)))
      tileBodyMapSet(&map, value, tileKernelLoad(e, i, NULL, true));
  }
  return tileKernelCloneValue(e, &map, mlirOperationGetOperand(mlirBlockGetTerminator(s->epilogue), 0));
}

bool tileLowerWithEpilogue(const TileStructured *elementwise) {
  if (!tileEpilogueCanFollow(elementwise))
    return false;
  for (int i = 0; i < elementwise->numInputs; ++i) {
    TileStructured s;
    TileEpilogue epilogue = {.elementwise = elementwise, .argument = i};
    if (!tileEpilogueReadProducer(elementwise, i, &s) || tileStructuredHasTerms(&s) || !hasRoom(elementwise, &s) ||
        !tileEpilogueMatchSpaces(elementwise, i, &s, epilogue.dims))
      continue;
    tileStructuredStartFromConstants(&s);
    if (mlirAttributeIsNull(s.operands[s.numInputs].initial))
      continue; // what it starts from would be one more input
    if (tileLowerProduct(&s, &epilogue) || tileLowerReduction(&s, &epilogue))
      return true;
  }
  return false;
}
