// convert-cuda-tile-to-tt: kernels of CUDA Tile IR become kernels of TTIR. Expects: a module of cuda_tile.entry ops.
// Leaves: a tt.func for each, verified; no op of cuda_tile. An op without a conversion is an error.
// Why: both languages have tiles, pointers and descriptors, so one conversion to tile serves both, and kernels of
// cuTile can be given to Triton as well. Cost: linear in the ops.
#include "lib/conversion/cuda_tile_to_tt/cuda_tile_kernel.h"
#include "lib/ir/pass.h"
#include "upstream/builtin.h"

#include <stdlib.h>

//===--- values ---------------------------------------------------------------------===//

static void freeKernel(CudaTileKernel *k) {
  tileArenaFree(&k->arena);
  tileTableFree(&k->values);
  tileTableFree(&k->tensors);
}

void cudaTileSet(CudaTileKernel *k, MlirValue old, MlirValue value) {
  tileTableSet(&k->values, old.ptr, (void *)value.ptr);
}

MlirValue cudaTileGet(CudaTileKernel *k, MlirValue old) {
  MlirValue value = {tileTableFind(&k->values, old.ptr)};
  if (mlirValueIsNull(value))
    tileErrorAt(k->b.location, "takes a value of type %s that has no conversion",
                tileTypeText(mlirValueGetType(old), (char[128]){0}, 128));
  return value;
}

bool cudaTileGetAll(CudaTileKernel *k, intptr_t count, MlirValue (*at)(MlirOperation op, intptr_t i), MlirOperation op,
                    MlirValue *values) {
  for (intptr_t i = 0; i < count; ++i)
    if (mlirValueIsNull(values[i] = cudaTileGet(k, at(op, i))))
      return false;
  return true;
}

const CudaTileTensor *cudaTileGetTensor(CudaTileKernel *k, MlirValue old) {
  const CudaTileTensor *tensor = tileTableFind(&k->tensors, old.ptr);
  if (!tensor)
    tileErrorAt(k->b.location, "takes a view that control flow chooses, expected one that the kernel makes");
  return tensor;
}

//===--- types ------------------------------------------------------------------------===//

static MlirType convertElement(MlirType element) {
  if (cudaTileTypeIsAPointer(element)) {
    MlirType pointee = convertElement(cudaTilePointerTypeGetPointee(element));
    return mlirTypeIsNull(pointee) ? pointee : ttPointerTypeGet(pointee);
  }
  return mlirTypeIsATF32(element) ? mlirF32TypeGet(mlirTypeGetContext(element)) : element;
}

MlirType cudaTileConvertType(MlirType old) {
  MlirExtShape shape;
  if (!mlirTypeIsARankedTensor(old) || !mlirExtTypeGetShape(old, &shape))
    return (MlirType){NULL};
  MlirType element = convertElement(shape.element);
  if (mlirTypeIsNull(element) || shape.rank == 0)
    return element;
  return mlirRankedTensorTypeGet(shape.rank, shape.sizes, element, mlirAttributeGetNull());
}

MlirType cudaTileElement(MlirType type) {
  return mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
}

MlirType cudaTileShaped(MlirType like, MlirType element) {
  MlirExtShape shape;
  if (!mlirTypeIsARankedTensor(like) || !mlirExtTypeGetShape(like, &shape))
    return element;
  return mlirRankedTensorTypeGet(shape.rank, shape.sizes, element, mlirAttributeGetNull());
}

MlirValue cudaTileSplat(CudaTileKernel *k, MlirValue scalar, MlirType type) {
  return mlirTypeIsARankedTensor(type) ? ttSplatOpBuild(&k->b, type, scalar) : scalar;
}

MlirAttribute cudaTileI32(CudaTileKernel *k, int64_t value) { return tileBuildEnum(&k->b, 32, value); }
bool cudaTileWordIs(MlirAttribute word, const char *text) {
  return !mlirAttributeIsNull(word) && tileStringEquals(mlirStringAttrGetValue(word), text);
}

//===--- ops --------------------------------------------------------------------------===//

static bool convertOp(CudaTileKernel *k, MlirOperation op) {
  static const TileConvertOp conversions[] = {cudaTileArithmetic, cudaTileProducts, cudaTileShapes,  cudaTileParts,
                                              cudaTileMemory,     cudaTileViews,    cudaTileControl, NULL};
  bool isKnown;
  k->b.location = mlirOperationGetLocation(op);
  return tileConvertBy(conversions, k, op, &isKnown) && (isKnown || tileError(op, "has no conversion to tt"));
}

