// Recognizes matrix products, batched, operands in any order: C[b…, m, n] += sum over k of A[b…, m, k] · B[b…, k, n].
//
// Expects: a structured op, perhaps with the elementwise op that its kernel computes too (bias, activation). Leaves:
// its kernel and launch (contraction_kernel.c). Products with a vector are left to the reductions: their matrix is read
// once, so there is nothing to pack.
#include "lib/conversion/linalg_to_tile/contraction.h"
#include "lib/analysis/product.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

// Sums of blocks of k lie in the output until the last block: an epilogue must leave the element type as it is.
static bool keepsElementType(const TileStructured *s, const TileEpilogue *epilogue) {
  if (!epilogue)
    return true;
  const TileStructured *elementwise = epilogue->elementwise;
  return mlirTypeEqual(tileOperandElementType(&s->operands[s->numInputs]),
                       tileOperandElementType(&elementwise->operands[elementwise->numInputs]));
}

bool tileLowerContraction(TileStructured *s, const TileEpilogue *epilogue) {
  TileProduct p;
  if (!tileStructuredMatchMatrixProduct(s, &p) || !keepsElementType(s, epilogue))
    return false;
  tileStructuredAddEpilogue(s, epilogue);
  TileContraction c = {.lhs = p.lhs, .rhs = p.rhs, .m = p.m, .n = p.n, .k = p.k};
  tileEmitContraction(s, &c);
  return true;
}
