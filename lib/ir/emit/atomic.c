// Words in memory that several threads access. See atomic.h.
#include "lib/ir/emit/atomic.h"

#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

//===--- kinds ----------------------------------------------------------------------------------------===//

enum { None = -1 };

static const TileAtomicKind kinds[] = {
    {"add", LlvmAtomicBinOp_Add, LlvmAtomicBinOp_Fadd, ArithOp_AddI, ArithOp_AddF},
    {"fadd", None, LlvmAtomicBinOp_Fadd, TileUpstream_None, ArithOp_AddF},
    {"max", LlvmAtomicBinOp_Max, LlvmAtomicBinOp_Fmaximum, ArithOp_MaxSI, ArithOp_MaximumF},
    {"min", LlvmAtomicBinOp_Min, LlvmAtomicBinOp_Fminimum, ArithOp_MinSI, ArithOp_MinimumF},
    {"umax", LlvmAtomicBinOp_Umax, None, ArithOp_MaxUI, TileUpstream_None},
    {"umin", LlvmAtomicBinOp_Umin, None, ArithOp_MinUI, TileUpstream_None},
    {"and", LlvmAtomicBinOp_And, None, ArithOp_AndI, TileUpstream_None},
    {"or", LlvmAtomicBinOp_Or, None, ArithOp_OrI, TileUpstream_None},
    {"xor", LlvmAtomicBinOp_Xor, None, ArithOp_XOrI, TileUpstream_None},
    {"xchg", LlvmAtomicBinOp_Xchg, LlvmAtomicBinOp_Xchg, TileUpstream_None, TileUpstream_None}};

const TileAtomicKind *tileAtomicKind(MlirStringRef name, MlirType element) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (tileStringEquals(name, kinds[i].name))
      return (mlirTypeIsAFloat(element) ? kinds[i].onFloats : kinds[i].onIntegers) < 0 ? NULL : &kinds[i];
  return NULL;
}

LlvmAtomicOrdering tileAtomicOrdering(MlirStringRef order) {
  static const char *const names[] = {"relaxed", "acquire", "release", "acq_rel"};
  static const LlvmAtomicOrdering orders[] = {LlvmAtomicOrdering_Monotonic, LlvmAtomicOrdering_Acquire,
                                              LlvmAtomicOrdering_Release, LlvmAtomicOrdering_AcqRel};
  for (int i = 0; i < 4; ++i)
    if (tileStringEquals(order, names[i]))
      return orders[i];
  return LlvmAtomicOrdering_SeqCst;
}

//===--- one access -----------------------------------------------------------------------------------===//

static MlirAttribute scopeOf(TileBuilder *builder, const TileWord *word) {
  return *word->scope ? mlirStringAttrGet(builder->context, tileString(word->scope)) : mlirAttributeGetNull();
}

static MlirAttribute alignmentOf(TileBuilder *builder, const TileWord *word) {
  return word->bytes ? tileBuildEnum(builder, 64, word->bytes) : mlirAttributeGetNull();
}

MlirValue tileBuildAtomicLoad(TileBuilder *builder, const TileWord *word) {
  MlirValue value = llvmLoadOpBuild(builder, word->type, word->address);
  MlirOperation load = mlirOpResultGetOwner(value);
  llvmLoadOpSetOrdering(load, tileBuildEnum(builder, 64, word->order));
  llvmLoadOpSetSyncscope(load, scopeOf(builder, word));
  llvmLoadOpSetAlignment(load, alignmentOf(builder, word));
  return value;
}

void tileBuildAtomicStore(TileBuilder *builder, const TileWord *word, MlirValue value) {
  MlirOperation store = llvmStoreOpBuild(builder, value, word->address);
  llvmStoreOpSetOrdering(store, tileBuildEnum(builder, 64, word->order));
  llvmStoreOpSetSyncscope(store, scopeOf(builder, word));
  llvmStoreOpSetAlignment(store, alignmentOf(builder, word));
}