bool cudaTileConvertBlock(CudaTileKernel *k, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block);
  k->isDead = false;
  for (; !mlirOperationIsNull(op) && !k->isDead; op = mlirOperationGetNextInBlock(op))
    if (!convertOp(k, op))
      return false;
  return true;
}

//===--- kernels ------------------------------------------------------------------------===//

// What `assume` says of a parameter: its divisor.
static int64_t divisorOf(MlirValue parameter) {
  int64_t divisor = 1;
  for (MlirOpOperand use = mlirValueGetFirstUse(parameter); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (!cudaTileAssumeOpIsA(op))
      continue;
    CudaTileAssumption of = cudaTileAssumptionAttrGetSpec(cudaTileAssumeOpGetPredicate(op));
    if (of.kind == CudaTileAssumption_DivBy && !of.hasFirst && !of.hasSecond && of.divisor > divisor)
      divisor = of.divisor;
  }
  return divisor;
}

static MlirAttribute parameterAttributes(CudaTileKernel *k, MlirValue parameter) {
  int64_t divisor = divisorOf(parameter);
  MlirNamedAttribute named =
      mlirNamedAttributeGet(mlirIdentifierGet(k->b.context, tileString("tt.divisibility")), cudaTileI32(k, divisor));
  return mlirDictionaryAttrGet(k->b.context, divisor > 1 && divisor <= INT32_MAX, &named);
}

static bool convertEntry(MlirOperation entry, bool usesPointers) {
  MlirBlock old = mlirRegionGetFirstBlock(cudaTileEntryOpGetBody(entry));
  intptr_t count = mlirBlockGetNumArguments(old);
  TileBuilder b = tileBuilderBefore(entry);
  MlirType *types = calloc((size_t)count + 1, sizeof *types);
  MlirAttribute *attributes = calloc((size_t)count + 1, sizeof *attributes);
  CudaTileKernel k = {.b = b, .entry = entry, .usesPointers = usesPointers};
  bool ok = true;
  for (intptr_t i = 0; ok && i < count; ++i) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(old, i));
    types[i] = cudaTileConvertType(type);
    ok = (!mlirTypeIsNull(types[i]) && !mlirTypeIsARankedTensor(types[i])) ||
         tileError(entry, "parameter %ld is %s, expected a tile of rank 0", (long)i,
                   tileTypeText(type, (char[128]){0}, 128));
    attributes[i] = parameterAttributes(&k, mlirBlockGetArgument(old, i));
  }
  if (ok) {
    MlirRegion body;
    k.b = tileBuilderInRegion(&b, &body, count, types);
    for (intptr_t i = 0; i < count; ++i)
      cudaTileSet(&k, mlirBlockGetArgument(old, i), mlirBlockGetArgument(k.b.block, i));
    ok = cudaTileConvertBlock(&k, old);
    if (ok)
      ttFuncOpCreate(&b, cudaTileEntryOpGetSymName(entry), mlirAttributeGetNull(),
                     mlirTypeAttrGet(mlirFunctionTypeGet(b.context, count, types, 0, NULL)),
                     mlirArrayAttrGet(b.context, count, attributes), mlirAttributeGetNull(), body);
    else
      mlirRegionDestroy(body);
  }
  freeKernel(&k);
  free(attributes);
  free(types);
  if (ok)
    mlirOperationDestroy(entry);
  return ok;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps entries = tileCollectOps(module, cudaTileEntryOpIsA), globals = tileCollectOps(module, cudaTileGlobalOpIsA);
  bool ok = !globals.count || tileError(globals.items[0], "has no conversion to tt");
  for (intptr_t i = 0; ok && i < entries.count; ++i)
    ok = convertEntry(entries.items[i], mlirExtPassGetBool(pass, "pointers"));
  tileOpsFree(&globals);
  tileOpsFree(&entries);
  return ok && mlirOperationVerify(module);
}

const MlirExtPassDefinition tileCudaTileToTtPass = {
    .argument = "convert-cuda-tile-to-tt",
    .summary = "Convert kernels of CUDA Tile IR to kernels of TTIR",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            {"pointers", "access views through pointers only, for targets without descriptors", MlirExtOption_Bool,
             "false"},
            {NULL},
        },
    .dialects = (const char *const[]){"scf", "arith", "math", "cf", NULL},
    .registerDialects = ttRegisterDialect,
    .run = run,
};
