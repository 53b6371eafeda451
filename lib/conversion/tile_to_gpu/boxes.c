// Copies by an engine that moves boxes of tensors (TMA), both ways: one thread starts them. The tensor is a parameter
// of the kernel, whose map the runtime encodes at the launch as a hidden parameter (docs/gpu.md); what memory and
// layout must be like is checked here.
#include "lib/conversion/tile_to_gpu/asynchronous.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/questions.h"
#include "lib/layout/box.h"
#include "lib/support/tensor_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdlib.h>

//===--- questions ----------------------------------------------------------------------------===//

typedef struct Boxes {
  MlirOperation op;
  bool toBuffer;
  const Buffer *buffer;
  const View *view;
  const Memory *tensor; // of the view, all dimensions
  TileBoxPlan plan;
  int64_t bytes; // of an element
} Boxes;

// Past the edge the engine writes zeros or nans.
static bool expectPadding(const Boxes *boxes) {
  MlirType element = tileViewTypeGetElementType(boxes->view->type);
  MlirStringRef pad = tileViewTypeGetPad(boxes->view->type);
  bool isNan = mlirTypeIsAFloat(element) && tileStringEquals(pad, "nan");
  return !boxes->toBuffer || isNan || tileStringEquals(pad, "zero") ||
         tileError(boxes->op, "pads with %.*s; engine \"tma\" fills with zero or nan", (int)pad.length, pad.data);
}

// The tile's axis of a dimension of the tensor; -1: it is fixed.
static intptr_t axisOf(const Boxes *boxes, intptr_t dimension) {
  for (intptr_t axis = 0; axis < tileTypeGetRank(boxes->view->type); ++axis)
    if (boxes->view->dims[axis] == dimension)
      return axis;
  return -1;
}

static bool planBoxes(Gpu *g, Boxes *boxes) {
  uint32_t axes[MaxRank], count = 0;
  TileError error;
  for (intptr_t d = boxes->tensor->rank; d-- > 0;)
    if (axisOf(boxes, d) >= 0)
      axes[count++] = (uint32_t)axisOf(boxes, d);
  if (!count || axisOf(boxes, boxes->tensor->rank - 1) < 0)
    return tileError(boxes->op, "copies boxes of a view that fixes the tensor's last dimension");
  if (!tileBoxPlan(&boxes->buffer->layout, axes, count, (uint32_t)boxes->bytes, tileLargestBox(g->machine),
                   &boxes->plan, &error))
    return tileError(boxes->op, "the buffer's layout does not suit engine \"tma\": %s", error.text);
  return gpuExpectAligned(boxes->op, boxes->buffer, tileBoxAlignment(&boxes->plan), boxes->plan.swizzleBytes,
                          "copies boxes of a buffer that");
}

static bool readBoxes(Gpu *g, MlirOperation op, Boxes *boxes) {
  MlirValue ends[] = {tileOpOperand(op, "source"), tileOpOperand(op, "destination")};
  *boxes = (Boxes){.op = op, .toBuffer = tileTypeIsAView(mlirValueGetType(ends[0]))};
  boxes->buffer = gpuBufferOf(g, op, ends[boxes->toBuffer]);
  if (!boxes->buffer)
    return false;
  boxes->view = gpuRecord(g, ends[!boxes->toBuffer])->view;
  boxes->tensor = gpuRecord(g, tileViewOpGetSource(boxes->view->op))->memory;
  boxes->bytes = tileStoredBytes(boxes->view->memory.element);
  TileError error;
  return (tileSuitsBoxEngine(g->machine, boxes->view->op, &error) || tileError(op, "%s", error.text)) &&
         expectPadding(boxes) && planBoxes(g, boxes);
}

//===--- the map ------------------------------------------------------------------------------===//

static int64_t elementOf(MlirType element, int64_t bytes) {
  return mlirTypeIsAF16(element)    ? TESSERA_MAP_F16
         : mlirTypeIsABF16(element) ? TESSERA_MAP_BF16
         : mlirTypeIsAF32(element)  ? TESSERA_MAP_F32
         : mlirTypeIsAF64(element)  ? TESSERA_MAP_F64
         : bytes == 1               ? TESSERA_MAP_I8
         : bytes == 2               ? TESSERA_MAP_I16
         : bytes == 4               ? TESSERA_MAP_I32
                                    : TESSERA_MAP_I64;
}

