// tile-assume-launch-facts: tells each kernel what holds in all its launches, so that it can access memory widely.
//
//   tile.kernel private @k(%x: memref<?x?xf16>, …)  →  @k(%x: memref<?x?xf16> {llvm.noalias}, …)
//                                                         %a = tile.assume %x align 16 sizes [_, 8] : memref<?x?xf16>
//
// Expects: a bufferized host, tile kernels at kernel level. Leaves: in each private kernel that is launched here
//   tile.assume of its parameters (alignment, divisors of sizes and strides) and of its program ids (their range, where
//   grids are constant), constants in place of scalars that are the same in all launches, llvm.noalias on memrefs whose
//   memory no other parameter touches where one of the two is written; in entries memref.assume_alignment of the
//   arguments that this rests on. Public kernels stay: others may launch them. Cost: linear in the launches and what
//   lies between them and their buffers.
// Paper: none.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/support/integer.h"
#include "lib/transforms/memory/host_buffers.h"
#include "lib/transforms/memory/memory.h"
#include "mlir-c/BuiltinAttributes.h"

#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/memref.h"
#include <stdlib.h>

enum { Statistic_Kernels, Statistic_Assumptions, Statistic_Constants, Statistic_NoAlias, Statistic_Entries };

static const char *const statistics[] = {
    "kernels: kernels that were told something",
    "assumptions: tile.assume of parameters and program ids",
    "constants: scalars and grids that are the same in all launches",
    "no_alias: memrefs whose memory no other parameter touches",
    "entries: arguments of entries whose alignment kernels rest on",
    NULL,
};

// One kernel and its launches.
typedef struct Launched {
  MlirOperation kernel;
  MlirBlock body;
  TileOps launches;
  HostBuffers *buffers;
  MlirExtPass pass;
} Launched;

//===--- questions ----------------------------------------------------------------===//

static bool isPrivateWithBody(MlirOperation kernel) {
  return !tileSymbolIsPublic(kernel) && !mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)));
}

static TileOps launchesOf(MlirOperation kernel, const TileOps *all) {
  TileOps launches = {NULL};
  for (intptr_t i = 0; i < all->count; ++i)
    if (tileLaunches(all->items[i], kernel))
      tileOpsAppend(&launches, all->items[i]);
  return launches;
}

// What a launch gives for parameter i: `ins` and `outs` stand behind the grid.
static MlirValue argumentOf(MlirOperation launch, intptr_t i) {
  return mlirOperationGetOperand(launch, tileLaunchOpGetInputsBegin(launch) + i);
}

static bool isWritten(MlirOperation launch, intptr_t i) { return i >= tileLaunchOpGetNumInputs(launch); }

//===--- scalars -----------------------------------------------------------------------===//

// The constant that all launches give; null when they do not.
static MlirAttribute commonConstant(const Launched *launched, intptr_t i) {
  MlirAttribute common = {NULL};
  for (intptr_t l = 0; l < launched->launches.count; ++l) {
    MlirAttribute constant = mlirExtValueGetConstant(argumentOf(launched->launches.items[l], i));
    if (mlirAttributeIsNull(constant) || (l && !mlirAttributeEqual(constant, common)))
      return (MlirAttribute){NULL};
    common = constant;
  }
  return common;
}

// All uses of the value become uses of what the op assumes of the value.
static void useAssumed(MlirValue value, MlirOperation assume) {
  mlirValueReplaceAllUsesExcept(value, tileOnlyResult(assume), 1, &assume);
}

