// All dimensions parallel: one program computes a tile of the output, whatever the operands' orders.
//
// The tile is wide along the output's last axis, so that stores are contiguous; its second axis is the one that is
// contiguous in a transposed input, so that both sides move whole lines. Without a schedule the sizes
// are the machine's `model.tile.*`.
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

// The dimension contiguous in some input but not in the output, or -1.
static int transposedDim(const TileStructured *s, int vector) {
  for (int i = 0; i < s->numInputs; ++i) {
    int last = s->operands[i].isTensor ? tileOperandLastDim(s, &s->operands[i]) : -1;
    if (last >= 0 && last != vector && s->operands[i].rank > 1)
      return last;
  }
  return -1;
}

// The output's last axis but one, or -1.
static int rowDim(const TileStructured *s, const TileOperand *output, int vector) {
  for (int i = output->rank - 1; i >= 0; --i)
    if (output->results[i] >= 0 && output->results[i] != vector && tileStructuredCanTile(s, output->results[i], vector))
      return output->results[i];
  return -1;
}

static void chooseTiles(TileStructured *s) {
  TileTiling tiling;
  if (tileStructuredFindTiling(s, &tiling) && tileStructuredPlanTiles(s, &tiling))
    return;
  const TileOperand *output = &s->operands[s->numInputs];
  int vector = tileOperandLastDim(s, output), transposed = transposedDim(s, vector);
  const TileSearchModel *model = &s->target->search.model;
  if (transposed >= 0)
    tileStructuredSetTiles(s, vector, model->transposed, transposed, model->transposed);
  else
    tileStructuredSetTiles(s, vector, model->columns, rowDim(s, output, vector), model->rows);
}

bool tileLowerElementwise(TileStructured *s) {
  if (tileStructuredHasReduction(s))
    return false;
  chooseTiles(s);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "elementwise");
  TileBodyMap map = {0};
  tileKernelMapInputs(&e, &map, 0, s->numInputs + s->numOutputs, false);
  MlirOperation yield = mlirBlockGetTerminator(s->body);
  MlirValue results[MaxOperands];
  for (int i = 0; i < s->numOutputs; ++i)
    results[i] = tileKernelCloneValue(&e, &map, mlirOperationGetOperand(yield, i));
  for (int i = 0; i < s->numOutputs; ++i)
    tileKernelStore(&e, s->numInputs + i, results[i]);
  tileKernelEnd(&e);
  return true;
}
