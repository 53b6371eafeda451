// tile-find-low-bit{chip=NAME rows=N remarks=true}: products whose weights are converted from fewer bits read the
// codes.
//
//   %w = linalg.generic … (codes - zeros) · scales …     4096 x 32 x 128 codes of a byte, a scale for each 128
//   %c = linalg.matmul ins(%x, %w as 4096 x 4096)
//   becomes  c[m, n] += sum over g, k of x[m, g, k] · ((code[n, g, k] - zero[n, g]) · scale[n, g])
//   where x is seen with k cut into groups (tensor.expand_shape): no converted weight goes to memory.
// Codes that share a byte (a shift by a table of shifts, a mask) cut k once more; the rows are then copied, so that
// neighbours in memory are multiplied by neighbours: nibbles at even k first, then those at odd k.
// On a GPU both factors of a product of block-scaled floats are read so (lib/analysis/low_bit/scaled.h).
// Expects: linalg.generic on tensors in func.func (after tile-generalize-named-ops). Leaves: sums in another order,
// each product and conversion as it was. What has a tile, what would not become smaller, and what no kernel on codes
// takes stays as it is, and so does a conversion for more than `rows` rows. `convert` and `codes` of a schedule are
// obeyed (tile-schedule-formats), or an error says why not. Cost: linear in the code and in constants that are packed
// again.
//
// Source: Ladder (OSDI 2024), which converts where a hop of memory makes it cheapest.
#include "lib/transforms/tensor/tensor.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/pass.h"
#include "lib/transforms/tensor/low_bit_product.h"
#include "lib/transforms/tensor/repack_codes.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

enum { Found };

static const char *const statistics[] = {"found: products that read their weights as codes", NULL};

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
  int64_t rows; // an element of a factor may be converted so often
  bool explains;
} Run;

//===--- the pass -----------------------------------------------------------------------------===//

// Conversions that nobody reads any more, and what they read; `ops` forgets them.
static void destroyUnused(MlirValue value, TileOps *ops) {
  MlirOperation op = tileDefiningOp(value);
  bool isOurs = linalgGenericOpIsA(op) || tensorCollapseShapeOpIsA(op) || tensorExpandShapeOpIsA(op) ||
                tensorInsertSliceOpIsA(op);
  if (!isOurs || !mlirOpOperandIsNull(mlirValueGetFirstUse(value)) || mlirOperationGetNumResults(op) != 1)
    return;
  MlirValue operands[MaxOperands];
  intptr_t count = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < count && i < MaxOperands; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  for (intptr_t i = 0; i < ops->count; ++i)
    if (mlirOperationEqual(ops->items[i], op))
      ops->items[i] = (MlirOperation){NULL};
  mlirOperationDestroy(op);
  for (intptr_t i = 0; i < count && i < MaxOperands; ++i)
    destroyUnused(operands[i], ops);
}

// The product of the plan in place of `op`; false where no kernel takes it, and nothing has changed.
static bool replace(const Run *run, MlirOperation op, const TileLowBitPlan *plan, TileOps *ops, const char **why) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue product = tileLowBitBuild(&b, plan), weights[2];
  TileConvert asked = plan->s->convert;
  *why = "the product would have too many operands";
  if (mlirValueIsNull(product))
    return false;
  if (asked)
    tileOpSetSchedule(tileDefiningOp(product),
                      tileScheduleWithFormats(b.context, mlirAttributeGetNull(), asked, plan->s->codes));
  TileConvert place = tileLowBitPlace(plan, product, why);
  if (!place || (asked && place != asked)) {
    tileLowBitDestroy(product);
    return false;
  }
  for (int i = 0; i < plan->count; ++i) {
    weights[i] = plan->s->operands[plan->sides[i].input].value;
    if (run->explains)
      tileRemark(op, "reads %lld bytes of codes, scales and zeros in place of %lld bytes of weights",
                 (long long)tileFactorReadBytes(&plan->sides[i].factor), (long long)tileTensorBytes(weights[i]));
  }
  if (!run->target.search.isGpu)
    tileLowBitWidenScales(tileDefiningOp(product), tileTensorElements(weights[0]));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), product);
  mlirOperationDestroy(op);
  for (int i = 0; i < plan->count; ++i)
    destroyUnused(weights[i], ops);
  mlirExtPassAddStatistic(run->pass, Found, 1);
  return true;
}