static bool tellScalar(const Launched *launched, TileBuilder *builder, intptr_t i) {
  MlirValue parameter = mlirBlockGetArgument(launched->body, i);
  MlirType type = mlirValueGetType(parameter);
  MlirAttribute constant = commonConstant(launched, i);
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(parameter)))
    return false;
  if (!mlirAttributeIsNull(constant)) {
    mlirValueReplaceAllUsesOfWith(parameter, arithConstantOpBuild(builder, constant));
    mlirExtPassAddStatistic(launched->pass, Statistic_Constants, 1);
    return true;
  }
  int64_t divisor = 0;
  for (intptr_t l = 0; l < launched->launches.count && mlirTypeIsAIndex(type); ++l)
    divisor = tessera_gcd(divisor, tileHostIndexDivisor(launched->buffers, argumentOf(launched->launches.items[l], i)));
  if (divisor <= 1)
    return false;
  MlirAttribute none = {NULL};
  MlirAttribute divisible = mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), divisor);
  useAssumed(parameter, tileAssumeOpCreate(builder, parameter, none, none, none, divisible, none));
  mlirExtPassAddStatistic(launched->pass, Statistic_Assumptions, 1);
  return true;
}

//===--- memrefs -----------------------------------------------------------------------===//

// True of the arguments of every launch; false where one is a tensor yet.
static bool commonFacts(const Launched *launched, intptr_t i, BufferFacts *facts) {
  for (intptr_t l = 0; l < launched->launches.count; ++l) {
    MlirValue argument = argumentOf(launched->launches.items[l], i);
    if (!mlirTypeIsAMemRef(mlirValueGetType(argument)))
      return false;
    BufferFacts seen = tileHostBufferFacts(launched->buffers, argument);
    if (l == 0)
      *facts = seen;
    facts->align = tessera_gcd(facts->align, seen.align);
    for (intptr_t d = 0; d < facts->rank; ++d) {
      facts->sizes[d] = tessera_gcd(facts->sizes[d], seen.sizes[d]);
      facts->strides[d] = tessera_gcd(facts->strides[d], seen.strides[d]);
    }
  }
  return true;
}

static int64_t powerOfTwoIn(int64_t value) { return value & -value; }

// A divisor for each dimension whose size or stride the type leaves open; null when the type leaves none open.
static MlirAttribute divisors(MlirContext context, intptr_t rank, const int64_t *typed, const int64_t *known) {
  int64_t said[HostMaxRank];
  bool saysAny = false;
  for (intptr_t d = 0; d < rank; ++d) {
    bool isNews = mlirShapedTypeIsDynamicSize(typed[d]) && known[d] > 1;
    said[d] = isNews ? known[d] : mlirShapedTypeGetDynamicSize();
    saysAny |= isNews;
  }
  return saysAny ? mlirDenseI64ArrayGet(context, rank, said) : mlirAttributeGetNull();
}

static bool tellMemref(const Launched *launched, TileBuilder *builder, intptr_t i) {
  MlirValue parameter = mlirBlockGetArgument(launched->body, i);
  MlirType type = mlirValueGetType(parameter);
  BufferFacts facts = {.rank = 0};
  int64_t sizes[HostMaxRank], strides[HostMaxRank], offset;
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(parameter)) || !commonFacts(launched, i, &facts) ||
      (facts.rank && mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset))))
    return false;
  for (intptr_t d = 0; d < facts.rank; ++d)
    sizes[d] = mlirShapedTypeGetDimSize(type, d);
  int64_t align = powerOfTwoIn(facts.align), bytes = (tileElementWidth(mlirShapedTypeGetElementType(type)) + 7) / 8;
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirAttribute none = {NULL}, aligned = align > bytes ? mlirIntegerAttrGet(i64, align) : none;
  MlirAttribute ofSizes = divisors(builder->context, facts.rank, sizes, facts.sizes);
  MlirAttribute ofStrides = divisors(builder->context, facts.rank, strides, facts.strides);
  if (mlirAttributeIsNull(aligned) && mlirAttributeIsNull(ofSizes) && mlirAttributeIsNull(ofStrides))
    return false;
  useAssumed(parameter, tileAssumeOpCreate(builder, parameter, aligned, ofSizes, ofStrides, none, none));
  mlirExtPassAddStatistic(launched->pass, Statistic_Assumptions, 1);
  return true;
}

//===--- grids ------------------------------------------------------------------------------===//

