// tile-raise-gathers-to-views: a gather or scatter whose index tile steps evenly along each axis becomes a load or
// store of a view, with the mask as the view's sizes.
//
//   %at = pid * 1024 + iota, %m = %at < %n          %X = memref.reinterpret_cast %x to offset: [0], sizes: [%n], …
//   tile.gather %x[%at] mask %m bounds(trap)    →   tile.load (tile.view %X)[pid]
//
// Expects: kernels that gather from and scatter to memrefs of rank 1, as convert-tt-to-tile leaves them, beside the
//   launches of the host, on memrefs. Leaves: views where that is sound; a remark at each access that stays, with the
//   reason. Views do not wrap and are not bounds(trap). So the host checks before each launch that no narrow integer in
//   an index wraps and that each view lies in its memory, and launches the kernel as it was (K_gathers) if not. Axes of
//   numbers modulo M keep their index tile. Divisions that the host finds not negative lose their signs.
// Cost: linear in the ops, each index tile followed to its sources.
// Paper: none.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/ir/pass.h"
#include "lib/transforms/memory/index_places.h"
#include "lib/transforms/memory/launch_ranges.h"
#include "lib/transforms/memory/memory.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/ub.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Statistic_Raised, Statistic_Kept, Statistic_Kernels };
static const char *const statistics[] = {
    "raised: gathers and scatters that became loads and stores of views",
    "kept: gathers and scatters of memrefs that stayed",
    "kernels: kernels with a version for launches that views are not sound for",
    NULL,
};

// One gather or scatter, as a view.
typedef struct Access {
  MlirOperation op;
  MlirValue memory, mask; // mask null: none
  TilePlaces places;
  TilePlaceSum first;               // of the view's memory in the argument
  TilePlaceSum tile[PlaceMaxAxes];  // the tile's first coordinate
  TilePlaceSum sizes[PlaceMaxAxes]; // of the memory that the view sees
  intptr_t numFloors;
  TilePlaceSum floors[PlaceMaxLimits]; // what the mask says is not negative
  TileChecks *checks;
  const char *pad; // of loads
  bool keepsOther; // of loads: no padding says `other`
} Access;

//===--- questions ----------------------------------------------------------------------===//

static bool isAccess(MlirOperation op) {
  MlirValue memory = tileGatherOpIsA(op)    ? tileGatherOpGetSource(op)
                     : tileScatterOpIsA(op) ? tileScatterOpGetDestination(op)
                                            : (MlirValue){NULL};
  return !mlirValueIsNull(memory) && mlirTypeIsAMemRef(mlirValueGetType(memory)) &&
         mlirShapedTypeGetRank(mlirValueGetType(memory)) == 1;
}

// The parameter that the memory is; null: none.
static MlirValue parameterOf(MlirValue memory) {
  while (tileAssumeOpIsA(tileDefiningOp(memory)))
    memory = tileAssumeOpGetValue(tileDefiningOp(memory));
  bool is = mlirValueIsABlockArgument(memory) &&
            tileKernelOpIsA(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(memory)));
  return is ? memory : (MlirValue){NULL};
}

// The padding that gives what a masked load gives where its mask is false.
static void choosePadding(Access *access) {
  MlirValue other = tileGatherOpGetOther(access->op);
  MlirOperation op = mlirValueIsNull(other) ? (MlirOperation){NULL} : tileDefiningOp(other);
  double value;
  int64_t integer;
  if (mlirOperationIsNull(op) || ubPoisonOpIsA(op)) {
    access->keepsOther = !mlirValueIsNull(other) && mlirOperationIsNull(op);
    return;
  }
  MlirAttribute constant = arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
  bool isSplat = !mlirAttributeIsNull(constant) && mlirAttributeIsADenseElements(constant) &&
                 mlirDenseElementsAttrIsSplat(constant);
  if (isSplat && mlirAttributeIsAInteger(mlirDenseElementsAttrGetSplatValue(constant))) {
    integer = mlirIntegerAttrGetValueInt(mlirDenseElementsAttrGetSplatValue(constant));
    access->keepsOther = integer != 0;
  } else if (isSplat && tileConstantFloat(other, &value)) {
    access->pad = isinf(value) ? (value > 0 ? "inf" : "neg_inf") : value == 0 && signbit(value) ? "neg_zero" : NULL;
    access->keepsOther = value != 0 && !isinf(value);
  } else {
    access->keepsOther = true;
  }
}

