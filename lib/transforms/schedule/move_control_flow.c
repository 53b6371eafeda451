// tile-move-control-flow-to-device{chip=NAME persistent=model remarks=false}: loops and branches that only launch.
//
//   scf.while (%go = %c, %i = %n) {            tile.launch @scalars outs(%slot_of_go, %slot_of_i)
//     scf.condition(%go) %i                    scf.while : () -> () {
//   } do { ^bb(%i):                              %go = memref.load %slot_of_go
//     tile.launch @a …                  →        scf.condition(%go != 0)
//     %x = memref.load %norm[]                 } do {
//     %go1 = arith.cmpf ogt, %x, %eps            tile.launch @a …
//     scf.yield %go1, %i + 1                     tile.launch @scalars ins(%norm, …) outs(%slot_of_go, %slot_of_i)
//   }                                          }
//
// Why: what decides about a loop or a branch is then computed on the device and lies in its memory, so lanes of one
// launch can go through them (tile-co-schedule-kernels), and the host waits for nothing.
// Expects: host functions on buffers, before deallocation; loops and branches that carry and give scalars only
// (tile-rotate-while-loops, tile-fix-branch-buffers). Leaves: `while` and `if` without operands and results, whose
// condition is a word of memory, and between them launches and views. Scalars lie in buffers of one element. Scalar ops
// between two launches become one kernel, copies become kernels, assertions part of kernels. Left alone, with a remark:
// what does more than launch kernels, compute scalars, assert, load, store and copy. Cost: linear. Paper: Cocktailer
// (OSDI 2023).
#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/ir/table.h"
#include "lib/ir/template.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "lib/transforms/schedule/data_places.h"
#include "lib/transforms/schedule/launch_program.h"
#include "lib/transforms/schedule/schedule.h"
#include "lib/transforms/schedule/templates.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/cf.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdio.h>
#include <stdlib.h>

enum { Statistic_Moved, Statistic_Kernels };
enum { MostCopied = 1024, LanesOfWarp = 32 }; // elements that a program copies

typedef struct Assignment {
  MlirValue slot, value;
} Assignment;

// The ops on scalars that become the next kernel, and what it stores in slots.
typedef struct Moving {
  Scheduling scheduling;
  MlirOperation flow; // the outermost loop or branch at hand
  TileTable slots;    // of a scalar: the buffer that it lies in
  TileTable grouped;  // ops of the group
  MlirOperation *group;
  Assignment *assignments;
  intptr_t count, numAssignments;
} Moving;

//===--- what can be moved ----------------------------------------------------------------===//

static bool isScalar(MlirType type) {
  return mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type) || mlirTypeIsAFloat(type);
}

static bool isFlow(MlirOperation op) { return scfWhileOpIsA(op) || scfIfOpIsA(op); }

static bool isEnd(MlirOperation op) { return scfYieldOpIsA(op) || scfConditionOpIsA(op); }

static bool hasScalarsOnly(MlirOperation op) {
  bool only = true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    only &= isScalar(mlirValueGetType(mlirOperationGetOperand(op, i)));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    only &= isScalar(tileResultType(op, i));
  return only;
}

static bool isScalarOp(MlirOperation op) {
  return mlirOperationGetNumRegions(op) == 0 && mlirOperationGetNumResults(op) > 0 && mlirExtOperationIsPure(op) &&
         hasScalarsOnly(op);
}

static bool isConstant(MlirValue value) { return arithConstantOpIsA(tileDefiningOp(value)); }

// Memory that the whole function may share: it stands at the function's beginning afterwards.
static bool isMemory(MlirOperation op) {
  return (memrefAllocOpIsA(op) || memrefGetGlobalOpIsA(op)) && mlirOperationGetNumOperands(op) == 0;
}

static bool isView(MlirOperation op) {
  return mlirOperationGetNumResults(op) == 1 && mlirExtOperationIsPure(op) && !mlirValueIsNull(tileOpViewedMemory(op));
}

static const char *whyMemoryStays(MlirValue memref) {
  const Rounds none = {.loop = {NULL}};
  return tileLaunchWhyMemoryStays(&none, memref);
}

// Views at places that data decide become part of the kernel.
static const char *whyOperandsStay(MlirOperation launch, MlirOperation flow) {
  const char *why = NULL;
  for (intptr_t i = 0; !why && i < tileLaunchOperandCount(launch); ++i)
    why = tileDataPlaceWhyStays(tileLaunchOperand(launch, i), flow);
  return why;
}

static const char *whyCopyStays(MlirOperation copy, MlirOperation flow) {
  MlirValue ends[] = {memrefCopyOpGetSource(copy), memrefCopyOpGetTarget(copy)};
  const char *why = NULL;
  for (intptr_t i = 0; !why && i < 2; ++i) {
    why = tileDataPlaceWhyStays(ends[i], flow);
    if (!why && !(tileDataPlaceIsContiguous(ends[i]) && tileDataPlaceIsContiguous(tileDataPlaceBase(ends[i]))))
      why = "what it copies does not lie side by side";
  }
  return why;
}