// The most programs along the axis that any launch has; 0 where one is not constant.
static int64_t mostPrograms(const Launched *launched, int64_t axis, bool *isSame) {
  int64_t most = 0;
  *isSame = true;
  for (intptr_t l = 0; l < launched->launches.count; ++l) {
    MlirOperation launch = launched->launches.items[l];
    int64_t programs = 1;
    if (axis < tileLaunchOpGetNumGrid(launch) && !tileConstantIndex(tileLaunchOpGetGrid(launch, axis), &programs))
      return 0;
    *isSame = *isSame && (!l || programs == most);
    most = programs > most ? programs : most;
  }
  return most;
}

static bool tellId(const Launched *launched, MlirOperation op) {
  bool isSame, isId = tileProgramIdOpIsA(op);
  MlirValue id = tileOnlyResult(op);
  int64_t programs = mostPrograms(launched, mlirIntegerAttrGetValueInt(tileOpAttribute(op, "axis")), &isSame);
  TileBuilder builder = tileBuilderAfter(op);
  if (programs < 1)
    return false;
  if (isSame && (!isId || programs == 1)) {
    mlirValueReplaceAllUsesOfWith(id, tileBuildIndex(&builder, isId ? 0 : programs));
    mlirExtPassAddStatistic(launched->pass, Statistic_Constants, 1);
    return true;
  }
  int64_t range[] = {isId ? 0 : 1, isId ? programs - 1 : programs};
  MlirAttribute none = {NULL}, within = mlirDenseI64ArrayGet(builder.context, 2, range);
  useAssumed(id, tileAssumeOpCreate(&builder, id, none, none, none, none, within));
  mlirExtPassAddStatistic(launched->pass, Statistic_Assumptions, 1);
  return true;
}

static bool tellIds(const Launched *launched) {
  bool (*const kinds[])(MlirOperation op) = {tileProgramIdOpIsA, tileNumProgramsOpIsA};
  bool isTold = false;
  for (int i = 0; i < 2; ++i) {
    TileOps ids = tileCollectOps(launched->kernel, kinds[i]);
    for (intptr_t k = 0; k < ids.count; ++k)
      isTold |= tellId(launched, ids.items[k]);
    tileOpsFree(&ids);
  }
  return isTold;
}

//===--- overlaps -------------------------------------------------------------------------===//

static bool isMemref(const Launched *launched, intptr_t i) {
  return mlirTypeIsAMemRef(mlirValueGetType(mlirBlockGetArgument(launched->body, i)));
}

static bool mayOverlap(const Launched *launched, intptr_t i, intptr_t j) {
  for (intptr_t l = 0; l < launched->launches.count; ++l) {
    MlirOperation launch = launched->launches.items[l];
    if ((isWritten(launch, i) || isWritten(launch, j)) &&
        tileHostBuffersMayOverlap(launched->buffers, argumentOf(launch, i), argumentOf(launch, j)))
      return true;
  }
  return false;
}

static MlirAttribute withNoAlias(MlirContext context, MlirAttribute old) {
  intptr_t count = mlirAttributeIsNull(old) ? 0 : mlirDictionaryAttrGetNumElements(old);
  MlirNamedAttribute *entries = malloc((size_t)(count + 1) * sizeof *entries);
  MlirIdentifier name = mlirIdentifierGet(context, tileString("llvm.noalias"));
  for (intptr_t i = 0; i < count; ++i)
    entries[i] = mlirDictionaryAttrGetElement(old, i);
  entries[count] = mlirNamedAttributeGet(name, mlirUnitAttrGet(context));
  MlirAttribute all = mlirDictionaryAttrGet(context, count + 1, entries);
  free(entries);
  return all;
}

static bool isSaidAlready(MlirAttribute attributes) {
  return !mlirAttributeIsNull(attributes) &&
         !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(attributes, tileString("llvm.noalias")));
}

