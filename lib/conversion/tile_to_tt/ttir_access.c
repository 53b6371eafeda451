// Accesses of TTIR: tiles of pointers with masks, atomics, and descriptors.
#include "lib/conversion/tile_to_tt/ttir_export.h"

#include "upstream/arith.h"

//===--- descriptors ----------------------------------------------------------------------===//
// A descriptor has the dimensions of its tensor, the last with stride 1, sizes of i32, and pads by zero or nan. Its
// tile begins at any element.

static bool isPlain(const ExportMemory *memory, MlirType view) {
  MlirStringRef pad = tileViewTypeGetPad(view);
  const ExportSize *last = &memory->strides[memory->rank - 1];
  bool ok = (tileStringEquals(pad, "zero") || tileStringEquals(pad, "nan")) && last->isKnown && last->number == 1 &&
            tileElementWidth(tileViewTypeGetElementType(view)) >= 8;
  for (intptr_t i = 0; ok && i < memory->rank; ++i)
    ok = memory->axes[i] == i && tileViewTypeGetStride(view, i) == 1 && tileViewTypeGetStep(view, i) > 0 &&
         !(memory->sizes[i].isKnown && memory->sizes[i].number > INT32_MAX);
  return ok;
}

MlirValue ttirCut(ExportKernel *k, const ExportMemory *memory, MlirType view) {
  MlirValue sizes[ExportMaxRank], strides[ExportMaxRank];
  int64_t tile[ExportMaxRank];
  if (!isPlain(memory, view))
    return (MlirValue){NULL};
  MlirType i32 = exportInteger(k, 32);
  for (intptr_t i = 0; i < memory->rank; ++i) {
    MlirValue size = exportSizeValue(k, &memory->sizes[i]);
    if (!memory->sizes[i].isKnown)
      k->v->check(k, k->v->compare(k, ArithCmpI_Sle, size, exportNumber(k, INT32_MAX)),
                  exportWord(k, "a size is too large for a descriptor"));
    sizes[i] = ttirResize(k, size, i32, true);
    strides[i] = exportSizeValue(k, &memory->strides[i]);
    tile[i] = tileViewTypeGetSize(view, i);
  }
  bool isNan = tileStringEquals(tileViewTypeGetPad(view), "nan");
  MlirType block = exportSized(k, memory->rank, tile, tileViewTypeGetElementType(view));
  return tileOnlyResult(ttMakeTensorDescOpCreate(&k->b, ttDescriptorTypeGet(block), memory->base, memory->rank, sizes,
                                                 memory->rank, strides,
                                                 isNan ? ttirI32(k, TtPadding_Nan) : mlirAttributeGetNull()));
}

// Tiles are numbered, descriptors take the first element.
static void toElements(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirValue *indices) {
  MlirType i32 = exportInteger(k, 32);
  for (intptr_t i = 0; i < memory->rank; ++i) {
    MlirValue first =
        exportCombine(k, ArithOp_MulI, exportWiden(k, indices[i]), exportNumber(k, tileViewTypeGetStep(view, i)));
    indices[i] = ttirResize(k, first, i32, true);
  }
}

MlirValue ttirLoadView(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirType tile, MlirValue *indices) {
  toElements(k, memory, view, indices);
  return ttDescriptorLoadOpBuild(&k->b, tile, memory->view, memory->rank, indices);
}

void ttirStoreView(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirValue value, MlirValue *indices) {
  toElements(k, memory, view, indices);
  ttDescriptorStoreOpBuild(&k->b, memory->view, value, memory->rank, indices);
}

//===--- pointers -------------------------------------------------------------------------===//

// A boolean is a byte in memory, which Triton leaves to whoever writes TTIR.
static bool isBoolean(MlirType tile) {
  return mlirTypeEqual(exportElement(tile), mlirIntegerTypeGet(mlirTypeGetContext(tile), 1));
}

static MlirValue pointersToBytes(ExportKernel *k, MlirValue pointers) {
  MlirType byte = ttPointerTypeGet(exportInteger(k, 8));
  return ttBitcastOpBuild(&k->b, exportShaped(k, mlirValueGetType(pointers), byte), pointers);
}

