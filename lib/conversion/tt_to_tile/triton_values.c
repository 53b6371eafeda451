// What stands for an old value, and shapes without dimensions of size 1. See triton.h.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/tile/ops.h"
#include "upstream/arith.h"
#include "upstream/ub.h"

#include <stdlib.h>

typedef struct Owned {
  struct Owned *next;
} Owned;

void *tritonAllocate(Triton *t, size_t size) {
  Owned *owned = calloc(1, sizeof *owned + size);
  owned->next = t->owned;
  t->owned = owned;
  return owned + 1;
}

void tritonFree(Triton *t) {
  for (Owned *owned = t->owned, *next; owned; owned = next) {
    next = owned->next;
    free(owned);
  }
  tileTableFree(&t->values);
}

//===--- the table ------------------------------------------------------------===//

void tritonSet(Triton *t, MlirValue old, TritonValue value) {
  TritonValue *kept = tritonAllocate(t, sizeof *kept);
  *kept = value;
  tileTableSet(&t->values, old.ptr, kept);
}

void tritonSetPlain(Triton *t, MlirValue old, MlirValue value) {
  tritonSet(t, old, (TritonValue){.kind = Triton_Plain, .value = value});
}

TritonValue tritonGet(Triton *t, MlirValue old) {
  const TritonValue *value = tileTableFind(&t->values, old.ptr);
  if (value)
    return *value;
  tileErrorAt(t->b.location, "takes a value of type %s that has no conversion",
              tileTypeText(mlirValueGetType(old), (char[128]){0}, 128));
  return (TritonValue){Triton_None};
}

MlirValue tritonPlain(Triton *t, MlirValue old) {
  TritonValue value = tritonGet(t, old);
  if (value.kind == Triton_Plain)
    return value.value;
  if (value.kind == Triton_Undefined)
    return ubPoisonOpBuild(&t->b, tritonType(value.pointee));
  if (value.kind != Triton_None)
    tileErrorAt(t->b.location, "takes a pointer, expected numbers");
  return (MlirValue){NULL};
}

//===--- shapes ---------------------------------------------------------------===//

MlirExtShape tritonShape(MlirType old) {
  MlirExtShape shape = {0};
  if (!mlirTypeIsARankedTensor(old) || !mlirExtTypeGetShape(old, &shape))
    shape.element = old;
  return shape;
}

MlirType tritonTile(intptr_t rank, const int64_t *sizes, MlirType element) {
  return rank ? mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull()) : element;
}

MlirType tritonWithElement(MlirType old, MlirType element) {
  MlirExtShape shape = tritonShape(old);
  int64_t sizes[TtMaxRank];
  intptr_t rank = 0;
  for (intptr_t i = 0; i < shape.rank; ++i)
    if (shape.sizes[i] != 1)
      sizes[rank++] = shape.sizes[i];
  return tritonTile(rank, sizes, element);
}

MlirType tritonType(MlirType old) { return tritonWithElement(old, tritonShape(old).element); }

intptr_t tritonAxis(MlirType old, int64_t axis) {
  MlirExtShape shape = tritonShape(old);
  intptr_t at = 0;
  for (int64_t i = 0; i < axis; ++i)
    at += shape.sizes[i] != 1;
  return shape.sizes[axis] == 1 ? -1 : at;
}

MlirValue tritonReshaped(Triton *t, MlirValue value, MlirType type) {
  if (mlirTypeEqual(mlirValueGetType(value), type))
    return value;
  bool fromScalar = !mlirTypeIsARankedTensor(mlirValueGetType(value));
  return fromScalar ? tileBroadcastOpBuild(&t->b, type, value) : tileReshapeOpBuild(&t->b, type, value);
}

MlirValue tritonFull(Triton *t, MlirValue old) {
  MlirValue value = tritonPlain(t, old);
  return mlirValueIsNull(value) ? value : tritonReshaped(t, value, mlirValueGetType(old));
}

void tritonSetFull(Triton *t, MlirValue old, MlirValue full) {
  tritonSetPlain(t, old, tritonReshaped(t, full, tritonType(mlirValueGetType(old))));
}

