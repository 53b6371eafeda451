// sparse-group-rows{sparsity=exact}: products whose matrix a row chooses become products of groups of rows.
//
//   y[r, n] += x[r, k] · w[id[r], k, n]   →   p, c = sparse.group id;  y = sparse.grouped_matmul x gather 1, w, y
//   scatter by(p, c)
//
// Layers that follow each other on one list, with elementwise ops between, stay in the list's order: the first does not
// scatter, the next does not gather. Expects: linalg on tensors. Leaves: sparse.group where numbers are read; a number
// of no matrix is an error at the op that extracted by it. Papers: PIT (SOSP 2023); mixtures of experts. Cost: linear
// in the ops, and in the chains between grouped products.
#include "lib/transforms/sparsify/group_rows.h"
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "lib/analysis/sparsity/masked_values.h"
#include "lib/analysis/sparsity/row_choice.h"
#include "lib/ir/pass.h"
#include "lib/support/grow.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

enum { MaxOperandRank = 8 };

//===--- lists --------------------------------------------------------------===//

static bool isListOf(MlirOperation op, MlirOperation before, MlirType positions, bool isPartial) {
  return sparseGroupOpIsA(op) && mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(before)) &&
         mlirOperationIsBeforeInBlock(op, before) && sparseGroupOpHasPartial(op) == isPartial &&
         sparseGroupOpGetNumGroups(op) == 0 && mlirTypeEqual(sparseGroupOpGetPositionsType(op), positions);
}

// A list of the same numbers that stands before in the block.
static MlirOperation findList(MlirValue numbers, MlirOperation before, MlirType positions, bool isPartial) {
  for (MlirOpOperand use = mlirValueGetFirstUse(numbers); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (isListOf(mlirOpOperandGetOwner(use), before, positions, isPartial))
      return mlirOpOperandGetOwner(use);
  return (MlirOperation){NULL};
}

MlirOperation sparseBuildGroups(TileBuilder *b, MlirLocation where, MlirOperation before, MlirValue numbers,
                                MlirValue matrices, bool isPartial) {
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  int64_t known = mlirShapedTypeGetDimSize(mlirValueGetType(matrices), 0);
  int64_t count = mlirShapedTypeGetDimSize(mlirValueGetType(numbers), 0);
  bool isOpen = mlirShapedTypeIsDynamicSize(known);
  int64_t ends = isOpen ? known : known + 1;
  MlirType positions = mlirRankedTensorTypeGet(1, &ends, i32, mlirAttributeGetNull()),
           coordinates = mlirRankedTensorTypeGet(1, &count, i32, mlirAttributeGetNull());
  MlirOperation made = isOpen ? (MlirOperation){NULL} : findList(numbers, before, positions, isPartial);
  if (!mlirOperationIsNull(made))
    return made;
  MlirValue size = isOpen ? tileBuildSize(b, matrices, 0) : (MlirValue){NULL};
  TileBuilder at = *b;
  at.location = where;
  return sparseGroupOpCreate(&at, positions, coordinates, numbers, isOpen, &size,
                             isPartial ? mlirUnitAttrGet(b->context) : mlirAttributeGetNull());
}

//===--- products -----------------------------------------------------------===//

// Axes 0 to `axes` - 1 as one; the rest as they are.
static MlirAttribute rowGroups(const TileBuilder *b, intptr_t axes, intptr_t rank) {
  MlirAttribute groups[MaxOperandRank], numbers[MaxOperandRank];
  for (intptr_t i = 0; i < rank; ++i)
    numbers[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), i);
  groups[0] = mlirArrayAttrGet(b->context, axes, numbers);
  for (intptr_t i = axes; i < rank; ++i)
    groups[i - axes + 1] = mlirArrayAttrGet(b->context, 1, &numbers[i]);
  return mlirArrayAttrGet(b->context, rank - axes + 1, groups);
}

static MlirType flatType(MlirType type, intptr_t axes) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t shape[MaxOperandRank], rows = 1;
  for (intptr_t i = 0; i < axes; ++i) {
    int64_t size = mlirShapedTypeGetDimSize(type, i);
    rows = mlirShapedTypeIsDynamicSize(size) || mlirShapedTypeIsDynamicSize(rows) ? mlirShapedTypeGetDynamicSize()
                                                                                  : rows * size;
  }
  shape[0] = rows;
  for (intptr_t i = axes; i < rank; ++i)
    shape[i - axes + 1] = mlirShapedTypeGetDimSize(type, i);
  return mlirRankedTensorTypeGet(rank - axes + 1, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
}

