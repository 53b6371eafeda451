// Kernels in which one program computes a tile of the output: ops whose dimensions are all parallel, whatever the
// operands' orders, and linalg.pack and linalg.unpack, copies between a plain tensor and one of tiles.
//
// Pack and unpack loop over the tiled tensor, whose axes are the dimensions; axis a of the plain one is at
// outer · size + inner. What lies past the plain tensor's end is read as zero and never written.
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/linalg.h"

bool tileLowerElementwise(TileStructured *s) {
  if (tileStructuredHasReduction(s))
    return false;
  tileStructuredSetTiles(s);
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

bool tileLowerRelayout(TileStructured *s) {
  TileKernelEmission e;
  tileStructuredSetTiles(s);
  tileKernelBegin(&e, s, linalgPackOpIsA(s->op) ? "pack" : "unpack");
  tileKernelStore(&e, 1, tileKernelLoad(&e, 0, NULL, false));
  tileKernelEnd(&e);
  return true;
}