MlirValue tritonIndex(Triton *t, MlirValue integer) {
  MlirType type = mlirValueGetType(integer), index = mlirIndexTypeGet(t->b.context);
  int64_t constant;
  if (!mlirTypeIsARankedTensor(type) && tileConstantIndex(integer, &constant))
    return tileBuildIndex(&t->b, constant);
  return mlirTypeIsAIndex(tritonShape(type).element)
             ? integer
             : arithIndexCastOpBuild(&t->b, tritonWithElement(type, index), integer);
}

MlirValue tritonSplat(Triton *t, MlirValue scalar, MlirType type) {
  return mlirTypeIsARankedTensor(type) ? tileBroadcastOpBuild(&t->b, type, scalar) : scalar;
}

MlirAttribute tritonAxes(Triton *t, int64_t axis) { return mlirDenseI64ArrayGet(t->b.context, 1, &axis); }
MlirAttribute tritonWord(Triton *t, const char *word) { return mlirStringAttrGet(t->b.context, tileString(word)); }

//===--- what control flow carries ----------------------------------------------===//

intptr_t tritonFlatten(Triton *t, const TritonValue *value, MlirValue *parts) {
  if (value->kind == Triton_Undefined) { // of numbers: a pointer was merged before
    parts[0] = ubPoisonOpBuild(&t->b, tritonType(value->pointee));
    return 1;
  }
  if (value->kind != Triton_Block) {
    parts[0] = value->value;
    return 1;
  }
  for (intptr_t i = 0; i < value->block->rank && value->block->hasOffsets; ++i)
    parts[i] = value->offsets[i];
  return value->block->hasOffsets ? value->block->rank : 0;
}

TritonValue tritonUnflatten(Triton *t, const TritonValue *like, const MlirValue *parts) {
  TritonValue value = *like;
  if (value.kind == Triton_Undefined)
    return (TritonValue){.kind = Triton_Plain, .value = parts[0]};
  if (value.kind != Triton_Block)
    value.value = parts[0];
  for (intptr_t i = 0; value.kind == Triton_Block && value.block->hasOffsets && i < value.block->rank; ++i)
    value.offsets[i] = parts[i];
  return value;
}

// Poison that takes the place of a pointer's offset.
static bool define(Triton *t, TritonValue *undefined, const TritonValue *like) {
  *undefined = *like;
  if (like->kind == Triton_Block) {
    for (intptr_t i = 0; i < like->block->rank && like->block->hasOffsets; ++i)
      undefined->offsets[i] = ubPoisonOpBuild(&t->b, mlirValueGetType(like->offsets[i]));
    return true;
  }
  undefined->value = ubPoisonOpBuild(&t->b, mlirValueGetType(like->value));
  return true;
}

static bool isSameBlock(const TritonValue *a, const TritonValue *b) {
  bool ok = mlirValueEqual(a->value, b->value) && a->block->rank == b->block->rank &&
            a->block->padding == b->block->padding && mlirTypeEqual(a->block->block, b->block->block);
  for (intptr_t i = 0; ok && i < a->block->rank; ++i)
    ok = mlirValueEqual(a->block->sizes[i], b->block->sizes[i]) &&
         mlirValueEqual(a->block->strides[i], b->block->strides[i]);
  return ok;
}

bool tritonMerge(Triton *t, MlirOperation at, TritonValue *into, const TritonValue *other) {
  if (into->kind == Triton_None || other->kind == Triton_None)
    return false;
  if (into->kind == Triton_Undefined && other->kind != Triton_Undefined)
    return define(t, into, other);
  if (other->kind == Triton_Undefined || into->kind == Triton_Plain)
    return true;
  bool isSame = into->kind == other->kind && mlirValueEqual(into->base, other->base);
  if (into->kind == Triton_Pointer && other->kind == Triton_Pointer) {
    if (!isSame)
      tritonToAddress(t, into);
    return true;
  }
  return (isSame && isSameBlock(into, other)) ||
         tileError(at, "makes one descriptor of descriptors of different memory: expected offsets into one argument");
}