// The order of codes that the schedule asks for, before the product is planned. False after an error.
static bool repack(MlirOperation op, const TileStructured *s, TileOps *ops) {
  const char *why = "no factor of this product is computed from codes";
  TileLowBitPlan plan;
  MlirOperation unpack = {NULL};
  for (int attempt = 1; attempt < TileLowBitAttempts && mlirOperationIsNull(unpack); ++attempt)
    if (tileLowBitMakePlan(s, attempt, INT64_MAX, &plan))
      unpack = tileUnpackOfFactor(&plan.sides[0].factor, &why);
  if (mlirOperationIsNull(unpack))
    return tileError(op, "schedule: `codes` has no effect: %s", why);
  TileLayout order = tileLayoutAttrGetLayout(s->codes);
  if (!tileRepackCodes(unpack, &order, &why))
    return tileError(op, "schedule: `codes` cannot be obeyed: %s", why);
  for (intptr_t i = 0; i < ops->count; ++i)
    if (mlirOperationEqual(ops->items[i], unpack))
      ops->items[i] = (MlirOperation){NULL};
  return true;
}

// The weights go to memory: the decision is taken, and what is left is an ordinary product.
static bool leave(MlirOperation op, const TileStructured *s) {
  if (!mlirAttributeIsNull(s->codes))
    return tileError(op, "schedule: `codes` has no effect where `convert` is \"memory\"; remove it");
  MlirAttribute rest = tileScheduleWithFormats(mlirOperationGetContext(op), tileOpGetSchedule(op), TileConvert_Unsaid,
                                               mlirAttributeGetNull());
  if (mlirAttributeIsNull(rest))
    tileOpRemoveSchedule(op);
  else
    tileOpSetSchedule(op, rest);
  return true;
}

// False after an error: a schedule that the product cannot obey.
static bool convert(const Run *run, MlirOperation op, TileOps *ops) {
  TileStructured s;
  TileLowBitPlan plan;
  const char *why =
      "no op converts a factor of it from fewer bits, or the factor would not become smaller by a quarter";
  MlirAttribute schedule = tileOpGetSchedule(op);
  bool isAsked =
      !mlirAttributeIsNull(schedule) && (!mlirAttributeIsNull(tileScheduleAttrGetEntry(schedule, "convert")) ||
                                         !mlirAttributeIsNull(tileScheduleAttrGetEntry(schedule, "codes")));
  if (!tileLowBitRead(op, &run->target, &s)) {
    if (!isAsked)
      return true;
    if (tileStructuredRead(op, &run->target, &s) && s.convert == TileConvert_Memory)
      return leave(op, &s);
    return tileError(op, !mlirAttributeIsNull(tileOpGetTileSchedule(op))
                             ? "schedule: `convert` and `codes` stand alone: the sizes of kernels that convert weights "
                               "follow from the machine"
                             : "schedule: `convert` and `codes` apply only to products of two factors, one of them "
                               "converted from fewer bits");
  }
  if (s.convert == TileConvert_Memory)
    return leave(op, &s);
  if (!mlirAttributeIsNull(s.codes) && !repack(op, &s, ops))
    return false;
  for (int attempt = 0; attempt < TileLowBitAttempts; ++attempt)
    if (tileLowBitMakePlan(&s, attempt, run->rows, &plan) && replace(run, op, &plan, ops, &why))
      return true;
  if (!isAsked)
    return true;
  if (!s.convert)
    return tileError(op, "schedule: `codes` cannot be obeyed on %s: %s", tileMachineGetName(run->target.machine), why);
  return tileError(op, "schedule: `convert` = \"%s\" cannot be obeyed on %s: %s", tileConvertNames[s.convert - 1],
                   tileMachineGetName(run->target.machine), why);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  Run r = {.pass = pass, .explains = mlirExtPassGetBool(pass, "remarks"), .rows = mlirExtPassGetInteger(pass, "rows")};
  bool ok = true;
  if (!tileTargetOfPass(function, pass, &r.target))
    return false;
  if (!r.rows)
    r.rows = INT64_MAX;
  TileOps generics = tileStructuredCollect(function);
  for (intptr_t i = 0; ok && i < generics.count; ++i)
    if (!mlirOperationIsNull(generics.items[i]))
      ok = convert(&r, generics.items[i], &generics);
  tileOpsFree(&generics);
  tileTargetFree(&r.target);
  return ok;
}

const MlirExtPassDefinition tileFindLowBitPass = {
    .argument = "tile-find-low-bit",
    .summary = "Let products whose weights are converted from fewer bits read the codes",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"rows",
                                            "most rows for which a weight is converted again; 0: as the "
                                            "machine has it",
                                            MlirExtOption_Integer, "0"},
                                           {"remarks", "say in a remark what is read", MlirExtOption_Bool, "false"},
                                           {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"tensor", "linalg", "arith", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
