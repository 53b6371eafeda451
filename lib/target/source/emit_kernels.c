// Emits a file of CUDA C++ or HIP from the gpu.module of a program: its kernels, each with the text that it had as a
// tile kernel, and the functions and helpers that they call. See source.h.
#include "lib/target/source/source.h"

#include "dialects/tile/tile.h"
#include "lib/ir/support.h"
#include "lib/target/device_code.h"
#include "upstream/gpu.h"
#include "upstream/llvm.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdlib.h>
#include <string.h>

enum { MaxParameters = 256, SharedSpace = 3, StaticSharedBytes = 48 * 1024 };

typedef struct File {
  SourceWriter *writer;
  MlirOperation module, device;
} File;

static const char *nameOf(SourceWriter *w, MlirOperation symbol) {
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(symbol, "sym_name"));
  return tileArenaString(&w->arena, name.data, name.length);
}

static bool isKernel(MlirOperation function) { return !mlirAttributeIsNull(tileOpAttribute(function, "gpu.kernel")); }

//===--- parameters -----------------------------------------------------------------------------------------===//

// The launch of a kernel; null: none.
static MlirOperation launchOf(const File *file, const char *kernel) {
  TileOps launches = tileCollectOps(file->module, gpuLaunchFuncOpIsA);
  MlirOperation found = {NULL};
  for (intptr_t i = 0; i < launches.count; ++i) {
    MlirAttribute symbol = gpuLaunchFuncOpGetKernel(launches.items[i]);
    MlirStringRef name = mlirSymbolRefAttrGetLeafReference(symbol);
    if (tileStringEquals(name, kernel))
      found = launches.items[i];
  }
  tileOpsFree(&launches);
  return found;
}

// The element types of the arrays that the launch gives, in order, if there is one for each pointer.
static void elementTypes(const File *file, const char *kernel, MlirBlock body, MlirType *types) {
  MlirOperation launch = launchOf(file, kernel);
  intptr_t numPointers = 0, numArrays = 0;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    numPointers += mlirTypeIsALLVMPointerType(mlirValueGetType(mlirBlockGetArgument(body, i)));
  for (intptr_t i = 0; !mlirOperationIsNull(launch) && i < mlirOperationGetNumOperands(launch); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(launch, i));
    if (mlirTypeIsAMemRef(type) && numArrays < MaxParameters)
      types[numArrays++] = mlirShapedTypeGetElementType(type);
  }
  if (numArrays != numPointers)
    memset(types, 0, MaxParameters * sizeof *types);
}

static bool hasArgumentAttribute(MlirOperation function, intptr_t index, const char *name) {
  MlirAttribute all = tileOpAttribute(function, "arg_attrs");
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) || index >= mlirArrayAttrGetNumElements(all))
    return false;
  MlirAttribute one = mlirArrayAttrGetElement(all, index);
  return mlirAttributeIsADictionary(one) &&
         !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(one, tileString(name)));
}

// "float *a0, uint64_t n1"; pointers are bytes in the body. Null after an error.
static const char *parametersOf(const File *file, MlirOperation function, MlirBlock body, const char **casts) {
  SourceWriter *w = file->writer;
  MlirType elements[MaxParameters] = {{NULL}};
  intptr_t numPointers = 0, count = mlirBlockGetNumArguments(body);
  const char *text = "";
  *casts = "";
  if (count > MaxParameters) {
    tileError(function, "cannot be written in %s: %d parameters", w->language->name, (int)count);
    return NULL;
  }
  elementTypes(file, nameOf(w, function), body, elements);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue value = mlirBlockGetArgument(body, i);
    MlirType type = mlirValueGetType(value);
    const char *comma = i ? ", " : "", *name = tileSourceType(w, type, function);
    if (!name)
      return NULL;
    if (hasArgumentAttribute(function, i, "llvm.byval") || hasArgumentAttribute(function, i, "nvvm.grid_constant")) {
      tileError(function, "cannot be written in %s: a parameter that is a map of a tensor (TMA)", w->language->name);
      return NULL;
    }
    bool isPointer = mlirTypeIsALLVMPointerType(type);
    MlirType element = isPointer ? elements[numPointers++] : (MlirType){NULL};
    const char *star = isPointer && hasArgumentAttribute(function, i, "llvm.noalias") ? "*__restrict__ " : "*";
    if (!isPointer)
      text = tileArenaPrintf(&w->arena, "%s%s%s n%d", text, comma, name, (int)i);
    else
      text = tileArenaPrintf(&w->arena, "%s%s%s %sa%d", text, comma,
                             mlirTypeIsNull(element) ? "char" : tileSourceType(w, element, function), star, (int)i);
    tileSourceSetText(w, value, tileArenaPrintf(&w->arena, "%c%d", isPointer ? 'p' : 'n', (int)i), true, false);
    if (isPointer && !mlirOpOperandIsNull(mlirValueGetFirstUse(value)))
      *casts = tileArenaPrintf(&w->arena, "%s  char *p%d = (char *)a%d;\n", *casts, (int)i, (int)i);
  }
  w->numValues = (int)count;
  return text;
}

