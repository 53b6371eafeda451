// tile-schedule-formats{chip=NAME remarks=true}: decides where each product by weights of few bits converts them, and
// in which order their codes lie (Ladder's convert and map).
//
//   linalg.matmul …   becomes   linalg.matmul {tile.schedule = #tile.schedule<convert = "shared", codes = …>} …
//   "register": beside the arithmetic that takes the weights, again for each tile of rows
//   "shared":   once for each program, into its shared memory; on a CPU into a buffer in L1 or L2
//   "memory":   once, by a kernel of its own, as the program has it
// The model (lib/search/format_cost.h) is asked for each place that a kernel has; the least time is taken. Codes of
// constants are laid apart (lib/layout/codes.h), so that the rows need no copy; codes given at run time are taken as
// they lie. Expects: linalg.generic on tensors in func.func, before tile-find-low-bit, which obeys. Leaves: the
// decision on the product. What a person wrote stays; `codes` is added only where the place was open. Cost: linear in
// the code. Source: Ladder (OSDI 2024).
#include "dialects/tile/discardable.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/converted.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/pass.h"
#include "lib/layout/codes.h"
#include "lib/search/format_cost.h"
#include "lib/transforms/tensor/low_bit_product.h"
#include "lib/transforms/tensor/repack_codes.h"
#include "lib/transforms/tensor/tensor.h"
#include "upstream/func.h"
#include "upstream/linalg.h"

#include <math.h>
#include <stdio.h>

enum { Scheduled, Repacked };

static const char *const statistics[] = {"scheduled: products whose weights got a place of conversion",
                                         "repacked: products whose constant codes got an order", NULL};

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
  bool explains;
} Run;

// What is known of one place: the time, or why no kernel has it.
typedef struct Place {
  double seconds; // infinite: none
  const char *why;
} Place;

//===--- the model ----------------------------------------------------------------------------===//

