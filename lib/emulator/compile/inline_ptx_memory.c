// Inline PTX that accesses memory: ld, st, atom, red, fence become ops of LLVM. The words of an instruction say the
// space, the order and the scope, the vector and the element; words about caches change nothing. See inline_ptx.h.
#include "lib/emulator/compile/inline_ptx.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <stdio.h>
#include <stdlib.h>

//===--- words ------------------------------------------------------------------------------------------------===//

typedef struct Access {
  unsigned space;
  LlvmAtomicOrdering order;
  const char *scope;  // of LLVM; null: the whole system
  const char *action; // of atom and red
  int lanes;
  char kind; // of the element: b, u, s, f; 0: none
  unsigned bits;
} Access;

static bool takeType(const char *word, Access *access) {
  char end;
  return strchr("busf", *word) && sscanf(word + 1, "%u%c", &access->bits, &end) == 1 && access->bits >= 8 &&
         access->bits <= 64 && (access->kind = *word);
}

static bool isOneOf(const char *word, const char *words) {
  size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
      return true;
  return false;
}

static bool takeWord(const char *word, Access *access) {
  static const struct {
    const char *word;
    unsigned space;
  } spaces[] = {{"global", 1}, {"shared", 3}, {"shared::cta", 3}};
  static const struct {
    const char *word;
    LlvmAtomicOrdering order;
  } orders[] = {{"relaxed", LlvmAtomicOrdering_Monotonic},
                {"acquire", LlvmAtomicOrdering_Acquire},
                {"release", LlvmAtomicOrdering_Release},
                {"acq_rel", LlvmAtomicOrdering_AcqRel},
                {"sc", LlvmAtomicOrdering_SeqCst}};
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; ++i)
    if (!strcmp(word, spaces[i].word))
      return access->space = spaces[i].space;
  for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
    if (!strcmp(word, orders[i].word)) {
      access->order = orders[i].order;
      return true;
    }
  if (isOneOf(word, "cta gpu sys")) {
    access->scope = *word == 'c' ? "block" : *word == 'g' ? "device" : NULL;
    return true;
  }
  if (isOneOf(word, "v2 v4"))
    return access->lanes = word[1] - '0';
  static const char *const actions[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas"};
  for (size_t i = 0; i < sizeof actions / sizeof *actions; ++i)
    if (!strcmp(word, actions[i]))
      return (access->action = actions[i]) != NULL;
  bool isHint =
      isOneOf(word, "nc ca cg cs lu cv wb wt weak volatile") || !strncmp(word, "L1::", 4) || !strncmp(word, "L2::", 4);
  return isHint || takeType(word, access);
}

// The instruction's first word, "ld"; null: a word of it is unknown.
static const char *readWords(char text[PtxMostName], Access *access) {
  char *rest = text, *first = strtok_r(rest, ".", &rest);
  *access = (Access){.order = LlvmAtomicOrdering_NotAtomic, .scope = "device", .lanes = 1};
  for (char *word; first && (word = strtok_r(rest, ".", &rest));)
    if (!takeWord(word, access))
      return NULL;
  return first;
}

//===--- values -----------------------------------------------------------------------------------------------===//

static MlirType elementOf(TileBuilder *b, const Access *access) {
  if (access->kind != 'f')
    return mlirIntegerTypeGet(b->context, access->bits);
  return access->bits == 64   ? mlirF64TypeGet(b->context)
         : access->bits == 32 ? mlirF32TypeGet(b->context)
                              : mlirF16TypeGet(b->context);
}

static unsigned widthOf(MlirType type) {
  return mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type)
         : mlirTypeIsAF64(type)   ? 64
         : mlirTypeIsAF32(type)   ? 32
         : mlirTypeIsAFloat(type) ? 16
                                  : 0;
}

// A value as one of another type: bits stay, integers are cut or widened. Null: not possible.
static MlirValue as(TileBuilder *b, MlirValue value, MlirType type, bool isSigned) {
  MlirType from = mlirValueGetType(value);
  if (mlirTypeEqual(from, type))
    return value;
  if (widthOf(from) == widthOf(type))
    return llvmBitcastOpBuild(b, type, value);
  if (!mlirTypeIsAInteger(from) || !mlirTypeIsAInteger(type))
    return (MlirValue){NULL};
  if (widthOf(from) > widthOf(type))
    return llvmTruncOpBuild(b, type, value);
  return isSigned ? llvmSExtOpBuild(b, type, value) : llvmZExtOpBuild(b, type, value);
}