//===--- shared memory and constants --------------------------------------------------------------------------===//

// The size of an array of bytes; 0 for any other type.
static int64_t bytesOfArray(MlirType type) {
  int64_t count = tileLlvmArraySize(type);
  MlirType element = count > 0 ? mlirLLVMArrayTypeGetElementType(type) : type;
  return count > 0 && mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 8 ? count : 0;
}

static MlirWalkResult findUse(MlirOperation op, void *userData) {
  MlirStringRef *name = userData;
  if (!llvmAddressOfOpIsA(op) ||
      !mlirStringRefEqual(*name, mlirFlatSymbolRefAttrGetValue(tileOpAttribute(op, "global_name"))))
    return MlirWalkResultAdvance;
  *name = tileString("");
  return MlirWalkResultInterrupt;
}

// The shared arrays that the function uses. What a kernel cannot declare is given at the launch.
static bool declareShared(const File *file, MlirOperation function, const char **text, int64_t *dynamicBytes) {
  SourceWriter *w = file->writer;
  TileOps globals = tileCollectOps(file->device, llvmGlobalOpIsA);
  bool ok = true;
  for (intptr_t i = 0; i < globals.count && ok; ++i) {
    MlirOperation global = globals.items[i];
    const char *name = nameOf(w, global);
    MlirStringRef sought = tileString(name);
    mlirOperationWalk(function, findUse, &sought, MlirWalkPreOrder);
    MlirAttribute value = tileOpAttribute(global, "value");
    if (sought.length || (!mlirAttributeIsNull(value) && mlirAttributeIsAString(value)))
      continue;
    MlirAttribute space = tileOpAttribute(global, "addr_space"), alignment = tileOpAttribute(global, "alignment");
    int64_t bytes = bytesOfArray(mlirTypeAttrGetValue(tileOpAttribute(global, "global_type")));
    if (mlirAttributeIsNull(space) || mlirIntegerAttrGetValueInt(space) != SharedSpace || !bytes) {
      ok = tileError(global, "cannot be written in %s: a global that is no array in shared memory", w->language->name);
      continue;
    }
    int align = mlirAttributeIsNull(alignment) ? 16 : (int)mlirIntegerAttrGetValueInt(alignment);
    bool isDynamic = bytes > StaticSharedBytes;
    if (isDynamic)
      *dynamicBytes = bytes;
    *text = isDynamic
                ? tileArenaPrintf(&w->arena, "%s  extern __shared__ __align__(%d) char %s[];\n", *text, align, name)
                : tileArenaPrintf(&w->arena, "%s  __shared__ __align__(%d) char %s[%lld];\n", *text, align, name,
                                  (long long)bytes);
  }
  tileOpsFree(&globals);
  return ok;
}

//===--- functions --------------------------------------------------------------------------------------------===//

static int64_t firstOf(MlirOperation function, const char *attribute) {
  MlirAttribute value = tileOpAttribute(function, attribute);
  int64_t threads = 1;
  if (mlirAttributeIsNull(value))
    return 0;
  if (mlirAttributeIsAInteger(value))
    return mlirIntegerAttrGetValueInt(value);
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(value); ++i)
    threads *= mlirDenseI32ArrayGetElement(value, i);
  return threads;
}

// The threads of a block, and as many blocks at once as leave each thread the registers that the kernel may have.
static const char *boundsOf(SourceWriter *w, MlirOperation function) {
  enum { RegistersOfBlock = 65536 };
  int64_t threads = firstOf(function, "nvvm.reqntid"), registers = firstOf(function, "nvvm.maxnreg");
  threads = threads ? threads : firstOf(function, "rocdl.reqd_work_group_size");
  if (!threads)
    return "";
  if (!registers)
    return tileArenaPrintf(&w->arena, "__launch_bounds__(%d) ", (int)threads);
  return tileArenaPrintf(&w->arena, "__launch_bounds__(%d, %d) ", (int)threads,
                         (int)(RegistersOfBlock / (threads * registers)));
}

// The text of the tile kernel and how it is launched, as a comment; ? is a size that only the launch knows.
static void writeComment(const File *file, const char *name, int64_t dynamicBytes) {
  SourceWriter *w = file->writer;
  tileSourceWriteKernelText(w, file->module, name);
  MlirOperation launch = launchOf(file, name);
  if (mlirOperationIsNull(launch))
    return;
  MlirValue sizes[] = {gpuLaunchFuncOpGetGridSizeX(launch),  gpuLaunchFuncOpGetGridSizeY(launch),
                       gpuLaunchFuncOpGetGridSizeZ(launch),  gpuLaunchFuncOpGetBlockSizeX(launch),
                       gpuLaunchFuncOpGetBlockSizeY(launch), gpuLaunchFuncOpGetBlockSizeZ(launch)};
  fprintf(w->out, "// Launch: grid");
  for (int i = 0; i < 6; ++i) {
    int64_t size;
    fprintf(w->out, "%s", i == 0 ? " (" : i == 3 ? "), block (" : ", ");
    if (tileConstantIndex(sizes[i], &size))
      fprintf(w->out, "%lld", (long long)size);
    else
      fputc('?', w->out);
  }
  fprintf(w->out, "), dynamic shared memory %lld bytes.\n", (long long)dynamicBytes);
}

