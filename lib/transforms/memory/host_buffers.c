// See host_buffers.h.
// How: a value is one of its sources (what a loop carries, what branches yield, what callers pass), so what holds for
//   all of these holds for it; a value met again on the way adds nothing. Operands of views are looked through.
#include "lib/transforms/memory/host_buffers.h"

#include "lib/capi/op.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdlib.h>

// lib/runtime/arena.h: what the runtime allocates begins at a multiple of this. Sources of one value; values on a path.
// Values looked at for one answer.
enum { ArenaAlignment = 64, MaxSources = 32, MaxPath = 64, LargestDivisor = 4096, MaxSteps = 4096 };

//===--- numbers ------------------------------------------------------------------===//

// Of a product: kept far from overflow, beyond a page it is of no use.
static int64_t times(int64_t a, int64_t b) { return tessera_gcd(a, LargestDivisor) * tessera_gcd(b, LargestDivisor); }

static bool isDynamic(int64_t size) { return size == mlirShapedTypeGetDynamicSize(); }
static bool isDynamicStride(int64_t stride) { return stride == mlirShapedTypeGetDynamicStrideOrOffset(); }

//===--- the module ----------------------------------------------------------------===//

HostBuffers tileHostBuffersOf(MlirOperation module, int64_t entryAlignment) {
  TileOps constants = tileCollectOps(module, funcConstantOpIsA);
  HostBuffers buffers = {.entryAlignment = entryAlignment,
                         .calls = tileCollectOps(module, funcCallOpIsA),
                         .hasFunctionValues = constants.count > 0};
  tileOpsFree(&constants);
  return buffers;
}

void tileHostBuffersFree(HostBuffers *buffers) {
  tileOpsFree(&buffers->calls);
  free(buffers->arguments);
}

static void restOn(HostBuffers *buffers, MlirValue argument) {
  for (intptr_t i = 0; i < buffers->count; ++i)
    if (mlirValueEqual(buffers->arguments[i], argument))
      return;
  buffers->arguments = tessera_grow(buffers->arguments, buffers->count, sizeof *buffers->arguments);
  buffers->arguments[buffers->count++] = argument;
}

static bool calls(MlirOperation call, MlirOperation function) {
  return mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(tileOpAttribute(call, "callee")),
                            mlirStringAttrGetValue(tileOpAttribute(function, "sym_name")));
}

static bool isCalled(const HostBuffers *buffers, MlirOperation function) {
  bool found = buffers->hasFunctionValues;
  for (intptr_t i = 0; i < buffers->calls.count && !found; ++i)
    found = calls(buffers->calls.items[i], function);
  return found;
}

//===--- sources -------------------------------------------------------------------===//

// What a value is one of. `count` 0: the value is its own source, or nothing is known of where it comes from.
typedef struct Sources {
  MlirValue items[MaxSources];
  intptr_t count;
} Sources;

static void add(Sources *sources, MlirValue value) {
  if (sources->count >= 0 && sources->count < MaxSources)
    sources->items[sources->count++] = value;
  else
    sources->count = -1; // too many
}

static MlirOperation terminatorOf(MlirOperation op, intptr_t region) {
  return mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region)));
}

static void addYielded(Sources *sources, MlirOperation op, intptr_t region, intptr_t operand) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  if (!mlirBlockIsNull(block))
    add(sources, mlirOperationGetOperand(mlirBlockGetTerminator(block), operand));
}

// What scf.for and scf.while carry, at its beginning.
static void addCarried(Sources *sources, MlirOperation loop, intptr_t i) {
  bool isFor = scfForOpIsA(loop);
  add(sources, mlirOperationGetOperand(loop, (isFor ? 3 : 0) + i));
  addYielded(sources, loop, isFor ? 0 : 1, i);
}

static void addReturned(const HostBuffers *buffers, Sources *sources, MlirOperation call, intptr_t result) {
  MlirOperation function = mlirExtSymbolLookup(call, tileOpAttribute(call, "callee"));
  if (!funcFuncOpIsA(function) || tileSymbolIsPublic(function) || buffers->hasFunctionValues)
    return;
  TileOps returns = tileCollectOps(function, funcReturnOpIsA);
  for (intptr_t i = 0; i < returns.count; ++i)
    add(sources, mlirOperationGetOperand(returns.items[i], result));
  tileOpsFree(&returns);
}