static const char *whyCallStays(MlirOperation call) {
  MlirOperation function = tileParentOp(call, funcFuncOpIsA);
  return mlirOperationEqual(mlirExtSymbolLookup(call, tileOpAttribute(call, "callee")), function)
             ? "its function calls itself, for which the device has no stack"
             : "it calls a function";
}

static const char *whyLaunchStays(const Scheduling *s, MlirOperation launch, MlirOperation flow) {
  const char *why = tileLaunchWhyBodyStays(s, launch);
  return why ? why : whyOperandsStay(launch, flow);
}

static const char *whyOpStays(const Scheduling *s, MlirOperation op, MlirOperation flow) {
  if (funcCallOpIsA(op))
    return whyCallStays(op);
  if (isFlow(op) || isEnd(op))
    return hasScalarsOnly(op) ? NULL : "it carries or gives a buffer";
  if (tileLaunchOpIsA(op))
    return whyLaunchStays(s, op, flow);
  if (memrefLoadOpIsA(op))
    return isScalar(tileOnlyResultType(op)) ? whyMemoryStays(memrefLoadOpGetMemref(op)) : "it loads no number";
  if (memrefStoreOpIsA(op))
    return isScalar(mlirValueGetType(memrefStoreOpGetValue(op))) ? whyMemoryStays(memrefStoreOpGetMemref(op))
                                                                 : "it stores no number";
  if (memrefCopyOpIsA(op))
    return whyCopyStays(op, flow);
  return isScalarOp(op) || cfAssertOpIsA(op) || isMemory(op) || isView(op) ? NULL : "it does more than launch kernels";
}

typedef struct Looking {
  const Scheduling *scheduling;
  const char *why;
  MlirOperation at, flow;
} Looking;

static MlirWalkResult look(MlirOperation op, void *userData) {
  Looking *looking = userData;
  looking->why = whyOpStays(looking->scheduling, op, looking->flow);
  looking->at = op;
  return looking->why ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

// As if each round ran once. Each condition is computed by a kernel of its own.
static bool isCheaper(const Scheduling *s, MlirOperation flow, const TileOps *launches) {
  TileOps copies = tileCollectOps(flow, memrefCopyOpIsA), conditions = tileCollectOps(flow, isFlow);
  TileLaneCounts counts = {.launches = launches->count + copies.count,
                           .waits = conditions.count,
                           .fronts = launches->count + copies.count + conditions.count,
                           .decisions = conditions.count};
  for (intptr_t i = 0; i < launches->count; ++i)
    counts.turns += tessera_max(tileLaunchTurns(s, launches->items[i], s->target.search.cores), 0);
  tileOpsFree(&copies);
  tileOpsFree(&conditions);
  return tileLaunchesGain(s, flow, &counts);
}

static bool canMove(const Scheduling *s, MlirOperation flow) {
  Looking looking = {.scheduling = s, .flow = flow};
  TileOps launches = tileCollectOps(flow, tileLaunchOpIsA);
  if (launches.count)
    mlirOperationWalk(flow, look, &looking, MlirWalkPreOrder);
  if (looking.why && s->remarks)
    tileRemark(looking.at, "keeps its loop or branch on the host: %s", looking.why);
  bool can = launches.count && !looking.why && isCheaper(s, flow, &launches);
  tileOpsFree(&launches);
  return can;
}

//===--- slots ------------------------------------------------------------------------------===//

static MlirType wordOf(MlirType type) {
  if (mlirTypeIsAIndex(type))
    return mlirIntegerTypeGet(mlirTypeGetContext(type), 64);
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1
             ? mlirIntegerTypeGet(mlirTypeGetContext(type), 32)
             : type;
}

static MlirValue asWord(TileBuilder *b, MlirValue value) {
  MlirType type = mlirValueGetType(value), word = wordOf(type);
  if (mlirTypeEqual(type, word))
    return value;
  return mlirTypeIsAIndex(type) ? arithIndexCastOpBuild(b, word, value) : arithExtUIOpBuild(b, word, value);
}

static MlirValue ofWord(TileBuilder *b, MlirValue word, MlirType type) {
  if (mlirTypeEqual(type, mlirValueGetType(word)))
    return word;
  if (mlirTypeIsAIndex(type))
    return arithIndexCastOpBuild(b, type, word);
  return arithCmpIOpBuild(b, word, tileBuildInteger(b, mlirValueGetType(word), 0), ArithCmpI_Ne);
}

static MlirValue loadSlot(TileBuilder *b, MlirValue slot, MlirType type) {
  MlirValue zero = tileBuildIndex(b, 0);
  return ofWord(b, memrefLoadOpBuild(b, slot, 1, &zero), type);
}

static void storeSlot(TileBuilder *b, MlirValue value, MlirValue slot) {
  MlirValue zero = tileBuildIndex(b, 0);
  memrefStoreOpBuild(b, asWord(b, value), slot, 1, &zero);
}

static TileBuilder builderOfFunction(const Moving *m) {
  MlirOperation function = tileParentOp(m->flow, funcFuncOpIsA);
  return tileBuilderAtStart(mlirRegionGetFirstBlock(funcFuncOpGetBody(function)), mlirOperationGetLocation(m->flow));
}

static MlirValue makeSlot(const Moving *m, MlirType type) {
  TileBuilder b = builderOfFunction(m);
  int64_t one = 1;
  return tileBuildBuffer(&b, mlirMemRefTypeContiguousGet(wordOf(type), 1, &one, mlirAttributeGetNull()));
}

static MlirValue slotOf(const Moving *m, MlirValue value) { return (MlirValue){tileTableFind(&m->slots, value.ptr)}; }

static void assign(Moving *m, MlirValue slot, MlirValue value) {
  if (mlirValueEqual(slot, slotOf(m, value)))
    return;
  m->assignments = tessera_grow(m->assignments, m->numAssignments, sizeof *m->assignments);
  m->assignments[m->numAssignments++] = (Assignment){slot, value};
}

// The value lies in a slot, once the next kernel has run.
static MlirValue needSlot(Moving *m, MlirValue value) {
  MlirValue slot = slotOf(m, value);
  if (!mlirValueIsNull(slot))
    return slot;
  slot = makeSlot(m, mlirValueGetType(value));
  assign(m, slot, value);
  if (!isConstant(value))
    tileTableSet(&m->slots, value.ptr, (void *)slot.ptr);
  return slot;
}

//===--- kernels of scalars -------------------------------------------------------------------===//

static void addToGroup(Moving *m, MlirOperation op) {
  m->group = tessera_grow(m->group, m->count, sizeof *m->group);
  m->group[m->count++] = op;
  tileTableSet(&m->grouped, op.ptr, op.ptr);
}

static bool isGrouped(const Moving *m, MlirOperation op) { return tileTableFind(&m->grouped, op.ptr); }

// Later kernels and conditions ask for what the group computes; `current`, for which slots are assigned now, does not.
static void findOutputs(Moving *m, MlirOperation current) {
  for (intptr_t i = 0; i < m->count; ++i)
    for (intptr_t r = 0; r < mlirOperationGetNumResults(m->group[i]); ++r) {
      MlirValue value = mlirOperationGetResult(m->group[i], r);
      for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
           use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        if (!isGrouped(m, user) && !mlirOperationEqual(user, current) && tileIsWithin(user, m->flow))
          needSlot(m, value);
      }
    }
}

