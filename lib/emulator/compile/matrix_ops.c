// Matrix instructions: operands go into the frame as lanes/matrix.h lays a fragment out, the result comes from it.
#include "lib/emulator/compile/matrix_ops.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include "upstream/llvm.h"
#include "upstream/nvvm.h"

#include <stdio.h>

static uint32_t operandBytes(const tessera_matrix_operand_t *operand) {
  return (uint32_t)(operand->count * tessera_lane_type_bits(operand->type) + 7) / 8;
}

typedef struct Groups { // operands of A, B, C from `first` on
  intptr_t first, a, b, c;
} Groups;

static bool storeFragment(EmulatorBuild *build, TileBuilder *b, MlirOperation op, const tessera_matrix_t *matrix,
                          Groups groups) {
  uint64_t result = mlirOperationGetNumResults(op) ? emulatorBytes(tileOnlyResultType(op)) : 0;
  if (groups.c < 0 || groups.first + groups.a + groups.b + groups.c > mlirOperationGetNumOperands(op) ||
      result != operandBytes(&matrix->d))
    return emulatorRefuse(build, op, "has not the operands and the result of %s", matrix->name);
  const tessera_matrix_operand_t *operands[] = {&matrix->a, &matrix->b, &matrix->c};
  intptr_t counts[] = {groups.a, groups.b, groups.c}, at = groups.first;
  for (int i = 0; i < 3; at += counts[i++]) {
    uint32_t start = (uint32_t)operands[i]->at, end = emulatorStoreOperands(build, b, op, at, counts[i], start);
    if (end - start != operandBytes(operands[i]))
      return emulatorRefuse(build, op, "operand %c has %u bytes, %s takes %u", "ABC"[i], end - start, matrix->name,
                            operandBytes(operands[i]));
  }
  return true;
}

static bool lowerMatrix(EmulatorBuild *build, MlirOperation op, const tessera_matrix_t *matrix, Groups groups) {
  TileBuilder b = tileBuilderBefore(op);
  const tessera_matrix_t *kept = emulatorKeepMatrix(build, matrix);
  if (!kept || !storeFragment(build, &b, op, kept, groups))
    return false;
  emulatorCollective(build, &b, op, tessera_emu_multiply, kept,
                     emulatorFrame(build, &b, 0, (uint32_t)kept->fragment_bytes));
  emulatorReplace(op, emulatorLoadPacked(build, &b, tileOnlyResultType(op), (uint32_t)kept->d.at));
  return true;
}

//===--- mma.sync -----------------------------------------------------------------===//

static bool typeByName(const char *text, tessera_lane_type_t *type) {
  for (int i = 0; i < TESSERA_LANE_COUNT; ++i) {
    char name[32];
    snprintf(name, sizeof name, "<%s>", tessera_lane_type_name((tessera_lane_type_t)i));
    if (strstr(text, name)) {
      *type = (tessera_lane_type_t)i;
      return true;
    }
  }
  return false;
}

// For one register of an accumulator, or of a multiplicand whose type says it.
static bool typeOfRegister(MlirType type, tessera_lane_type_t *out) {
  MlirType element = mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
  if (mlirTypeIsAF16(element))
    *out = TESSERA_LANE_F16;
  else if (mlirTypeIsAF32(element))
    *out = TESSERA_LANE_F32;
  else if (mlirTypeIsAF64(element))
    *out = TESSERA_LANE_F64;
  else if (mlirTypeIsAInteger(element))
    *out = TESSERA_LANE_S32;
  else
    return false;
  return true;
}

static bool multiplicand(MlirOperation op, const char *attribute, MlirType inRegister, tessera_lane_type_t *out) {
  char text[64];
  MlirAttribute said = tileOpAttribute(op, attribute);
  if (!mlirAttributeIsNull(said))
    return typeByName(tileAttributeText(said, text, sizeof text), out);
  return typeOfRegister(inRegister, out);
}

