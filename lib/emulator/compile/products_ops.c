// Products of warpgroups: nvvm's wgmma ops, and the texts of assembly for what nvvm has no op for (a left factor in
// registers; fences and waits through which registers go). Sums under way are marks (machine/engines/products.h):
// every op that does more than move them asks for the sums themselves.
#include "lib/emulator/compile/products_ops.h"

#include "lib/emulator/lanes/wgmma.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"

#include <stdio.h>
#include <stdlib.h>

static const MlirType none;
static const MlirValue nothing;

enum { WordBytes = 4, HeldWords = 4, MostText = 4096 };

//===--- sums in the frame ---------------------------------------------------------------===//

static intptr_t fieldsOf(MlirType type) {
  return mlirTypeIsALLVMStructType(type) ? mlirLLVMStructTypeGetNumElementTypes(type) : 1;
}

// What a lane hands in: its sums lie at the frame's begin, behind them the words of a left factor and this.
typedef struct Contribution {
  MlirValue descriptors[2]; // null: none
  intptr_t count;
  int64_t pending;
  bool holds;
} Contribution;

static MlirValue contribute(EmulatorBuild *build, TileBuilder *b, const Contribution *what) {
  uint32_t held = (uint32_t)(what->count * WordBytes + 7) / 8 * 8, at = held + HeldWords * WordBytes;
  MlirValue place = emulatorFrame(build, b, at, sizeof(tessera_emu_product_t));
  for (int i = 0; i < 2; ++i) {
    bool is = !mlirValueIsNull(what->descriptors[i]);
    emulatorStore(
        build, b, is ? what->descriptors[i] : emulatorI64(build, b, 0),
        emulatorOffset(build, b, place, (int64_t)(offsetof(tessera_emu_product_t, descriptor) + 8 * (size_t)i)));
  }
  emulatorStore(build, b, emulatorFrame(build, b, 0, held),
                emulatorOffset(build, b, place, offsetof(tessera_emu_product_t, sums)));
  emulatorStore(build, b, emulatorFrame(build, b, held, HeldWords * WordBytes),
                emulatorOffset(build, b, place, offsetof(tessera_emu_product_t, held)));
  emulatorStore(build, b, emulatorI32(build, b, what->count),
                emulatorOffset(build, b, place, offsetof(tessera_emu_product_t, count)));
  emulatorStore(build, b, emulatorI32(build, b, what->pending),
                emulatorOffset(build, b, place, offsetof(tessera_emu_product_t, pending)));
  return place;
}

//===--- products --------------------------------------------------------------------------===//

static bool typeOf(const char *name, tessera_lane_type_t *type) {
  for (int i = 0; i < TESSERA_LANE_COUNT; ++i)
    if (!strcmp(name, tessera_lane_type_name((tessera_lane_type_t)i))) {
      *type = (tessera_lane_type_t)i;
      return true;
    }
  return false;
}

static bool typeOfAttribute(MlirOperation op, const char *attribute, tessera_lane_type_t *type) {
  char text[64], name[16];
  const char *begin = strchr(tileAttributeText(tileOpAttribute(op, attribute), text, sizeof text), '<');
  return begin && sscanf(begin, "<%15[a-z0-9]>", name) == 1 && typeOf(name, type);
}

static bool multiply(EmulatorBuild *build, TileBuilder *b, MlirOperation op, const tessera_wgmma_t *product,
                     const Contribution *what) {
  tessera_error_t error;
  MlirType type = tileOnlyResultType(op);
  if (!tessera_wgmma_check(product, &error))
    return emulatorRefuse(build, op, "%s", error.text);
  if (fieldsOf(type) != product->n / 2 || emulatorBytes(type) != (uint64_t)product->n / 2 * WordBytes)
    return emulatorRefuse(build, op, "has not the %d sums of m64n%dk%d in registers of 32 bits", product->n / 2,
                          product->n, product->k);
  const void *kept = emulatorKeep(build, product, sizeof *product);
  emulatorCollective(build, b, op, tessera_emu_multiply_async, kept, contribute(build, b, what));
  emulatorReplace(op, emulatorLoadPacked(build, b, type, 0));
  return kept;
}

