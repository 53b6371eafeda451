// PTX from the gpu.module of a program. What a chip is stands in its machine file; LLVM sees only chips that have one.
#include "lib/target/nvvm/nvvm.h"

#include "lib/support/clock.h"
#include "lib/target/device_code.h"

#include <stdlib.h>
#include <string.h>

//===--- chips ----------------------------------------------------------------------------------===//

static TileMachine *loadChip(const char *chip, tessera_error_t *error) {
  return tileDeviceChipLoad(chip, "ptx", "NVIDIA", error);
}

static bool checkChip(const char *chip, tessera_error_t *error) {
  TileMachine *machine = loadChip(chip, error);
  tileMachineDestroy(machine);
  return machine != NULL;
}

//===--- shared memory ----------------------------------------------------------------------------===//

enum { SharedSpace = 3 };

static uint64_t bytesOf(LLVMValueRef global) {
  LLVMTypeRef type = LLVMGlobalGetValueType(global);
  return LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetArrayLength2(type) : 0;
}

// A kernel declares at most 48 KiB; what needs more is given at the launch, as an array without a size.
static void makeDynamic(LLVMModuleRef module, LLVMValueRef global) {
  size_t length;
  char *name = strdup(LLVMGetValueName2(global, &length));
  LLVMTypeRef element = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
  LLVMSetValueName2(global, "", 0);
  LLVMValueRef dynamic = LLVMAddGlobalInAddressSpace(module, LLVMArrayType2(element, 0), name, SharedSpace);
  LLVMSetAlignment(dynamic, LLVMGetAlignment(global));
  LLVMReplaceAllUsesWith(global, dynamic);
  LLVMDeleteGlobal(global);
  free(name);
}

static void fitShared(LLVMModuleRef module) {
  for (LLVMValueRef global = LLVMGetFirstGlobal(module), next; global; global = next) {
    next = LLVMGetNextGlobal(global);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == SharedSpace && bytesOf(global) > TileNvvmStaticSharedBytes)
      makeDynamic(module, global);
  }
}

//===--- forms ------------------------------------------------------------------------------------===//

static const char *chipOf(const TileTranslation *translation) {
  return translation->chip ? translation->chip : tileNvvmTarget.defaultChip;
}

// PTX's registers are not the chip's: ptxas tells those, where it is there.
static bool addFigures(const char *chip, TileArtifact *ptx, tessera_error_t *error) {
  tessera_error_t missing;
  TileArtifact cubin = {NULL};
  if (!tileNvvmHasAssembler(&missing)) {
    snprintf(ptx->missing, sizeof ptx->missing, "%.250s", missing.text);
    return true;
  }
  bool ok = tileNvvmAssemble(ptx, chip, &cubin, error);
  ptx->figures = cubin.figures;
  ptx->numFigures = cubin.numFigures;
  cubin.figures = NULL;
  tileArtifactDestroy(&cubin);
  return ok;
}

static bool emitPtx(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  LLVMContextRef context;
  TileMachine *machine = loadChip(chipOf(translation), error);
  LLVMModuleRef module = machine ? tileDeviceModuleCreate(translation, &context, error) : NULL;
  bool ok = module != NULL;
  if (ok) {
    const char *features = tileMachineGetText(machine, "features");
    TileDeviceCode code = {"nvptx64-nvidia-cuda", tileMachineGetText(machine, "chip"), features ? features : "", false};
    fitShared(module);
    ok = tileDeviceCodeEmit(translation, module, &code, artifact, error);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
  }
  tileMachineDestroy(machine);
  if (!ok || !translation->wantsFigures)
    return ok;
  double start = tessera_milliseconds();
  ok = addFigures(chipOf(translation), artifact, error);
  tileStagesAdd(translation->stages, "ptxas", tessera_milliseconds() - start);
  return ok;
}

static bool emitCubin(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  TileArtifact ptx = {NULL};
  TileTranslation plain = *translation;
  plain.wantsFigures = false; // they come with the cubin
  bool ok = emitPtx(&plain, &ptx, error);
  double start = tessera_milliseconds();
  ok = ok && tileNvvmAssemble(&ptx, chipOf(translation), artifact, error);
  tileStagesAdd(translation->stages, "ptxas", tessera_milliseconds() - start);
  tileArtifactDestroy(&ptx);
  return ok;
}

static bool emitSass(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  TileArtifact cubin = {NULL};
  bool ok = emitCubin(translation, &cubin, error) && tileNvvmDisassemble(&cubin, artifact, error);
  if (ok) {
    artifact->figures = cubin.figures;
    artifact->numFigures = cubin.numFigures;
    cubin.figures = NULL;
  }
  tileArtifactDestroy(&cubin);
  return ok;
}

static const TileForm forms[] = {
    {"ptx", "PTX, NVIDIA's assembly", .emit = emitPtx},
    {"cubin", "a cubin: the PTX assembled by ptxas", .isBinary = true, .emit = emitCubin,
     .hasTools = tileNvvmHasAssembler},
    {"sass", "a listing of the cubin's instructions, by nvdisasm or cuobjdump", .emit = emitSass},
    {NULL},
};

const TileCodeTarget tileNvvmTarget = {
    .name = "nvvm",
    .pipeline = "tile-to-nvvm-pipeline",
    .dialect = "llvm",
    .defaultChip = "sm_80",
    .staticSharedBytes = TileNvvmStaticSharedBytes,
    .isLowered = tileHasDeviceModule,
    .checkChip = checkChip,
    .forms = forms,
};