static MlirAttribute describe(Gpu *g, const Boxes *boxes) {
  int64_t numbers[4 + MaxRank] = {mlirBlockArgumentGetArgNumber(boxes->tensor->root),
                                  elementOf(boxes->tensor->element, boxes->bytes), boxes->plan.swizzleBytes,
                                  tileStringEquals(tileViewTypeGetPad(boxes->view->type), "nan")};
  intptr_t rank = boxes->tensor->rank;
  for (intptr_t i = 0; i < rank; ++i) {
    intptr_t axis = axisOf(boxes, rank - 1 - i);
    numbers[4 + i] = axis < 0 ? 1 : boxes->plan.box[axis];
  }
  return mlirDenseI64ArrayGet(g->context, 4 + rank, numbers);
}

static MlirValue mapFor(Gpu *g, const Boxes *boxes) {
  MlirAttribute what = describe(g, boxes);
  for (TensorMap *map = g->tensorMaps; map; map = map->next)
    if (mlirAttributeEqual(map->what, what))
      return map->argument;
  TensorMap *map = gpuAllocate(g, sizeof *map);
  MlirType pointer = mlirLLVMPointerTypeGet(g->context, 0);
  *map = (TensorMap){g->tensorMaps, what, mlirBlockAddArgument(g->body, pointer, g->builder.location)};
  g->tensorMaps = map;
  return map->argument;
}

static MlirNamedAttribute entry(MlirContext context, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, tileString(name)), value);
}

// What the launch copies into the parameters' memory, where the engine reads it: 128 bytes at a multiple of 64.
static MlirAttribute mapParameter(MlirContext context) {
  MlirType bytes = mlirLLVMArrayTypeGet(mlirIntegerTypeGet(context, 8), 128);
  const MlirNamedAttribute entries[] = {
      entry(context, "llvm.byval", mlirTypeAttrGet(bytes)),
      entry(context, "llvm.align", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), 64)),
      entry(context, "nvvm.grid_constant", mlirUnitAttrGet(context)),
  };
  return mlirDictionaryAttrGet(context, sizeof entries / sizeof *entries, entries);
}

// All parameters of the function as they are now, those of maps with what makes them bytes of the launch.
void gpuFinishTensorMaps(Gpu *g) {
  intptr_t count = mlirBlockGetNumArguments(g->body), maps = 0;
  if (!g->tensorMaps)
    return;
  MlirType *types = malloc((size_t)count * sizeof *types);
  MlirAttribute *attributes = malloc((size_t)count * sizeof *attributes);
  for (TensorMap *map = g->tensorMaps; map; map = map->next)
    ++maps;
  MlirAttribute *whats = malloc((size_t)maps * sizeof *whats), *what = whats + maps;
  for (TensorMap *map = g->tensorMaps; map; map = map->next)
    *--what = map->what;
  for (intptr_t i = 0; i < count; ++i) {
    types[i] = mlirValueGetType(mlirBlockGetArgument(g->body, i));
    attributes[i] = i < count - maps ? mlirDictionaryAttrGet(g->context, 0, NULL) : mapParameter(g->context);
  }
  MlirType type = mlirLLVMFunctionTypeGet(mlirLLVMVoidTypeGet(g->context), count, types, false);
  mlirOperationSetAttributeByName(g->function, tileString("function_type"), mlirTypeAttrGet(type));
  mlirOperationSetAttributeByName(g->function, tileString("arg_attrs"),
                                  mlirArrayAttrGet(g->context, count, attributes));
  tileOpSetTensorMaps(g->function, mlirArrayAttrGet(g->context, maps, whats));
  free(types);
  free(attributes);
  free(whats);
}

//===--- copies -------------------------------------------------------------------------------===//

// Where the view's tile begins in the tensor, the fastest dimension first, i32.
static void originOf(Gpu *g, const Boxes *boxes, MlirValue *origin) {
  intptr_t first, count, rank = boxes->tensor->rank, fixed = 0;
  tileOpOperands(boxes->op, "indices", &first, &count);
  for (intptr_t d = 0; d < rank; ++d) {
    intptr_t axis = axisOf(boxes, d);
    MlirValue at = axis < 0 ? gpuScalar(g, tileViewOpGetIndices(boxes->view->op, fixed++))
                            : gpuScalar(g, mlirOperationGetOperand(boxes->op, first + axis));
    int64_t step = axis < 0 ? 1 : tileViewTypeGetStep(boxes->view->type, axis);
    origin[rank - 1 - d] = gpuMul(g, gpuCast(g, at, g->i32, true), gpuI32(g, step));
  }
}

