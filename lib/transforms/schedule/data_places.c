// See data_places.h.
#include "lib/transforms/schedule/data_places.h"

#include "dialects/tile/discardable.h"
#include "lib/ir/op_query.h"
#include "lib/ir/template.h"
#include "lib/support/integer.h"
#include "lib/transforms/schedule/launch_program.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"

#include <stdlib.h>

enum { MostViews = 8 };

//===--- places -----------------------------------------------------------------------------===//

static const char *whyMemoryStays(MlirValue memref) {
  const Rounds none = {.loop = {NULL}};
  return tileLaunchWhyMemoryStays(&none, memref);
}

bool tileDataPlaceIs(MlirValue memref) { return whyMemoryStays(memref) != NULL; }

static bool isPlace(MlirOperation op) { return memrefSubViewOpIsA(op) || memrefCastOpIsA(op); }

MlirValue tileDataPlaceBase(MlirValue memref) {
  for (MlirOperation op; tileDataPlaceIs(memref); memref = tileOpViewedMemory(op)) {
    op = tileDefiningOp(memref);
    if (mlirOperationIsNull(op) || !isPlace(op))
      break;
  }
  return memref;
}

// Strides are known, and the sizes.
static bool hasShape(MlirType type, int64_t *strides) {
  int64_t offset;
  if (!mlirTypeIsAMemRef(type) || !mlirShapedTypeHasStaticShape(type) || mlirShapedTypeGetRank(type) > MostRank ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return false;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]))
      return false;
  return true;
}

// Casts forget what is known of strides.
static MlirValue behindCasts(MlirValue memref) {
  for (MlirOperation op; memrefCastOpIsA(op = tileDefiningOp(memref)); memref = memrefCastOpGetSource(op))
    continue;
  return memref;
}

const char *tileDataPlaceWhyStays(MlirValue memref, MlirOperation flow) {
  int64_t strides[MostRank];
  MlirValue base = tileDataPlaceBase(memref);
  const char *why = whyMemoryStays(base);
  if (why)
    return why;
  intptr_t views = 0;
  for (MlirValue at = memref; !mlirValueEqual(at, base); ++views) {
    MlirOperation view = tileDefiningOp(at);
    if (views == MostViews || !tileIsWithin(view, flow) || !mlirShapedTypeHasStaticShape(mlirValueGetType(at)) ||
        (memrefSubViewOpIsA(view) && (memrefSubViewOpGetNumSizes(view) || memrefSubViewOpGetNumStrides(view))))
      return "an operand's sizes or place are not known";
    at = tileOpViewedMemory(view);
  }
  return hasShape(mlirValueGetType(behindCasts(memref)), strides) ? NULL : "an operand's sizes or place are not known";
}

bool tileDataPlaceIsContiguous(MlirValue memref) {
  int64_t strides[MostRank], count = 1;
  MlirType type = mlirValueGetType(behindCasts(memref));
  if (!hasShape(type, strides))
    return false;
  for (intptr_t d = mlirShapedTypeGetRank(type); d-- > 0;) {
    int64_t size = mlirShapedTypeGetDimSize(type, d);
    if (size != 1 && strides[d] != count)
      return false;
    count *= size;
  }
  return count > 0;
}

void tileDataPlaceVisit(MlirValue memref, TileScalarVisit *visit, void *userData) {
  int64_t constant;
  for (MlirValue base = tileDataPlaceBase(memref); !mlirValueEqual(memref, base);) {
    MlirOperation view = tileDefiningOp(memref);
    for (intptr_t i = 1; i < mlirOperationGetNumOperands(view); ++i)
      if (!tileConstantIndex(mlirOperationGetOperand(view, i), &constant))
        visit(userData, mlirOperationGetOperand(view, i));
    memref = tileOpViewedMemory(view);
  }
}

//===--- outside of the memory --------------------------------------------------------------------===//

// Where ops are built, and who is told of each one that is no constant.
typedef struct Building {
  TileBuilder *b;
  TileOpVisit *visit; // may be null
  void *userData;
} Building;

static MlirValue tell(const Building *building, MlirValue value) {
  if (building->visit)
    building->visit(building->userData, tileDefiningOp(value));
  return value;
}

// The dimension of the view's dynamic offset i.
static intptr_t dimensionOf(MlirOperation view, intptr_t i) {
  MlirAttribute offsets = memrefSubViewOpGetStaticOffsets(view);
  for (intptr_t d = 0;; ++d)
    if (mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(offsets, d)) && i-- == 0)
      return d;
}