bool emulatorLowerProduct(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  char text[128];
  int m;
  tessera_wgmma_t product = {.a_is_column = emulatorSays(op, "layoutA", "col"),
                             .b_is_row = emulatorSays(op, "layoutB", "row"),
                             .a_negated = emulatorSays(op, "scaleA", "neg"),
                             .b_negated = emulatorSays(op, "scaleB", "neg"),
                             .from_zero = emulatorSays(op, "scaleD", "zero"),
                             .saturate = emulatorSays(op, "satfinite", "satfinite")};
  const char *shape = strchr(tileAttributeText(tileOpAttribute(op, "shape"), text, sizeof text), '<');
  (void)row;
  if (!shape || sscanf(shape, "<m = %d, n = %d, k = %d>", &m, &product.n, &product.k) != 3 ||
      !typeOfAttribute(op, "typeA", &product.a) || !typeOfAttribute(op, "typeB", &product.b) ||
      !typeOfAttribute(op, "typeD", &product.d))
    return emulatorRefuse(build, op, "its types are not known to the emulator");
  MlirValue sums = nvvmWgmmaMmaAsyncOpGetInouts(op);
  Contribution what = {.descriptors = {nvvmWgmmaMmaAsyncOpGetDescriptorA(op), nvvmWgmmaMmaAsyncOpGetDescriptorB(op)},
                       .count = fieldsOf(mlirValueGetType(sums))};
  emulatorStore(build, &b, sums, emulatorFrame(build, &b, 0, (uint32_t)emulatorBytes(mlirValueGetType(sums))));
  return multiply(build, &b, op, &product, &what);
}

//===--- groups -----------------------------------------------------------------------------===//

bool emulatorLowerFenceProducts(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  emulatorCollective(build, &b, op, tessera_emu_products_fence, NULL, contribute(build, &b, &(Contribution){0}));
  emulatorReplace(op, nothing);
  return true;
}

bool emulatorLowerCommitProducts(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  emulatorCollective(build, &b, op, tessera_emu_products_commit, NULL, contribute(build, &b, &(Contribution){0}));
  emulatorReplace(op, nothing);
  return true;
}

bool emulatorLowerWaitProducts(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  Contribution what = {.pending = emulatorInteger(op, "group", 0)};
  (void)row;
  emulatorOrderedCollective(build, &b, op, tessera_emu_products_wait, contribute(build, &b, &what));
  emulatorReplace(op, nothing);
  return true;
}

//===--- texts of assembly ------------------------------------------------------------------===//

static void readText(MlirOperation op, char text[MostText]) {
  MlirStringRef all = mlirStringAttrGetValue(tileOpAttribute(op, "asm_string"));
  snprintf(text, MostText, "%.*s", (int)all.length, all.data);
}

// Through a fence go the operands themselves.
static bool passThrough(EmulatorBuild *build, MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op);
  MlirValue all = llvmPoisonOpBuild(&b, type);
  emulatorCollective(build, &b, op, tessera_emu_products_fence, NULL, contribute(build, &b, &(Contribution){0}));
  for (int64_t i = 0; i < fieldsOf(type); ++i)
    all =
        llvmInsertValueOpBuild(&b, all, llvmInlineAsmOpGetOperands(op, i), mlirDenseI64ArrayGet(build->context, 1, &i));
  emulatorReplace(op, all);
  return true;
}

static bool waitFor(EmulatorBuild *build, MlirOperation op, int64_t pending) {
  TileBuilder b = tileBuilderBefore(op);
  intptr_t count = mlirOperationGetNumOperands(op);
  Contribution what = {.count = count, .pending = pending};
  emulatorStoreOperands(build, &b, op, 0, count, 0);
  emulatorOrderedCollective(build, &b, op, tessera_emu_products_wait, contribute(build, &b, &what));
  emulatorReplace(op,
                  mlirOperationGetNumResults(op) ? emulatorLoadPacked(build, &b, tileOnlyResultType(op), 0) : nothing);
  return true;
}

