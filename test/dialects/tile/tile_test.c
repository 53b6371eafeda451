// The dialect from C (dialects/tile/tile.h): types and attributes made, asked and refused; ops built with few words.
#include <stdio.h>

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/ir/assembly_parts.h"
#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "test/check.h"

typedef struct Session {
  MlirContext context;
  MlirModule module;
  TileBuilder builder;
  char message[512]; // the last diagnostic
} Session;

static void append(MlirStringRef text, void *userData) {
  char *buffer = userData;
  size_t length = strlen(buffer);
  snprintf(buffer + length, 512 - length, "%.*s", (int)text.length, text.data);
}

static MlirLogicalResult keep(MlirDiagnostic diagnostic, void *userData) {
  Session *s = userData;
  s->message[0] = '\0';
  mlirDiagnosticPrint(diagnostic, append, s->message);
  return mlirLogicalResultSuccess();
}

static void begin(Session *s) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tileRegisterDialect(registry);
  s->context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(s->context);
  mlirContextAttachDiagnosticHandler(s->context, keep, s, NULL);
  MlirLocation location = mlirLocationUnknownGet(s->context);
  s->module = mlirModuleCreateEmpty(location);
  s->builder = tileBuilderAtEnd(mlirModuleGetBody(s->module), location);
  s->message[0] = '\0';
}

static void end(Session *s) {
  mlirModuleDestroy(s->module);
  mlirContextDestroy(s->context);
}

static MlirType typeOf(Session *s, const char *text) { return mlirTypeParseGet(s->context, tileString(text)); }
static MlirAttribute attributeOf(Session *s, const char *text) {
  return mlirAttributeParseGet(s->context, tileString(text));
}
// Whether the type was made (else the diagnostic says why) and prints, and so is, the same as the text.
static void checkType(Session *s, MlirType type, const char *text) {
  char printed[256] = "";
  CHECK(type.ptr, "%s", s->message);
  if (!mlirTypeIsNull(type))
    CHECK(mlirTypeEqual(type, typeOf(s, text)), "%s", tileTypeText(type, printed, sizeof printed));
}

static void views(Session *s) {
  MlirType f16 = typeOf(s, "f16");
  const int64_t shape[] = {8, 16}, steps[] = {1, 16}, strides[] = {2, 1}, order[] = {1, 0}, bad[] = {0, 0};
  checkType(s, tileViewTypeGet(s->context, &(TileViewSpec){.rank = 0, .element = f16}), "!tile.view<f16>");
  checkType(s, tileViewTypeGet(s->context, &(TileViewSpec){.rank = 2, .shape = shape, .element = f16}),
            "!tile.view<8x16xf16>");
  MlirType view = tileViewTypeGet(s->context, &(TileViewSpec){.rank = 2,
                                                              .shape = shape,
                                                              .element = f16,
                                                              .steps = steps,
                                                              .strides = strides,
                                                              .order = order,
                                                              .pad = "neg_inf"});
  checkType(s, view, "!tile.view<8x16xf16, steps = [1, 16], strides = [2, 1], order = [1, 0], pad = neg_inf>");
  CHECK(tileTypeIsAView(view) && !tileTypeIsABuffer(view) && !tileTypeIsATile(view));
  CHECK(tileViewTypeGetRank(view) == 2 && tileViewTypeGetSize(view, 1) == 16 && tileViewTypeGetStep(view, 0) == 1);
  CHECK(tileViewTypeGetStride(view, 0) == 2 && tileViewTypeGetOrder(view, 0) == 1);
  CHECK(tileStringEquals(tileViewTypeGetPad(view), "neg_inf") && !tileViewTypeGetPacked(view).ptr);
  CHECK(mlirTypeEqual(tileViewTypeGetElementType(view), f16));
  MlirType plain = typeOf(s, "!tile.view<8x16xf16>");
  CHECK(tileViewTypeGetStep(plain, 1) == 16 && tileViewTypeGetStride(plain, 1) == 1 &&
        tileViewTypeGetOrder(plain, 1) == 1);
  CHECK(tileViewTypeGetPacked(typeOf(s, "!tile.view<8xi4, packed = #tile.layout<offset [8:d0]>>")).ptr);
  CHECK(!tileViewTypeGet(s->context, &(TileViewSpec){.rank = 2, .shape = bad, .element = f16}).ptr);
  CHECK_CONTAINS(s->message, "size 0 of a view is 0, expected at least 1");
  CHECK(!tileViewTypeGet(s->context, &(TileViewSpec){.rank = 2, .shape = shape, .element = f16, .pad = "none"}).ptr);
  CHECK_CONTAINS(s->message, "unknown padding 'none', expected one of zero");
}

