// A product whose k is split: cores that read a large B share its rows rather than its columns, so that each reads
// whole rows (measured: half rows come at 0.8 of the speed). Expects: C[m, n] += A[m, k] · B[k, n] of known sizes in
// that order, S of `split` dividing k. Leaves, in its place: P[s, m, n] = A[m, s, k'] · B[s, k', n], and C += the sum
// of P over s. The order of summation is fixed by S, not by who is first.
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/templates.h"

// Whether axis i of the operand is dimension dims[i].
static bool isIndexedBy(const TileOperand *operand, int first, int second) {
  return operand->rank == 2 && operand->results[0] == first && operand->results[1] == second;
}

// A product of two elements in the type of the sum.
static MlirValue multiply(TileBuilder *b, MlirType sum, const MlirValue *operands, const void *unused) {
  MlirValue factors[2];
  bool isSame = mlirTypeEqual(mlirValueGetType(operands[0]), sum);
  for (int i = 0; i < 2; ++i)
    factors[i] = isSame ? operands[i] : tileBuildValue(b, "arith.extf", sum, 1, &operands[i], NULL);
  return tileBuildValue(b, "arith.mulf", sum, 2, factors, NULL);
}

bool tileSplitProduct(MlirOperation op, const TileTarget *target) {
  TileStructured s;
  TileTiling tiling;
  if (target->search.isGpu || !tileOpIs(op, "linalg.generic") || !tileStructuredRead(op, &s))
    return false;
  s.target = target;
  tileStructuredStartFromConstants(&s);
  if (!tileStructuredFindTiling(&s, &tiling) || !tiling.isMatrix)
    return false;
  const TileProduct *p = &tiling.product;
  int64_t lastPanel;
  bool arePanels;
  TileSearchTile tile = tileStructuredPlanMatrix(&s, &tiling, &lastPanel, &arePanels);
  bool isPlain = isIndexedBy(&s.operands[p->lhs], p->m, p->k) && isIndexedBy(&s.operands[p->rhs], p->k, p->n) &&
                 isIndexedBy(&s.operands[2], p->m, p->n) && mlirTypeIsAFloat(tileOperandElementType(&s.operands[2]));
  if (tile.kind != TileKind_Split || !isPlain)
    return false;
  int64_t k = s.dims[p->k].extent;
  TileTemplateUse use = tileUseSplitProduct((TileSplitProduct){.A = tileOperandElementType(&s.operands[p->lhs]),
                                                               .C = tileOperandElementType(&s.operands[2]),
                                                               .M = s.dims[p->m].extent,
                                                               .N = s.dims[p->n].extent,
                                                               .K = k,
                                                               .PARTS = tile.parts,
                                                               .DEPTH = k / tile.parts,
                                                               .ROWS = tile.size[p->m],
                                                               .COLUMNS = tile.size[p->n],
                                                               .STEP = tile.size[p->k],
                                                               .multiply = {multiply}});
  MlirValue operands[3] = {mlirOperationGetOperand(op, p->lhs), mlirOperationGetOperand(op, p->rhs),
                           mlirOperationGetOperand(op, 2)};
  MlirValue result;
  TileBuilder builder = tileBuilderBefore(op);
  if (!tileTemplateInline(&builder, &use, operands, &result))
    return false;
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), result);
  mlirOperationDestroy(op);
  return true;
}