// An error at the view unless its dynamic offset i lets it lie in the memory.
static void assertInside(const Building *building, MlirOperation view, intptr_t i) {
  intptr_t d = dimensionOf(view, i);
  int64_t size = mlirShapedTypeGetDimSize(memrefSubViewOpGetSourceType(view), d),
          span = (mlirDenseI64ArrayGetElement(memrefSubViewOpGetStaticSizes(view), d) - 1) *
                 mlirDenseI64ArrayGetElement(memrefSubViewOpGetStaticStrides(view), d);
  MlirValue offset = memrefSubViewOpGetOffsets(view, i);
  TileBuilder b = *building->b;
  b.location = mlirOperationGetLocation(view);
  MlirValue first = tileBuildIndex(&b, 0), last = tileBuildIndex(&b, tessera_max(size - 1 - span, -1));
  MlirValue isBehind = tell(building, arithCmpIOpBuild(&b, offset, first, ArithCmpI_Sge));
  MlirValue isAhead = tell(building, arithCmpIOpBuild(&b, offset, last, ArithCmpI_Sle));
  MlirValue is = tell(building, arithAndIOpBuild(&b, isBehind, isAhead));
  MlirOperation made = tileAssertOpBuild(
      &b, is, mlirStringAttrGet(b.context, tileString("a view lies outside of the memory that it is a part of")));
  if (building->visit)
    building->visit(building->userData, made);
}

//===--- elements side by side ------------------------------------------------------------------===//

static MlirValue plus(const Building *building, MlirValue sum, MlirValue index, int64_t stride) {
  MlirValue steps = tell(building, arithMulIOpBuild(building->b, index, tileBuildIndex(building->b, stride)));
  return tell(building, arithAddIOpBuild(building->b, sum, steps));
}

// Where the memref begins, in elements from the memory of known place.
static MlirValue beginOf(const Building *building, MlirValue memref) {
  MlirValue sum = tileBuildIndex(building->b, 0);
  for (MlirValue base = tileDataPlaceBase(memref); !mlirValueEqual(memref, base);) {
    MlirOperation view = tileDefiningOp(memref);
    memref = tileOpViewedMemory(view);
    if (!memrefSubViewOpIsA(view))
      continue;
    int64_t strides[MostRank];
    hasShape(mlirValueGetType(behindCasts(memref)), strides);
    MlirAttribute offsets = memrefSubViewOpGetStaticOffsets(view);
    for (intptr_t d = 0, dynamic = 0; d < mlirDenseArrayGetNumElements(offsets); ++d) {
      int64_t fixed = mlirDenseI64ArrayGetElement(offsets, d);
      bool isOpen = mlirShapedTypeIsDynamicSize(fixed);
      if (isOpen)
        assertInside(building, view, dynamic);
      if (isOpen || fixed)
        sum =
            plus(building, sum,
                 isOpen ? memrefSubViewOpGetOffsets(view, dynamic++) : tileBuildIndex(building->b, fixed), strides[d]);
    }
  }
  return sum;
}

MlirValue tileDataPlaceLine(TileBuilder *b, MlirValue memref, MlirValue line, TileOpVisit *visit, void *userData) {
  MlirType type = mlirValueGetType(line);
  int64_t count = tileTypeGetCount(mlirValueGetType(memref)), one = 1, open = mlirShapedTypeGetDynamicStrideOrOffset();
  MlirValue begin = beginOf(&(Building){b, visit, userData}, memref);
  MlirAttribute layout = mlirStridedLayoutAttrGet(b->context, open, 1, &one);
  MlirType part =
      mlirMemRefTypeGet(mlirShapedTypeGetElementType(type), 1, &count, layout, mlirMemRefTypeGetMemorySpace(type));
  return memrefSubViewOpBuild(b, part, line, 1, &begin, 0, NULL, 0, NULL, mlirDenseI64ArrayGet(b->context, 1, &open),
                              mlirDenseI64ArrayGet(b->context, 1, &count), mlirDenseI64ArrayGet(b->context, 1, &one));
}

//===--- the kernel -------------------------------------------------------------------------------===//

// The kernel being made: behind its inputs come the slots.
typedef struct Making {
  const TileDataLaunch *launch;
  MlirBlock body;
  TileBuilder b; // at the body's begin
  MlirValue *slots, *scalars;
  MlirValue *inKernel; // of each scalar: what was loaded
  intptr_t count;
  TileSlotOf *slotOf;
  void *userData;
} Making;

static void addScalar(void *userData, MlirValue scalar) {
  Making *m = userData;
  for (intptr_t i = 0; i < m->count; ++i)
    if (mlirValueEqual(m->scalars[i], scalar))
      return;
  MlirValue slot = m->slotOf(m->userData, scalar), zero = tileBuildIndex(&m->b, 0);
  MlirValue parameter =
      mlirBlockInsertArgument(m->body, m->launch->numInputs + m->count, mlirValueGetType(slot), m->b.location);
  MlirValue word = memrefLoadOpBuild(&m->b, parameter, 1, &zero);
  m->slots[m->count] = slot;
  m->scalars[m->count] = scalar;
  m->inKernel[m->count++] = arithIndexCastOpBuild(&m->b, mlirIndexTypeGet(m->b.context), word);
}