static void buffers(Session *s) {
  MlirType f16 = typeOf(s, "f16");
  MlirAttribute layout = attributeOf(s, "#tile.layout<offset [16:d1, 8:d0]>");
  const int64_t shape[] = {8, 16}, other[] = {8, 32};
  MlirType ring = tileBufferTypeGet(2, shape, f16, layout, "shared", 3);
  checkType(s, ring, "!tile.buffer<8x16xf16, #tile.layout<offset [16:d1, 8:d0]>, shared, stages = 3>");
  checkType(s, tileBufferTypeGetSlot(ring), "!tile.buffer<8x16xf16, #tile.layout<offset [16:d1, 8:d0]>, shared>");
  CHECK(tileTypeIsABuffer(ring) && tileBufferTypeGetStages(ring) == 3);
  CHECK(tileBufferTypeGetStages(tileBufferTypeGetSlot(ring)) == 0);
  CHECK(tileBufferTypeGetRank(ring) == 2 && tileBufferTypeGetSize(ring, 0) == 8);
  CHECK(mlirTypeEqual(tileBufferTypeGetElementType(ring), f16));
  CHECK(mlirAttributeEqual(tileBufferTypeGetLayout(ring), layout));
  CHECK(tileStringEquals(tileBufferTypeGetLevel(ring), "shared"));
  CHECK(!tileBufferTypeGet(2, other, f16, layout, "shared", 0).ptr);
  CHECK_CONTAINS(s->message, "the buffer's layout does not fit its shape");
  CHECK(!tileBufferTypeGet(2, shape, f16, layout, "global", 0).ptr);
  CHECK_CONTAINS(s->message, "memory level of a buffer is 'global', expected shared, local or tmem");
}

static void barriers(Session *s) {
  checkType(s, tileBarrierTypeGet(s->context, 3, 1), "!tile.barrier<3>");
  checkType(s, tileBarrierTypeGet(s->context, 3, 2), "!tile.barrier<3, arrivals = 2>");
  MlirType barrier = typeOf(s, "!tile.barrier<3, arrivals = 2>");
  CHECK(tileTypeIsABarrier(barrier) && tileBarrierTypeGetCount(barrier) == 3);
  CHECK(tileBarrierTypeGetArrivals(barrier) == 2 && tileBarrierTypeGetArrivals(typeOf(s, "!tile.barrier<3>")) == 1);
  CHECK(!tileBarrierTypeGet(s->context, 0, 1).ptr);
  CHECK_CONTAINS(s->message, "a ring of 0 barriers");
  checkType(s, tileTokenTypeGet(s->context), "!tile.token");
  CHECK(tileTypeIsAToken(typeOf(s, "!tile.token")) && !tileTypeIsAToken(barrier));
}

static void anyValues(Session *s) {
  MlirType tile = typeOf(s, "tensor<4x8xf32>"), laid = typeOf(s, "tensor<32xf32, #tile.layout<lane [32:d0]>>");
  MlirType view = typeOf(s, "!tile.view<4x8xf16>"), i1 = typeOf(s, "i1"), f32 = typeOf(s, "f32");
  CHECK(tileTypeIsATile(tile) && tileTypeIsATile(laid) && !tileTypeIsATile(f32));
  CHECK(!tileTypeIsATile(typeOf(s, "tensor<?xf32>")) && !tileTypeIsATile(typeOf(s, "tensor<f32>")));
  CHECK(!tileTypeIsATile(typeOf(s, "tensor<4xcomplex<f32>>")) && !tileTypeIsATile(typeOf(s, "tensor<*xf32>")));
  CHECK(tileTypeIsAScalar(f32) && tileTypeIsAScalar(typeOf(s, "index")) && !tileTypeIsAScalar(tile));
  CHECK(tileTypeGetRank(tile) == 2 && tileTypeGetRank(f32) == 0 && tileTypeGetRank(view) == 2);
  CHECK(tileTypeGetSize(tile, 1) == 8 && tileTypeGetSize(view, 0) == 4);
  CHECK(tileTypeGetSize(typeOf(s, "memref<?xf32>"), 0) == mlirShapedTypeGetDynamicSize());
  CHECK(mlirTypeEqual(tileTypeGetElement(f32), f32) && mlirTypeEqual(tileTypeGetElement(view), typeOf(s, "f16")));
  CHECK(tileTypeHasSameShape(tile, view) && !tileTypeHasSameShape(tile, laid) && !tileTypeHasSameShape(tile, f32));
  CHECK(mlirAttributeIsNull(tileTypeGetLayout(tile)) && mlirAttributeIsNull(tileTypeGetLayout(view)));
  CHECK(mlirAttributeEqual(tileTypeGetLayout(laid), attributeOf(s, "#tile.layout<lane [32:d0]>")));
  checkType(s, tileTypeWithElement(laid, i1), "tensor<32xi1, #tile.layout<lane [32:d0]>>");
  checkType(s, tileTypeWithElement(view, i1), "tensor<4x8xi1>");
  checkType(s, tileTypeWithElement(f32, i1), "i1");
  const int64_t shape[] = {32}, longer[] = {64};
  checkType(s, tileTileTypeGet(0, NULL, f32, mlirAttributeGetNull()), "f32");
  checkType(s, tileTileTypeGet(1, shape, f32, tileTypeGetLayout(laid)), "tensor<32xf32, #tile.layout<lane [32:d0]>>");
  CHECK(!tileTileTypeGet(1, longer, f32, tileTypeGetLayout(laid)).ptr);
  CHECK_CONTAINS(s->message, "the layout does not fit the tensor");
}

