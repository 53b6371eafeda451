// What a compiled program keeps: sites, kernels, globals, constants of instructions. See program.h.
#include "lib/emulator/compile/program.h"
#include "lib/support/grow.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdlib.h>

//===--- memory ---------------------------------------------------------------===//

static EmulatorKept *keep(EmulatorBuild *build, const void *data, size_t bytes) {
  EmulatorKept *kept = malloc(sizeof *kept + bytes);
  if (!kept) {
    build->failed = true;
    return NULL;
  }
  kept->matrix = NULL;
  kept->next = build->program->kept;
  build->program->kept = kept;
  if (data)
    memcpy(kept->bytes, data, bytes);
  return kept;
}

void *emulatorKeep(EmulatorBuild *build, const void *data, size_t bytes) {
  EmulatorKept *kept = keep(build, data, bytes);
  return kept ? kept->bytes : NULL;
}

const tessera_matrix_t *emulatorKeepMatrix(EmulatorBuild *build, const tessera_matrix_t *matrix) {
  EmulatorKept *kept = keep(build, matrix, sizeof *matrix);
  if (!kept) {
    tessera_matrix_t lost = *matrix;
    tessera_matrix_destroy(&lost);
    return NULL;
  }
  return kept->matrix = (const tessera_matrix_t *)kept->bytes;
}

static char *keepText(EmulatorBuild *build, MlirStringRef text) {
  char *copy = emulatorKeep(build, NULL, text.length + 1);
  if (copy) {
    memcpy(copy, text.data, text.length);
    copy[text.length] = 0;
  }
  return copy;
}

//===--- sites ------------------------------------------------------------------===//

static void appendText(MlirStringRef text, void *buffer) {
  char *at = buffer;
  size_t length = strlen(at), room = 255 - length;
  memcpy(at + length, text.data, text.length < room ? text.length : room);
  at[length + (text.length < room ? text.length : room)] = 0;
}

// "gemm.mlir:12:7 'nvvm.barrier0'"; other kinds of locations as MLIR writes them.
static void nameSite(MlirOperation op, char name[256]) {
  MlirLocation location = tileWrittenAt(op);
  name[0] = 0;
  if (mlirLocationIsAFileLineColRange(location)) {
    char place[32];
    appendText(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location)), name);
    snprintf(place, sizeof place, ":%d:%d", mlirLocationFileLineColRangeGetStartLine(location),
             mlirLocationFileLineColRangeGetStartColumn(location));
    appendText(tileString(place), name);
  } else {
    mlirLocationPrint(location, appendText, name);
  }
  appendText(tileString(" '"), name);
  appendText(tileOpName(op), name);
  appendText(tileString("'"), name);
}

uint32_t emulatorSite(EmulatorBuild *build, MlirOperation op) {
  TileEmulatorProgram *program = build->program;
  EmulatorSite *last = &program->sites[program->siteCount - 1];
  if (program->siteCount > 1 && mlirOperationEqual(last->op, op))
    return (uint32_t)program->siteCount - 1; // several calls of one op are one site
  for (intptr_t i = build->use; i < build->useEnd && i <= build->use + 1; ++i)
    if (mlirOperationEqual(program->sites[i].op, op))
      return (uint32_t)(build->use = i);
  EmulatorSite *sites = tessera_grow(program->sites, program->siteCount, sizeof *sites);
  char name[256];
  if (!sites) {
    build->failed = true;
    return 0;
  }
  nameSite(op, name);
  program->sites = sites;
  sites[program->siteCount] =
      (EmulatorSite){.location = mlirOperationGetLocation(op), .name = keepText(build, tileString(name)), .op = op};
  return (uint32_t)program->siteCount++;
}

MlirLocation tileEmulatorSiteLocation(const TileEmulatorProgram *program, uint32_t site) {
  if (!site || site >= program->siteCount)
    return mlirLocationUnknownGet(program->context);
  return program->sites[site].location;
}

//===--- globals ----------------------------------------------------------------===//

bool emulatorAddGlobal(EmulatorBuild *build, MlirOperation global) {
  TileEmulatorProgram *program = build->program;
  EmulatorGlobal *globals = tessera_grow(program->globals, program->globalCount, sizeof *globals);
  if (!globals)
    return false;
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(global, "global_type"));
  program->globals = globals;
  globals[program->globalCount++] =
      (EmulatorGlobal){.name = keepText(build, mlirStringAttrGetValue(tileOpAttribute(global, "sym_name"))),
                       .bytes = emulatorBytes(type),
                       .isShared = emulatorInteger(global, "addr_space", 0) == 3,
                       .isConstant = emulatorHas(global, "constant"),
                       .alignment = (uint32_t)emulatorInteger(global, "alignment", 16),
                       .onlyKernel = -1};
  return true;
}

EmulatorGlobal *emulatorGlobal(const EmulatorBuild *build, MlirStringRef name) {
  for (intptr_t i = 0; i < build->program->globalCount; ++i)
    if (tileStringEquals(name, build->program->globals[i].name))
      return &build->program->globals[i];
  return NULL;
}

//===--- kernels ----------------------------------------------------------------===//

// nvvm.reqntid, rocdl.reqd_work_group_size, gpu.known_block_size: array<i32: x, y, z>.
static const char *const blockNames[] = {"nvvm.reqntid", "rocdl.reqd_work_group_size", "gpu.known_block_size",
                                         "known_block_size", NULL};
