// Recognizes matrix products, batched, operands in any order: C[b…, m, n] += sum over k of A[b…, m, k] · B[b…, k, n].
//
// Expects: a structured op. Leaves: its kernel and launch (contraction_kernel.c). An elementwise op that alone uses the
// product (bias, activation) becomes the kernel's epilogue. Products with a vector are left to the reductions: their
// matrix is read once, so there is nothing to pack.
#include "lib/conversion/linalg_to_tile/contraction.h"
#include "lib/analysis/product.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

#include <string.h>

//===--- the lowerings ------------------------------------------------------===//

static TileContraction contractionOf(const TileProduct *p, int product) {
  return (TileContraction){.lhs = p->lhs, .rhs = p->rhs, .m = p->m, .n = p->n, .k = p->k, .product = product};
}

bool tileLowerContraction(TileStructured *s) {
  TileProduct p;
  if (!tileStructuredMatchMatrixProduct(s, &p))
    return false;
  TileContraction c = contractionOf(&p, -1);
  tileEmitContraction(s, &c);
  return true;
}

// Reads the contraction that makes input `index` of the elementwise op, if nothing else uses it.
static bool readProducer(const TileStructured *elementwise, int index, TileStructured *producer, TileProduct *p) {
  return tileEpilogueReadProducer(elementwise, index, producer) && tileStructuredMatchMatrixProduct(producer, p) &&
         mlirTypeEqual(tileOperandElementType(&producer->operands[2]),
                       tileOperandElementType(&elementwise->operands[elementwise->numInputs]));
}

// The product's dimensions and inputs, then the elementwise op's other inputs and its output and body.
static void merge(const TileStructured *elementwise, int index, const int *dims, TileStructured *s) {
  s->op = elementwise->op;
  s->body = elementwise->body;
  s->numCaptures = elementwise->numCaptures;
  memcpy(s->captures, elementwise->captures, sizeof s->captures);
  MlirAttribute initial = s->operands[2].initial;
  s->numInputs = 2;
  for (int i = 0; i <= elementwise->numInputs; ++i) {
    if (i == index)
      continue;
    TileOperand *operand = &s->operands[2 + (i < index ? i : i - 1)];
    *operand = elementwise->operands[i];
    tileOperandRenumber(operand, dims, elementwise->numDims);
    s->numInputs += i < elementwise->numInputs;
  }
  s->operands[s->numInputs].initial = initial;
  tileEpilogueMoveExtents(s, 2);
}

bool tileLowerContractionWithEpilogue(TileStructured *elementwise) {
  int output = elementwise->numInputs, dims[MaxDims];
  if (!tileEpilogueCanFollow(elementwise) || output + 2 > MaxOperands)
    return false;
  for (int i = 0; i < elementwise->numInputs; ++i) {
    TileStructured s;
    TileProduct p;
    if (!readProducer(elementwise, i, &s, &p) || !tileEpilogueMatchSpaces(elementwise, i, &s, dims))
      continue;
    tileStructuredStartFromConstants(&s);
    if (mlirAttributeIsNull(s.operands[2].initial))
      continue; // what it starts from would be one more input
    merge(elementwise, i, dims, &s);
    TileContraction c = contractionOf(&p, i);
    tileEmitContraction(&s, &c);
    return true;
  }
  return false;
}
