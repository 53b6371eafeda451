// Ids, barriers, shuffles, asynchronous copies, messages: what the engine asks for, said in the nvvm dialect.
#include "lib/conversion/tile_to_nvvm/nvvm.h"

#include "mlir-c/Dialect/LLVM.h"

#include <stdio.h>
#include <string.h>

static MlirType i32Type(MlirContext context) { return mlirIntegerTypeGet(context, 32); }

static MlirValue word(TileBuilder *builder, int64_t value) {
  return tileBuildInteger(builder, i32Type(builder->context), value);
}

static MlirAttribute wordAttribute(TileBuilder *builder, int64_t value) {
  return mlirIntegerAttrGet(i32Type(builder->context), value);
}

//===--- module and kernel --------------------------------------------------------------===//

static MlirAttribute target(MlirContext context, const TileMachine *machine) {
  const char *chip = tileMachineGetText(machine, "chip"), *features = tileMachineGetText(machine, "features");
  char text[256];
  snprintf(text, sizeof text, "#nvvm.target<O = 3, chip = \"%s\", features = \"%s\">", chip, features ? features : "");
  return mlirAttributeParseGet(context, tileString(text));
}

static void markKernel(MlirOperation function, int64_t threads) {
  MlirContext context = mlirOperationGetContext(function);
  int32_t sizes[] = {(int32_t)threads, 1, 1};
  mlirOperationSetAttributeByName(function, tileString("nvvm.kernel"), mlirUnitAttrGet(context));
  mlirOperationSetAttributeByName(function, tileString("nvvm.reqntid"), mlirDenseI32ArrayGet(context, 3, sizes));
}

static void limitRegisters(MlirOperation function, int64_t registers) {
  MlirType type = i32Type(mlirOperationGetContext(function));
  mlirOperationSetAttributeByName(function, tileString("nvvm.maxnreg"), mlirIntegerAttrGet(type, registers));
}

//===--- ids ------------------------------------------------------------------------------===//

static MlirValue readRegister(TileBuilder *builder, const char *name) {
  return tileBuildValue(builder, name, i32Type(builder->context), 0, NULL, NULL);
}

static MlirValue threadId(TileBuilder *builder) { return readRegister(builder, "nvvm.read.ptx.sreg.tid.x"); }

static MlirValue programId(TileBuilder *builder, int axis) {
  static const char *const names[] = {"nvvm.read.ptx.sreg.ctaid.x", "nvvm.read.ptx.sreg.ctaid.y",
                                      "nvvm.read.ptx.sreg.ctaid.z"};
  return readRegister(builder, names[axis]);
}

static MlirValue numPrograms(TileBuilder *builder, int axis) {
  static const char *const names[] = {"nvvm.read.ptx.sreg.nctaid.x", "nvvm.read.ptx.sreg.nctaid.y",
                                      "nvvm.read.ptx.sreg.nctaid.z"};
  return readRegister(builder, names[axis]);
}

//===--- between threads --------------------------------------------------------------------===//

static void barrier(TileBuilder *builder) { tileBuild(builder, "nvvm.barrier0", 0, NULL, 0, NULL, NULL, 0, NULL); }

static MlirValue shuffle(TileBuilder *builder, const char *kind, MlirValue value, MlirValue lane) {
  MlirValue operands[] = {word(builder, -1), value, lane, word(builder, 31)};
  TileAttributeEntry attributes[] = {{"kind", tileBuildAttribute(builder, kind)}, {NULL}};
  return tileBuildValue(builder, "nvvm.shfl.sync", i32Type(builder->context), 4, operands, attributes);
}

static MlirValue shuffleXor(TileBuilder *builder, MlirValue value, int64_t mask) {
  return shuffle(builder, "#nvvm<shfl_kind bfly>", value, word(builder, mask));
}

static MlirValue shuffleFrom(TileBuilder *builder, MlirValue value, MlirValue lane) {
  return shuffle(builder, "#nvvm<shfl_kind idx>", value, lane);
}

//===--- fragments from shared memory ---------------------------------------------------------===//