static void addSourcesOfResult(const HostBuffers *buffers, Sources *sources, MlirOperation op, intptr_t result) {
  if (scfForOpIsA(op))
    addCarried(sources, op, result);
  else if (scfWhileOpIsA(op))
    add(sources, mlirOperationGetOperand(terminatorOf(op, 0), 1 + result));
  else if (scfIfOpIsA(op))
    for (intptr_t region = 0; region < 2; ++region)
      addYielded(sources, op, region, result);
  else if (arithSelectOpIsA(op))
    for (intptr_t i = 1; i < 3; ++i)
      add(sources, mlirOperationGetOperand(op, i));
  else if (funcCallOpIsA(op))
    addReturned(buffers, sources, op, result);
}

static void addSourcesOfArgument(const HostBuffers *buffers, Sources *sources, MlirOperation op, MlirBlock block,
                                 intptr_t argument) {
  bool isEntry = mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
  if (scfForOpIsA(op) && argument > 0)
    addCarried(sources, op, argument - 1);
  else if (scfWhileOpIsA(op) && isEntry)
    addCarried(sources, op, argument);
  else if (scfWhileOpIsA(op))
    add(sources, mlirOperationGetOperand(terminatorOf(op, 0), 1 + argument));
  else if (funcFuncOpIsA(op) && isEntry && !tileSymbolIsPublic(op) && !buffers->hasFunctionValues)
    for (intptr_t i = 0; i < buffers->calls.count; ++i)
      if (calls(buffers->calls.items[i], op))
        add(sources, mlirOperationGetOperand(buffers->calls.items[i], argument));
}

static Sources sourcesOf(const HostBuffers *buffers, MlirValue value) {
  Sources sources = {.count = 0};
  if (mlirValueIsAOpResult(value)) {
    addSourcesOfResult(buffers, &sources, mlirOpResultGetOwner(value), mlirOpResultGetResultNumber(value));
  } else {
    MlirBlock block = mlirBlockArgumentGetOwner(value);
    addSourcesOfArgument(buffers, &sources, mlirBlockGetParentOperation(block), block,
                         mlirBlockArgumentGetArgNumber(value));
  }
  sources.count = sources.count < 0 ? 0 : sources.count;
  return sources;
}

// The function whose argument the value is; null for any other value.
static MlirOperation functionOf(MlirValue value) {
  if (!mlirValueIsABlockArgument(value))
    return (MlirOperation){NULL};
  MlirBlock block = mlirBlockArgumentGetOwner(value);
  MlirOperation parent = mlirBlockGetParentOperation(block);
  bool isEntry = mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, 0)));
  return isEntry && funcFuncOpIsA(parent) ? parent : (MlirOperation){NULL};
}

//===--- facts ----------------------------------------------------------------------===//

// Values under way, so that a loop's own value adds nothing to what is known of it.
typedef struct Path {
  const struct Path *outer;
  MlirValue value;
  intptr_t length;
} Path;

static bool isUnderWay(const Path *path, MlirValue value) {
  for (; path; path = path->outer)
    if (mlirValueEqual(path->value, value))
      return true;
  return false;
}

// Calls of calls would take a time exponential in their depth.
static bool isTooFar(HostBuffers *buffers, const Path *here) {
  return here->length > MaxPath || ++buffers->steps > MaxSteps;
}

static BufferFacts factsOf(HostBuffers *buffers, MlirValue memref, const Path *path);
static int64_t divisorOf(HostBuffers *buffers, MlirValue index, const Path *path);

static intptr_t rankOf(MlirType memref) {
  intptr_t rank = mlirTypeIsAMemRef(memref) ? mlirShapedTypeGetRank(memref) : 0;
  return rank <= HostMaxRank ? rank : 0;
}

// That and no more: any memref of the type.
static BufferFacts leastFacts(MlirType memref) {
  BufferFacts facts = {.rank = rankOf(memref), .align = tileMemoryBytes(memref) & -tileMemoryBytes(memref)};
  for (intptr_t d = 0; d < facts.rank; ++d)
    facts.sizes[d] = facts.strides[d] = 1;
  return facts;
}

