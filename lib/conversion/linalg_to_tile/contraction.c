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

//===--- questions ----------------------------------------------------------===//

static int positionOf(const TileOperand *operand, int dim) {
  for (int i = 0; i < operand->rank; i++)
    if (operand->results[i] == dim)
      return i;
  return -1;
}

static bool isFull(const TileOperand *operand) {
  if (!tileOperandIsPlain(operand))
    return false;
  for (int i = 0; i < operand->rank; i++)
    if (operand->results[i] < 0)
      return false;
  return true;
}

// Gives every dimension its role; exactly one m, n and k. n is the one that is contiguous in C.
static bool matchDims(const TileStructured *s, TileContraction *c) {
  const TileOperand *a = &s->operands[c->lhs], *b = &s->operands[c->rhs], *out = &s->operands[s->numInputs];
  c->m = c->n = c->k = -1;
  for (int d = 0; d < s->numDims; d++) {
    bool inA = positionOf(a, d) >= 0, inB = positionOf(b, d) >= 0, inOut = positionOf(out, d) >= 0;
    int *role = inA && inB && !inOut ? &c->k : inA && !inB && inOut ? &c->m : !inA && inB && inOut ? &c->n : NULL;
    if (!role && !(inA && inB && inOut))
      return false;
    if (role && *role >= 0)
      return false;
    if (role)
      *role = d;
  }
  if (c->m < 0 || c->n < 0 || c->k < 0 || !isFull(a) || !isFull(b))
    return false;
  if (positionOf(out, c->m) > positionOf(out, c->n))
    *c = (TileContraction){.lhs = c->rhs, .rhs = c->lhs, .m = c->n, .n = c->m, .k = c->k, .product = c->product};
  return true;
}

const TileDot *tileContractionDot(const TileStructured *s, const TileContraction *c) {
  MlirType a = tileOperandElementType(&s->operands[c->lhs]), b = tileOperandElementType(&s->operands[c->rhs]);
  const TileDot *dot = tileDotFind(a, tileOperandElementType(&s->operands[s->numInputs]));
  return !tileStructuredGpu(s) && dot && s->target->hasDot[dot - tileDots] && mlirTypeEqual(a, b) ? dot : NULL;
}

// A tile.mma takes these element types (OPS.md's table; integers without a dot instruction and narrow floats go by the
// reduction).
static bool hasMmaTypes(const TileStructured *s, const TileContraction *c) {
  MlirType a = tileOperandElementType(&s->operands[c->lhs]), b = tileOperandElementType(&s->operands[c->rhs]);
  MlirType out = tileOperandElementType(&s->operands[s->numInputs]);
  if (!mlirTypeEqual(a, b))
    return false;
  if (mlirTypeIsAInteger(a))
    return tileContractionDot(s, c) != NULL;
  if (mlirTypeIsAF64(a) || mlirTypeIsAF64(out))
    return mlirTypeIsAF64(a) && mlirTypeIsAF64(out);
  if (mlirTypeIsAF16(a))
    return mlirTypeIsAF16(out) || mlirTypeIsAF32(out);
  return (mlirTypeIsAF32(a) || mlirTypeIsABF16(a)) && mlirTypeIsAF32(out);
}

// On a CPU, a row times a matrix whose rows are contiguous goes by rows (contraction_kernel.c); other products with a
// vector read a matrix once along k: a reduction, nothing to pack.
static bool isMatrixProduct(const TileStructured *s, const TileContraction *c) {
  const TileOperand *b = &s->operands[c->rhs];
  bool isRow = s->dims[c->m].extent == 1 && !tileStructuredGpu(s) && b->results[b->rank - 1] == c->n &&
               !mlirShapedTypeIsDynamicSize(s->dims[c->n].extent) && !mlirShapedTypeIsDynamicSize(s->dims[c->k].extent);
  return (s->dims[c->m].extent != 1 || isRow) && s->dims[c->n].extent != 1 && hasMmaTypes(s, c);
}

//===--- the lowerings ------------------------------------------------------===//

bool tileLowerContraction(TileStructured *s) {
  TileContraction c = {.product = -1};
  if (!tileStructuredMatchMultiplyAdd(s, &c.lhs, &c.rhs) || !matchDims(s, &c) || !isMatrixProduct(s, &c))
    return false;
  tileEmitContraction(s, &c);
  return true;
}

// Reads the contraction that makes input `index` of the elementwise op, if nothing else uses it.
static bool readProducer(const TileStructured *elementwise, int index, TileStructured *producer, TileContraction *c) {
  return tileEpilogueReadProducer(elementwise, index, producer) &&
         tileStructuredMatchMultiplyAdd(producer, &c->lhs, &c->rhs) && matchDims(producer, c) &&
         isMatrixProduct(producer, c) &&
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
  for (int i = 0; i <= elementwise->numInputs; i++) {
    if (i == index)
      continue;
    TileOperand *operand = &s->operands[2 + (i < index ? i : i - 1)];
    *operand = elementwise->operands[i];
    tileOperandRenumber(operand, dims, elementwise->numDims);
    s->numInputs += i < elementwise->numInputs;
  }
  s->operands[s->numInputs].initial = initial;
}

bool tileLowerContractionWithEpilogue(TileStructured *elementwise) {
  int output = elementwise->numInputs, dims[MaxDims];
  if (!tileEpilogueCanFollow(elementwise) || output + 2 > MaxOperands)
    return false;
  for (int i = 0; i < elementwise->numInputs; i++) {
    TileStructured s;
    TileContraction c = {.product = i};
    if (!readProducer(elementwise, i, &s, &c) || !tileEpilogueMatchSpaces(elementwise, i, &s, dims))
      continue;
    tileStructuredStartFromConstants(&s);
    if (mlirAttributeIsNull(s.operands[2].initial))
      continue; // what it starts from would be one more input
    merge(elementwise, i, dims, &s);
    tileEmitContraction(&s, &c);
    return true;
  }
  return false;
}