MlirValue tileBuildAtomicRmw(TileBuilder *builder, const TileWord *word, LlvmAtomicBinOp kind, MlirValue value) {
  MlirValue old = llvmAtomicRMWOpBuild(builder, word->address, value, kind, word->order);
  llvmAtomicRMWOpSetSyncscope(mlirOpResultGetOwner(old), scopeOf(builder, word));
  llvmAtomicRMWOpSetAlignment(mlirOpResultGetOwner(old), alignmentOf(builder, word));
  return old;
}

static MlirValue field(TileBuilder *builder, MlirValue pair, int64_t position, MlirType type) {
  return llvmExtractValueOpBuild(builder, type, pair, mlirDenseI64ArrayGet(builder->context, 1, &position));
}

MlirValue tileBuildCompareAndSwap(TileBuilder *builder, const TileWord *word, MlirValue expected, MlirValue wanted,
                                  MlirValue *isSwapped) {
  bool acquires = word->order == LlvmAtomicOrdering_Acquire || word->order == LlvmAtomicOrdering_AcqRel;
  MlirValue both = llvmAtomicCmpXchgOpBuild(builder, word->address, expected, wanted, word->order,
                                            acquires ? LlvmAtomicOrdering_Acquire : LlvmAtomicOrdering_Monotonic);
  llvmAtomicCmpXchgOpSetSyncscope(mlirOpResultGetOwner(both), scopeOf(builder, word));
  llvmAtomicCmpXchgOpSetAlignment(mlirOpResultGetOwner(both), alignmentOf(builder, word));
  if (isSwapped)
    *isSwapped = field(builder, both, 1, mlirIntegerTypeGet(builder->context, 1));
  return field(builder, both, 0, mlirValueGetType(expected));
}

//===--- until done -----------------------------------------------------------------------------------===//

// A loop whose first region does all: blocks[0] has the count arguments, blocks[1] yields its own.
static MlirOperation buildWhile(TileBuilder *builder, intptr_t count, MlirType *types, MlirValue *starts,
                                MlirBlock blocks[2]) {
  MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
  MlirLocation locations[] = {builder->location};
  for (int i = 0; i < 2; ++i) {
    blocks[i] = mlirBlockCreate(count, types, locations);
    mlirRegionAppendOwnedBlock(regions[i], blocks[i]);
  }
  MlirOperation loop = scfWhileOpBuild(builder, count, types, count, starts, regions[0], regions[1]);
  TileBuilder inside = tileBuilderAtEnd(blocks[1], builder->location);
  MlirValue carried = count ? mlirBlockGetArgument(blocks[1], 0) : (MlirValue){NULL};
  tileBuildYield(&inside, count, &carried);
  return loop;
}

void tileBuildAtomicWait(TileBuilder *builder, const TileWord *word, MlirValue least) {
  MlirBlock blocks[2];
  buildWhile(builder, 0, NULL, NULL, blocks);
  TileBuilder inside = tileBuilderAtEnd(blocks[0], builder->location);
  MlirValue seen = tileBuildAtomicLoad(&inside, word);
  scfConditionOpBuild(&inside, arithCmpIOpBuild(&inside, seen, least, ArithCmpI_Slt), 0, NULL);
}

MlirValue tileBuildExchangeUntilDone(TileBuilder *builder, const TileWord *word, TileWordChange change,
                                     const void *data) {
  TileWord first = *word;
  first.order = LlvmAtomicOrdering_Monotonic;
  MlirValue look = tileBuildAtomicLoad(builder, &first), isSwapped;
  MlirType type = word->type;
  MlirBlock blocks[2];
  MlirOperation loop = buildWhile(builder, 1, &type, &look, blocks);
  TileBuilder inside = tileBuilderAtEnd(blocks[0], builder->location);
  MlirValue now = mlirBlockGetArgument(blocks[0], 0);
  MlirValue seen = tileBuildCompareAndSwap(&inside, word, now, change(&inside, now, data), &isSwapped);
  MlirValue one = tileBuildInteger(&inside, mlirValueGetType(isSwapped), 1);
  scfConditionOpBuild(&inside, arithXOrIOpBuild(&inside, isSwapped, one), 1, &seen);
  return tileOnlyResult(loop);
}