static void meet(BufferFacts *facts, const BufferFacts *other) {
  facts->align = tessera_gcd(facts->align, other->align);
  for (intptr_t d = 0; d < facts->rank; ++d) {
    facts->sizes[d] = tessera_gcd(facts->sizes[d], other->sizes[d]);
    facts->strides[d] = tessera_gcd(facts->strides[d], other->strides[d]);
  }
}

// What the type says of sizes and strides is exact; strides of a contiguous memref follow from its sizes.
static void learnType(MlirType memref, BufferFacts *facts) {
  int64_t strides[HostMaxRank], offset;
  if (!facts->rank || mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(memref, strides, &offset)))
    return;
  bool isContiguous = mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(memref));
  for (intptr_t d = facts->rank; d-- > 0;) {
    if (!mlirShapedTypeIsDynamicDim(memref, d))
      facts->sizes[d] = mlirShapedTypeGetDimSize(memref, d);
    if (!isDynamicStride(strides[d]))
      facts->strides[d] = strides[d];
    else if (isContiguous && d + 1 < facts->rank)
      facts->strides[d] = times(facts->strides[d + 1], facts->sizes[d + 1]);
  }
}

static void factsOfAllocation(HostBuffers *buffers, MlirOperation op, BufferFacts *facts, const Path *path) {
  MlirType type = tileOnlyResultType(op);
  MlirAttribute alignment = tileOpAttribute(op, "alignment");
  bool isOnHeap = memrefAllocOpIsA(op);
  int64_t said = mlirAttributeIsNull(alignment) ? 0 : mlirIntegerAttrGetValueInt(alignment);
  if (isOnHeap || said)
    facts->align = said > ArenaAlignment || !isOnHeap ? said : ArenaAlignment;
  for (intptr_t d = 0, next = 0; d < facts->rank; ++d)
    if (mlirShapedTypeIsDynamicDim(type, d))
      facts->sizes[d] = divisorOf(buffers, mlirOperationGetOperand(op, next++), path);
}

static void factsOfGlobal(MlirOperation op, BufferFacts *facts) {
  MlirOperation global = mlirExtSymbolLookup(op, tileOpAttribute(op, "name"));
  MlirAttribute alignment = mlirOperationIsNull(global) ? mlirAttributeGetNull() : tileOpAttribute(global, "alignment");
  if (!mlirAttributeIsNull(alignment))
    facts->align = mlirIntegerAttrGetValueInt(alignment);
}

// Number d of a list of constants among which operands stand for what is dynamic; *next is the next operand.
static int64_t mixed(HostBuffers *buffers, MlirOperation op, const char *statics, intptr_t d, intptr_t *next,
                     const Path *path) {
  int64_t value = mlirDenseI64ArrayGetElement(tileOpAttribute(op, statics), d);
  return isDynamic(value) ? divisorOf(buffers, mlirOperationGetOperand(op, (*next)++), path) : value;
}

static void factsOfSubview(HostBuffers *buffers, MlirOperation op, BufferFacts *facts, const Path *path) {
  BufferFacts source = factsOf(buffers, memrefSubViewOpGetSource(op), path);
  MlirType type = memrefSubViewOpGetSourceType(op);
  bool keepsRank = source.rank == facts->rank;
  intptr_t next = 1;
  if (source.rank != mlirShapedTypeGetRank(type))
    return;
  facts->align = source.align;
  for (intptr_t d = 0; d < source.rank; ++d) {
    int64_t offset = times(mixed(buffers, op, "static_offsets", d, &next, path), source.strides[d]);
    facts->align = tessera_gcd(facts->align, times(offset, tileMemoryBytes(type)));
  }
  for (intptr_t d = 0; d < source.rank; ++d) {
    int64_t size = mixed(buffers, op, "static_sizes", d, &next, path);
    if (keepsRank)
      facts->sizes[d] = size;
  }
  for (intptr_t d = 0; d < source.rank; ++d) {
    int64_t stride = times(mixed(buffers, op, "static_strides", d, &next, path), source.strides[d]);
    if (keepsRank)
      facts->strides[d] = stride;
  }
}

