// A product whose k is split: cores that read a large B share its rows rather than its columns, so that each reads
// whole rows (measured: half rows come at 0.8 of the speed). Expects: C[m, n] += A[m, k] · B[k, n] of known sizes in
// that order, S of `split` dividing k. Leaves, in its place: P[s, m, n] = A[m, s, k'] · B[s, k', n], and C += the sum
// of P over s. The order of summation is fixed by S, not by who is first.
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MostValues = 16, MostText = 4096 };

// Whether axis i of the operand is dimension dims[i].
static bool isIndexedBy(const TileOperand *operand, int first, int second) {
  return operand->rank == 2 && operand->results[0] == first && operand->results[1] == second;
}

// Both ops as a function of A, B and C.
static void printSplit(const TileStructured *s, const TileProduct *p, const TileSearchTile *tile, char *text) {
  int64_t m = s->dims[p->m].extent, n = s->dims[p->n].extent, k = s->dims[p->k].extent, parts = tile->split;
  char a[32], c[32], product[160];
  tileTypeText(tileOperandElementType(&s->operands[p->lhs]), a, sizeof a);
  tileTypeText(tileOperandElementType(&s->operands[2]), c, sizeof c);
  bool isSame = !strcmp(a, c);
  snprintf(product, sizeof product,
           isSame ? "%%t = arith.mulf %%x, %%y : %s"
                  : "%%w = arith.extf %%x : %s to %s %%v = arith.extf %%y : %s to %s %%t = arith.mulf %%w, %%v : %s",
           a, c, a, c, c);
  snprintf(text, MostText,
           "func.func @f(%%a: tensor<%" PRId64 "x%" PRId64 "x%s>, %%b: tensor<%" PRId64 "x%" PRId64
           "x%s>, %%c: tensor<%" PRId64 "x%" PRId64 "x%s>) {\n"
           "%%z = arith.constant 0.0 : %s\n"
           "%%as = tensor.expand_shape %%a [[0], [1, 2]] output_shape [%" PRId64 ", %" PRId64 ", %" PRId64
           "] : tensor<%" PRId64 "x%" PRId64 "x%s> into tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>\n"
           "%%bs = tensor.expand_shape %%b [[0, 1], [2]] output_shape [%" PRId64 ", %" PRId64 ", %" PRId64
           "] : tensor<%" PRId64 "x%" PRId64 "x%s> into tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>\n"
           "%%e = tensor.empty() : tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>\n",
           m, k, a, k, n, a, m, n, c, c, m, parts, k / parts, m, k, a, m, parts, k / parts, a, parts, k / parts, n, k,
           n, a, parts, k / parts, n, a, parts, m, n, c);
  size_t used = strlen(text);
  snprintf(text + used, MostText - used,
           "%%f = linalg.generic {indexing_maps = [affine_map<(s, m, n) -> ()>, affine_map<(s, m, n) -> (s, m, n)>], "
           "iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%%z : %s) outs(%%e : tensor<%" PRId64
           "x%" PRId64 "x%" PRId64 "x%s>) {\n"
           "^bb0(%%i: %s, %%o: %s):\nlinalg.yield %%i : %s\n} -> tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>\n"
           "%%p = linalg.generic {indexing_maps = [affine_map<(s, m, n, k) -> (m, s, k)>, affine_map<(s, m, n, k) -> "
           "(s, k, n)>, affine_map<(s, m, n, k) -> (s, m, n)>], iterator_types = [\"parallel\", \"parallel\", "
           "\"parallel\", \"reduction\"]}\n"
           "ins(%%as, %%bs : tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>, tensor<%" PRId64 "x%" PRId64 "x%" PRId64
           "x%s>) outs(%%f : tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>)\n"
           "attrs = {tile.schedule = #tile.schedule<block = [1, %" PRId64 ", %" PRId64 ", %" PRId64
           "], pack = [a:\"none\", b:\"none\"]>} {\n"
           "^bb0(%%x: %s, %%y: %s, %%o: %s):\n%s\n%%u = arith.addf %%o, %%t : %s\nlinalg.yield %%u : %s\n} -> "
           "tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>\n",
           c, parts, m, n, c, c, c, c, parts, m, n, c, m, parts, k / parts, a, parts, k / parts, n, a, parts, m, n, c,
           tile->size[p->m], tile->size[p->n], tile->size[p->k], a, a, c, product, c, c, parts, m, n, c);
  used = strlen(text);
  snprintf(text + used, MostText - used,
           "%%r = linalg.generic {indexing_maps = [affine_map<(m, n, s) -> (s, m, n)>, affine_map<(m, n, s) -> (m, "
           "n)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}\n"
           "ins(%%p : tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>) outs(%%c : tensor<%" PRId64 "x%" PRId64
           "x%s>) {\n"
           "^bb0(%%x: %s, %%o: %s):\n%%u = arith.addf %%o, %%x : %s\nlinalg.yield %%u : %s\n} -> tensor<%" PRId64
           "x%" PRId64 "x%s>\n"
           "return\n}\n",
           parts, m, n, c, m, n, c, c, c, c, c, m, n, c);
}

// Copies the function's ops before `op`, A, B and C in place of its arguments; returns the last one's result.
static MlirValue splice(MlirModule module, MlirOperation op, const MlirValue *operands) {
  MlirValue from[MostValues], to[MostValues], last = {NULL};
  int count = 0;
  MlirOperation function = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  for (; count < 3; ++count) {
    from[count] = mlirBlockGetArgument(body, count);
    to[count] = operands[count];
  }
  for (MlirOperation each = mlirBlockGetFirstOperation(body); mlirOperationGetNumResults(each) > 0;
       each = mlirOperationGetNextInBlock(each)) {
    MlirOperation copy = mlirOperationClone(each);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, copy);
    for (int i = 0; i < count; ++i)
      mlirOperationReplaceUsesOfWith(copy, from[i], to[i]);
    from[count] = mlirOperationGetResult(each, 0);
    last = to[count++] = mlirOperationGetResult(copy, 0);
  }
  return last;
}

bool tileSplitProduct(MlirOperation op, const TileTarget *target) {
  TileStructured s;
  TileTiling tiling;
  char text[MostText];
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
  if (tile.split < 2 || !isPlain)
    return false;
  printSplit(&s, p, &tile, text);
  MlirModule module = mlirModuleCreateParse(mlirOperationGetContext(op), tileString(text));
  if (mlirModuleIsNull(module))
    return false;
  MlirValue operands[3] = {mlirOperationGetOperand(op, p->lhs), mlirOperationGetOperand(op, p->rhs),
                           mlirOperationGetOperand(op, 2)};
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), splice(module, op, operands));
  mlirModuleDestroy(module);
  mlirOperationDestroy(op);
  return true;
}