typedef struct Parameters {
  MlirValue *memrefs;
  bool *isWritten;
  intptr_t count;
} Parameters;

static void addMemory(Parameters *p, MlirValue memref, bool isWritten) {
  for (intptr_t i = 0; i < p->count; ++i)
    if (mlirValueEqual(p->memrefs[i], memref)) {
      p->isWritten[i] |= isWritten;
      return;
    }
  p->memrefs = tessera_grow(p->memrefs, p->count, sizeof *p->memrefs);
  p->isWritten = tessera_grow(p->isWritten, p->count, sizeof *p->isWritten);
  p->memrefs[p->count] = memref;
  p->isWritten[p->count++] = isWritten;
}

static bool isComputed(const Moving *m, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  return isConstant(value) || (!mlirOperationIsNull(op) && isGrouped(m, op));
}

static void addSlotOf(const Moving *m, Parameters *p, MlirValue value) {
  if (!isComputed(m, value))
    addMemory(p, slotOf(m, value), false);
}

static Parameters parametersOf(const Moving *m) {
  Parameters p = {NULL};
  for (intptr_t i = 0; i < m->count; ++i) {
    MlirOperation op = m->group[i];
    if (memrefLoadOpIsA(op))
      addMemory(&p, memrefLoadOpGetMemref(op), false);
    if (memrefStoreOpIsA(op))
      addMemory(&p, memrefStoreOpGetMemref(op), true);
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); ++k)
      if (isScalar(mlirValueGetType(mlirOperationGetOperand(op, k))))
        addSlotOf(m, &p, mlirOperationGetOperand(op, k));
  }
  for (intptr_t i = 0; i < m->numAssignments; ++i) {
    addSlotOf(m, &p, m->assignments[i].value);
    addMemory(&p, m->assignments[i].slot, true);
  }
  return p;
}