// Offsets of memref.reinterpret_cast count from where the buffer was allocated.
static void factsOfReinterpretation(HostBuffers *buffers, MlirOperation op, BufferFacts *facts, const Path *path) {
  MlirValue source = memrefReinterpretCastOpGetSource(op);
  intptr_t next = 1;
  if (!memrefAllocOpIsA(tileDefiningOp(source)))
    return;
  int64_t offset = mixed(buffers, op, "static_offsets", 0, &next, path);
  facts->align =
      tessera_gcd(factsOf(buffers, source, path).align, times(offset, tileMemoryBytes(mlirValueGetType(source))));
}

static void factsOfOp(HostBuffers *buffers, MlirOperation op, BufferFacts *facts, const Path *path) {
  bool isAssumed = memrefAssumeAlignmentOpIsA(op);
  if (memrefAllocOpIsA(op) || memrefAllocaOpIsA(op)) {
    factsOfAllocation(buffers, op, facts, path);
  } else if (memrefGetGlobalOpIsA(op)) {
    factsOfGlobal(op, facts);
  } else if (memrefCastOpIsA(op) || isAssumed) {
    BufferFacts source = factsOf(buffers, tileOnlyOperand(op), path);
    if (source.rank == facts->rank)
      *facts = source;
    int64_t said = isAssumed ? mlirIntegerAttrGetValueInt(tileOpAttribute(op, "alignment")) : 1;
    facts->align = facts->align > said || !facts->align ? facts->align : said;
  } else if (memrefSubViewOpIsA(op)) {
    factsOfSubview(buffers, op, facts, path);
  } else if (memrefExpandShapeOpIsA(op) || memrefCollapseShapeOpIsA(op) || memrefTransposeOpIsA(op)) {
    facts->align = factsOf(buffers, tileOpViewedMemory(op), path).align;
  } else if (memrefReinterpretCastOpIsA(op)) {
    factsOfReinterpretation(buffers, op, facts, path);
  }
}

// Arguments of entries that only callers from outside give: the host's contract.
static void factsOfArgument(HostBuffers *buffers, MlirValue argument, BufferFacts *facts) {
  MlirOperation function = functionOf(argument);
  MlirType type = mlirValueGetType(argument);
  if (mlirOperationIsNull(function) || !tileSymbolIsPublic(function) || isCalled(buffers, function) || !facts->rank ||
      !mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)))
    return;
  if (facts->align >= buffers->entryAlignment)
    return;
  facts->align = buffers->entryAlignment;
  restOn(buffers, argument);
}

static BufferFacts factsOf(HostBuffers *buffers, MlirValue memref, const Path *path) {
  MlirType type = mlirValueGetType(memref);
  BufferFacts facts = leastFacts(type);
  Path here = {path, memref, path ? path->length + 1 : 0};
  if (isUnderWay(path, memref))
    return (BufferFacts){.rank = facts.rank};
  if (isTooFar(buffers, &here))
    return facts;
  Sources sources = sourcesOf(buffers, memref);
  for (intptr_t i = 0; i < sources.count; ++i) {
    BufferFacts source = factsOf(buffers, sources.items[i], &here);
    if (i)
      meet(&facts, &source);
    else
      facts = source;
  }
  if (!sources.count && mlirValueIsAOpResult(memref))
    factsOfOp(buffers, mlirOpResultGetOwner(memref), &facts, &here);
  else if (!sources.count)
    factsOfArgument(buffers, memref, &facts);
  learnType(type, &facts);
  return facts;
}

BufferFacts tileHostBufferFacts(HostBuffers *buffers, MlirValue memref) {
  buffers->steps = 0;
  return factsOf(buffers, memref, NULL);
}

static int64_t divisorOf(HostBuffers *buffers, MlirValue index, const Path *path) {
  int64_t constant;
  MlirOperation op = tileDefiningOp(index);
  Path here = {path, index, path ? path->length + 1 : 0};
  if (tileConstantIndex(index, &constant))
    return constant < 0 ? -constant : constant;
  if (mlirOperationIsNull(op) || isTooFar(buffers, &here))
    return 1;
  if (memrefDimOpIsA(op) && tileConstantIndex(memrefDimOpGetIndex(op), &constant)) {
    BufferFacts facts = factsOf(buffers, memrefDimOpGetSource(op), &here);
    return constant >= 0 && constant < facts.rank ? facts.sizes[constant] : 1;
  }
  bool isSum = arithAddIOpIsA(op) || arithSubIOpIsA(op), isProduct = arithMulIOpIsA(op);
  if (!isSum && !isProduct)
    return 1;
  int64_t a = divisorOf(buffers, tileBinaryLhs(op), &here);
  int64_t b = divisorOf(buffers, tileBinaryRhs(op), &here);
  return isProduct ? times(a, b) : tessera_gcd(a, b);
}