// Ops of the body beside the product and the sum.
static double operationsOf(MlirOperation product) {
  enum { MultiplyAddYield = 3 };
  int count = -MultiplyAddYield;
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(product, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    ++count;
  return count < 1 ? 1 : count;
}

static double extentOf(const TileStructured *s, int dim) {
  enum { Unknown = 1024 };
  int64_t extent = s->dims[dim].extent;
  return mlirShapedTypeIsDynamicSize(extent) ? (s->dims[dim].planned ? (double)s->dims[dim].planned : Unknown)
                                             : (double)extent;
}

// Rows are the dimensions that the converted factor lacks, columns those that the other one lacks.
static TileFormatProduct describe(const TileLowBitPlan *plan, MlirOperation built) {
  enum { LookUp = 2, RowsOfGpuTile = 64, RowsOfProgram = 128 };
  const TileStructured *s = plan->s;
  int factor = plan->sides[0].input;
  TileStructured s2;
  TileConverted converted;
  TileConvertedCode code;
  TileTiling tiling;
  TileFormatProduct p = {.rows = 1, .columns = 1, .depth = 1, .batches = 1, .operations = operationsOf(built)};
  for (int d = 0; d < s->numDims; ++d) {
    bool isRow = !tileOperandUses(&s->operands[factor], d), isColumn = !tileOperandUses(&s->operands[1 - factor], d);
    *(s->dims[d].isReduction ? &p.depth : isRow ? &p.rows : isColumn ? &p.columns : &p.batches) *= extentOf(s, d);
  }
  for (int side = 0; side < plan->count; ++side) {
    p.codeBytes += (double)tileFactorReadBytes(&plan->sides[side].factor);
    p.weightBytes += (double)tileTensorBytes(s->operands[plan->sides[side].input].value);
  }
  bool isGpu = s->target->search.isGpu;
  if (!isGpu && tileStructuredRead(built, s->target, &s2) && tileStructuredMatchConverted(&s2, &converted) &&
      tileConvertedFindCode(&s2, &converted, &code))
    p.operations = LookUp;
  p.rowsOfRegisters = isGpu ? RowsOfGpuTile : 1;
  p.rowsOfProgram = RowsOfProgram;
  p.rate = 1;
  if (tileStructuredFindTiling(s, &tiling)) {
    TileOperator op = tileStructuredDescribe(s, &tiling, TileUnknownExtent);
    p.rate = tileStructuredTargetFor(s->target, &op).rate;
  }
  return p;
}

static TileFormatPlace placeOf(TileConvert convert) { return (TileFormatPlace)(convert - TileConvert_Register); }

//===--- one product ---------------------------------------------------------------------------===//

// Asks the kernels, by building the product for each place once.
static void askPlaces(const TileStructured *s, Place *places, TileLowBitPlan *best) {
  for (int i = 0; i < TileFormatPlaces; ++i)
    places[i] = (Place){.seconds = HUGE_VAL, .why = "no factor is computed from fewer bits"};
  for (int attempt = 0; attempt < TileLowBitAttempts; ++attempt) {
    TileLowBitPlan plan;
    if (!tileLowBitMakePlan(s, attempt, INT64_MAX, &plan))
      continue;
    for (TileConvert place = TileConvert_Register; place <= TileConvert_Shared; ++place) {
      TileBuilder b = tileBuilderBefore(s->op);
      MlirValue built = tileLowBitBuild(&b, &plan);
      if (mlirValueIsNull(built))
        continue;
      MlirOperation op = tileDefiningOp(built);
      tileOpSetSchedule(op, tileScheduleWithFormats(b.context, mlirAttributeGetNull(), place, mlirAttributeGetNull()));
      const char *why;
      TileConvert found = tileLowBitPlace(&plan, built, &why);
      TileFormatProduct product = describe(&plan, op);
      if (found == TileConvert_Register && !s->target->search.isGpu && product.rows > TileLowBitFewRows) {
        found = TileConvert_Unsaid;
        why = "a sum would convert each weight again for each row";
      }
      double seconds = found == place ? tileFormatSeconds(&s->target->search, &product, placeOf(place)) : HUGE_VAL;
      if (seconds < places[placeOf(place)].seconds)
        places[placeOf(place)].seconds = seconds;
      if (found != place)
        places[placeOf(place)].why = why;
      else
        *best = plan;
      places[TileFormat_Memory].seconds = tileFormatSeconds(&s->target->search, &product, TileFormat_Memory);
      tileLowBitDestroy(built);
    }
    if (isfinite(places[TileFormat_Register].seconds) || isfinite(places[TileFormat_Shared].seconds))
      return;
  }
}

// Codes laid apart within the largest power of two that divides a group: null where the rows need no copy anyway, and
// where the codes are no constants.
static MlirAttribute orderOf(const TileLowBitPlan *plan) {
  enum { LeastRun = 16 };
  const TileStructured *s = plan->s;
  const char *why;
  MlirOperation unpack = plan->count == 1 ? tileUnpackOfFactor(&plan->sides[0].factor, &why) : (MlirOperation){NULL};
  if (mlirOperationIsNull(unpack))
    return mlirAttributeGetNull();
  int64_t perWord = tileUnpackCount(unpack);
  for (int d = 0; d < s->numDims; ++d) {
    const TileLowBitCuts *parts = &plan->parts[d];
    if (!s->dims[d].isReduction || parts->count < 2 || parts->cuts[1] != perWord)
      continue;
    int64_t group = parts->count > 2 ? parts->cuts[2] : s->dims[d].extent, period = group & -group;
    TileLayout order;
    if (period / perWord >= LeastRun && tileLayoutOfCodesApart((uint32_t)perWord, (uint64_t)period, &order, NULL))
      return tileLayoutAttrGet(mlirOperationGetContext(s->op), &order);
  }
  return mlirAttributeGetNull();
}

static void explain(MlirOperation op, const Place *places, TileFormatPlace chosen) {
  char texts[TileFormatPlaces][160];
  for (int i = 0; i < TileFormatPlaces; ++i)
    if (isfinite(places[i].seconds))
      snprintf(texts[i], sizeof *texts, "%.3g us", places[i].seconds * 1e6);
    else
      snprintf(texts[i], sizeof *texts, "no (%s)", places[i].why);
  tileRemark(op, "weights are converted in \"%s\"; predicted: register %s, shared %s, memory %s",
             tileConvertNames[chosen], texts[TileFormat_Register], texts[TileFormat_Shared], texts[TileFormat_Memory]);
}

static void schedule(const Run *run, MlirOperation op) {
  TileStructured s;
  TileLowBitPlan plan;
  Place places[TileFormatPlaces];
  if (!tileLowBitRead(op, &run->target, &s) || s.convert || !mlirAttributeIsNull(s.codes))
    return;
  askPlaces(&s, places, &plan);
  TileFormatPlace chosen =
      places[TileFormat_Shared].seconds < places[TileFormat_Register].seconds ? TileFormat_Shared : TileFormat_Register;
  // Predictions that count as equal: the other two read fewer bytes.
  double equal = places[chosen].seconds * (1 - run->target.search.model.equal);
  if (places[TileFormat_Memory].seconds < equal)
    chosen = TileFormat_Memory;
  if (!isfinite(places[chosen].seconds))
    return; // no weights of few bits
  MlirAttribute codes = chosen == TileFormat_Memory ? mlirAttributeGetNull() : orderOf(&plan);
  if (chosen != TileFormat_Memory || isfinite(places[TileFormat_Register].seconds) ||
      isfinite(places[TileFormat_Shared].seconds)) {
    tileOpSetSchedule(op, tileScheduleWithFormats(mlirOperationGetContext(op), mlirAttributeGetNull(),
                                                  (TileConvert)(chosen + TileConvert_Register), codes));
    mlirExtPassAddStatistic(run->pass, Scheduled, 1);
    mlirExtPassAddStatistic(run->pass, Repacked, !mlirAttributeIsNull(codes));
  }
  if (run->explains)
    explain(op, places, chosen);
}

//===--- the pass -----------------------------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  Run r = {.pass = pass, .explains = mlirExtPassGetBool(pass, "remarks")};
  if (!tileTargetOfPass(function, pass, &r.target))
    return false;
  TileOps generics = tileStructuredCollect(function);
  for (intptr_t i = 0; i < generics.count; ++i)
    schedule(&r, generics.items[i]);
  tileOpsFree(&generics);
  tileTargetFree(&r.target);
  return true;
}

const MlirExtPassDefinition tileScheduleFormatsPass = {
    .argument = "tile-schedule-formats",
    .summary = "Decide where products convert weights of few bits, and in which order the codes lie",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"remarks", "say in a remark what was chosen, and why nothing else",
                                            MlirExtOption_Bool, "false"},
                                           {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"tensor", "linalg", "arith", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