// What stands for the value in the kernel. Slots are loaded where they are first asked for.
static MlirValue valueInKernel(const Moving *m, TileBuilder *b, TileTable *inside, MlirValue value) {
  void *known = tileTableFind(inside, value.ptr);
  if (known)
    return (MlirValue){known};
  MlirValue made;
  if (isConstant(value))
    made = tileOnlyResult(tileBuilderInsert(b, mlirOperationClone(tileDefiningOp(value))));
  else
    made = loadSlot(b, (MlirValue){tileTableFind(inside, slotOf(m, value).ptr)}, mlirValueGetType(value));
  tileTableSet(inside, value.ptr, (void *)made.ptr);
  return made;
}

// The kernel asserts what the host did.
static void assertInKernel(const Moving *m, TileBuilder *b, TileTable *inside, MlirOperation assertion) {
  TileBuilder at = *b;
  at.location = mlirOperationGetLocation(assertion);
  MlirValue condition = valueInKernel(m, b, inside, cfAssertOpGetArg(assertion));
  tileAssertOpCreate(&at, condition, cfAssertOpGetMsg(assertion));
}

static void fillKernel(const Moving *m, TileBuilder *b, TileTable *inside) {
  for (intptr_t i = 0; i < m->count; ++i) {
    if (cfAssertOpIsA(m->group[i])) {
      assertInKernel(m, b, inside, m->group[i]);
      continue;
    }
    MlirOperation copy = mlirOperationClone(m->group[i]);
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(copy); ++k)
      mlirOperationSetOperand(copy, k, valueInKernel(m, b, inside, mlirOperationGetOperand(copy, k)));
    tileBuilderInsert(b, copy);
    for (intptr_t r = 0; r < mlirOperationGetNumResults(copy); ++r)
      tileTableSet(inside, mlirOperationGetResult(m->group[i], r).ptr, (void *)mlirOperationGetResult(copy, r).ptr);
  }
  // All values before the first store: slots may change places.
  for (intptr_t i = 0; i < m->numAssignments; ++i)
    valueInKernel(m, b, inside, m->assignments[i].value);
  for (intptr_t i = 0; i < m->numAssignments; ++i)
    storeSlot(b, valueInKernel(m, b, inside, m->assignments[i].value),
              (MlirValue){tileTableFind(inside, m->assignments[i].slot.ptr)});
}

static bool hasAssertions(const Moving *m) {
  for (intptr_t i = 0; i < m->count; ++i)
    if (cfAssertOpIsA(m->group[i]))
      return true;
  return false;
}

static MlirAttribute makeKernel(Moving *m, const MlirValue *memrefs, intptr_t count) {
  MlirLocation location = mlirOperationGetLocation(m->flow);
  TileTemplateUse use = tileUseScalars((TileScalars){});
  MlirOperation kernel = tileTemplateMake(location, &use);
  if (mlirOperationIsNull(kernel))
    return mlirAttributeGetNull();
  MlirBlock block = tileKernelBody(kernel);
  MlirType *types = malloc((size_t)count * sizeof *types);
  TileTable inside = {0};
  for (intptr_t i = 0; i < count; ++i) {
    types[i] = mlirValueGetType(memrefs[i]);
    tileTableSet(&inside, memrefs[i].ptr, (void *)mlirBlockAddArgument(block, types[i], location).ptr);
  }
  tileKernelOpSetFunctionType(
      kernel, mlirTypeAttrGet(mlirFunctionTypeGet(mlirOperationGetContext(kernel), count, types, 0, NULL)));
  TileBuilder b = tileBuilderBefore(mlirBlockGetTerminator(block));
  fillKernel(m, &b, &inside);
  tileTableFree(&inside);
  free(types);
  return tileTemplateInsert(m->scheduling.module, kernel, "scalars");
}

// The group becomes a kernel, which is launched here, with what is assigned for `current`: an end of a region, a loop,
// or null. False after a diagnostic.
static bool flush(Moving *m, TileBuilder *host, MlirOperation current) {
  findOutputs(m, current);
  Parameters p = parametersOf(m);
  intptr_t inputs = 0, written = 0;
  MlirValue *memrefs = malloc((size_t)(p.count + 1) * sizeof *memrefs), one;
  for (intptr_t i = 0; i < p.count; ++i)
    if (!p.isWritten[i])
      memrefs[inputs++] = p.memrefs[i];
  for (intptr_t i = 0; i < p.count; ++i)
    if (p.isWritten[i])
      memrefs[inputs + written++] = p.memrefs[i];
  bool ok = true;
  if (written || hasAssertions(m)) { // else nobody sees what it does
    MlirAttribute kernel = makeKernel(m, memrefs, p.count);
    ok = !mlirAttributeIsNull(kernel);
    one = tileBuildIndex(host, 1);
    if (ok)
      tileLaunchOpBuild(host, 0, NULL, 1, &one, inputs, memrefs, written, memrefs + inputs, kernel);
    mlirExtPassAddStatistic(m->scheduling.pass, Statistic_Kernels, 1);
  }
  free(memrefs);
  free(p.memrefs);
  free(p.isWritten);
  tileTableFree(&m->grouped);
  m->count = m->numAssignments = 0;
  return ok;
}

