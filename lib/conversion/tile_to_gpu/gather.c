// Places that a program computes: tile.gather and tile.scatter, and where the atomics act. Index tiles have the layout
// of the elements, or that of one axis of them (views).
#include "lib/conversion/tile_to_gpu/accesses.h"
#include "lib/conversion/tile_to_gpu/places.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdio.h>

//===--- indices --------------------------------------------------------------------------------===//

MlirValue gpuIsWanted(Gpu *g, const GpuReach *reach, MlirValue mask, intptr_t reg) {
  MlirValue isElement =
      gpuIsTile(reach->type) ? gpuIsElement(g, reach->map, reach->type, AllAxes, reg) : (MlirValue){NULL};
  return gpuBoth(g, isElement, gpuRegisterOf(g, mask, reg));
}

// An index tile of one axis: every element wants the number at its coordinate there.
static const MlirValue *alongAxis(Gpu *g, const GpuReach *reach, MlirValue source, intptr_t axis) {
  MlirType type = mlirValueGetType(source);
  MlirType wanted = tileAlongAxis(reach->type, axis, tileTypeGetElement(type), tileTypeGetSize(type, 0));
  TileLayout layout = gpuLayoutOf(wanted);
  const MlirValue *numbers = gpuTileLike(g, reach->op, source, wanted);
  MlirValue *registers = gpuAllocate(g, (size_t)gpuRegisters(reach->type) * sizeof *registers);
  const Map *map = gpuMap(g, &layout, 1);
  for (intptr_t reg = 0; reg < gpuRegisters(reach->type); ++reg)
    for (intptr_t r = 0; r < gpuRegisters(wanted) && mlirValueIsNull(registers[reg]); ++r)
      if (gpuRegisterCoordinate(map, 0, r) == gpuRegisterCoordinate(reach->map, axis, reg))
        registers[reg] = numbers[r];
  return registers;
}

//===--- reading ----------------------------------------------------------------------------------===//

static int boundsOf(MlirOperation op) {
  if (tileKeywordIs(op, "bounds", "clamp"))
    return GpuClamp;
  return tileKeywordIs(op, "bounds", "drop") ? GpuDrop : GpuTrap;
}

bool gpuReachOf(Gpu *g, MlirOperation op, const char *memory, MlirType type, GpuReach *reach) {
  intptr_t count;
  *reach = (GpuReach){.op = op, .memory = tileOpOperand(op, memory), .type = type};
  reach->bounds = boundsOf(op);
  reach->element = gpuElementType(type);
  reach->layout = gpuLayoutOf(type);
  intptr_t rank = gpuIsTile(type) ? tileTypeGetRank(type) : 0;
  reach->map = gpuMap(g, &reach->layout, rank);
  tileOpOperands(op, "indices", &reach->firstIndex, &count);
  reach->indices = gpuAllocate(g, (size_t)(count + 1) * sizeof *reach->indices);
  bool isView = tileTypeIsAView(mlirValueGetType(reach->memory));
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue index = mlirOperationGetOperand(op, reach->firstIndex + i);
    if (gpuIsTile(mlirValueGetType(index)))
      reach->indices[i] = isView ? alongAxis(g, reach, index, i) : gpuTileLike(g, op, index, type);
  }
  if (gpuIsTile(mlirValueGetType(reach->memory)))
    reach->indices[count] = gpuTileLike(g, op, reach->memory, type);
  return true;
}

//===--- places -------------------------------------------------------------------------------------===//

static MlirValue asIndex(Gpu *g, MlirValue value) { return gpuCast(g, value, g->index, true); }

typedef struct Position {
  MlirValue at, inside;
} Position;

// Bits that a constant mask leaves lie below its next power of two.
static bool isMaskedBelow(MlirValue number, MlirValue size) {
  MlirOperation op = tileDefiningOp(number);
  int64_t mask, limit;
  return arithAndIOpIsA(op) && tileConstantIndex(tileBinaryRhs(op), &mask) && tileConstantIndex(size, &limit) &&
         mask >= 0 && mask < limit;
}