static MlirValue scalarInKernel(Making *m, MlirValue scalar) {
  for (intptr_t i = 0; i < m->count; ++i)
    if (mlirValueEqual(m->scalars[i], scalar))
      return m->inKernel[i];
  return tileOnlyResult(tileBuilderInsert(&m->b, mlirOperationClone(tileDefiningOp(scalar))));
}

// What the views make of the memory `base`, in the kernel.
static MlirValue viewInKernel(Making *m, MlirValue memref, MlirValue base, MlirValue parameter) {
  if (mlirValueEqual(memref, base))
    return parameter;
  MlirOperation view = tileDefiningOp(memref);
  MlirValue viewed = viewInKernel(m, tileOpViewedMemory(view), base, parameter);
  MlirOperation copy = mlirOperationClone(view);
  (memrefCastOpIsA(copy) ? memrefCastOpSetSource : memrefSubViewOpSetSource)(copy, viewed);
  for (intptr_t i = 1; i < mlirOperationGetNumOperands(copy); ++i)
    mlirOperationSetOperand(copy, i, scalarInKernel(m, mlirOperationGetOperand(copy, i)));
  tileBuilderInsert(&m->b, copy);
  const Building building = {.b = &m->b};
  for (intptr_t i = 0; memrefSubViewOpIsA(copy) && i < memrefSubViewOpGetNumOffsets(copy); ++i)
    assertInside(&building, copy, i);
  return tileOnlyResult(copy);
}

// The parameter of a data place becomes the whole memory.
static MlirValue takePlaceIn(Making *m, intptr_t parameter, MlirValue memref) {
  MlirValue base = tileDataPlaceBase(memref), old = mlirBlockGetArgument(m->body, parameter);
  MlirValue whole = mlirBlockInsertArgument(m->body, parameter + 1, mlirValueGetType(base), m->b.location);
  mlirValueReplaceAllUsesOfWith(old, viewInKernel(m, memref, base, whole));
  mlirBlockEraseArgument(m->body, (unsigned)parameter);
  return base;
}

static void setType(MlirOperation kernel) {
  MlirBlock body = tileKernelBody(kernel);
  intptr_t count = mlirBlockGetNumArguments(body);
  MlirType *types = malloc((size_t)(count + 1) * sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(body, i));
  tileKernelOpSetFunctionType(
      kernel, mlirTypeAttrGet(mlirFunctionTypeGet(mlirOperationGetContext(kernel), count, types, 0, NULL)));
  free(types);
}

bool tileDataPlaceLaunch(TileBuilder *host, MlirOperation module, const TileDataLaunch *launch, TileSlotOf *slotOf,
                         void *userData) {
  intptr_t count = launch->numInputs + launch->numOutputs, room = count * MostViews * MostRank + 1;
  MlirValue *memory = malloc((size_t)(4 * room + count) * sizeof *memory), *operands = memory + 3 * room;
  Making m = {.launch = launch,
              .body = tileKernelBody(launch->kernel),
              .slots = memory,
              .scalars = memory + room,
              .inKernel = memory + 2 * room,
              .slotOf = slotOf,
              .userData = userData};
  m.b = tileBuilderAtStart(m.body, host->location);
  bool isPart = false;
  for (intptr_t i = 0; i < count; ++i)
    tileDataPlaceVisit(launch->operands[i], addScalar, &m);
  for (intptr_t i = 0; i < count; ++i) {
    intptr_t at = i < launch->numInputs ? i : i + m.count;
    bool isData = tileDataPlaceIs(launch->operands[i]);
    operands[at] = isData ? takePlaceIn(&m, at, launch->operands[i]) : launch->operands[i];
    mlirValueSetType(mlirBlockGetArgument(m.body, at), mlirValueGetType(operands[at]));
    isPart |= isData && i >= launch->numInputs;
  }
  for (intptr_t i = 0; i < m.count; ++i)
    operands[launch->numInputs + i] = m.slots[i];
  setType(launch->kernel);
  MlirAttribute symbol = tileTemplateInsert(module, launch->kernel, launch->name);
  MlirOperation made = tileLaunchOpCreate(host, 0, NULL, launch->numGrid, launch->grid, launch->numInputs + m.count,
                                          operands, launch->numOutputs, operands + launch->numInputs + m.count, symbol,
                                          mlirAttributeGetNull(), mlirAttributeGetNull());
  if (!isPart && !mlirAttributeIsNull(launch->overwrites))
    tileOpSetOverwrites(made, launch->overwrites);
  free(memory);
  return true;
}