//===--- launches and copies --------------------------------------------------------------------===//

static MlirValue slotOfScalar(void *userData, MlirValue scalar) { return slotOf(userData, scalar); }

static void needSlotOf(void *userData, MlirValue scalar) { needSlot(userData, scalar); }

static void addOp(void *userData, MlirOperation op) { addToGroup(userData, op); }

// Launches the kernel, which becomes part of the module, once the scalars that decide about its places are stored.
static bool launchAtPlaces(Moving *m, TileBuilder *host, const TileDataLaunch *launch) {
  for (intptr_t i = 0; i < launch->numInputs + launch->numOutputs; ++i)
    tileDataPlaceVisit(launch->operands[i], needSlotOf, m);
  return flush(m, host, (MlirOperation){NULL}) &&
         tileDataPlaceLaunch(host, m->scheduling.module, launch, slotOfScalar, m);
}

static bool hasDataPlaces(MlirOperation launch) {
  for (intptr_t i = 0; i < tileLaunchOperandCount(launch); ++i)
    if (tileDataPlaceIs(tileLaunchOperand(launch, i)))
      return true;
  return false;
}

static bool moveToPlaces(Moving *m, TileBuilder *host, MlirOperation launch) {
  intptr_t numGrid = tileLaunchOpGetNumGrid(launch), count = tileLaunchOperandCount(launch);
  MlirOperation kernel = tileLaunchKernel(launch);
  MlirValue *values = malloc((size_t)(numGrid + count + 1) * sizeof *values);
  for (intptr_t i = 0; i < numGrid; ++i)
    values[i] = tileLaunchOpGetGrid(launch, i);
  for (intptr_t i = 0; i < count; ++i)
    values[numGrid + i] = tileLaunchOperand(launch, i);
  MlirStringRef symbol = tileKernelOpGetSymNameValue(kernel);
  char name[128];
  snprintf(name, sizeof name, "%.*s", (int)symbol.length, symbol.data);
  bool ok = launchAtPlaces(m, host,
                           &(TileDataLaunch){.kernel = mlirOperationClone(kernel),
                                             .name = name,
                                             .numGrid = numGrid,
                                             .numInputs = tileLaunchOpGetNumInputs(launch),
                                             .numOutputs = tileLaunchOpGetNumOutputs(launch),
                                             .grid = values,
                                             .operands = values + numGrid,
                                             .overwrites = tileOpGetOverwrites(launch)});
  free(values);
  return ok;
}

// The elements of a buffer side by side, as one dimension.
static MlirValue asLine(TileBuilder *b, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  int64_t count = tileTypeGetCount(type), one = 1, offset, strides[MostRank];
  mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  MlirType line = mlirMemRefTypeGet(mlirShapedTypeGetElementType(type), 1, &count,
                                    offset ? mlirStridedLayoutAttrGet(b->context, offset, 1, &one)
                                           : mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, 1)),
                                    mlirMemRefTypeGetMemorySpace(type));
  MlirAttribute offsets = mlirDenseI64ArrayGet(b->context, 1, &offset),
                sizes = mlirDenseI64ArrayGet(b->context, 1, &count),
                strides1 = mlirDenseI64ArrayGet(b->context, 1, &one);
  return memrefReinterpretCastOpBuild(b, line, memref, 0, NULL, 0, NULL, 0, NULL, offsets, sizes, strides1);
}

// As asLine, at the place that data decide.
static MlirValue lineOf(Moving *m, TileBuilder *host, MlirOperation copy, MlirValue memref) {
  MlirValue line = asLine(host, tileDataPlaceBase(memref));
  TileBuilder there = tileBuilderBefore(copy);
  return tileDataPlaceIs(memref) ? tileDataPlaceLine(&there, memref, line, addOp, m) : line;
}

static bool copyByKernel(Moving *m, TileBuilder *host, MlirOperation copy) {
  MlirValue ends[] = {lineOf(m, host, copy, memrefCopyOpGetSource(copy)),
                      lineOf(m, host, copy, memrefCopyOpGetTarget(copy))};
  MlirType type = mlirValueGetType(ends[0]);
  int64_t count = mlirShapedTypeGetDimSize(type, 0), block = LanesOfWarp;
  while (block < count && block < MostCopied)
    block *= 2;
  TileTemplateUse use = tileUseCopy((TileCopy){.E = mlirShapedTypeGetElementType(type),
                                               .N = count,
                                               .BLOCK = block,
                                               .WARPS = tessera_min(block / LanesOfWarp, 4)});
  MlirOperation kernel = tileTemplateMake(mlirOperationGetLocation(copy), &use);
  if (mlirOperationIsNull(kernel))
    return false;
  MlirValue programs = tileBuildIndex(host, tessera_ceil_div(count, block));
  mlirExtPassAddStatistic(m->scheduling.pass, Statistic_Kernels, 1);
  return launchAtPlaces(m, host,
                        &(TileDataLaunch){.kernel = kernel,
                                          .name = "copy",
                                          .numGrid = 1,
                                          .numInputs = 1,
                                          .numOutputs = 1,
                                          .grid = &programs,
                                          .operands = ends});
}