static bool tellOverlaps(const Launched *launched) {
  MlirContext context = mlirOperationGetContext(launched->kernel);
  MlirAttribute old = tileOpAttribute(launched->kernel, "arg_attrs");
  intptr_t count = mlirBlockGetNumArguments(launched->body);
  MlirAttribute *all = malloc((size_t)(count + 1) * sizeof *all);
  uint64_t told = 0;
  for (intptr_t i = 0; i < count; ++i) {
    all[i] = mlirAttributeIsNull(old) ? mlirDictionaryAttrGet(context, 0, NULL) : mlirArrayAttrGetElement(old, i);
    bool isAlone = isMemref(launched, i) && !isSaidAlready(all[i]);
    for (intptr_t j = 0; j < count && isAlone; ++j)
      isAlone = i == j || !isMemref(launched, j) || !mayOverlap(launched, i, j);
    if (isAlone)
      all[i] = withNoAlias(context, all[i]);
    told += isAlone;
  }
  if (told)
    mlirOperationSetAttributeByName(launched->kernel, tileString("arg_attrs"), mlirArrayAttrGet(context, count, all));
  free(all);
  mlirExtPassAddStatistic(launched->pass, Statistic_NoAlias, told);
  return told > 0;
}

//===--- the pass --------------------------------------------------------------------------===//

static void tell(const Launched *launched) {
  TileBuilder builder = tileBuilderAtStart(launched->body, mlirOperationGetLocation(launched->kernel));
  bool isTold = tellOverlaps(launched);
  if (mlirExtPassGetBool(launched->pass, "grids"))
    isTold |= tellIds(launched);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(launched->body); ++i)
    isTold |= (isMemref(launched, i) ? tellMemref : tellScalar)(launched, &builder, i);
  mlirExtPassAddStatistic(launched->pass, Statistic_Kernels, isTold);
}

// What the answers rested on becomes the entry's word, which the lowering of its launches makes a check.
static void writeContract(const HostBuffers *buffers) {
  for (intptr_t i = 0; i < buffers->count; ++i) {
    MlirValue argument = buffers->arguments[i];
    MlirBlock entry = mlirBlockArgumentGetOwner(argument);
    TileBuilder builder = tileBuilderAtStart(entry, mlirOperationGetLocation(mlirBlockGetParentOperation(entry)));
    MlirType i32 = mlirIntegerTypeGet(builder.context, 32);
    MlirAttribute alignment = mlirIntegerAttrGet(i32, buffers->entryAlignment);
    useAssumed(argument, memrefAssumeAlignmentOpCreate(&builder, argument, alignment));
  }
}

static bool run(MlirOperation module, MlirExtPass pass) {
  int64_t entryAlignment = mlirExtPassGetInteger(pass, "entry-alignment");
  if (entryAlignment < 1 || entryAlignment & (entryAlignment - 1))
    return tileError(module, "entry-alignment is %lld, expected a power of two", (long long)entryAlignment);
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA), launches = tileCollectOps(module, tileLaunchOpIsA);
  HostBuffers buffers = tileHostBuffersOf(module, entryAlignment);
  for (intptr_t i = 0; i < kernels.count; ++i) {
    if (!isPrivateWithBody(kernels.items[i]))
      continue;
    Launched launched = {.kernel = kernels.items[i],
                         .body = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernels.items[i], 0)),
                         .launches = launchesOf(kernels.items[i], &launches),
                         .buffers = &buffers,
                         .pass = pass};
    if (launched.launches.count)
      tell(&launched);
    tileOpsFree(&launched.launches);
  }
  writeContract(&buffers);
  mlirExtPassAddStatistic(pass, Statistic_Entries, (uint64_t)buffers.count);
  tileHostBuffersFree(&buffers);
  tileOpsFree(&kernels);
  tileOpsFree(&launches);
  return true;
}

const MlirExtPassDefinition tileAssumeLaunchFactsPass = {
    .argument = "tile-assume-launch-facts",
    .summary = "Tell kernels what holds in all their launches: alignment, divisors, constants, no overlap",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            {"entry-alignment", "bytes at whose multiples arguments of entries begin; 1: no promise",
             MlirExtOption_Integer, "16"},
            {"grids", "tell programs their range where grids are constant", MlirExtOption_Bool, "true"},
            {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"memref", "arith", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