static MlirAttribute number(TileBuilder *b, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), value);
}

static MlirValue position(TileBuilder *b, int64_t value) {
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  return llvmConstantOpBuild(b, i32, mlirIntegerAttrGet(i32, value));
}

static MlirAttribute scopeOf(TileBuilder *b, const Access *access) {
  bool isPlain = access->order == LlvmAtomicOrdering_NotAtomic || !access->scope;
  return isPlain ? mlirAttributeGetNull() : mlirStringAttrGet(b->context, tileString(access->scope));
}

static MlirAttribute orderOf(TileBuilder *b, const Access *access) { return number(b, access->order); }

static MlirType accessed(TileBuilder *b, const Access *access) {
  int64_t lanes = access->lanes;
  MlirType element = elementOf(b, access);
  return lanes == 1 ? element : mlirVectorTypeGet(1, &lanes, element);
}

//===--- instructions -----------------------------------------------------------------------------------------===//

static bool load(const Ptx *ptx, const Access *access) {
  TileBuilder b = tileBuilderBefore(ptx->op);
  MlirAttribute none = {NULL};
  if (!access->kind || access->action || ptx->results != access->lanes || ptx->count != access->lanes + 1)
    return false;
  MlirValue pointer = emulatorPtxPointer(ptx, &b, access->lanes, access->space);
  if (mlirValueIsNull(pointer))
    return false;
  MlirAttribute order = access->order == LlvmAtomicOrdering_NotAtomic ? none : orderOf(&b, access);
  MlirValue value = tileOnlyResult(llvmLoadOpCreate(&b, accessed(&b, access), pointer,
                                                    number(&b, access->bits / 8 * access->lanes), none, none, none,
                                                    none, order, scopeOf(&b, access), none, none, none, none, none));
  MlirType type = tileOnlyResultType(ptx->op);
  if (access->lanes == 1) {
    value = as(&b, value, type, access->kind == 's');
  } else {
    MlirValue all = llvmUndefOpBuild(&b, type);
    for (int64_t i = 0; i < access->lanes && !mlirValueIsNull(all); ++i) {
      MlirValue lane = llvmExtractElementOpBuild(&b, value, position(&b, i));
      lane = as(&b, lane, mlirLLVMStructTypeGetElementType(type, i), access->kind == 's');
      all =
          mlirValueIsNull(lane) ? lane : llvmInsertValueOpBuild(&b, all, lane, mlirDenseI64ArrayGet(b.context, 1, &i));
    }
    value = all;
  }
  if (mlirValueIsNull(value))
    return false;
  emulatorPtxReplace(ptx, value);
  return true;
}

static bool store(const Ptx *ptx, const Access *access) {
  TileBuilder b = tileBuilderBefore(ptx->op);
  MlirAttribute none = {NULL};
  if (!access->kind || access->action || ptx->results || ptx->count != access->lanes + 1)
    return false;
  MlirValue pointer = emulatorPtxPointer(ptx, &b, 0, access->space);
  MlirValue all = access->lanes > 1 ? llvmUndefOpBuild(&b, accessed(&b, access)) : (MlirValue){NULL};
  for (int i = 0; i < access->lanes; ++i) {
    MlirValue lane = emulatorPtxValue(ptx, &b, i + 1);
    lane = mlirValueIsNull(lane) ? lane : as(&b, lane, elementOf(&b, access), false);
    if (mlirValueIsNull(lane) || mlirValueIsNull(pointer))
      return false;
    all = access->lanes > 1 ? llvmInsertElementOpBuild(&b, all, lane, position(&b, i)) : lane;
  }
  MlirAttribute order = access->order == LlvmAtomicOrdering_NotAtomic ? none : orderOf(&b, access);
  llvmStoreOpCreate(&b, all, pointer, number(&b, access->bits / 8 * access->lanes), none, none, none, order,
                    scopeOf(&b, access), none, none, none, none);
  mlirOperationDestroy(ptx->op);
  return true;
}