//===--- loops and branches ---------------------------------------------------------------------===//

static MlirBlock blockOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

static MlirOperation endOf(MlirOperation op, intptr_t region) {
  MlirBlock block = blockOf(op, region);
  return mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
}

// `into`: the slots of what the block's end passes on; null: it does so itself.
static bool moveBlock(Moving *m, TileBuilder *host, MlirBlock block, const MlirValue *into);

// Stores what the end of the region passes on in these slots; `first`: the first such operand.
static bool endRegion(Moving *m, TileBuilder *host, MlirOperation end, intptr_t first, const MlirValue *slots) {
  for (intptr_t i = first; i < mlirOperationGetNumOperands(end); ++i)
    assign(m, slots[i - first], mlirOperationGetOperand(end, i));
  return flush(m, host, end);
}

static void lieIn(Moving *m, MlirValue value, MlirValue slot) { tileTableSet(&m->slots, value.ptr, (void *)slot.ptr); }

static bool isLookedAt(const Moving *m, MlirOperation end, intptr_t but, MlirValue slot) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); ++i)
    if (i != but && mlirValueEqual(slotOf(m, mlirOperationGetOperand(end, i)), slot))
      return true;
  return false;
}

// Where the end of the block around the branch passes on its results and nothing stands between, they lie in the slots
// that the end stores to.
static void chooseSlots(const Moving *m, MlirOperation branch, const MlirValue *into, MlirValue *slots) {
  MlirOperation end = mlirOperationGetNextInBlock(branch);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(branch); ++i) {
    slots[i] = (MlirValue){NULL};
    MlirValue result = mlirOperationGetResult(branch, i);
    for (intptr_t k = 0; into && scfYieldOpIsA(end) && k < mlirOperationGetNumOperands(end); ++k)
      if (mlirValueEqual(mlirOperationGetOperand(end, k), result) && !isLookedAt(m, end, k, into[k]))
        slots[i] = into[k];
    if (mlirValueIsNull(slots[i]))
      slots[i] = makeSlot(m, mlirValueGetType(result));
  }
}

static bool moveBranch(Moving *m, TileBuilder *host, MlirOperation branch, const MlirValue *into) {
  MlirValue condition = needSlot(m, scfIfOpGetCondition(branch));
  if (!flush(m, host, (MlirOperation){NULL}))
    return false;
  intptr_t count = mlirOperationGetNumResults(branch);
  MlirValue *slots = malloc((size_t)(count + 1) * sizeof *slots);
  chooseSlots(m, branch, into, slots);
  MlirRegion regions[2];
  bool ok = true;
  for (intptr_t region = 0; region < 2; ++region) {
    MlirOperation end = endOf(branch, region);
    regions[region] = mlirRegionCreate();
    if (mlirOperationIsNull(end))
      continue;
    mlirRegionDestroy(regions[region]);
    TileBuilder inside = tileBuilderInRegion(host, &regions[region], 0, NULL);
    ok = ok && moveBlock(m, &inside, blockOf(branch, region), slots) && endRegion(m, &inside, end, 0, slots);
    tileBuildYield(&inside, 0, NULL);
  }
  MlirType i1 = mlirIntegerTypeGet(host->context, 1);
  scfIfOpBuild(host, 0, NULL, loadSlot(host, condition, i1), regions[0], regions[1]);
  for (intptr_t i = 0; i < count; ++i)
    lieIn(m, mlirOperationGetResult(branch, i), slots[i]);
  free(slots);
  return ok;
}

// What is handed on unchanged stays in its slot.
static void chooseHanded(const Moving *m, MlirOperation loop, const MlirValue *carried, MlirValue *handed) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(loop); ++i) {
    MlirValue value = scfConditionOpGetArgs(endOf(loop, 0), i);
    handed[i] = (MlirValue){NULL};
    for (intptr_t k = 0; k < scfWhileOpGetNumInits(loop); ++k)
      if (mlirValueEqual(value, mlirBlockGetArgument(blockOf(loop, 0), k)))
        handed[i] = carried[k];
    if (mlirValueIsNull(handed[i]))
      handed[i] = makeSlot(m, mlirValueGetType(value));
  }
}

