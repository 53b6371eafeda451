// AMDGPU assembly and HSACO from the gpu.module of a program. What a chip is stands in its machine file; LLVM sees only
// chips that have one.
#include "lib/target/rocdl/rocdl.h"

#include "lib/target/device_code.h"
#include "lib/target/rocdl/device_functions.h"

static TileMachine *loadChip(const char *chip, tessera_error_t *error) {
  return tileDeviceChipLoad(chip, "amdgcn", "AMD", error);
}

static bool checkChip(const char *chip, tessera_error_t *error) {
  TileMachine *machine = loadChip(chip, error);
  tileMachineDestroy(machine);
  return machine != NULL;
}

// V5: V6, LLVM's default, is loaded by ROCm 6.3 and later only, and says nothing more of our kernels.
static void setCodeObjectVersion(LLVMModuleRef module) {
  enum { Version5 = 500 };
  static const char name[] = "amdhsa_code_object_version";
  LLVMTypeRef word = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
  LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorOverride, name, sizeof name - 1,
                    LLVMValueAsMetadata(LLVMConstInt(word, Version5, false)));
}

static bool emit(const TileTranslation *translation, bool isObject, TileArtifact *artifact, tessera_error_t *error) {
  LLVMContextRef context;
  TileMachine *machine = loadChip(translation->chip ? translation->chip : tileRocdlTarget.defaultChip, error);
  LLVMModuleRef module = machine && tileRocdlExpectCode(translation->module, error)
                             ? tileDeviceModuleCreate(translation, &context, error)
                             : NULL;
  bool ok = module != NULL;
  if (ok) {
    TileDeviceCode code = {"amdgcn-amd-amdhsa", tileMachineGetText(machine, "chip"), "", isObject};
    setCodeObjectVersion(module);
    ok = tileRocdlDefineFunctions(module, error) && tileDeviceCodeEmit(translation, module, &code, artifact, error);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
  }
  tileMachineDestroy(machine);
  return ok;
}

static bool emitAssembly(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  if (!emit(translation, false, artifact, error))
    return false;
  tileRocdlReadAssembly(artifact);
  return true;
}

static bool emitHsaco(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  TileArtifact object = {NULL};
  bool ok = emit(translation, true, &object, error) && tileRocdlLink(&object, artifact, error);
  if (ok)
    tileRocdlReadObject(artifact);
  tileArtifactDestroy(&object);
  return ok;
}

static const TileForm forms[] = {
    {"amdgcn", "AMD's assembly", .emit = emitAssembly},
    {"hsaco", "a code object for AMD's GPUs, linked by ld.lld", .isBinary = true, .emit = emitHsaco},
    {NULL},
};

const TileCodeTarget tileRocdlTarget = {
    .name = "rocdl",
    .pipeline = "tile-to-rocdl-pipeline",
    .dialect = "llvm",
    .defaultChip = "gfx942",
    .isLowered = tileHasDeviceModule,
    .checkChip = checkChip,
    .forms = forms,
};