static bool actionOf(const Access *access, LlvmAtomicBinOp *kind) {
  static const struct {
    const char *word;
    LlvmAtomicBinOp forSigned, forUnsigned;
  } rows[] = {{"add", LlvmAtomicBinOp_Add, LlvmAtomicBinOp_Add},   {"min", LlvmAtomicBinOp_Min, LlvmAtomicBinOp_Umin},
              {"max", LlvmAtomicBinOp_Max, LlvmAtomicBinOp_Umax},  {"and", LlvmAtomicBinOp_And, LlvmAtomicBinOp_And},
              {"or", LlvmAtomicBinOp_Or, LlvmAtomicBinOp_Or},      {"xor", LlvmAtomicBinOp_Xor, LlvmAtomicBinOp_Xor},
              {"exch", LlvmAtomicBinOp_Xchg, LlvmAtomicBinOp_Xchg}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (!strcmp(access->action, rows[i].word)) {
      *kind = access->kind == 'f'   ? LlvmAtomicBinOp_Fadd
              : access->kind == 's' ? rows[i].forSigned
                                    : rows[i].forUnsigned;
      return access->kind != 'f' || i == 0;
    }
  return false;
}

// atom $0, [$1], $2; red [$0], $1; atom.cas $0, [$1], $2, $3
static bool combine(const Ptx *ptx, Access access) {
  TileBuilder b = tileBuilderBefore(ptx->op);
  MlirAttribute none = {NULL};
  LlvmAtomicBinOp kind;
  bool isSwap = access.action && !strcmp(access.action, "cas");
  int at = ptx->results;
  if (!access.action || !access.kind || access.lanes != 1 || at > 1 || ptx->count != at + (isSwap ? 3 : 2) ||
      access.bits < 32 || (!isSwap && !actionOf(&access, &kind)))
    return false;
  if (access.order == LlvmAtomicOrdering_NotAtomic)
    access.order = LlvmAtomicOrdering_Monotonic;
  MlirValue pointer = emulatorPtxPointer(ptx, &b, at, access.space), values[2] = {{NULL}}, old;
  for (int i = 0; i < (isSwap ? 2 : 1); ++i) {
    MlirValue value = emulatorPtxValue(ptx, &b, at + 1 + i);
    values[i] = mlirValueIsNull(value) ? value : as(&b, value, elementOf(&b, &access), false);
    if (mlirValueIsNull(values[i]) || mlirValueIsNull(pointer))
      return false;
  }
  if (isSwap) {
    bool releases = access.order == LlvmAtomicOrdering_AcqRel || access.order == LlvmAtomicOrdering_SeqCst;
    LlvmAtomicOrdering failure = releases                                     ? LlvmAtomicOrdering_Acquire
                                 : access.order == LlvmAtomicOrdering_Release ? LlvmAtomicOrdering_Monotonic
                                                                              : access.order;
    int64_t first = 0;
    MlirOperation swap = llvmAtomicCmpXchgOpCreate(&b, pointer, values[0], values[1], access.order, failure,
                                                   scopeOf(&b, &access), none, none, none, none, none, none, none);
    old = llvmExtractValueOpBuild(&b, elementOf(&b, &access), tileOnlyResult(swap),
                                  mlirDenseI64ArrayGet(b.context, 1, &first));
  } else {
    old = tileOnlyResult(llvmAtomicRMWOpCreate(&b, pointer, values[0], kind, access.order, scopeOf(&b, &access), none,
                                               none, none, none, none, none));
  }
  if (!ptx->results) {
    mlirOperationDestroy(ptx->op);
    return true;
  }
  old = as(&b, old, tileOnlyResultType(ptx->op), access.kind == 's');
  if (mlirValueIsNull(old))
    return false;
  emulatorPtxReplace(ptx, old);
  return true;
}

static bool fence(const Ptx *ptx, const Access *access) {
  TileBuilder b = tileBuilderBefore(ptx->op);
  if (ptx->count || access->space || access->kind ||
      (access->order != LlvmAtomicOrdering_AcqRel && access->order != LlvmAtomicOrdering_SeqCst))
    return false;
  llvmFenceOpCreate(&b, access->order, scopeOf(&b, access));
  mlirOperationDestroy(ptx->op);
  return true;
}

bool emulatorPtxMemory(const Ptx *ptx) {
  char text[PtxMostName];
  Access access;
  memcpy(text, ptx->name, sizeof text);
  const char *first = readWords(text, &access);
  return first && (!strcmp(first, "ld")     ? load(ptx, &access)
                   : !strcmp(first, "st")   ? store(ptx, &access)
                   : !strcmp(first, "atom") ? ptx->results && combine(ptx, access)
                   : !strcmp(first, "red")  ? !ptx->results && combine(ptx, access)
                                            : !strcmp(first, "fence") && fence(ptx, &access));
}