// "setp.ne.b32 p, 1, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {sums}, {words}, $9, p, 1, 1, 0;"
static bool readProduct(const char *text, tessera_wgmma_t *product) {
  const char *name = strstr(text, "wgmma.mma_async.sync.aligned."), *predicate = strstr(text, "setp.ne.b32 p, ");
  const char *tail = name ? strstr(name, ", p") : NULL;
  char d[8], a[8], b[8];
  int m, adds, scaleA = 1, scaleB = 1, isRow = 0;
  if (!tail || !predicate || sscanf(predicate, "setp.ne.b32 p, %d, 0;", &adds) != 1 ||
      sscanf(name, "wgmma.mma_async.sync.aligned.m%dn%dk%d.%7[a-z0-9].%7[a-z0-9].%7[a-z0-9] {", &m, &product->n,
             &product->k, d, a, b) != 6 ||
      !typeOf(d, &product->d) || !typeOf(a, &product->a) || !typeOf(b, &product->b))
    return false;
  sscanf(tail, ", p, %d, %d, %d", &scaleA, &scaleB, &isRow);
  product->a_is_held = true;
  product->a_negated = scaleA < 0;
  product->b_negated = scaleB < 0;
  product->b_is_row = isRow;
  product->from_zero = !adds;
  return true;
}

static bool multiplyHeld(EmulatorBuild *build, MlirOperation op, const tessera_wgmma_t *product) {
  TileBuilder b = tileBuilderBefore(op);
  intptr_t count = fieldsOf(tileOnlyResultType(op)), all = mlirOperationGetNumOperands(op);
  if (all != count + HeldWords + 1)
    return emulatorRefuse(build, op, "has %lld operands; %lld sums, %d words and a descriptor make %lld",
                          (long long)all, (long long)count, HeldWords, (long long)count + HeldWords + 1);
  uint32_t held = emulatorStoreOperands(build, &b, op, 0, count, 0);
  emulatorStoreOperands(build, &b, op, count, HeldWords, (held + 7) / 8 * 8);
  Contribution what = {.descriptors = {nothing, llvmInlineAsmOpGetOperands(op, all - 1)}, .count = count};
  return multiply(build, &b, op, product, &what);
}

// What is subnormal is 0 before and after.
static bool lowerPower(EmulatorBuild *build, MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue power = llvmExp2OpBuild(&b, llvmInlineAsmOpGetOperands(op, 0));
  MlirValue least = llvmConstantOpBuild(&b, build->f32, mlirFloatAttrDoubleGet(b.context, build->f32, 0x1p-126));
  MlirValue zero = llvmConstantOpBuild(&b, build->f32, mlirFloatAttrDoubleGet(b.context, build->f32, 0));
  MlirValue isLess = llvmFCmpOpBuild(&b, power, least, LlvmFCmp_Olt);
  emulatorReplace(op, llvmSelectOpBuild(&b, isLess, zero, power));
  return true;
}

bool emulatorLowerAssembly(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  char text[MostText];
  tessera_wgmma_t product = {.n = 0};
  int pending, end = 0;
  (void)row;
  readText(op, text);
  if (!strcmp(text, "wgmma.fence.sync.aligned;"))
    return passThrough(build, op);
  if (sscanf(text, "wgmma.wait_group.sync.aligned %d;%n", &pending, &end) == 1 && end && !text[end])
    return waitFor(build, op, pending);
  if (!strcmp(text, "ex2.approx.ftz.f32 $0, $1;"))
    return lowerPower(build, op);
  if (!strcmp(text, "tcgen05.wait::ld.sync.aligned;"))
    return emulatorLowerTensorWait(build, op);
  if (readProduct(text, &product))
    return multiplyHeld(build, op, &product);
  return emulatorRefuse(build, op, "is not known to the emulator: \"%.100s\"", text);
}

//===--- who looks at sums under way --------------------------------------------------------===//

typedef struct Values { // a set, and a queue of those whose uses have not been looked at
  const void **places;
  size_t room, used, done;
  MlirValue *queue;
} Values;

static size_t placeOf(const Values *values, const void *pointer) {
  size_t at = ((uintptr_t)pointer >> 4) * 0x9e3779b97f4a7c15u % values->room;
  while (values->places[at] && values->places[at] != pointer)
    at = (at + 1) % values->room;
  return at;
}