// Moves what changes between instances and iterations from the limit to the coordinate: `i < K - 32 k` becomes
// `32 k + i < K`. What stays are parameters.
static void normalize(TileLimit *limit) {
  TilePlaceSum moved = {0};
  for (int i = 0; i < limit->below.count; ++i) {
    const TilePlaceTerm *term = &limit->below.terms[i];
    bool isFixed = true;
    for (int k = 0; k < term->degree; ++k)
      isFixed = isFixed && (!mlirValueIsNull(parameterOf(term->factors[k])));
    TilePlaceSum one = {.count = 1, .terms = {*term}};
    if (!isFixed)
      moved = tilePlaceAdd(&moved, &one, 1);
  }
  limit->below = tilePlaceAdd(&limit->below, &moved, -1);
  limit->from = tilePlaceAdd(&limit->from, &moved, -1);
}

static bool fail(Access *access, const char *why) {
  access->checks->why = access->checks->why && *access->checks->why ? access->checks->why : why;
  return false;
}

static bool understand(Access *access) {
  TileChecks *checks = access->checks;
  MlirOperation op = access->op;
  bool isGather = tileGatherOpIsA(op);
  if (!tileStringEquals(mlirStringAttrGetValue(isGather ? tileGatherOpGetBounds(op) : tileScatterOpGetBounds(op)),
                        "trap") ||
      (!isGather && !mlirAttributeIsNull(tileScatterOpGetCombine(op))))
    return fail(access, "it does more than read or write");
  if (mlirValueIsNull(parameterOf(access->memory)))
    return fail(access, "its memory is no parameter of the kernel");
  access->places = tilePlacesOf(isGather ? tileGatherOpGetIndices(op, 0) : tileScatterOpGetIndices(op, 0), checks);
  if (!access->places.isKnown)
    return fail(access, "its index is not known");
  TilePlaces *places = &access->places;
  access->first = places->base;
  for (intptr_t i = 0; i < places->rank; ++i) {
    if (places->sizes[i] == 0)
      return fail(access, "its tile has no elements");
    if (places->steps[i].count == 0)
      return fail(access, "several elements have one place");
    access->tile[i] = tilePlaceConstant(0);
    access->sizes[i] = !mlirValueIsNull(places->numbers[i]) ? places->limit[i] : tilePlaceConstant(places->sizes[i]);
  }
  if (mlirValueIsNull(access->mask))
    return true;
  TileMask mask = tilePlaceMask(access->mask, checks);
  bool limited[PlaceMaxAxes] = {false};
  if (!mask.isKnown)
    return fail(access, "its mask is more than limits of coordinates");
  access->numFloors = mask.numFloors;
  memcpy(access->floors, mask.floors, sizeof mask.floors);
  for (intptr_t i = 0; i < mask.count; ++i) {
    TileLimit *limit = &mask.limits[i];
    if (limited[limit->axis])
      return fail(access, "its mask limits an axis twice");
    if (!mlirValueIsNull(places->numbers[limit->axis]))
      return fail(access, "its mask limits an axis of numbers");
    limited[limit->axis] = true;
    normalize(limit);
    TilePlaceSum before = tilePlaceMul(&limit->from, &places->steps[limit->axis]);
    access->first = tilePlaceAdd(&access->first, &before, -1);
    access->tile[limit->axis] = limit->from;
    access->sizes[limit->axis] = limit->below;
    if (!tilePlaceIsKnown(&access->first) || !tilePlaceIsKnown(&limit->from) || !tilePlaceIsKnown(&limit->below))
      return fail(access, "its terms are too many");
  }
  return true;
}

