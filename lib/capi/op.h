// Operations defined in C: a subclass of OperationName::Impl that calls back, with traits, properties and interfaces.
// Upstream: none (DynamicOpDefinition has no traits, no properties and no CSE; reference: docs of ExtensibleDialect).
#pragma once

#include "lib/capi/assembly.h"
#include "lib/capi/bufferization.h"
#include "lib/capi/common.h"

MLIR_EXT_HANDLE(MlirExtEffects);
MLIR_EXT_HANDLE(MlirExtFoldResults);
MLIR_EXT_HANDLE(MlirExtSuccessors);

// Traits and interfaces whose model needs no callback. Bits.
typedef enum MlirExtTrait {
  MlirExtTrait_Terminator = 1u << 0,
  MlirExtTrait_IsolatedFromAbove = 1u << 1,
  MlirExtTrait_NoTerminator = 1u << 2,
  MlirExtTrait_SingleBlock = 1u << 3,
  MlirExtTrait_SameOperandsAndResultType = 1u << 4,
  MlirExtTrait_AttrSizedOperandSegments = 1u << 5,
  MlirExtTrait_AttrSizedResultSegments = 1u << 6,
  MlirExtTrait_SymbolTable = 1u << 7,
  MlirExtTrait_Commutative = 1u << 8,
  MlirExtTrait_RecursiveMemoryEffects = 1u << 9,
  MlirExtTrait_ConstantLike = 1u << 10,
  MlirExtTrait_AffineScope = 1u << 11,
  MlirExtTrait_ReturnLike = 1u << 12, // RegionBranchTerminatorOpInterface too
  MlirExtTrait_Pure = 1u << 16,       // no memory effects and always speculatable
  MlirExtTrait_NoMemoryEffect = 1u << 17,
  MlirExtTrait_Symbol = 1u << 18,
  MlirExtTrait_Function = 1u << 19, // Symbol, Callable, ArgAndResultAttrs, FunctionOpInterface
  MlirExtTrait_LoopLike = 1u << 20,
  MlirExtTrait_ViewLike = 1u << 21, // the result views operand 0
} MlirExtTrait;

typedef enum MlirExtEffect {
  MlirExtEffect_Read,
  MlirExtEffect_Write,
  MlirExtEffect_Allocate,
  MlirExtEffect_Free,
} MlirExtEffect;

typedef enum MlirExtResource {
  MlirExtResource_Memory,
  MlirExtResource_Debug, // what a program prints or asserts
  MlirExtResource_Order, // nothing is accessed, but no access may move across
} MlirExtResource;

typedef struct MlirExtOpDefinition MlirExtOpDefinition;

// What type inference may look at: the op does not exist yet.
typedef struct MlirExtInference {
  const MlirExtOpDefinition *definition;
  MlirContext context;
  MlirLocation location; // errors go here; may be unknown
  intptr_t numOperands;
  const MlirValue *operands;
  MlirAttribute attributes; // DictionaryAttr of inherent and discardable attributes; never null
  intptr_t numRegions;
  const MlirRegion *regions;
} MlirExtInference;

// Integer value ranges (InferIntRangeInterface): unsigned and signed bounds, inclusive.
typedef struct MlirExtIntegerRange {
  uint64_t unsignedMin, unsignedMax;
  int64_t signedMin, signedMax;
} MlirExtIntegerRange;