// A number that the program computed, by the op's bounds.
static Position bounded(Gpu *g, const GpuReach *reach, MlirValue number, MlirValue size) {
  Position position = {asIndex(g, number), {NULL}};
  TileBuilder *builder = &g->builder;
  if (isMaskedBelow(number, size))
    return position;
  if (reach->bounds == GpuClamp) {
    MlirValue last = tileBuildSub(builder, size, tileBuildIndex(builder, 1));
    position.at = tileBuildMax(builder, tileBuildMin(builder, position.at, last), tileBuildIndex(builder, 0));
    position.inside = gpuCompare(g, ArithCmpI_Sgt, size, tileBuildIndex(builder, 0));
  } else {
    position.inside = gpuCompare(g, ArithCmpI_Ult, position.at, size);
  }
  return position;
}

// An axis that takes the index of a tile: the element's coordinate in it. `shared`: where the coordinate is the
// thread's and a number, what the number adds to the place; all threads share it, so loops do.
static Position inTile(Gpu *g, const GpuReach *reach, const View *view, intptr_t axis, intptr_t reg, int64_t *shared) {
  TileBuilder *builder = &g->builder;
  int64_t stride = tileViewTypeGetStride(view->type, axis), constant;
  MlirValue tile = gpuScalar(g, mlirOperationGetOperand(reach->op, reach->firstIndex + axis));
  MlirValue origin = tileBuildMul(builder, tile, tileBuildIndex(builder, tileViewTypeGetStep(view->type, axis)));
  MlirValue thread = gpuCoordinateParts(g, reach->map, axis, reg, &constant);
  MlirValue at = gpuCoordinate(g, reach->map, axis, reg);
  at = tileBuildAdd(builder, origin, tileBuildMul(builder, asIndex(g, at), tileBuildIndex(builder, stride)));
  Position position = {at, {NULL}};
  position.inside = gpuCompare(g, ArithCmpI_Ult, at, gpuViewSize(g, view, axis));
  if (mlirValueIsNull(thread) || view->packing)
    return position;
  *shared = constant * stride;
  thread = tileBuildMul(builder, asIndex(g, thread), tileBuildIndex(builder, stride));
  position.at = tileBuildAdd(builder, origin, thread);
  return position;
}

static GpuPlace placeInView(Gpu *g, const GpuReach *reach, const View *view, intptr_t reg) {
  MlirValue positions[MaxRank], rest = tileBuildIndex(&g->builder, 0);
  GpuPlace place = {.inside = view->inside};
  for (intptr_t axis = 0; axis < tileViewTypeGetRank(view->type); ++axis) {
    MlirValue size = gpuViewSize(g, view, axis);
    int64_t shared = 0;
    Position position = reach->indices[axis] ? bounded(g, reach, reach->indices[axis][reg], size)
                                             : inTile(g, reach, view, axis, reg, &shared);
    place.inside = gpuBoth(g, place.inside, position.inside);
    if (reach->indices[axis])
      place.numbers = gpuBoth(g, place.numbers, position.inside);
    positions[axis] = position.at;
    MlirValue stride = view->memory.strides[view->dims[axis]];
    rest = tileBuildAdd(&g->builder, rest, tileBuildMul(&g->builder, tileBuildIndex(&g->builder, shared), stride));
  }
  place.cell = gpuCellInView(g, view, positions, rest);
  return place;
}

static GpuPlace placeInMemref(Gpu *g, const GpuReach *reach, const Memory *memory, intptr_t reg) {
  MlirValue positions[MaxRank];
  GpuPlace place = {.inside = {NULL}};
  bool isChecked = tileHas(reach->op, "bounds");
  for (intptr_t d = 0; d < memory->rank; ++d) {
    MlirValue index = mlirOperationGetOperand(reach->op, reach->firstIndex + d);
    MlirValue number = reach->indices[d] ? reach->indices[d][reg] : gpuScalar(g, index);
    Position position = {asIndex(g, number), {NULL}};
    if (isChecked)
      position = bounded(g, reach, number, memory->sizes[d]);
    place.inside = place.numbers = gpuBoth(g, place.inside, position.inside);
    positions[d] = position.at;
  }
  MlirValue offset = gpuOffset(g, memory, memory->rank, NULL, positions);
  place.cell = gpuCell(g, gpuElementAt(g, memory->base, offset, reach->element), reach->element);
  return place;
}

// An address is a place as it is: 0 is none where elements may be dropped.
static GpuPlace placeAtAddress(Gpu *g, const GpuReach *reach, intptr_t reg) {
  MlirValue address = reach->indices[0] ? reach->indices[0][reg] : gpuScalar(g, reach->memory);
  GpuPlace place = {.inside = {NULL}};
  if (reach->bounds == GpuDrop)
    place.inside = gpuCompare(g, ArithCmpI_Ne, address, gpuInteger(g, g->i64, 0));
  MlirType pointer = mlirLLVMPointerTypeGet(g->context, GlobalSpace);
  place.cell = gpuCell(g, gpuOp(g, LlvmOp_IntToPtr, pointer, address), reach->element);
  return place;
}