static void loadMatrix(TileBuilder *builder, MlirValue address, int count, bool transposed, MlirValue *words) {
  MlirContext context = builder->context;
  MlirType type = i32Type(context), types[] = {type, type, type, type};
  MlirType result = count == 1 ? type : mlirLLVMStructTypeLiteralGet(context, count, types, false);
  TileAttributeEntry attributes[] = {
      {"num", wordAttribute(builder, count)},
      {"layout", tileBuildAttribute(builder, transposed ? "#nvvm.mma_layout<col>" : "#nvvm.mma_layout<row>")},
      {"shape", tileBuildAttribute(builder, "#nvvm.ld_st_matrix_shape<m = 8, n = 8>")},
      {"eltType", tileBuildAttribute(builder, "#nvvm.ld_st_matrix_elt_type<b16>")},
      {NULL}};
  MlirValue loaded = tileBuildValue(builder, "nvvm.ldmatrix", result, 1, &address, attributes);
  for (int i = 0; i < count; ++i) {
    int64_t position = i;
    TileAttributeEntry at[] = {{"position", mlirDenseI64ArrayGet(context, 1, &position)}, {NULL}};
    words[i] = count == 1 ? loaded : tileBuildValue(builder, "llvm.extractvalue", type, 1, &loaded, at);
  }
}

//===--- asynchronous copies --------------------------------------------------------------------===//

// Sixteen bytes go past the first-level cache, less cannot.
static void copyAsync(TileBuilder *builder, MlirValue shared, MlirValue global, int64_t bytes, MlirValue valid) {
  MlirValue operands[] = {shared, global, {NULL}};
  if (valid.ptr)
    operands[2] = tileBuildValue(builder, "arith.select", i32Type(builder->context), 3,
                                 (MlirValue[]){valid, word(builder, bytes), word(builder, 0)}, NULL);
  TileAttributeEntry attributes[] = {
      {"size", wordAttribute(builder, bytes)},
      {"modifier",
       tileBuildAttribute(builder, bytes == 16 ? "#nvvm<load_cache_modifier cg>" : "#nvvm<load_cache_modifier ca>")},
      {NULL}};
  tileBuild(builder, "nvvm.cp.async.shared.global", valid.ptr ? 3 : 2, operands, 0, NULL, attributes, 0, NULL);
}

static void commitCopies(TileBuilder *builder) {
  tileBuild(builder, "nvvm.cp.async.commit.group", 0, NULL, 0, NULL, NULL, 0, NULL);
}

static void waitCopies(TileBuilder *builder, int64_t pending) {
  TileAttributeEntry attributes[] = {{"n", wordAttribute(builder, pending)}, {NULL}};
  tileBuild(builder, "nvvm.cp.async.wait.group", 0, NULL, 0, NULL, attributes, 0, NULL);
}

//===--- memory ---------------------------------------------------------------------------------===//

static const char *scope(MlirStringRef name) {
  static const char *const scopes[][2] = {
      {"block", "block"}, {"cluster", "cluster"}, {"device", "device"}, {"system", ""}};
  for (size_t i = 0; i < sizeof scopes / sizeof *scopes; ++i)
    if (tileStringEquals(name, scopes[i][0]))
      return scopes[i][1];
  return "";
}

enum { GenericSpace = 0 };

static void print(TileBuilder *builder, MlirOperation module, const char *format, intptr_t count,
                  const MlirValue *values) {
  gpuVprintf(builder, module, GenericSpace, format, count, values);
}

const GpuVocabulary tileNvvmVocabulary = {
    .name = "nvvm",
    .target = target,
    .markKernel = markKernel,
    .limitRegisters = limitRegisters,
    .threadId = threadId,
    .programId = programId,
    .numPrograms = numPrograms,
    .barrier = barrier,
    .shuffleXor = shuffleXor,
    .shuffleFrom = shuffleFrom,
    .mma = tileNvvmMma,
    .loadMatrix = loadMatrix,
    .copyAsync = copyAsync,
    .commitCopies = commitCopies,
    .waitCopies = waitCopies,
    .scope = scope,
    .fail = gpuAssertFail,
    .print = print,
};