static bool moveLoop(Moving *m, TileBuilder *host, MlirOperation loop) {
  intptr_t count = scfWhileOpGetNumInits(loop), results = mlirOperationGetNumResults(loop);
  MlirValue *carried = malloc((size_t)(count + 1) * sizeof *carried),
            *handed = malloc((size_t)(results + 1) * sizeof *handed);
  for (intptr_t i = 0; i < count; ++i) {
    carried[i] = makeSlot(m, mlirValueGetType(scfWhileOpGetInits(loop, i)));
    assign(m, carried[i], scfWhileOpGetInits(loop, i));
    lieIn(m, mlirBlockGetArgument(blockOf(loop, 0), i), carried[i]);
  }
  chooseHanded(m, loop, carried, handed);
  bool ok = flush(m, host, loop);
  MlirRegion regions[2];
  TileBuilder asking = tileBuilderInRegion(host, &regions[0], 0, NULL),
              round = tileBuilderInRegion(host, &regions[1], 0, NULL);
  ok = ok && moveBlock(m, &asking, blockOf(loop, 0), NULL);
  MlirValue condition = needSlot(m, scfConditionOpGetCondition(endOf(loop, 0)));
  ok = ok && endRegion(m, &asking, endOf(loop, 0), 1, handed);
  scfConditionOpBuild(&asking, loadSlot(&asking, condition, mlirIntegerTypeGet(host->context, 1)), 0, NULL);
  for (intptr_t i = 0; i < results; ++i) {
    lieIn(m, mlirBlockGetArgument(blockOf(loop, 1), i), handed[i]);
    lieIn(m, mlirOperationGetResult(loop, i), handed[i]);
  }
  ok = ok && moveBlock(m, &round, blockOf(loop, 1), carried) && endRegion(m, &round, endOf(loop, 1), 0, carried);
  tileBuildYield(&round, 0, NULL);
  scfWhileOpBuild(host, 0, NULL, 0, NULL, regions[0], regions[1]);
  free(carried);
  free(handed);
  return ok;
}

static bool touchesMemory(const Moving *m) {
  for (intptr_t i = 0; i < m->count; ++i)
    if (!isScalarOp(m->group[i]) && !cfAssertOpIsA(m->group[i]))
      return true;
  return false;
}

static void moveTo(TileBuilder *b, MlirOperation op) {
  mlirOperationRemoveFromParent(op);
  tileBuilderInsert(b, op);
}

static bool moveOp(Moving *m, TileBuilder *host, MlirOperation op, const MlirValue *into) {
  const MlirOperation none = {NULL};
  if (scfIfOpIsA(op))
    return moveBranch(m, host, op, into);
  if (scfWhileOpIsA(op))
    return moveLoop(m, host, op);
  if (memrefCopyOpIsA(op))
    return copyByKernel(m, host, op);
  if (isMemory(op)) {
    TileBuilder start = builderOfFunction(m);
    moveTo(&start, op);
  } else if (isView(op)) { // kernels take in the others
    if (!tileDataPlaceIs(tileOnlyResult(op)))
      moveTo(host, op);
  } else if (tileLaunchOpIsA(op) && hasDataPlaces(op)) {
    return moveToPlaces(m, host, op);
  } else if (tileLaunchOpIsA(op)) { // what only computes may wait for the end
    if (touchesMemory(m) && !flush(m, host, none))
      return false;
    moveTo(host, op);
  } else if (!arithConstantOpIsA(op)) {
    addToGroup(m, op);
  }
  return true;
}

static bool moveBlock(Moving *m, TileBuilder *host, MlirBlock block, const MlirValue *into) {
  MlirOperation end = mlirBlockGetTerminator(block);
  bool ok = true;
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; ok && !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    ok = moveOp(m, host, op, into);
  }
  return ok;
}

//===--- scalars from outside -------------------------------------------------------------------===//

static bool isStillThere(const Moving *m, MlirOperation load) {
  for (MlirOperation op = mlirOperationGetNextInBlock(load); !mlirOperationEqual(op, m->flow);
       op = mlirOperationGetNextInBlock(op))
    if (tileOpWrites(op, memrefLoadOpGetMemref(load)))
      return false;
  return true;
}

// Whether the device can compute the value ahead of the flow; `loads`: it looks at memory, for which the host would
// have to wait.
static bool canCompute(const Moving *m, MlirValue value, bool *loads) {
  MlirOperation op = tileDefiningOp(value);
  if (isConstant(value))
    return true;
  if (mlirOperationIsNull(op) || !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(m->flow)))
    return false;
  bool isLoad = memrefLoadOpIsA(op), ok = isScalarOp(op) || isLoad;
  if (isLoad)
    ok = !whyMemoryStays(memrefLoadOpGetMemref(op)) && isStillThere(m, op);
  *loads |= isLoad;
  for (intptr_t i = isLoad; ok && i < mlirOperationGetNumOperands(op); ++i)
    ok = canCompute(m, mlirOperationGetOperand(op, i), loads);
  return ok;
}