//===--- what must hold at launch ------------------------------------------------------------===//

// Numbers do not wrap, and the view's memory lies in the argument.
static bool require(TileRanges *ranges, const Access *access) {
  TileRange range, step, size;
  for (intptr_t i = 0; i < access->checks->count; ++i)
    if (!tileRangeOf(ranges, access->checks->values[i], &range))
      return false;
  MlirValue zero = tileRangesNumber(ranges, 0), one = tileRangesNumber(ranges, 1);
  for (intptr_t i = 0; i < access->numFloors; ++i) {
    if (!tileRangeOfSum(ranges, &access->floors[i], &range))
      return false;
    tileRangesRequire(ranges, zero, range.least);
  }
  if (!tileRangeOfSum(ranges, &access->first, &range))
    return false;
  tileRangesRequire(ranges, zero, range.least);
  MlirValue last = range.greatest;
  for (intptr_t i = 0; i < access->places.rank; ++i) {
    if (!tileRangeOfSum(ranges, &access->places.steps[i], &step) || !tileRangeOfSum(ranges, &access->sizes[i], &size) ||
        !tileRangeOfSum(ranges, &access->tile[i], &range))
      return false;
    tileRangesRequire(ranges, zero, step.least);
    tileRangesRequire(ranges, zero, size.least);
    tileRangesRequire(ranges, zero, range.least);
    MlirValue most = tileRangesNumber(ranges, 0x7fffffff);
    tileRangesRequire(ranges, step.greatest, most);
    tileRangesRequire(ranges, size.greatest, most);
    MlirValue count = tileRangesOp(ranges, ArithOp_SubI, tileRangesOp(ranges, ArithOp_MaxSI, size.greatest, one), one);
    last = tileRangesOp(ranges, ArithOp_AddI, last, tileRangesOp(ranges, ArithOp_MulI, step.greatest, count));
  }
  MlirValue argument = tileRangesArgument(ranges, parameterOf(access->memory));
  if (mlirValueIsNull(argument))
    return true;
  MlirValue elements = arithIndexCastOpBuild(&ranges->builder, mlirIntegerTypeGet(ranges->builder.context, 64),
                                             tileBuildSize(&ranges->builder, argument, 0));
  tileRangesRequire(ranges, last, tileRangesOp(ranges, ArithOp_SubI, elements, one));
  return true;
}

//===--- rewriting ------------------------------------------------------------------------------===//

typedef struct Mixed { // numbers that are constants or values
  intptr_t count;
  int64_t constants[PlaceMaxAxes];
  MlirValue values[PlaceMaxAxes];
} Mixed;

static void append(TileBuilder *builder, Mixed *mixed, intptr_t i, const TilePlaceSum *sum) {
  if (tilePlaceIsConstant(sum, &mixed->constants[i]))
    return;
  mixed->constants[i] = mlirShapedTypeGetDynamicSize();
  mixed->values[mixed->count++] = tilePlaceBuild(builder, sum);
}

static MlirAttribute constantsOf(const TileBuilder *builder, const Mixed *mixed, intptr_t rank) {
  return mlirDenseI64ArrayGet(builder->context, rank, mixed->constants);
}

static MlirValue buildMemory(TileBuilder *builder, const Access *access) {
  intptr_t rank = access->places.rank;
  Mixed offset = {0}, sizes = {0}, strides = {0};
  append(builder, &offset, 0, &access->first);
  for (intptr_t i = 0; i < rank; ++i) {
    append(builder, &sizes, i, &access->sizes[i]);
    append(builder, &strides, i, &access->places.steps[i]);
  }
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(access->memory));
  MlirAttribute layout = mlirStridedLayoutAttrGet(builder->context, offset.constants[0], rank, strides.constants);
  bool isPlain = rank == 1 && offset.constants[0] == 0 && strides.constants[0] == 1;
  MlirType type = isPlain ? mlirMemRefTypeContiguousGet(element, rank, sizes.constants, mlirAttributeGetNull())
                          : mlirMemRefTypeGet(element, rank, sizes.constants, layout, mlirAttributeGetNull());
  return memrefReinterpretCastOpBuild(builder, type, access->memory, offset.count, offset.values, sizes.count,
                                      sizes.values, strides.count, strides.values, constantsOf(builder, &offset, 1),
                                      constantsOf(builder, &sizes, rank), constantsOf(builder, &strides, rank));
}