// Shape and types, as nvvm.mma.sync and nvvm.mma.sp.sync say them.
static bool readMma(MlirOperation op, Groups groups, tessera_mma_sync_t *mma) {
  char shape[128];
  tileAttributeText(tileOpAttribute(op, "shape"), shape, sizeof shape);
  const char *sizes = strchr(shape, '<');
  return sizes && sscanf(sizes, "<m = %d, n = %d, k = %d>", &mma->m, &mma->n, &mma->k) == 3 &&
         multiplicand(op, "multiplicandAPtxType", mlirValueGetType(nvvmMmaOpGetOperandA(op, 0)), &mma->a) &&
         multiplicand(op, "multiplicandBPtxType", tileOperandType(op, groups.a), &mma->b) &&
         typeOfRegister(tileOperandType(op, groups.a + groups.b), &mma->c) &&
         typeOfRegister(mlirLLVMStructTypeGetElementType(tileOnlyResultType(op), 0), &mma->d);
}

bool emulatorLowerMmaSync(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  Groups groups = {0, nvvmMmaOpGetNumOperandA(op), nvvmMmaOpGetNumOperandB(op), nvvmMmaOpGetNumOperandC(op)};
  tessera_mma_sync_t mma = {.a_is_column = emulatorSays(op, "layoutA", "col"),
                            .b_is_row = emulatorSays(op, "layoutB", "row"),
                            .saturate = emulatorSays(op, "intOverflowBehavior", "satfinite"),
                            .bit_product = emulatorSays(op, "b1Op", "and_popc") ? TESSERA_BIT_AND : TESSERA_BIT_XOR};
  tessera_matrix_t matrix;
  tessera_error_t error = {.text = "its types are not known to the emulator"};
  (void)row;
  if (!readMma(op, groups, &mma) || !tessera_mma_sync(&mma, &matrix, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  return lowerMatrix(build, op, &matrix, groups);
}

static intptr_t registersOf(const tessera_matrix_operand_t *operand) {
  return operandBytes(operand) / (tessera_lane_type_bits(operand->type) == 64 ? 8 : 4);
}

// For `count` operands, A and B in registers of 32 bits, or of 64 for f64.
static Groups wordGroups(const tessera_matrix_t *matrix, intptr_t count) {
  intptr_t a = registersOf(&matrix->a), b = registersOf(&matrix->b);
  return (Groups){0, a, b, count - a - b};
}

// A, B and C, then the indices and which lanes hold them. Ordered or not: indices ascend.
static bool lowerSparse(EmulatorBuild *build, MlirOperation op, const tessera_mma_sync_t *mma, intptr_t indices) {
  tessera_matrix_t matrix;
  tessera_error_t error;
  int64_t selector;
  if (!emulatorConstant(mlirOperationGetOperand(op, indices + 1), &selector))
    return emulatorRefuse(build, op, "its selector is not constant, which the emulator does not know");
  if (!tessera_mma_sp(mma, (int)selector, &matrix, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  TileBuilder b = tileBuilderBefore(op);
  emulatorStoreOperands(build, &b, op, indices, 1, (uint32_t)matrix.index_at);
  return lowerMatrix(build, op, &matrix, wordGroups(&matrix, indices));
}

bool emulatorLowerMmaSparse(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  tessera_mma_sync_t mma = {.saturate = emulatorSays(op, "intOverflowBehavior", "satfinite")};
  (void)row;
  Groups groups = {0, nvvmMmaSpOpGetNumOperandA(op), nvvmMmaSpOpGetNumOperandB(op), nvvmMmaSpOpGetNumOperandC(op)};
  if (mlirOperationGetNumOperands(op) < 5 || !readMma(op, groups, &mma))
    return emulatorRefuse(build, op, "its types are not known to the emulator");
  return lowerSparse(build, op, &mma, mlirOperationGetNumOperands(op) - 2);
}

//===--- llvm.nvvm.mma -------------------------------------------------------------===//

static bool typeByWord(const char *word, tessera_lane_type_t *type) {
  char bracketed[32];
  snprintf(bracketed, sizeof bracketed, "<%s>", word);
  return typeByName(bracketed, type);
}

// "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32" or "llvm.nvvm.mma.sp.m16n8k64.…": the forms that nvvm.mma.sync
// and nvvm.mma.sp.sync have no words for (8-bit floats).
static bool readIntrinsic(MlirStringRef name, bool *isSparse, tessera_mma_sync_t *mma) {
  static const char *const heads[] = {"llvm.nvvm.mma.m", "llvm.nvvm.mma.sp.m", "llvm.nvvm.mma.sp.ordered.metadata.m"};
  char text[128], d[8], a[8], b[8], c[8];
  int which = (int)(sizeof heads / sizeof *heads) - 1;
  snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
  while (which >= 0 && strncmp(text, heads[which], strlen(heads[which])) != 0)
    --which;
  if (which < 0)
    return false;
  *isSparse = which > 0;
  int read = sscanf(text + strlen(heads[which]), "%dn%dk%d.row.col.%7[a-z0-9].%7[a-z0-9].%7[a-z0-9].%7[a-z0-9]",
                    &mma->m, &mma->n, &mma->k, d, a, b, c);
  if (read == 5) { // the sums' types only: the factors are f16
    strcpy(c, a);
    strcpy(a, "f16");
    strcpy(b, "f16");
  } else if (read == 4) { // the factors' type only
    strcpy(a, d);
    strcpy(b, d);
    strcpy(d, "f32");
    strcpy(c, "f32");
  }
  return (read == 7 || read == 5 || read == 4) && typeByWord(d, &mma->d) && typeByWord(a, &mma->a) &&
         typeByWord(b, &mma->b) && typeByWord(c, &mma->c);
}

// "llvm.nvvm.mma.block.scale.m16n8k64.row.col.mxf4.scale.2x.f32.e2m1.e2m1.f32.ue8m0": A, B, C, then for A and for B the
// word of scales and two selectors.
enum { ScaledOperands = 6 };
static bool lowerBlockScale(EmulatorBuild *build, MlirOperation op, const char *rest) {
  tessera_mma_sync_t mma = {.m = 0};
  tessera_block_scale_t scale = {.scales = 1};
  tessera_matrix_t matrix;
  tessera_error_t error;
  char kind[16], a[8], b[8], type[8];
  int read = 0;
  if (sscanf(rest, "m%dn%dk%d.row.col.%15[a-z0-9].%n", &mma.m, &mma.n, &mma.k, kind, &read) != 4 || !read)
    return emulatorRefuse(build, op, "is not known to the emulator: its name ends with \"%s\"", rest);
  rest += read;
  if (sscanf(rest, "scale.%dx.%n", &scale.scales, &read) == 1)
    rest += read;
  else
    scale.scales = mma.k / 32;
  if (sscanf(rest, "f32.%7[a-z0-9].%7[a-z0-9].f32.%7[a-z0-9]", a, b, type) != 3 || !typeByWord(a, &mma.a) ||
      !typeByWord(b, &mma.b))
    return emulatorRefuse(build, op, "is not known to the emulator: its name ends with \"%s\"", rest);
  mma.c = mma.d = TESSERA_LANE_F32;
  scale.kind = kind;
  scale.scale = type;
  intptr_t first = mlirOperationGetNumOperands(op) - ScaledOperands;
  for (int i = 0; i < 2; ++i) {
    int64_t selectors[2];
    for (int s = 0; s < 2; ++s)
      if (first < 0 || !emulatorConstant(mlirOperationGetOperand(op, first + 3 * i + 1 + s), &selectors[s]))
        return emulatorRefuse(build, op, "its selectors are not constant, which the emulator does not know");
    scale.byte_id[i] = (int)selectors[0];
    scale.thread_id[i] = (int)selectors[1];
  }
  if (!tessera_mma_block_scale(&mma, &scale, &matrix, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  TileBuilder builder = tileBuilderBefore(op);
  for (int i = 0; i < 2; ++i)
    emulatorStoreOperands(build, &builder, op, first + 3 * i, 1, (uint32_t)matrix.scaled[i].scale_at);
  return lowerMatrix(build, op, &matrix, wordGroups(&matrix, first));
}

bool emulatorLowerMmaIntrinsic(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  tessera_mma_sync_t mma = {.m = 0};
  tessera_matrix_t matrix;
  tessera_error_t error;
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(op, "intrin"));
  static const char scaled[] = "llvm.nvvm.mma.block.scale.";
  char text[128];
  bool isSparse = false;
  (void)row;
  snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
  if (!strncmp(text, scaled, sizeof scaled - 1))
    return lowerBlockScale(build, op, text + sizeof scaled - 1);
  if (!readIntrinsic(name, &isSparse, &mma))
    return emulatorRefuse(build, op, "is not known to the emulator: \"%.*s\"", (int)name.length, name.data);
  if (isSparse)
    return lowerSparse(build, op, &mma, mlirOperationGetNumOperands(op) - 2);
  if (!tessera_mma_sync(&mma, &matrix, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  return lowerMatrix(build, op, &matrix, wordGroups(&matrix, mlirOperationGetNumOperands(op)));
}

//===--- nvvm.wmma ------------------------------------------------------------------===//

// How a fragment of `type` moves; false for one that is none.
static bool readMove(MlirOperation op, bool isA, bool isB, tessera_warp_move_t *move) {
  char text[64];
  int m = (int)emulatorInteger(op, "m", 0), n = (int)emulatorInteger(op, "n", 0), k = (int)emulatorInteger(op, "k", 0);
  tessera_lane_type_t type;
  if (!typeByName(tileAttributeText(tileOpAttribute(op, "eltype"), text, sizeof text), &type) ||
      tessera_lane_type_bits(type) < 8)
    return false;
  bool isColumn = emulatorSays(op, "layout", "col");
  int rows = isB ? k : m, columns = isA ? k : n;
  *move = (tessera_warp_move_t){.fragment = {rows, columns, (isA || isB) && isColumn},
                                .count = tessera_warp_count(type, !isA && !isB, rows * columns),
                                .bytes = (uint32_t)tessera_lane_type_bits(type) / 8,
                                .lines_are_columns = isColumn};
  return move->count > 0;
}

// The lane's registers stand at the start of the frame, what says where they go behind them.
static void moveFragment(EmulatorBuild *build, TileBuilder *b, MlirOperation op, const tessera_warp_move_t *move,
                         MlirValue pointer, MlirValue stride) {
  uint32_t bytes = ((uint32_t)move->count * move->bytes + 15) / 16 * 16;
  MlirValue moved = emulatorFrame(build, b, bytes, sizeof(tessera_warp_moved_t));
  emulatorStore(build, b, emulatorFlat(build, b, pointer), moved);
  emulatorStore(build, b, llvmSExtOpBuild(b, build->i64, stride),
                emulatorOffset(build, b, moved, offsetof(tessera_warp_moved_t, stride)));
  emulatorStore(build, b, emulatorFrame(build, b, 0, bytes),
                emulatorOffset(build, b, moved, offsetof(tessera_warp_moved_t, elements)));
  emulatorCollective(build, b, op, tessera_emu_move_fragment, emulatorKeep(build, move, sizeof *move), moved);
}

bool emulatorLowerWarpLoad(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  tessera_warp_move_t move;
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  if (!readMove(op, emulatorSays(op, "frag", "<a>"), emulatorSays(op, "frag", "<b>"), &move) ||
      emulatorBytes(tileOnlyResultType(op)) != (uint64_t)move.count * move.bytes)
    return emulatorRefuse(build, op, "is of a shape or type that is not known to the emulator");
  move.what = TESSERA_EMU_LOAD;
  moveFragment(build, &b, op, &move, nvvmWMMALoadOpGetPtr(op), nvvmWMMALoadOpGetStride(op));
  emulatorReplace(op, emulatorLoadPacked(build, &b, tileOnlyResultType(op), 0));
  return true;
}

bool emulatorLowerWarpStore(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  tessera_warp_move_t move;
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  if (!readMove(op, false, false, &move) ||
      emulatorStoreOperands(build, &b, op, 1, nvvmWMMAStoreOpGetNumArgs(op), 0) != (uint32_t)move.count * move.bytes)
    return emulatorRefuse(build, op, "is of a shape or type that is not known to the emulator");
  move.what = TESSERA_EMU_STORE;
  moveFragment(build, &b, op, &move, nvvmWMMAStoreOpGetPtr(op), nvvmWMMAStoreOpGetStride(op));
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

bool emulatorLowerWarpMma(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  char a[64];
  intptr_t count = nvvmWMMAMmaOpGetNumArgs(op);
  MlirType accumulator = mlirValueGetType(nvvmWMMAMmaOpGetArgs(op, count - 1));
  tessera_mma_sync_t mma = {.m = (int)emulatorInteger(op, "m", 0),
                            .n = (int)emulatorInteger(op, "n", 0),
                            .k = (int)emulatorInteger(op, "k", 0),
                            .a_is_column = emulatorSays(op, "layoutA", "col"),
                            .b_is_row = emulatorSays(op, "layoutB", "row")};
  tessera_matrix_t matrix;
  tessera_error_t error = {.text = "its types are not known to the emulator"};
  (void)row;
  if (!typeByName(tileAttributeText(tileOpAttribute(op, "eltypeA"), a, sizeof a), &mma.a) ||
      !typeOfRegister(accumulator, &mma.c) ||
      !typeOfRegister(mlirLLVMStructTypeGetElementType(tileOnlyResultType(op), 0), &mma.d))
    return emulatorRefuse(build, op, "%s", error.text);
  mma.b = mma.a; // eltypeB names the accumulator's type
  if (!tessera_warp_mma(&mma, &matrix, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  uint64_t bytes = emulatorBytes(mlirValueGetType(nvvmWMMAMmaOpGetArgs(op, 0)));
  intptr_t ofA = (intptr_t)(operandBytes(&matrix.a) / bytes), ofB = (intptr_t)(operandBytes(&matrix.b) / bytes);
  return lowerMatrix(build, op, &matrix, (Groups){0, ofA, ofB, count - ofA - ofB});
}

//===--- mfma, wmma -----------------------------------------------------------------===//

// Without "rocdl.".
static bool shortName(MlirOperation op, char *name, size_t size) {
  MlirStringRef full = tileOpName(op);
  if (full.length - 6 >= size)
    return false;
  memcpy(name, full.data + 6, full.length - 6);
  name[full.length - 6] = 0;
  return true;
}

// cbsz, abid, blgp: broadcasts of blocks, and signs of f64 on later chips.
static bool hasPlainModifiers(EmulatorBuild *build, MlirOperation op) {
  static const char *const names[] = {"cbsz", "abid", "blgp"};
  for (int i = 0; i < 3 && 3 + i < mlirOperationGetNumOperands(op); ++i) {
    int64_t value;
    if (!emulatorConstant(mlirOperationGetOperand(op, 3 + i), &value) || value)
      return emulatorRefuse(build, op, "%s is not constant 0, which the emulator does not know", names[i]);
  }
  return true;
}

// Zeros that the program writes down, by a constant or element by element: such products begin sums.
static bool isZeros(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op))
    return false;
  if (llvmInsertElementOpIsA(op)) {
    MlirOperation before = tileDefiningOp(llvmInsertElementOpGetVector(op));
    bool isFirst = !mlirOperationIsNull(before) && (llvmUndefOpIsA(before) || llvmPoisonOpIsA(before));
    return isZeros(llvmInsertElementOpGetValue(op)) && (isFirst || isZeros(llvmInsertElementOpGetVector(op)));
  }
  MlirAttribute number = llvmConstantOpIsA(op) ? tileOpAttribute(op, "value") : mlirAttributeGetNull();
  if (!mlirAttributeIsNull(number) && mlirAttributeIsADenseElements(number) && mlirDenseElementsAttrIsSplat(number))
    number = mlirDenseElementsAttrGetSplatValue(number);
  if (mlirAttributeIsNull(number))
    return false;
  return mlirAttributeIsAInteger(number) ? mlirIntegerAttrGetValueInt(number) == 0
                                         : mlirAttributeIsAFloat(number) && mlirFloatAttrGetValueDouble(number) == 0;
}

bool emulatorLowerMfma(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  char name[64];
  tessera_matrix_t matrix;
  tessera_error_t error = {.text = "is not known to the emulator"};
  (void)row;
  if (mlirOperationGetNumOperands(op) != 6)
    return emulatorRefuse(build, op, "has %lld operands, not 6", (long long)mlirOperationGetNumOperands(op));
  if (!hasPlainModifiers(build, op))
    return false;
  if (!shortName(op, name, sizeof name) || !tessera_mfma(name, build->options->amd, &matrix, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  const Groups groups = {0, 1, 1, 1};
  matrix.is_of_zeros = isZeros(mlirOperationGetOperand(op, groups.first));
  return lowerMatrix(build, op, &matrix, groups);
}

// A, B, C, their formats, then for A and for B the byte of a word and the word.
bool emulatorLowerMfmaScale(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  enum { Formats = 3, Scales = 5, NumOperands = 9 };
  char name[64];
  tessera_matrix_t matrix;
  tessera_error_t error = {.text = "is not known to the emulator"};
  int format[2], byteId[2];
  (void)row;
  if (mlirOperationGetNumOperands(op) != NumOperands)
    return emulatorRefuse(build, op, "has %lld operands, not 9", (long long)mlirOperationGetNumOperands(op));
  for (int i = 0; i < 2; ++i) {
    int64_t formatOf, byte;
    if (!emulatorConstant(mlirOperationGetOperand(op, Formats + i), &formatOf) ||
        !emulatorConstant(mlirOperationGetOperand(op, Scales + 2 * i), &byte))
      return emulatorRefuse(build, op, "its formats and selectors are not constant, which the emulator does not know");
    format[i] = (int)formatOf;
    byteId[i] = (int)byte;
  }
  if (!shortName(op, name, sizeof name) ||
      !tessera_mfma_scale(name, build->options->amd, format, byteId, &matrix, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  TileBuilder b = tileBuilderBefore(op);
  for (int i = 0; i < 2; ++i)
    emulatorStoreOperands(build, &b, op, Scales + 1 + 2 * i, 1, (uint32_t)matrix.scaled[i].scale_at);
  return lowerMatrix(build, op, &matrix, (Groups){0, 1, 1, 1});
}

// The operands of all ops rocdl.smfmac.*, which have no rows of their own.
enum { Smfmac_Indices = 3, Smfmac_Cbsz, Smfmac_Abid, Smfmac_NumOperands };
bool emulatorLowerSmfmac(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  char name[64];
  tessera_matrix_t matrix;
  tessera_error_t error = {.text = "is not known to the emulator"};
  int64_t cbsz, abid;
  (void)row;
  if (mlirOperationGetNumOperands(op) != 6)
    return emulatorRefuse(build, op, "has %lld operands, not 6", (long long)mlirOperationGetNumOperands(op));
  if (!emulatorConstant(mlirOperationGetOperand(op, Smfmac_Cbsz), &cbsz) ||
      !emulatorConstant(mlirOperationGetOperand(op, Smfmac_Abid), &abid))
    return emulatorRefuse(build, op, "cbsz and abid are not constant, which the emulator does not know");
  if (cbsz) // the first set, whatever abid says
    abid = 0;
  if (!shortName(op, name, sizeof name) || !tessera_smfmac(name, build->options->amd, (int)abid, &matrix, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  TileBuilder b = tileBuilderBefore(op);
  emulatorStoreOperands(build, &b, op, 3, 1, (uint32_t)matrix.index_at);
  return lowerMatrix(build, op, &matrix, (Groups){0, 1, 1, 1});
}

bool emulatorLowerWmma(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  char name[64];
  tessera_matrix_t matrix;
  tessera_error_t error = {.text = "is not known to the emulator"};
  tessera_wmma_t wmma = {.name = name,
                         .isa = build->options->amd,
                         .lanes = (int)build->options->chip.warp_width,
                         .a_signed = emulatorInteger(op, "signA", 0),
                         .b_signed = emulatorInteger(op, "signB", 0),
                         .clamp = emulatorInteger(op, "clamp", 0),
                         .high = emulatorInteger(op, "opsel", 0)};
  (void)row;
  if (!shortName(op, name, sizeof name) || !tessera_wmma(&wmma, &matrix, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  return lowerMatrix(build, op, &matrix, (Groups){0, 1, 1, 1});
}
