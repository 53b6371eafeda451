// Elementwise ops of a tile.group in the kernel of the product or reduction that they follow: a bias and an activation
// after a convolution, a scale after a pooling.
//
// Expects: the structured elementwise op. Leaves: one kernel and launch in its place; the producer is unused then.
#include "dialects/tile/ops.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

#include <string.h>

//===--- merging ------------------------------------------------------------===//

// Extents that only the old output told are told by the new one.
static void moveExtents(TileStructured *s, int oldOutput) {
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
  *s = tileStructuredCopy(s, elementwise->numInputs);
  MlirAttribute initial = s->operands[oldOutput].initial;
  for (int i = 0; i <= elementwise->numInputs; ++i) {
    if (i == epilogue->argument)
      continue;
    s->operands[next] = elementwise->operands[i];
    tileOperandRenumber(&s->operands[next++], epilogue->dims, elementwise->numDims);
  }
  s->numInputs = next - 1;
  s->operands[s->numInputs].initial = initial;
  moveExtents(s, oldOutput);
  tileStructuredAddCaptures(s, elementwise); // tileEpilogueFind saw that there is room
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