// A collapse of the value that stands before in the block is taken again, so that lists are found.
static MlirValue flatten(TileBuilder *b, MlirOperation before, MlirValue value, intptr_t axes) {
  MlirType type = mlirValueGetType(value);
  if (axes == 1)
    return value;
  MlirAttribute groups = rowGroups(b, axes, mlirShapedTypeGetRank(type));
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (tensorCollapseShapeOpIsA(op) && mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(before)) &&
        mlirOperationIsBeforeInBlock(op, before) &&
        mlirAttributeEqual(tensorCollapseShapeOpGetReassociation(op), groups))
      return tileOnlyResult(op);
  }
  return tensorCollapseShapeOpBuild(b, flatType(type, axes), value, groups);
}

// Zeros are filled anew, so that whoever lowers the product sees them.
static MlirValue flattenInit(TileBuilder *b, MlirOperation before, MlirValue init, intptr_t axes) {
  MlirValue flat = flatten(b, before, init, axes);
  MlirOperation fill = tileDefiningOp(init);
  if (axes == 1 || !linalgFillOpIsA(fill) || !sparseIsZero(init))
    return flat;
  MlirType type = mlirValueGetType(flat);
  return sparseBuildFilled(b, tileBuildEmptyLike(b, type, flat), linalgFillOpGetInputs(fill, 0));
}

static MlirValue unflatten(TileBuilder *b, MlirValue flat, MlirValue like, intptr_t axes) {
  MlirType type = mlirValueGetType(like);
  intptr_t rank = mlirShapedTypeGetRank(type), open = 0;
  int64_t shape[MaxOperandRank];
  MlirValue sizes[MaxOperandRank];
  if (axes == 1)
    return flat;
  for (intptr_t i = 0; i < rank; ++i) {
    shape[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicSize(shape[i]))
      sizes[open++] = tileBuildSize(b, like, i);
  }
  return tensorExpandShapeOpBuild(b, type, flat, open, sizes, rowGroups(b, axes, rank),
                                  mlirDenseI64ArrayGet(b->context, rank, shape));
}

static void rewriteProduct(MlirOperation op, const SparseRowChoice *choice) {
  TileBuilder builder = tileBuilderBefore(op), *b = &builder;
  MlirAttribute none = mlirAttributeGetNull(), unit = mlirUnitAttrGet(b->context);
  MlirValue numbers = flatten(b, op, choice->numbers, choice->axes);
  MlirOperation lists =
      sparseBuildGroups(b, mlirOperationGetLocation(choice->extract), op, numbers, choice->matrices, false);
  MlirOperation made = sparseGroupedMatmulOpCreate(
      b, flatten(b, op, choice->rows, choice->sharedAxes), choice->matrices, sparseGroupOpGetPositions(lists),
      sparseGroupOpGetCoordinates(lists), flattenInit(b, op, choice->init, choice->axes),
      mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), choice->each), unit, choice->isTransposed ? unit : none);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), unflatten(b, tileOnlyResult(made), choice->init, choice->axes));
  mlirOperationDestroy(op);
}

//===--- layers that stay grouped -------------------------------------------===//

// Values that have a row for each place of one list, from a product that scatters to products that gather.
typedef struct Chain {
  MlirOperation from;
  TileOps ops, readers; // between; products that gather
  MlirValue *values;
  intptr_t numValues;
} Chain;

static bool has(const Chain *chain, MlirValue value) {
  for (intptr_t i = 0; i < chain->numValues; ++i)
    if (mlirValueEqual(chain->values[i], value))
      return true;
  return false;
}

static void addValue(Chain *chain, MlirValue value) {
  if (has(chain, value))
    return;
  chain->values = tessera_grow(chain->values, (uint64_t)chain->numValues, sizeof *chain->values);
  chain->values[chain->numValues++] = value;
}

static bool readsByList(const Chain *chain, MlirOperation op, MlirValue value) {
  if (!sparseGroupedMatmulOpIsA(op) || !mlirValueEqual(sparseGroupedMatmulOpGetLhs(op), value) ||
      mlirValueEqual(sparseGroupedMatmulOpGetInit(op), value))
    return false;
  MlirAttribute gather = sparseGroupedMatmulOpGetGather(op);
  return !mlirAttributeIsNull(gather) && mlirIntegerAttrGetValueInt(gather) == 1 &&
         mlirValueEqual(sparseGroupedMatmulOpGetPositions(op), sparseGroupedMatmulOpGetPositions(chain->from)) &&
         mlirValueEqual(sparseGroupedMatmulOpGetCoordinates(op), sparseGroupedMatmulOpGetCoordinates(chain->from));
}

// A reshape of rows alone: the last axis stays by itself.
static bool reshapesRows(MlirOperation op) {
  MlirAttribute groups = tensorCollapseShapeOpIsA(op) ? tensorCollapseShapeOpGetReassociation(op)
                         : tensorExpandShapeOpIsA(op) ? tensorExpandShapeOpGetReassociation(op)
                                                      : mlirAttributeGetNull();
  intptr_t count = mlirAttributeIsNull(groups) ? 0 : mlirArrayAttrGetNumElements(groups);
  return count == 2 && mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(groups, 1)) == 1;
}

