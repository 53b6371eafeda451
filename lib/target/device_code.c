// Translating a gpu.module and asking the child for its code. See device_code.h.
#include "lib/target/device_code.h"

#include "dialects/tile/ops.h"
#include "lib/ir/pass.h"
#include "lib/ir/support.h"
#include "lib/support/clock.h"
#include "lib/target/child.h"
#include "upstream/gpu.h"
#include "upstream/nvvm.h"

#include "mlir-c/RegisterEverything.h"
#include "mlir-c/Target/LLVMIR.h"
#include "llvm-c/BitWriter.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

//===--- chips ----------------------------------------------------------------------------------===//

static bool isOf(const TileMachine *machine, const char *isa) {
  const char *has = machine ? tileMachineGetText(machine, "isa") : NULL;
  return has && strcmp(has, isa) == 0;
}

TileMachine *tileDeviceChipLoad(const char *chip, const char *isa, const char *vendor, tessera_error_t *error) {
  TileMachine *machine = tileMachineLoad(chip, NULL, NULL, 0, NULL);
  if (isOf(machine, isa))
    return machine;
  tileMachineDestroy(machine);
  TESSERA_LIST(known);
  tileMachineListWhere("isa", isa, &known);
  tessera_fail(error, "unknown %s chip '%s'; known: %s", vendor, chip, known.text);
  return NULL;
}

//===--- the module -----------------------------------------------------------------------------===//

static bool isBodyless(MlirOperation kernel) {
  return mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)));
}

bool tileHasDeviceModule(MlirOperation module) {
  TileOps modules = tileCollectOps(module, gpuGPUModuleOpIsA), kernels = tileCollectOps(module, tileKernelOpIsA);
  bool has = modules.count > 0;
  for (intptr_t i = 0; i < kernels.count; ++i)
    has &= isBodyless(kernels.items[i]);
  tileOpsFree(&modules);
  tileOpsFree(&kernels);
  return has;
}

// Some ops of nvvm are assembly only, which a pass of upstream's writes: in a copy, since judges read the ops.
static MlirWalkResult stopAtAssembly(MlirOperation op, void *found) {
  *(bool *)found |= nvvmWgmmaMmaAsyncOpIsA(op) || nvvmMBarrierTryWaitParityOpIsA(op);
  return *(bool *)found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static MlirOperation withAssembly(MlirOperation device) {
  bool found = false;
  mlirOperationWalk(device, stopAtAssembly, &found, MlirWalkPreOrder);
  if (!found)
    return (MlirOperation){NULL};
  MlirOperation copy = mlirOperationClone(device);
  if (tileRunPipeline(copy, "convert-nvvm-to-llvm"))
    return copy;
  mlirOperationDestroy(copy);
  return (MlirOperation){NULL};
}

LLVMModuleRef tileDeviceModuleCreate(const TileTranslation *translation, LLVMContextRef *context,
                                     tessera_error_t *error) {
  double start = tessera_milliseconds();
  MlirOperation module = translation->module;
  TileOps modules = tileCollectOps(module, gpuGPUModuleOpIsA);
  intptr_t count = modules.count;
  MlirOperation device = count ? modules.items[0] : (MlirOperation){NULL};
  tileOpsFree(&modules);
  *context = NULL;
  if (count != 1) {
    tessera_fail(error, "the program has %d gpu.modules, expected one: that of its tile kernels", (int)count);
    return NULL;
  }
  mlirRegisterAllLLVMTranslations(mlirOperationGetContext(module));
  *context = LLVMContextCreate();
  MlirOperation copy = withAssembly(device);
  LLVMModuleRef translated = mlirTranslateModuleToLLVMIR(mlirOperationIsNull(copy) ? device : copy, *context);
  if (!mlirOperationIsNull(copy))
    mlirOperationDestroy(copy);
  if (!translated) {
    LLVMContextDispose(*context);
    *context = NULL;
    tessera_fail(error, "the device code cannot be translated to LLVM IR");
  }
  tileStagesAdd(translation->stages, "translation", tessera_milliseconds() - start);
  return translated;
}

//===--- the child ------------------------------------------------------------------------------===//

static const char helper[] = "tessera-codegen";

static bool isThere(const char *folder, const char *more, char *path, size_t capacity) {
  int length = snprintf(path, capacity, "%s%s/%s", folder, more, helper);
  return length > 0 && (size_t)length < capacity && access(path, X_OK) == 0;
}

static bool folderOf(const char *file, char *folder, size_t capacity) {
  char resolved[PATH_MAX];
  if (!realpath(file, resolved))
    return false;
  char *slash = strrchr(resolved, '/');
  if (slash)
    *slash = '\0';
  return (size_t)snprintf(folder, capacity, "%s", resolved) < capacity;
}

// Beside the running tool, in bin/ beside our library (a build folder) or beside its folder (an installation), or on
// PATH.
static const char *findHelper(char *path, size_t capacity) {
  char folder[PATH_MAX];
  Dl_info library;
  if (folderOf("/proc/self/exe", folder, sizeof folder) && isThere(folder, "", path, capacity))
    return path;
  if (dladdr((void *)(uintptr_t)findHelper, &library) && library.dli_fname &&
      folderOf(library.dli_fname, folder, sizeof folder) &&
      (isThere(folder, "/bin", path, capacity) || isThere(folder, "/../bin", path, capacity)))
    return path;
  return helper;
}

// The child's last words when all went well: "times: NAME MS NAME MS …"; what it does not name is its start and talk.
static void addChildTimes(TileStages *stages, const char *said, double whole) {
  static const char *const names[] = {"bitcode", "optimization", "generation", NULL};
  double times[3] = {0}, rest = whole;
  const char *line = said ? strstr(said, "times:") : NULL;
  for (int i = 0; names[i]; ++i) {
    const char *at = line ? strstr(line, names[i]) : NULL;
    times[i] = at ? strtod(at + strlen(names[i]), NULL) : 0;
    rest -= times[i];
  }
  tileStagesAdd(stages, "child", rest);
  for (int i = 0; names[i]; ++i)
    tileStagesAdd(stages, names[i], times[i]);
}

bool tileDeviceCodeEmit(const TileTranslation *translation, LLVMModuleRef module, const TileDeviceCode *code,
                        TileArtifact *artifact, tessera_error_t *error) {
  char path[PATH_MAX];
  double start = tessera_milliseconds();
  const char *const arguments[] = {findHelper(path, sizeof path),
                                   code->isObject ? "object" : "assembly",
                                   code->triple,
                                   code->cpu,
                                   code->features,
                                   NULL};
  LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
  TileChild child = {arguments, LLVMGetBufferStart(bitcode), LLVMGetBufferSize(bitcode), 0};
  TileChildResult result;
  bool ok = tileChildRun(&child, &result, error);
  if (ok)
    addChildTimes(translation->stages, result.complaints, tessera_milliseconds() - start);
  ok = ok && tileArtifactCopy(artifact, result.output ? result.output : "", result.outputSize, error);
  tileChildDestroy(&result);
  LLVMDisposeMemoryBuffer(bitcode);
  return ok;
}