// The view, and the number of its tile along each axis, or a tile of numbers. True if any axis has such a tile.
static bool buildView(TileBuilder *builder, const Access *access, MlirValue *view, MlirValue *indices) {
  const TilePlaces *places = &access->places;
  int64_t steps[PlaceMaxAxes];
  bool hasNumbers = false;
  for (intptr_t i = 0; i < places->rank; ++i) {
    bool isTile = tilePlaceIsMultiple(&access->tile[i], places->sizes[i]);
    steps[i] = isTile ? places->sizes[i] : 1;
    if (!mlirValueIsNull(places->numbers[i])) {
      indices[i] = places->numbers[i];
      hasNumbers = true;
      continue;
    }
    TilePlaceSum number = isTile ? tilePlaceQuotient(&access->tile[i], places->sizes[i]) : access->tile[i];
    indices[i] = tilePlaceBuild(builder, &number);
  }
  MlirValue memory = buildMemory(builder, access);
  TileViewSpec spec = {.rank = places->rank,
                       .shape = places->sizes,
                       .element = mlirShapedTypeGetElementType(mlirValueGetType(memory)),
                       .steps = steps,
                       .pad = access->pad};
  *view = tileViewOpBuild(builder, tileViewTypeGet(builder->context, &spec), memory, 0, NULL,
                          mlirDenseI64ArrayGet(builder->context, 0, NULL));
  return hasNumbers;
}

static void rewrite(const Access *access) {
  MlirOperation op = access->op;
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue view, indices[PlaceMaxAxes], none = {NULL};
  intptr_t rank = access->places.rank;
  bool hasNumbers = buildView(&builder, access, &view, indices);
  MlirAttribute drop = mlirStringAttrGet(builder.context, tileString("drop"));
  if (tileScatterOpIsA(op)) {
    MlirValue value = tileScatterOpGetValue(op);
    if (hasNumbers)
      tileScatterOpBuild(&builder, value, view, rank, indices, none, drop);
    else
      tileStoreOpBuild(&builder, value, view, rank, indices);
  } else {
    MlirValue result = tileGatherOpGetResult(op), loaded;
    loaded = hasNumbers ? tileGatherOpBuild(&builder, mlirValueGetType(result), view, rank, indices, none, none, drop)
                        : tileLoadOpBuild(&builder, mlirValueGetType(result), view, rank, indices);
    if (access->keepsOther)
      loaded = arithSelectOpBuild(&builder, access->mask, loaded, tileGatherOpGetOther(op));
    mlirValueReplaceAllUsesOfWith(result, loaded);
  }
  mlirOperationDestroy(op);
}

// Loops carried tiles of indices that nothing needs now: each stays as it began, which canonicalization removes.
static void stopCarrying(MlirOperation kernel) {
  TileOps loops = tileCollectOps(kernel, scfForOpIsA);
  for (intptr_t i = 0; i < loops.count; ++i) {
    MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loops.items[i]));
    MlirOperation end = mlirBlockGetTerminator(body);
    for (intptr_t a = 0; a < mlirOperationGetNumOperands(end); ++a) {
      MlirValue argument = mlirBlockGetArgument(body, a + 1), next = mlirOperationGetOperand(end, a);
      MlirOperation add = tileDefiningOp(next);
      bool isIdle = mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(loops.items[i], a))) &&
                    arithAddIOpIsA(add) && tileHasOneUse(argument) && tileHasOneUse(next) &&
                    (mlirValueEqual(tileBinaryLhs(add), argument) || mlirValueEqual(tileBinaryRhs(add), argument));
      if (isIdle)
        mlirOperationSetOperand(end, a, argument);
    }
  }
  tileOpsFree(&loops);
}