static MlirValue asBytes(ExportKernel *k, MlirValue booleans) {
  return ttirResize(k, booleans, exportShaped(k, mlirValueGetType(booleans), exportInteger(k, 8)), false);
}

MlirValue ttirLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, MlirValue other) {
  if (!isBoolean(tile))
    return ttLoadOpBuild(&k->b, places->pointers, places->inside, other);
  MlirValue value = ttLoadOpBuild(&k->b, pointersToBytes(k, places->pointers), places->inside,
                                  mlirValueIsNull(other) ? other : asBytes(k, other));
  return arithCmpIOpBuild(&k->b, value, exportFill(k, mlirValueGetType(value), 0), ArithCmpI_Ne);
}

void ttirStore(ExportKernel *k, const ExportPlaces *places, MlirValue value) {
  if (isBoolean(mlirValueGetType(value)))
    ttStoreOpBuild(&k->b, pointersToBytes(k, places->pointers), asBytes(k, value), places->inside);
  else
    ttStoreOpBuild(&k->b, places->pointers, value, places->inside);
}

//===--- atomics --------------------------------------------------------------------------===//

static MlirAttribute semanticOf(ExportKernel *k, ExportOrder order) {
  return ttirI32(k, exportIs(order.order, "acquire")   ? TtSemantic_Acquire
                    : exportIs(order.order, "release") ? TtSemantic_Release
                    : exportIs(order.order, "acq_rel") ? TtSemantic_AcquireRelease
                                                       : TtSemantic_Relaxed);
}

static MlirAttribute scopeOf(ExportKernel *k, ExportOrder order) {
  return ttirI32(k, exportIs(order.scope, "block")    ? TtScope_Cta
                    : exportIs(order.scope, "system") ? TtScope_System
                                                      : TtScope_Gpu);
}

MlirValue ttirAtomic(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue value, MlirAttribute mode,
                     ExportOrder order) {
  static const struct {
    const char *word;
    int64_t kind;
  } kinds[] = {{"and", TtRmw_And},   {"or", TtRmw_Or},    {"xor", TtRmw_Xor}, {"add", TtRmw_Add},
               {"fadd", TtRmw_FAdd}, {"max", TtRmw_Max},  {"min", TtRmw_Min}, {"umax", TtRmw_UMax},
               {"umin", TtRmw_UMin}, {"xchg", TtRmw_Xchg}};
  MlirType type = mlirValueGetType(value);
  bool isFloat = mlirTypeIsAFloat(exportElement(type)), adds = exportIs(mode, "add") || exportIs(mode, "fadd");
  size_t at = 0;
  while (!exportIs(mode, kinds[at].word) && at + 1 < sizeof kinds / sizeof *kinds)
    ++at;
  if (isFloat && !adds && !exportIs(mode, "xchg")) {
    tileError(op, "combines floats by %s, which TTIR does not have", tileAttributeText(mode, (char[32]){0}, 32));
    return (MlirValue){NULL};
  }
  int64_t kind = isFloat && adds ? TtRmw_FAdd : kinds[at].kind;
  return ttAtomicRMWOpBuild(&k->b, type, places->pointers, value, places->inside, ttirI32(k, kind),
                            semanticOf(k, order), scopeOf(k, order));
}

MlirValue ttirSwap(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue expected, MlirValue value,
                   ExportOrder order) {
  if (!mlirValueIsNull(places->inside)) {
    tileError(op, "has a mask, which has no conversion to tt");
    return (MlirValue){NULL};
  }
  return ttAtomicCASOpBuild(&k->b, mlirValueGetType(value), places->pointers, expected, value, semanticOf(k, order),
                            scopeOf(k, order));
}

MlirValue ttirAtomicLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, ExportOrder order) {
  return ttAtomicLoadOpBuild(&k->b, tile, places->pointers, places->inside, semanticOf(k, order), scopeOf(k, order));
}

void ttirAtomicStore(ExportKernel *k, const ExportPlaces *places, MlirValue value, ExportOrder order) {
  ttAtomicStoreOpBuild(&k->b, places->pointers, value, places->inside, semanticOf(k, order), scopeOf(k, order));
}