static bool hasRoom(Values *values) {
  if (2 * values->used < values->room)
    return true;
  size_t room = values->room ? 2 * values->room : 1024;
  const void **places = calloc(room, sizeof *places);
  MlirValue *queue = realloc(values->queue, room * sizeof *queue);
  values->queue = queue ? queue : values->queue;
  if (!places || !queue) {
    free(places);
    return false;
  }
  free(values->places);
  values->places = places;
  values->room = room;
  for (size_t i = 0; i < values->used; ++i)
    places[placeOf(values, queue[i].ptr)] = queue[i].ptr;
  return true;
}

static void add(Values *values, MlirValue value) {
  if (!hasRoom(values) || values->places[placeOf(values, value.ptr)])
    return;
  values->places[placeOf(values, value.ptr)] = value.ptr;
  values->queue[values->used++] = value;
}

static bool isProductText(MlirOperation op) {
  if (!llvmInlineAsmOpIsA(op))
    return false;
  MlirStringRef text = mlirStringAttrGetValue(tileOpAttribute(op, "asm_string"));
  return (text.length >= 6 && !strncmp(text.data, "wgmma.", 6)) || (text.length && text.data[0] == '{');
}

static bool isProduct(MlirOperation op) { return nvvmWgmmaMmaAsyncOpIsA(op) || isProductText(op); }

// Moves values, and does not look at them.
static bool isMove(MlirOperation op) {
  switch (llvmOpKind(op)) {
  case LlvmOp_ExtractValue:
  case LlvmOp_InsertValue:
  case LlvmOp_ExtractElement:
  case LlvmOp_InsertElement:
  case LlvmOp_ShuffleVector:
  case LlvmOp_Select:
  case LlvmOp_Bitcast:
    return true;
  default:
    return false;
  }
}

// A branch gives it to arguments of its type.
static void addArguments(Values *values, MlirOperation branch, MlirType type) {
  for (intptr_t s = 0; s < mlirOperationGetNumSuccessors(branch); ++s) {
    MlirBlock block = mlirOperationGetSuccessor(branch, s);
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
      if (mlirTypeEqual(mlirValueGetType(mlirBlockGetArgument(block, i)), type))
        add(values, mlirBlockGetArgument(block, i));
  }
}

// The values that may be marks.
static void follow(Values *values) {
  while (values->done < values->used) {
    MlirValue value = values->queue[values->done++];
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      if (isMove(user))
        add(values, tileOnlyResult(user));
      else if (mlirOperationGetNumSuccessors(user))
        addArguments(values, user, mlirValueGetType(value));
    }
  }
}

static MlirValue askFor(EmulatorBuild *build, MlirOperation op, MlirValue value) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = mlirValueGetType(value);
  uint64_t bytes = emulatorBytes(type);
  if (bytes == WordBytes && (mlirTypeIsAF32(type) || mlirTypeIsAInteger(type))) {
    MlirValue word = emulatorToBits(build, &b, value);
    return emulatorFromBits(build, &b, emulatorCallAt(build, &b, op, "tessera_emu_sum", build->i32, 1, &word), type);
  }
  MlirValue operands[] = {emulatorFrame(build, &b, 0, (uint32_t)bytes),
                          emulatorI32(build, &b, (int64_t)bytes / WordBytes)};
  emulatorStore(build, &b, value, operands[0]);
  emulatorCallAt(build, &b, op, "tessera_emu_sums", none, 2, operands);
  return emulatorLoadPacked(build, &b, type, 0);
}

void emulatorAskForSums(EmulatorBuild *build, const TileOps *ops) {
  Values values = {NULL};
  for (intptr_t i = 0; i < ops->count; ++i)
    if (isProduct(ops->items[i]) && mlirOperationGetNumResults(ops->items[i]))
      add(&values, tileOnlyResult(ops->items[i]));
  follow(&values);
  for (intptr_t i = 0; values.used && i < ops->count; ++i) {
    MlirOperation op = ops->items[i];
    if (isMove(op) || isProduct(op) || mlirOperationGetNumSuccessors(op))
      continue;
    for (intptr_t o = 0; o < mlirOperationGetNumOperands(op); ++o) {
      MlirValue operand = mlirOperationGetOperand(op, o);
      if (values.places[placeOf(&values, operand.ptr)])
        mlirOperationSetOperand(op, o, askFor(build, op, operand));
    }
  }
  free(values.places);
  free(values.queue);
}