// The blocks in this one's row along the axes of `multicast`, a bit for each; null where it is this one only.
static MlirValue receivers(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = g->vocabulary->engines;
  bool isAlong[3] = {false};
  int64_t mask = 1, stride = 1;
  MlirValue first = {NULL}; // of the row
  for (intptr_t i = 0; i < tileArrayCount(op, "multicast"); ++i)
    isAlong[tileArrayAt(op, "multicast", i)] = true;
  for (int axis = 0; axis < 3; stride *= g->cluster[axis++]) {
    int64_t row = mask;
    for (int64_t i = 1; i < g->cluster[axis] && isAlong[axis]; ++i)
      mask |= row << i * stride;
    if (!isAlong[axis] && g->cluster[axis] > 1)
      first = gpuAdd(g, first, gpuMul(g, engines->clusterPlace(&g->builder, axis), gpuI32(g, stride)));
  }
  if (mask == 1)
    return (MlirValue){NULL};
  MlirValue bits = gpuI32(g, mask);
  if (!mlirValueIsNull(first))
    bits = gpuBinary(g, ArithOp_ShLI, bits, first);
  return gpuCast(g, bits, mlirIntegerTypeGet(g->context, 16), false);
}

static void copyBox(Gpu *g, const Boxes *boxes, uint64_t n, MlirValue map, const MlirValue *origin, MlirValue barrier,
                    MlirValue blocks) {
  const GpuEngines *engines = g->vocabulary->engines;
  TileLayoutPoint begin = tileBoxOrigin(&boxes->plan, n);
  intptr_t rank = boxes->tensor->rank;
  MlirValue at[TESSERA_MAP_RANK];
  for (intptr_t i = 0; i < rank; ++i) {
    intptr_t axis = axisOf(boxes, rank - 1 - i);
    at[i] = gpuAdd(g, origin[i], gpuI32(g, axis < 0 ? 0 : begin.at[axis]));
  }
  MlirValue shared = gpuAddress(g, boxes->buffer->base, gpuI32(g, (int64_t)(n * boxes->plan.bytes)));
  if (boxes->toBuffer)
    engines->copyBoxIn(&g->builder, shared, map, rank, at, barrier, blocks);
  else
    engines->copyBoxOut(&g->builder, map, shared, rank, at);
}

bool gpuCopyBoxes(Gpu *g, MlirOperation op) {
  Boxes boxes;
  const GpuEngines *engines = gpuEngines(g, op);
  if (!engines || !readBoxes(g, op, &boxes))
    return false;
  bool signals = !mlirOperationGetNumResults(op);
  if (signals != boxes.toBuffer)
    return tileError(op, boxes.toBuffer ? "copies into a buffer by engine \"tma\", which must signal a barrier"
                                        : "copies out of a buffer by engine \"tma\", which signals no barrier");
  if (tileHas(op, "multicast") && !signals)
    return tileError(op, "copies out of a buffer to several blocks of a cluster; expected a copy into a buffer");
  MlirValue barrier = {NULL}, map = mapFor(g, &boxes), origin[MaxRank];
  GpuIf elected = gpuIf(g, gpuIsElected(g), 0, NULL);
  if (signals)
    barrier = gpuBarrierOf(g, tileOpOperand(op, "barrier"), tileOpOperand(op, "use"));
  originOf(g, &boxes, origin);
  MlirValue blocks = receivers(g, op);
  for (uint64_t n = 0; n < boxes.plan.count; ++n)
    copyBox(g, &boxes, n, map, origin, barrier, blocks);
  if (!signals)
    engines->commitBoxes(&g->builder);
  gpuEndIf(g, &elected, 0, NULL, NULL);
  if (!signals)
    gpuRecordNew(g, tileCopyAsyncOpGetToken(op), Record_Token);
  return true;
}

bool gpuWaitBoxes(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = gpuEngines(g, op);
  int64_t pending = 0;
  if (!engines)
    return false;
  tileIntegerOf(op, "pending", &pending);
  GpuIf elected = gpuIf(g, gpuIsElected(g), 0, NULL);
  engines->waitBoxes(&g->builder, pending, tileHas(op, "read"));
  gpuEndIf(g, &elected, 0, NULL, NULL);
  return true;
}