static const char *const clusterNames[] = {"nvvm.cluster_dim", NULL};

// From the first of these attributes that there is.
static void readSizes(MlirOperation function, const char *const *names, uint32_t out_sizes[3]) {
  for (; *names; ++names) {
    MlirAttribute sizes = tileOpAttribute(function, *names);
    if (mlirAttributeIsNull(sizes) || !mlirAttributeIsADenseI32Array(sizes))
      continue;
    for (intptr_t d = 0; d < mlirDenseArrayGetNumElements(sizes) && d < 3; ++d)
      out_sizes[d] = (uint32_t)mlirDenseI32ArrayGetElement(sizes, d);
    return;
  }
}

// The type of what a parameter points to that is handed over itself (llvm.byval); null: none.
static MlirType byValue(MlirOperation function, intptr_t parameter) {
  MlirAttribute all = tileOpAttribute(function, "arg_attrs"), type = {NULL};
  if (!mlirAttributeIsNull(all) && mlirAttributeIsAArray(all))
    type = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, parameter), tileString("llvm.byval"));
  return mlirAttributeIsNull(type) ? (MlirType){NULL} : mlirTypeAttrGetValue(type);
}

bool emulatorAddKernel(EmulatorBuild *build, MlirOperation function) {
  TileEmulatorProgram *program = build->program;
  TileEmulatorKernel *kernels = tessera_grow(program->kernels, program->kernelCount, sizeof *kernels);
  if (!kernels)
    return false;
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  intptr_t count = mlirBlockGetNumArguments(entry);
  uint32_t *bytes = emulatorKeep(build, NULL, (size_t)(count + 1) * sizeof *bytes);
  bool *isPointer = emulatorKeep(build, NULL, (size_t)(count + 1) * sizeof *isPointer);
  TileEmulatorKernel kernel = {.name = keepText(build, mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"))),
                               .parameterCount = count,
                               .parameterBytes = bytes,
                               .parameterIsPointer = isPointer};
  for (intptr_t i = 0; bytes && isPointer && i < count; ++i) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(entry, i)), whole = byValue(function, i);
    bytes[i] = (uint32_t)emulatorBytes(mlirTypeIsNull(whole) ? type : whole);
    isPointer[i] = mlirTypeIsNull(whole) && mlirTypeIsALLVMPointerType(type);
  }
  readSizes(function, blockNames, kernel.block);
  readSizes(function, clusterNames, kernel.cluster);
  kernel.cooperative = emulatorHas(function, "cooperative");
  program->kernels = kernels;
  kernels[program->kernelCount++] = kernel;
  return bytes && isPointer && kernel.name;
}

bool emulatorBindKernels(TileEmulatorProgram *program, tessera_error_t *error) {
  for (intptr_t i = 0; i < program->kernelCount; ++i) {
    char symbol[512];
    snprintf(symbol, sizeof symbol, "tessera_entry_%s", program->kernels[i].name);
    program->kernels[i].entry = (tessera_emu_kernel_t)tileJitLookup(program->jit, symbol, error);
    if (!program->kernels[i].entry)
      return false;
  }
  for (intptr_t i = 0; i < program->globalCount; ++i)
    if (!program->globals[i].isShared) {
      program->globals[i].address = tileJitLookup(program->jit, program->globals[i].name, error);
      if (!program->globals[i].address)
        return false;
    }
  return true;
}

intptr_t tileEmulatorKernelCount(const TileEmulatorProgram *program) { return program->kernelCount; }

const TileEmulatorKernel *tileEmulatorKernelAt(const TileEmulatorProgram *program, intptr_t index) {
  return &program->kernels[index];
}

const TileEmulatorKernel *tileEmulatorKernelFind(const TileEmulatorProgram *program, const char *name) {
  for (intptr_t i = 0; i < program->kernelCount; ++i)
    if (!strcmp(program->kernels[i].name, name))
      return &program->kernels[i];
  return NULL;
}

//===--- life -------------------------------------------------------------------===//

TileEmulatorProgram *emulatorProgramCreate(const TileEmulatorOptions *options, MlirContext context) {
  TileEmulatorProgram *program = calloc(1, sizeof *program);
  EmulatorSite *sites = calloc(1, sizeof *sites);
  if (!program || !sites) {
    free(program);
    free(sites);
    return NULL;
  }
  sites[0].location = mlirLocationUnknownGet(context);
  *program = (TileEmulatorProgram){.options = *options, .context = context, .sites = sites, .siteCount = 1};
  program->machine = tessera_emulator_create(&options->chip);
  if (program->machine)
    return program;
  tileEmulatorDestroy(program);
  return NULL;
}

void tileEmulatorDestroy(TileEmulatorProgram *program) {
  if (!program)
    return;
  if (program->jit)
    tileJitDestroy(program->jit);
  if (program->machine)
    tessera_emulator_destroy(program->machine);
  for (EmulatorKept *kept = program->kept, *next; kept; kept = next) {
    next = kept->next;
    if (kept->matrix)
      tessera_matrix_destroy((tessera_matrix_t *)kept->bytes);
    free(kept);
  }
  free(program->kernels);
  free(program->sites);
  free(program->globals);
  free(program);
}