int64_t tileHostIndexDivisor(HostBuffers *buffers, MlirValue index) {
  buffers->steps = 0;
  return divisorOf(buffers, index, NULL);
}

//===--- overlapping ------------------------------------------------------------------===//

// The buffers that a value may be or lie in.
typedef struct Roots {
  MlirValue items[MaxSources];
  intptr_t count;
  bool isUnknown;
} Roots;

static bool isBuffer(MlirValue value) {
  MlirOperation op = tileDefiningOp(value), function = functionOf(value);
  return memrefAllocOpIsA(op) || memrefAllocaOpIsA(op) || memrefGetGlobalOpIsA(op) ||
         (!mlirOperationIsNull(function) && tileSymbolIsPublic(function));
}

static void findRoots(HostBuffers *buffers, MlirValue value, const Path *path, Roots *roots) {
  Path here = {path, value, path ? path->length + 1 : 0};
  if (roots->isUnknown || isUnderWay(path, value))
    return;
  if (isTooFar(buffers, &here) || roots->count == MaxSources) {
    roots->isUnknown = true;
    return;
  }
  MlirValue root = tileMemoryRoot(value);
  if (!mlirValueEqual(root, value)) {
    findRoots(buffers, root, &here, roots);
    return;
  }
  Sources sources = sourcesOf(buffers, value);
  for (intptr_t i = 0; i < sources.count; ++i)
    findRoots(buffers, sources.items[i], &here, roots);
  if (sources.count)
    return;
  roots->isUnknown = !isBuffer(value);
  roots->items[roots->count++] = value;
}

static bool isConstantGlobal(MlirOperation op) {
  MlirOperation global = mlirExtSymbolLookup(op, tileOpAttribute(op, "name"));
  return memrefGlobalOpIsA(global) && !mlirAttributeIsNull(tileOpAttribute(global, "constant"));
}

static bool saysNoAlias(MlirValue argument) {
  MlirAttribute all = tileOpAttribute(functionOf(argument), "arg_attrs");
  if (mlirAttributeIsNull(all))
    return false;
  MlirAttribute own = mlirArrayAttrGetElement(all, mlirBlockArgumentGetArgNumber(argument));
  return !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(own, tileString("llvm.noalias")));
}

// An allocation overlaps nothing else that is there. What callers pass may be one buffer, or a variable of the module.
static bool rootsMayOverlap(MlirValue a, MlirValue b) {
  MlirOperation opA = tileDefiningOp(a), opB = tileDefiningOp(b);
  bool isGlobalA = memrefGetGlobalOpIsA(opA), isGlobalB = memrefGetGlobalOpIsA(opB);
  if (mlirValueEqual(a, b))
    return true;
  if (isGlobalA && isGlobalB)
    return mlirAttributeEqual(tileOpAttribute(opA, "name"), tileOpAttribute(opB, "name"));
  if ((!mlirOperationIsNull(opA) && !isGlobalA) || (!mlirOperationIsNull(opB) && !isGlobalB))
    return false;
  if (isGlobalA || isGlobalB)
    return !isConstantGlobal(isGlobalA ? opA : opB);
  return !saysNoAlias(a) && !saysNoAlias(b);
}

bool tileHostBuffersMayOverlap(HostBuffers *buffers, MlirValue a, MlirValue b) {
  Roots rootsA = {.count = 0}, rootsB = {.count = 0};
  buffers->steps = 0;
  findRoots(buffers, a, NULL, &rootsA);
  findRoots(buffers, b, NULL, &rootsB);
  if (rootsA.isUnknown || rootsB.isUnknown)
    return true;
  for (intptr_t i = 0; i < rootsA.count; ++i)
    for (intptr_t j = 0; j < rootsB.count; ++j)
      if (rootsMayOverlap(rootsA.items[i], rootsB.items[j]))
        return true;
  return false;
}