//===--- kernels --------------------------------------------------------------------------------===//

typedef struct Accesses {
  intptr_t count;
  Access *items;
} Accesses;

static void freeAccesses(Accesses *accesses) {
  for (intptr_t i = 0; i < accesses->count; ++i)
    free(accesses->items[i].checks);
  free(accesses->items);
}

// Those that can be raised; remarks at the others.
static Accesses findAccesses(MlirOperation kernel, MlirExtPass pass) {
  TileOps ops = tileCollectOps(kernel, isAccess);
  Accesses accesses = {.items = calloc((size_t)ops.count + 1, sizeof(Access))};
  for (intptr_t i = 0; i < ops.count; ++i) {
    MlirOperation op = ops.items[i];
    bool isGather = tileGatherOpIsA(op);
    TileRanges dry = {.kernel = kernel};
    Access access = {.op = op, .checks = calloc(1, sizeof(TileChecks))};
    access.memory = isGather ? tileGatherOpGetSource(op) : tileScatterOpGetDestination(op);
    access.mask = isGather ? tileGatherOpGetMask(op) : tileScatterOpGetMask(op);
    bool ok = understand(&access) && require(&dry, &access);
    if (ok && isGather)
      choosePadding(&access);
    if (!ok) {
      tileRemark(op, "stays: %s", access.checks->why && *access.checks->why ? access.checks->why : dry.why);
      free(access.checks);
    } else {
      accesses.items[accesses.count++] = access;
    }
    mlirExtPassAddStatistic(pass, ok ? Statistic_Raised : Statistic_Kept, 1);
    tileRangesFree(&dry);
  }
  tileOpsFree(&ops);
  return accesses;
}

static TileOps launchesOf(MlirOperation module, MlirOperation kernel) {
  TileOps all = tileCollectOps(module, tileLaunchOpIsA), launches = {NULL};
  for (intptr_t i = 0; i < all.count; ++i)
    if (mlirStringRefEqual(tileLaunchOpGetKernelValue(all.items[i]), tileKernelOpGetSymNameValue(kernel)))
      tileOpsAppend(&launches, all.items[i]);
  tileOpsFree(&all);
  return launches;
}

// Another kernel that stays as this one is. Null: there is one of that name.
static MlirOperation keepOriginal(MlirOperation module, MlirOperation kernel) {
  MlirStringRef name = tileKernelOpGetSymNameValue(kernel);
  char *text = malloc(name.length + sizeof "_gathers");
  sprintf(text, "%.*s_gathers", (int)name.length, name.data);
  MlirOperation copy = {NULL};
  if (mlirOperationIsNull(tileFindSymbol(kernel, text))) {
    copy = mlirOperationClone(kernel);
    tileKernelOpSetSymName(copy, mlirStringAttrGet(mlirOperationGetContext(kernel), tileString(text)));
    mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(kernel), kernel, copy);
  }
  free(text);
  return copy;
}

// Divisions of numbers that no launch makes negative. Without a sign, a remainder is known to lie below its divisor.
static TileOps findUnsigned(const TileRanges *ranges) {
  TileOps divisions = tileCollectOps(ranges->kernel, arithDivSIOpIsA);
  TileOps remainders = tileCollectOps(ranges->kernel, arithRemSIOpIsA), found = {NULL};
  const TileOps *all[] = {&divisions, &remainders};
  for (int k = 0; k < 2; ++k)
    for (intptr_t i = 0; i < all[k]->count; ++i)
      if (tileTableFind(&ranges->known, tileOnlyResult(all[k]->items[i]).ptr))
        tileOpsAppend(&found, all[k]->items[i]);
  tileOpsFree(&divisions);
  tileOpsFree(&remainders);
  return found;
}