GpuPlace gpuPlaceOf(Gpu *g, const GpuReach *reach, intptr_t reg) {
  const Record *record = gpuRecord(g, reach->memory);
  if (record->kind == Record_View)
    return placeInView(g, reach, record->view, reg);
  if (record->kind == Record_Memory)
    return placeInMemref(g, reach, record->memory, reg);
  return placeAtAddress(g, reach, reg);
}

//===--- trap -----------------------------------------------------------------------------------------===//

static void trapOutside(Gpu *g, const GpuReach *reach, MlirValue wanted, MlirValue inside) {
  if (reach->bounds != GpuTrap || mlirValueIsNull(inside))
    return;
  MlirValue isWrong = gpuNot(g, inside);
  GpuIf branch = gpuIf(g, gpuBoth(g, isWrong, wanted), 0, NULL);
  MlirStringRef name = tileOpName(reach->op);
  char text[96];
  snprintf(text, sizeof text, "%.*s: an index is out of bounds", (int)name.length, name.data);
  gpuFail(g, text);
  gpuEndIf(g, &branch, 0, NULL, NULL);
}

//===--- gather -----------------------------------------------------------------------------------------===//

// Whole vectors where the fast axis of a view is not gathered are left to later; LLVM merges neighbouring loads.
static bool lowerGather(Gpu *g, MlirOperation op) {
  MlirValue source = tileGatherOpGetSource(op), result = tileGatherOpGetResult(op);
  if (tileHas(op, "axis"))
    return gpuMustExchange(op);
  GpuReach reach;
  MlirValue mask = tileOpOperand(op, "mask"), other = tileOpOperand(op, "other"), padding = {NULL};
  if (!gpuReachOf(g, op, "source", mlirValueGetType(result), &reach))
    return false;
  MlirValue *registers = gpuRecordTile(g, result);
  const Record *record = gpuRecord(g, source);
  padding = record->kind == Record_View ? gpuPadding(g, record->view) : gpuZero(g, reach.element);
  for (intptr_t reg = 0; reg < gpuRegisters(reach.type); ++reg) {
    GpuPlace place = gpuPlaceOf(g, &reach, reg);
    MlirValue wanted = gpuIsWanted(g, &reach, mask, reg);
    trapOutside(g, &reach, wanted, place.numbers);
    MlirValue there = gpuBoth(g, wanted, place.inside);
    MlirValue missing = mlirValueIsNull(other) ? padding : gpuRegisterOf(g, other, reg);
    registers[reg] = gpuCellLoad(g, &place.cell, there, missing);
  }
  return true;
}

//===--- scatter ------------------------------------------------------------------------------------------===//

static bool lowerScatter(Gpu *g, MlirOperation op) {
  MlirValue value = tileScatterOpGetValue(op), mask = tileOpOperand(op, "mask");
  GpuReach reach;
  if (!gpuReachOf(g, op, "destination", mlirValueGetType(value), &reach))
    return false;
  MlirAttribute combine = tileOpAttribute(op, "combine");
  MlirValue owner = gpuIsOwnerOf(g, reach.type);
  for (intptr_t reg = 0; reg < gpuRegisters(reach.type); ++reg) {
    if (tileIsFreeRegister(&reach.layout, reg))
      continue;
    GpuPlace place = gpuPlaceOf(g, &reach, reg);
    MlirValue wanted = gpuBoth(g, owner, gpuIsWanted(g, &reach, mask, reg));
    MlirValue one = gpuRegisterOf(g, value, reg);
    trapOutside(g, &reach, wanted, place.numbers);
    wanted = gpuBoth(g, wanted, place.inside);
    GpuIf branch = gpuIf(g, wanted, 0, NULL);
    if (mlirAttributeIsNull(combine))
      gpuCellStoreOneOf(g, &place.cell, one);
    else if (!gpuCombineInMemory(g, op, &place.cell, one))
      return false;
    gpuEndIf(g, &branch, 0, NULL, NULL);
  }
  return true;
}

const GpuRow gpuGatherRows[] = {{TileOp_Gather, lowerGather}, {TileOp_Scatter, lowerScatter}, {.lower = NULL}};
