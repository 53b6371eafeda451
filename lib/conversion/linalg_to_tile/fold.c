// Any other body over reduction dimensions, step by step in the loops' order: argmax, running sums, updates of an
// output that the reduction dimensions index too.
//
// A program owns a tile of the parallel dimensions, loops over the reduction dimensions one index at a time and applies
// the body to whole tiles. An output without reduction dimensions is carried by the loops, any other one is loaded and
// stored at each step. Nothing is assumed of the body: it is evaluated in the order linalg says.
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

enum { Columns = 256 };

static void buildStep(TileKernelEmission *e, const void *context, MlirValue *accumulators) {
  const TileStructured *s = context;
  TileBodyMap map = {0};
  MlirValue results[MaxOperands], yield[MaxOperands];
  intptr_t carried = 0;
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i)
    if (i >= s->numInputs && tileStructuredAccumulates(s, &s->operands[i]))
      tileBodyMapSet(&map, mlirBlockGetArgument(s->body, i), accumulators[carried++]);
    else
      tileKernelMapInputs(e, &map, i, i + 1, false);
  for (int o = 0; o < s->numOutputs; ++o)
    results[o] = tileKernelCloneValue(e, &map, mlirOperationGetOperand(mlirBlockGetTerminator(s->body), o));
  carried = 0;
  for (int o = 0; o < s->numOutputs; ++o)
    if (tileStructuredAccumulates(s, &s->operands[s->numInputs + o]))
      yield[carried++] = results[o];
    else
      tileKernelStore(e, s->numInputs + o, results[o]);
  for (intptr_t i = 0; i < carried; ++i)
    accumulators[i] = yield[i];
}

bool tileLowerFold(TileStructured *s) {
  if (!tileStructuredHasReduction(s))
    return false;
  tileStructuredSetTiles(s, tileStructuredFoldVector(s), Columns, -1, 1);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "fold");
  MlirValue accumulators[MaxOperands];
  intptr_t carried = 0;
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    if (tileStructuredAccumulates(s, &s->operands[i]))
      accumulators[carried++] = tileKernelInitial(&e, i);
  tileKernelLoopOverReductions(&e, carried, accumulators, buildStep, s);
  carried = 0;
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    if (tileStructuredAccumulates(s, &s->operands[i]))
      tileKernelStore(&e, i, accumulators[carried++]);
  tileKernelEnd(&e);
  return true;
}