static bool writeFunction(const File *file, MlirOperation function) {
  SourceWriter *w = file->writer;
  MlirRegion region = mlirOperationGetRegion(function, 0);
  MlirBlock body = mlirRegionGetFirstBlock(region);
  const char *name = nameOf(w, function), *casts, *shared = "";
  int64_t dynamicBytes = 0;
  if (mlirBlockIsNull(body)) // calls of it are checked
    return true;
  const char *parameters = parametersOf(file, function, body, &casts);
  if (!parameters || !declareShared(file, function, &shared, &dynamicBytes))
    return false;
  if (isKernel(function)) {
    fputc('\n', w->out);
    writeComment(file, name, dynamicBytes);
    fprintf(w->out, "extern \"C\" __global__ void %s%s(%s) {\n%s%s", boundsOf(w, function),
            tileSourceFunctionName(w, function, "kernel"), parameters, shared, casts);
  } else {
    MlirType type = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
    type = mlirLLVMFunctionTypeGetReturnType(type);
    const char *result = tileSourceType(w, type, function);
    if (!result)
      return false;
    fprintf(w->out, "\n__device__ __forceinline__ %s %s(%s) {\n%s", result, name, parameters, casts);
  }
  return tileSourceWriteBody(w, function, region);
}

static bool writeFunctions(const File *file, bool areKernels) {
  TileOps functions = tileCollectOps(file->device, llvmLLVMFuncOpIsA);
  bool ok = true;
  for (intptr_t i = 0; i < functions.count && ok; ++i)
    ok = isKernel(functions.items[i]) != areKernels || writeFunction(file, functions.items[i]);
  tileOpsFree(&functions);
  return ok;
}

//===--- the file ---------------------------------------------------------------------------------------------===//

static bool writeAll(void *userData) { return writeFunctions(userData, false) && writeFunctions(userData, true); }

bool tileSourceEmitDevice(const TileTranslation *translation, const SourceLanguage *language, TileArtifact *artifact,
                          tessera_error_t *error) {
  TileOps modules = tileCollectOps(translation->module, gpuGPUModuleOpIsA);
  SourceWriter writer = {.language = language, .hasLines = translation->hasLines};
  bool ok = modules.count == 1 ||
            tessera_fail(error, "the program has %s",
                         modules.count ? "several modules of device code" : "no kernel, so no device code");
  if (ok) {
    File file = {&writer, translation->module, modules.items[0]};
    ok = tileSourceWriteFile(&writer, writeAll, &file, artifact, error);
  }
  tileOpsFree(&modules);
  tileSourceFreeWriter(&writer);
  return ok;
}

//===--- the targets ------------------------------------------------------------------------------------------===//

static bool checkCudaChip(const char *chip, tessera_error_t *error) {
  TileMachine *machine = tileDeviceChipLoad(chip, "ptx", "NVIDIA", error);
  tileMachineDestroy(machine);
  return machine != NULL;
}

static bool checkHipChip(const char *chip, tessera_error_t *error) {
  TileMachine *machine = tileDeviceChipLoad(chip, "amdgcn", "AMD", error);
  tileMachineDestroy(machine);
  return machine != NULL;
}

static bool emitCuda(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  static const SourceLanguage cuda = {
      "CUDA C++", "cuda", "// Kernels in CUDA C++, written by Tessera. nvcc -arch=… and clang -x cuda compile them.\n",
      false};
  return tileSourceEmitDevice(translation, &cuda, artifact, error);
}

static bool emitHip(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  static const SourceLanguage hip = {
      "HIP", "hip", "// Kernels in HIP, written by Tessera. hipcc and clang -x hip compile them.\n", false};
  return tileSourceEmitDevice(translation, &hip, artifact, error);
}

const TileCodeTarget tileCudaSourceTarget = {
    .name = "cuda-source",
    .pipeline = "tile-to-cuda-source-pipeline",
    .defaultChip = "sm_80",
    .checkChip = checkCudaChip,
    .forms = (const TileForm[]){{"cuda-source", "kernels as CUDA C++", .emit = emitCuda}, {NULL}},
};

const TileCodeTarget tileHipSourceTarget = {
    .name = "hip-source",
    .pipeline = "tile-to-hip-source-pipeline",
    .defaultChip = "gfx942",
    .checkChip = checkHipChip,
    .forms = (const TileForm[]){{"hip-source", "kernels as HIP", .emit = emitHip}, {NULL}},
};