static void dropSigns(const TileOps *divisions) {
  for (intptr_t i = 0; i < divisions->count; ++i) {
    MlirOperation op = divisions->items[i];
    TileBuilder builder = tileBuilderBefore(op);
    int kind = arithDivSIOpIsA(op) ? ArithOp_DivUI : ArithOp_RemUI;
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(op),
                                  tileBuildBinary(&builder, kind, tileBinaryLhs(op), tileBinaryRhs(op)));
    mlirOperationDestroy(op);
  }
}

// if (what views rest on holds) launch the kernel, else the one that gathers. Adds `divisions`, the same for each
// launch.
static bool guard(MlirOperation launch, MlirOperation kernel, MlirOperation original, const Accesses *accesses,
                  TileOps *divisions) {
  TileRanges ranges = {.kernel = kernel, .launch = launch, .builder = tileBuilderBefore(launch)};
  MlirOperation host = tileParentOp(launch, funcFuncOpIsA);
  for (intptr_t i = 0; i < accesses->count; ++i)
    require(&ranges, &accesses->items[i]);
  tileOpsFree(divisions);
  *divisions = findUnsigned(&ranges);
  if (!mlirValueIsNull(ranges.holds)) {
    MlirRegion regions[2];
    for (int i = 0; i < 2; ++i) {
      TileBuilder inner = tileBuilderInRegion(&ranges.builder, &regions[i], 0, NULL);
      MlirOperation copy = mlirOperationClone(launch);
      if (i)
        tileLaunchOpSetKernel(copy, mlirFlatSymbolRefAttrGet(inner.context, tileKernelOpGetSymNameValue(original)));
      tileBuilderInsert(&inner, copy);
      scfYieldOpBuild(&inner, 0, NULL);
    }
    scfIfOpBuild(&ranges.builder, 0, NULL, ranges.holds, regions[0], regions[1]);
    mlirOperationDestroy(launch);
  }
  tileRangesFree(&ranges);
  return mlirOperationIsNull(host) || tileRunPipeline(host, "canonicalize,cse");
}

static bool raise(MlirOperation module, MlirOperation kernel, MlirExtPass pass) {
  bool ok = true;
  TileOps launches = launchesOf(module, kernel);
  bool isOnMemrefs = launches.count > 0;
  for (intptr_t i = 0; i < launches.count; ++i)
    isOnMemrefs = isOnMemrefs && mlirOperationGetNumResults(launches.items[i]) == 0;
  // Another module may launch a public kernel; nothing would check there.
  Accesses accesses = {0};
  if (isOnMemrefs && !tileSymbolIsPublic(kernel))
    accesses = findAccesses(kernel, pass);
  MlirOperation original = accesses.count ? keepOriginal(module, kernel) : (MlirOperation){NULL};
  if (!mlirOperationIsNull(original)) {
    mlirExtPassAddStatistic(pass, Statistic_Kernels, 1);
    TileOps divisions = {NULL};
    for (intptr_t i = 0; ok && i < launches.count; ++i)
      ok = guard(launches.items[i], kernel, original, &accesses, &divisions);
    for (intptr_t i = 0; i < accesses.count; ++i)
      rewrite(&accesses.items[i]);
    dropSigns(&divisions);
    tileOpsFree(&divisions);
    ok = ok && tileRunPipeline(kernel, "canonicalize");
    stopCarrying(kernel);
    ok = ok && tileRunPipeline(kernel, "canonicalize,cse,loop-invariant-code-motion");
  }
  freeAccesses(&accesses);
  tileOpsFree(&launches);
  return ok;
}

//===--- the pass -------------------------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  bool ok = true;
  for (intptr_t i = 0; ok && i < kernels.count; ++i)
    ok = raise(module, kernels.items[i], pass);
  tileOpsFree(&kernels);
  return ok;
}

const MlirExtPassDefinition tileRaiseGathersToViewsPass = {
    .argument = "tile-raise-gathers-to-views",
    .summary = "Turn gathers and scatters at evenly stepping places into loads and stores of views",
    .anchor = builtinModuleOpName,
    .dialects = (const char *const[]){"arith", "memref", "scf", NULL},
    .registerDialects = tileRegisterDialect,
    .statistics = statistics,
    .run = run,
};
