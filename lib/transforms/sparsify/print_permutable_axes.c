// sparse-print-permutable-axes: a remark at each linalg op that says which of its loops may take their indices in any
// order, and so be packed by a list of micro-tiles (PIT, SOSP 2023, definition of a PIT-axis).
//
// A loop may be permuted if every operand is indexed by its index alone or not at all, the body does not ask for the
// index, and, where the loop reduces, every output combines by an associative and commutative operation.
//
// Expects: any function. Leaves: the function as it is. Cost: linear in the ops.
#include "dialects/tile/combiner.h"
#include "dialects/tile/tile.h"
#include "lib/ir/pass.h"
#include "lib/support/grow.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "upstream/func.h"
#include "upstream/linalg.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/Linalg.h"

//===--- questions ----------------------------------------------------------===//

// Every result of every map is the dimension itself, or does without it.
static bool isBare(MlirAttribute maps, int64_t dim) {
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(maps); ++i) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    for (intptr_t r = 0; r < mlirAffineMapGetNumResults(map); ++r) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, r);
      if (mlirAffineExprIsFunctionOfDim(expr, dim) && !mlirAffineExprIsADim(expr))
        return false;
    }
  }
  return true;
}

typedef struct Asked {
  int64_t dim;
  bool isAsked;
} Asked;

static MlirWalkResult lookForIndex(MlirOperation op, void *data) {
  Asked *asked = data;
  asked->isAsked |= linalgIndexOpIsA(op) && linalgIndexOpGetDimValue(op) == asked->dim;
  return MlirWalkResultAdvance;
}

static bool asksForIndex(MlirOperation op, int64_t dim) {
  Asked asked = {.dim = dim};
  mlirOperationWalk(op, lookForIndex, &asked, MlirWalkPreOrder);
  return asked.isAsked;
}

// Each value that the body yields is its output's element combined with something that does without that element.
static bool combines(MlirOperation op) {
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = mlirBlockGetTerminator(body);
  intptr_t outputs = mlirOperationGetNumOperands(yield), arguments = mlirBlockGetNumArguments(body);
  for (intptr_t i = 0; i < outputs; ++i) {
    MlirValue element = mlirBlockGetArgument(body, arguments - outputs + i);
    MlirOperation last = tileDefiningOp(mlirOperationGetOperand(yield, i));
    MlirOpOperand use = mlirValueGetFirstUse(element);
    bool isOnlyUse = !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)) &&
                     mlirOperationEqual(mlirOpOperandGetOwner(use), last);
    if (mlirOperationIsNull(last) || !isOnlyUse || !tileCombinerOf(tileUpstreamKind(last)))
      return false;
  }
  return true;
}

// No output is indexed by the dimension. The last maps are those of outputs.
static bool isReduced(MlirAttribute maps, intptr_t outputs, int64_t dim) {
  intptr_t count = mlirArrayAttrGetNumElements(maps);
  for (intptr_t i = count - outputs; i < count; ++i) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    for (intptr_t r = 0; r < mlirAffineMapGetNumResults(map); ++r)
      if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, r), dim))
        return false;
  }
  return true;
}

//===--- the pass -----------------------------------------------------------===//

static void print(MlirOperation op, MlirAttribute maps) {
  TESSERA_LIST(list);
  bool mayReduce = combines(op);
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(op, 0));
  intptr_t outputs = mlirOperationGetNumOperands(mlirBlockGetTerminator(body));
  int64_t dims = mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0)));
  for (int64_t dim = 0; dim < dims; ++dim) {
    bool reduces = isReduced(maps, outputs, dim);
    if (isBare(maps, dim) && !asksForIndex(op, dim) && (!reduces || mayReduce))
      tessera_list_add(&list, "d%d%s", (int)dim, reduces ? " (reduced)" : "");
  }
  tileRemark(op, "axes that may be permuted: %s", list.length ? list.text : "none");
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps ops = tileCollect(function, NULL);
  for (intptr_t i = 0; i < ops.count; ++i) {
    MlirOperation op = ops.items[i];
    MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
    if (!mlirAttributeIsNull(maps) && mlirArrayAttrGetNumElements(maps) > 0)
      print(op, maps);
  }
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition sparsePrintPermutableAxesPass = {
    .argument = "sparse-print-permutable-axes",
    .summary = "Say which loops of each linalg op may take their indices in any order",
    .anchor = funcFuncOpName,
    .run = run,
};
