// Ahead of time: a module in the LLVM dialect -> LLVM IR, an object file, or a program. One row a form.
//
// Of a module with known entries, objects and programs show only these: `_mlir_ciface_NAME` (lib/runtime/tessera.h) and
// `tessera_packed_NAME` (lib/runtime/manifest.h); the rest is internal, so that objects of several programs link
// together. A module that came in the LLVM dialect keeps its own linkage.
#include "lib/target/cpu/ahead_of_time.h"

#include "lib/jit/code_parts.h"
#include "lib/jit/codegen.h"
#include "lib/jit/jit.h"
#include "lib/target/cpu/cpu.h"
#include "lib/target/cpu/split.h"
#include "mlir-c/RegisterEverything.h"
#include "mlir-c/Target/LLVMIR.h"

#include <stdlib.h>
#include <string.h>

//===--- the LLVM module ------------------------------------------------------===//

// Modules of a program that are compiled at once. The number does not depend on the machine: neither do the bytes.
enum { ProgramParts = 4 };

// What one translation holds until its artifact is made. The first part has the entries; the others have kernels alone.
typedef struct Build {
  const TileTranslation *translation;
  TileCpuChip chip;
  TilePart parts[ProgramParts];
  int numParts;
  LLVMModuleRef module; // the first part's
} Build;

static bool addPart(Build *build, MlirOperation module, tessera_error_t *error) {
  TilePart *part = &build->parts[build->numParts++];
  part->machine = tileCodegenMachineCreate(build->chip.processor[0] ? build->chip.processor : NULL,
                                           build->chip.features, LLVMCodeModelDefault, error);
  if (!part->machine)
    return false;
  part->context = LLVMContextCreate();
  part->module = mlirTranslateModuleToLLVMIR(module, part->context);
  if (!part->module)
    return tessera_fail(error, "the module cannot be translated to LLVM IR");
  tileCodegenPrepare(part->module, part->machine);
  return true;
}

static bool startBuild(Build *build, const TileTranslation *translation, tessera_error_t *error) {
  *build = (Build){.translation = translation};
  if (!tileCpuChipFind(translation->chip ? translation->chip : "native", &build->chip, error))
    return false;
  mlirRegisterAllLLVMTranslations(mlirOperationGetContext(translation->module));
  bool ok = addPart(build, translation->module, error);
  build->module = build->parts[0].module;
  return ok;
}

static void endBuild(Build *build) {
  for (int i = 0; i < build->numParts; ++i)
    tilePartDispose(&build->parts[i]);
}

//===--- what is shown --------------------------------------------------------===//

static bool beginsWith(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

// Nobody compares the addresses of kernels either: those that are alike (a function and its form _into have the same)
// become one.
static void hideFunction(LLVMValueRef function) {
  LLVMSetLinkage(function, LLVMInternalLinkage);
  LLVMSetUnnamedAddress(function, LLVMGlobalUnnamedAddr);
}

static void hideFunctions(LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function)) {
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    if (!LLVMIsDeclaration(function) && !beginsWith(name, "_mlir_ciface_") && !beginsWith(name, "tessera_packed_"))
      hideFunction(function);
  }
}

// Kernels of another part, which the first one names.
static void hideFromOthers(LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function))
    if (!LLVMIsDeclaration(function))
      LLVMSetVisibility(function, LLVMHiddenVisibility);
}

static void hideGlobals(LLVMModuleRef module) {
  for (LLVMValueRef global = LLVMGetFirstGlobal(module); global; global = LLVMGetNextGlobal(global))
    if (!LLVMIsDeclaration(global) && LLVMGetLinkage(global) == LLVMExternalLinkage)
      LLVMSetLinkage(global, LLVMInternalLinkage);
}

// NAME_into, where tile-add-into-entries made it.
static bool addPackedInto(LLVMModuleRef module, const char *name, tessera_error_t *error) {
  char into[512], symbol[512];
  snprintf(into, sizeof into, "%s_into", name);
  snprintf(symbol, sizeof symbol, "_mlir_ciface_%s", into);
  return !LLVMGetNamedFunction(module, symbol) || tileJitAddPackedEntry(module, into, error);
}

static bool addPackedEntries(Build *build, tessera_error_t *error) {
  const TileEntries *entries = &build->translation->entries;
  for (int i = 0; i < entries->count; ++i)
    if (!tileJitAddPackedEntry(build->module, entries->items[i].name, error) ||
        !addPackedInto(build->module, entries->items[i].name, error))
      return false;
  if (entries->count) {
    hideFunctions(build->module);
    hideGlobals(build->module);
  }
  return true;
}

//===--- the forms ------------------------------------------------------------===//

static bool emitLlvmIr(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  Build build;
  bool ok = startBuild(&build, translation, error);
  if (ok) {
    char *text = LLVMPrintModuleToString(build.module);
    ok = tileArtifactCopy(artifact, text, strlen(text), error);
    LLVMDisposeMessage(text);
  }
  endBuild(&build);
  return ok;
}

static bool compile(Build *build, LLVMMemoryBufferRef *objects, tessera_error_t *error) {
  for (int i = 0; i < build->numParts; ++i)
    if (!tileCodegenMergeFunctions(build->parts[i].module, build->parts[i].machine, error))
      return false;
  return tilePartsCompile(build->parts, build->numParts, 3, objects, error);
}