static bool isOfLastAxis(MlirAffineMap map) {
  intptr_t dims = mlirAffineMapGetNumDims(map);
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map); ++i) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, i);
    if (!mlirAffineExprIsAConstant(expr) &&
        !(mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == dims - 1))
      return false;
  }
  return true;
}

static bool isParallel(MlirOperation op) {
  MlirAttribute kinds = linalgGenericOpGetIteratorTypes(op);
  MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(linalgGenericOpGetIndexingMaps(op), 0));
  return mlirAttributeEqual(kinds, tileBuildIteratorTypes(&(TileBuilder){.context = mlirOperationGetContext(op)},
                                                          mlirAffineMapGetNumDims(map), 0));
}

// Whether no op of the body asks where its element is.
static bool asksNoPlace(MlirBlock body) {
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (linalgIndexOpIsA(op) || tensorExtractOpIsA(op) || mlirOperationGetNumRegions(op))
      return false;
  return true;
}

// An elementwise op that has a row of its result for each row of the chain.
static bool isRowWise(const Chain *chain, MlirOperation op) {
  if (!linalgGenericOpIsA(op) || mlirOperationGetNumResults(op) != 1 || !isParallel(op))
    return false;
  MlirBlock body = tileOnlyBlock(linalgGenericOpGetRegion(op));
  intptr_t count = mlirOperationGetNumOperands(op);
  if (!asksNoPlace(body) || !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body, count - 1))))
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(linalgGenericOpGetIndexingMaps(op), i));
    bool isWhole = mlirAffineMapIsIdentity(map);
    if (i + 1 == count ? !isWhole : !(isWhole && has(chain, mlirOperationGetOperand(op, i))) && !isOfLastAxis(map))
      return false;
  }
  return true;
}

// Follows a value to its readers. Whether they are row-wise is asked once all values are known.
static bool follow(Chain *chain, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (readsByList(chain, op, value)) {
      tileOpsAppend(&chain->readers, op);
    } else if (reshapesRows(op) || (linalgGenericOpIsA(op) && mlirOperationGetNumResults(op) == 1)) {
      tileOpsAppend(&chain->ops, op);
      addValue(chain, tileOnlyResult(op));
    } else {
      return false;
    }
  }
  return true;
}

static bool staysGrouped(Chain *chain) {
  addValue(chain, tileOnlyResult(chain->from));
  for (intptr_t i = 0; i < chain->numValues; ++i)
    if (!follow(chain, chain->values[i]))
      return false;
  for (intptr_t i = 0; i < chain->ops.count; ++i)
    if (!reshapesRows(chain->ops.items[i]) && !isRowWise(chain, chain->ops.items[i]))
      return false;
  return chain->readers.count > 0;
}

static void keepGrouped(MlirOperation op) {
  Chain chain = {.from = op};
  if (sparseGroupedMatmulOpHasScatter(op) && sparseIsZero(sparseGroupedMatmulOpGetInit(op)) && staysGrouped(&chain)) {
    sparseGroupedMatmulOpSetScatter(op, mlirAttributeGetNull());
    for (intptr_t i = 0; i < chain.readers.count; ++i)
      sparseGroupedMatmulOpSetGather(chain.readers.items[i], mlirAttributeGetNull());
  }
  tileOpsFree(&chain.ops);
  tileOpsFree(&chain.readers);
  free(chain.values);
}

//===--- the pass -----------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  SparseRowChoice choice;
  if (tileStringEquals(mlirExtPassGetString(pass, "sparsity"), "off"))
    return true;
  TileOps loops = tileCollectOps(function, scfForOpIsA);
  for (intptr_t i = 0; i < loops.count; ++i)
    mlirExtPassAddStatistic(pass, 0, sparseGroupLoop(loops.items[i]));
  TileOps products = tileCollectOps(function, linalgGenericOpIsA);
  for (intptr_t i = 0; i < products.count; ++i)
    if (sparseMatchRowChoice(products.items[i], &choice)) {
      rewriteProduct(products.items[i], &choice);
      mlirExtPassAddStatistic(pass, 0, 1);
    }
  TileOps grouped = tileCollectOps(function, sparseGroupedMatmulOpIsA);
  for (intptr_t i = 0; i < grouped.count; ++i)
    keepGrouped(grouped.items[i]);
  tileOpsFree(&loops);
  tileOpsFree(&products);
  tileOpsFree(&grouped);
  return true;
}

const MlirExtPassDefinition sparseGroupRowsPass = {
    .argument = "sparse-group-rows",
    .summary = "Multiply rows that choose their matrix group by group",
    .anchor = funcFuncOpName,
    .options =
        (const MlirExtPassOption[]){{"sparsity", "off: rows stay as they are", MlirExtOption_String, "exact"}, {NULL}},
    .statistics = (const char *const[]){"products: products whose rows are grouped", NULL},
    .dialects = (const char *const[]){"arith", "tensor", "linalg", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