static void layouts(Session *s) {
  MlirAttribute parsed = tileLayoutAttrParse(s->context, tileString("lane [2:d0, 16:d0*2]"));
  CHECK(tileAttributeIsALayout(parsed) && tileStringEquals(tileLayoutAttrGetText(parsed), "lane [32:d0]"));
  TileLayout layout = tileLayoutAttrGetLayout(parsed);
  CHECK(layout.kind == TileLayoutValues && tileLayoutDimSize(&layout, TileLayoutLane) == 32);
  CHECK(mlirAttributeEqual(tileLayoutAttrGet(s->context, &layout), parsed));
  CHECK(!tileLayoutAttrParse(s->context, tileString("lane [3")).ptr);
  CHECK(!tileAttributeIsALayout(attributeOf(s, "3 : i64")));
}

static void machinesAndSchedules(Session *s) {
  MlirAttribute machine = tileMachineAttrGet(s->context, tileString("sm_80"), mlirAttributeGetNull());
  CHECK(mlirAttributeEqual(machine, attributeOf(s, "#tile.machine<\"sm_80\">")) && tileAttributeIsAMachine(machine));
  CHECK(tileStringEquals(tileMachineAttrGetName(machine), "sm_80"));
  CHECK(mlirDictionaryAttrGetNumElements(tileMachineAttrGetOverrides(machine)) == 0);
  CHECK(!tileMachineAttrGet(s->context, tileString("sm_1"), mlirAttributeGetNull()).ptr);
  CHECK_CONTAINS(s->message, "unknown machine 'sm_1'");
  MlirAttribute schedule = tileScheduleAttrGet(s->context, attributeOf(s, "{stages = 3, block = array<i64: 8, 8>}"));
  CHECK(mlirAttributeEqual(schedule, attributeOf(s, "#tile.schedule<block = [8, 8], stages = 3>")));
  CHECK(tileAttributeIsASchedule(schedule) && tileScheduleAttrGetInteger(schedule, "stages", 1) == 3);
  CHECK(tileScheduleAttrGetInteger(schedule, "split", 1) == 1 && !tileScheduleAttrGetEntry(schedule, "warps").ptr);
  CHECK(mlirDenseArrayGetNumElements(tileScheduleAttrGetEntry(schedule, "block")) == 2);
  CHECK(!tileScheduleAttrGet(s->context, attributeOf(s, "{stage = 3}")).ptr);
  CHECK_CONTAINS(s->message, "unknown key 'stage' in #tile.schedule");
}

static void keywords(void) {
  CHECK(tileIsOneOf(tileString("acq_rel"), tileOrderNames) && !tileIsOneOf(tileString("seq_cst"), tileOrderNames));
  CHECK(tileIsOneOf(tileString("stochastic"), tileRoundingNames) && !tileIsOneOf(tileString(""), tilePadNames));
}

// Result types that follow from operands are not asked for.
static void builders(Session *s) {
  MlirValue i = tileProgramIdOpGetResult(tileProgramIdOpCreate(&s->builder, attributeOf(s, "0 : i64")));
  checkType(s, mlirValueGetType(i), "index");
  MlirType bufferType = typeOf(s, "!tile.buffer<8xf16, #tile.layout<offset [8:d0]>, shared, stages = 2>");
  MlirValue ring = tileAllocOpBuild(&s->builder, bufferType);
  MlirOperation slot = tileSlotOpCreate(&s->builder, ring, i);
  checkType(s, mlirValueGetType(tileSlotOpGetResult(slot)), "!tile.buffer<8xf16, #tile.layout<offset [8:d0]>, shared>");
  CHECK(tileSlotOpIsA(slot) && mlirValueEqual(tileSlotOpGetUse(slot), i));
}

int main(void) {
  Session s;
  begin(&s);
  views(&s);
  buffers(&s);
  barriers(&s);
  anyValues(&s);
  layouts(&s);
  machinesAndSchedules(&s);
  keywords();
  builders(&s);
  end(&s);
  return checkResult(60);
}