// Every callback may be null. True means success; verifiers report before returning false.
typedef struct MlirExtOpHooks {
  bool (*parse)(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state);
  void (*print)(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer);
  bool (*verify)(MlirOperation op);
  bool (*verifyRegions)(MlirOperation op);
  // `operands[i]` is the constant operand i or null. Appends one result per op result and returns true, or
  // changes the op in place and returns true with none appended, or returns false.
  bool (*fold)(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results);
  void (*canonicalize)(MlirRewritePatternSet patterns, MlirContext context);
  void (*effects)(MlirOperation op, MlirExtEffects effects); // gives MemoryEffectOpInterface
  bool (*inferTypes)(const MlirExtInference *inference, MlirExtTypeList types);
  // DestinationStyleOpInterface: operands [begin, begin + count) are the inits.
  void (*destinationInits)(MlirOperation op, intptr_t *begin, intptr_t *count);
  // RegionBranchOpInterface: successors of region `from` (-1: of the op itself); operands given to the entry.
  void (*regionSuccessors)(MlirOperation op, int from, MlirExtSuccessors successors);
  void (*entryOperands)(MlirOperation op, intptr_t *begin, intptr_t *count);
  // CallOpInterface: the callee symbol (a FlatSymbolRefAttr) and the argument operands.
  MlirAttribute (*callee)(MlirOperation op);
  void (*callArguments)(MlirOperation op, intptr_t *begin, intptr_t *count);
  // SymbolUserOpInterface: may look symbols up with mlirExtSymbolLookup.
  bool (*verifySymbolUses)(MlirOperation op);
  // InferIntRangeInterface: one range per result that has an integer or index type; widths as the type's.
  void (*integerRanges)(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results);
  // OpAsmOpInterface: a name for result `index` (without %), or null.
  const char *(*resultName)(MlirOperation op, intptr_t index);
  const MlirExtBufferizableHooks *bufferize; // BufferizableOpInterface
  // For the layers above, which call it (tile-expand-ops).
  bool (*expand)(MlirOperation op, MlirValue *results);
} MlirExtOpHooks;

struct MlirExtOpDefinition {
  const char *name;                      // with the dialect's prefix: "tile.mma"; unique in the process
  uint32_t traits;                       // MlirExtTrait bits
  const char *const *inherentAttributes; // null-terminated; kept as properties
  MlirExtOpHooks hooks;
  const void *data; // for the layer above (lib/ir: the compiled row)
};

MLIR_EXT_BEGIN
// The definition of an op defined through this shim; null for any other op and for no op.
const MlirExtOpDefinition *mlirExtOperationGetDefinition(MlirOperation op);
// Number `index` of the op's inherent attributes, null when absent. Only for ops defined through this shim.
MlirAttribute mlirExtOperationGetInherentAttributeAt(MlirOperation op, intptr_t index);
bool mlirExtOperationHasDiscardableAttributes(MlirOperation op); // mlir-c counts them one by one

// `operand` or `result` is the value concerned; -1 for none.
void mlirExtEffectsAdd(MlirExtEffects effects, MlirOperation op, MlirExtEffect effect, intptr_t operand,
                       intptr_t result);
// An effect on something that no value stands for.
void mlirExtEffectsAddOn(MlirExtEffects effects, MlirExtEffect effect, MlirExtResource resource);
// Calls `visit` for every effect the op itself has (MemoryEffectOpInterface), those of ops in its regions left out.
// `value` is null for memory that no value names. False, without a call: the op does not say what its effects are.
typedef void (*MlirExtEffectVisitor)(MlirExtEffect effect, MlirExtResource resource, MlirValue value, void *data);
bool mlirExtOperationVisitEffects(MlirOperation op, MlirExtEffectVisitor visit, void *data);
// The op has the effects of the ops in its regions (besides those it visits).
bool mlirExtOperationHasRecursiveEffects(MlirOperation op);
// The op's result views the memory of this operand (ViewLikeOpInterface); null: of none.
MlirValue mlirExtOperationGetViewSource(MlirOperation op);
// Each element of a result depends on the elements of the operands at that place only (ElementwiseMappable).
bool mlirExtOperationIsElementwise(MlirOperation op);
void mlirExtFoldResultsAddAttribute(MlirExtFoldResults results, MlirAttribute attribute);
void mlirExtFoldResultsAddValue(MlirExtFoldResults results, MlirValue value);
void mlirExtSuccessorsAddRegion(MlirExtSuccessors successors, MlirOperation op, intptr_t region,
                                intptr_t firstArgument);
void mlirExtSuccessorsAddParent(MlirExtSuccessors successors, MlirOperation op);
// The op that `symbol` (a SymbolRefAttr) names seen from `from`, or null.
MlirOperation mlirExtSymbolLookup(MlirOperation from, MlirAttribute symbol);
// True if the op has no memory effects and may be speculated (isPure); isMemoryEffectFree.
bool mlirExtOperationIsPure(MlirOperation op);
bool mlirExtOperationIsMemoryEffectFree(MlirOperation op);
// Constant value of `value` when it is the result of a ConstantLike op, else null (m_Constant).
MlirAttribute mlirExtValueGetConstant(MlirValue value);
MLIR_EXT_END