static bool emitObject(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  Build build;
  LLVMMemoryBufferRef object = NULL;
  bool ok = startBuild(&build, translation, error) && addPackedEntries(&build, error) &&
            compile(&build, &object, error) &&
            tileArtifactCopy(artifact, LLVMGetBufferStart(object), LLVMGetBufferSize(object), error);
  if (object)
    LLVMDisposeMemoryBuffer(object);
  endBuild(&build);
  return ok;
}

// Every entry of a program has its types in the manifest.
static bool checkEntries(const TileTranslation *translation, tessera_error_t *error) {
  if (!translation->entries.count)
    return tessera_fail(error, "a program needs a public func.func to enter by; the module has none%s",
                        translation->pipeline ? "" : " (it came in the LLVM dialect, which has no types to tell)");
  for (int i = 0; i < translation->entries.count; ++i)
    if (!translation->entries.items[i].isPassable)
      return tessera_fail(error,
                          "function '%s' takes or gives what cannot be passed (tensors, memrefs and scalars of known "
                          "types can); make it private or change it",
                          translation->entries.items[i].name);
  return true;
}

// The other host's parts, as modules of the same context, joined to the first.
static bool addVariants(Build *build, tessera_error_t *error) {
  const TileTranslation *translation = build->translation;
  int count = translation->numVariants;
  if (count < 2)
    return true;
  LLVMModuleRef *modules = calloc((size_t)count, sizeof *modules);
  bool ok = modules || tessera_fail(error, "out of memory");
  for (int i = 1; i < count && ok; ++i) {
    Build other = *build;
    other.module = modules[i] = mlirTranslateModuleToLLVMIR(translation->variants[i].module, build->parts[0].context);
    ok = modules[i] || tessera_fail(error, "the module cannot be translated to LLVM IR");
    if (ok)
      tileCodegenPrepare(modules[i], build->parts[0].machine);
    ok = ok && addPackedEntries(&other, error);
  }
  if (ok)
    modules[0] = build->module;
  ok = ok && tileCpuJoinVariants(modules, count, &translation->entries, error);
  for (int i = 1; i < count && modules; ++i)
    if (modules[i])
      LLVMDisposeModule(modules[i]);
  free(modules);
  return ok;
}

static bool addTables(Build *build, const TileProgramWeights *weights, tessera_error_t *error) {
  tileCpuAddImages(build->module, build->translation);
  if (!tileCpuAddManifest(build->module, build->translation, &build->chip, weights, error))
    return false;
  tileProgramNeedWeights(build->module, build->translation, weights);
  return true;
}

// Kernels move to modules of their own. The host's parts of a program for GPUs are small, and stay whole.
static bool startParts(Build *build, const TileTranslation *translation, tessera_error_t *error) {
  MlirModule modules[TileCpuMaxParts];
  int most = translation->numVariants ? 1 : ProgramParts, count = tileCpuSplit(translation->module, most, modules);
  bool ok = startBuild(build, translation, error);
  for (int i = 0; i < count && ok; ++i) {
    ok = addPart(build, mlirModuleGetOperation(modules[i]), error);
    if (ok)
      hideFromOthers(build->parts[i + 1].module);
  }
  tileCpuDestroyParts(modules, count);
  return ok;
}

static bool linkParts(LLVMMemoryBufferRef *objects, int count, TileArtifact *artifact, tessera_error_t *error) {
  tessera_bytes_t bytes[ProgramParts];
  for (int i = 0; i < count; ++i)
    bytes[i] = (tessera_bytes_t){LLVMGetBufferStart(objects[i]), LLVMGetBufferSize(objects[i])};
  bool ok = tileCpuLink(bytes, count, artifact, error);
  for (int i = 0; i < count; ++i)
    LLVMDisposeMemoryBuffer(objects[i]);
  return ok;
}

static bool emitProgram(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  if (!checkEntries(translation, error))
    return false;
  Build build = {.translation = translation};
  LLVMMemoryBufferRef objects[ProgramParts];
  TileProgramWeights weights;
  bool ok = tileProgramTakeWeights(translation, &weights, error) && startParts(&build, translation, error) &&
            addPackedEntries(&build, error) && addVariants(&build, error) && addTables(&build, &weights, error) &&
            compile(&build, objects, error) && linkParts(objects, build.numParts, artifact, error);
  tileProgramFreeWeights(&weights);
  endBuild(&build);
  return ok;
}

//===--- the target -----------------------------------------------------------===//

static bool checkChip(const char *chip, tessera_error_t *error) {
  TileCpuChip found;
  return tileCpuChipFind(chip, &found, error);
}

static const TileForm forms[] = {
    {"llvmir", "LLVM IR as text, before optimization", .emit = emitLlvmIr},
    {"object", "an object file to link with libtessera-runtime", .isBinary = true, .emit = emitObject},
    {"program", "a shared object with a manifest, for tile-exec and C", .isBinary = true, .hasInto = true,
     .emit = emitProgram},
    {NULL},
};

const TileCodeTarget tileCpuTarget = {
    .name = "cpu",
    .pipeline = "tile-to-cpu-pipeline",
    .dialect = "llvm",
    .checkChip = checkChip,
    .forms = forms,
};