static void addSlice(Moving *m, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (isConstant(value) || isGrouped(m, op))
    return;
  for (intptr_t i = memrefLoadOpIsA(op); i < mlirOperationGetNumOperands(op); ++i)
    addSlice(m, mlirOperationGetOperand(op, i));
  addToGroup(m, op);
}

// A scalar that the flow looks at is computed on the device, or stored by the host where it is known.
static void takeIn(Moving *m, MlirValue value) {
  bool loads = false;
  if (isConstant(value) || !mlirValueIsNull(slotOf(m, value)))
    return;
  if (canCompute(m, value, &loads) && loads) {
    addSlice(m, value);
    return;
  }
  MlirOperation op = tileDefiningOp(value);
  MlirValue slot = makeSlot(m, mlirValueGetType(value));
  TileBuilder there;
  if (!mlirOperationIsNull(op)) {
    there = tileBuilderAfter(op);
  } else { // behind the slot, if it stands in the same block
    MlirBlock block = mlirBlockArgumentGetOwner(value);
    MlirOperation made = tileDefiningOp(slot);
    there = mlirBlockEqual(mlirOperationGetBlock(made), block)
                ? tileBuilderAfter(made)
                : tileBuilderAtStart(block, mlirOperationGetLocation(m->flow));
  }
  storeSlot(&there, value, slot);
  lieIn(m, value, slot);
}

static MlirWalkResult takeOperands(MlirOperation op, void *userData) {
  Moving *m = userData;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    MlirOperation maker = tileDefiningOp(value);
    MlirOperation home = mlirOperationIsNull(maker) ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value))
                                                    : mlirOperationGetParentOperation(maker);
    if (isScalar(mlirValueGetType(value)) && !tileIsWithin(home, m->flow) && !tileLaunchOpIsA(op))
      takeIn(m, value);
  }
  return MlirWalkResultAdvance;
}

static bool moveFlow(const Scheduling *scheduling, MlirOperation flow) {
  Moving m = {.scheduling = *scheduling, .flow = flow};
  TileBuilder host = tileBuilderBefore(flow);
  mlirOperationWalk(flow, takeOperands, &m, MlirWalkPreOrder);
  bool ok = moveOp(&m, &host, flow, NULL);
  for (intptr_t i = 0; ok && i < mlirOperationGetNumResults(flow); ++i) {
    MlirValue result = mlirOperationGetResult(flow, i);
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(result)))
      mlirValueReplaceAllUsesOfWith(result, loadSlot(&host, slotOf(&m, result), mlirValueGetType(result)));
  }
  if (ok)
    mlirOperationDestroy(flow);
  mlirExtPassAddStatistic(m.scheduling.pass, Statistic_Moved, 1);
  tileTableFree(&m.slots);
  tileTableFree(&m.grouped);
  free(m.group);
  free(m.assignments);
  return ok;
}

//===--- the pass ---------------------------------------------------------------------------------===//

// The outermost ones that can be moved.
static bool moveIn(const Scheduling *s, MlirOperation op) {
  bool ok = true;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      for (MlirOperation inner = mlirBlockGetFirstOperation(block), next; ok && !mlirOperationIsNull(inner);
           inner = next) {
        next = mlirOperationGetNextInBlock(inner);
        ok = isFlow(inner) && canMove(s, inner) ? moveFlow(s, inner) : moveIn(s, inner);
      }
  return ok;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  Scheduling s = {.module = module, .pass = pass, .remarks = mlirExtPassGetBool(pass, "remarks")};
  MlirStringRef persistent = mlirExtPassGetString(pass, "persistent");
  s.always = tileStringEquals(persistent, "always");
  if (tileStringEquals(persistent, "never"))
    return true;
  if (!s.always && !tileStringEquals(persistent, "model"))
    return tileError(module, "persistent: unknown '%.*s'; accepts model, always and never", (int)persistent.length,
                     persistent.data);
  if (!tileTargetOfPass(module, pass, &s.target))
    return false;
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  bool ok = true;
  for (intptr_t i = 0; s.target.search.isGpu && ok && i < functions.count; ++i)
    ok = moveIn(&s, functions.items[i]);
  tileOpsFree(&functions);
  tileTargetFree(&s.target);
  return ok;
}

const MlirExtPassDefinition tileMoveControlFlowToDevicePass = {
    .argument = "tile-move-control-flow-to-device",
    .summary = "Let the device compute what loops and branches between launches decide by",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"persistent", "as for tile-co-schedule-kernels; never: nothing is moved", MlirExtOption_String, "model"},
            {"remarks", "says what stays on the host, and why", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = (const char *const[]){"moved: loops and branches that the device decides about",
                                        "kernels: made of scalar ops and copies", NULL},
    .dialects = (const char *const[]){"arith", "scf", "memref", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
