// Counts the instructions of each block by class, as the llvm dialect has them, and has the block say so when it runs.
// Memory, barriers and matrix instructions are counted where they happen. Before anything else is rewritten.
// For predictions of time, also where what was loaded is wanted first.
#include "lib/emulator/compile/program.h"
#include "lib/ir/op_query.h"
#include "lib/ir/table.h"

#include "mlir-c/BuiltinTypes.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"
#include "upstream/rocdl.h"

typedef struct Counts {
  int64_t classes[TESSERA_EMU_CLASSES], flops;
} Counts;

static const TileUpstream floatingOps[] = {
    LlvmOp_FAdd,    LlvmOp_FSub,    LlvmOp_FMul,     LlvmOp_FDiv,      LlvmOp_FRem,   LlvmOp_FNeg,
    LlvmOp_FCmp,    LlvmOp_FPTrunc, LlvmOp_FPExt,    LlvmOp_SIToFP,    LlvmOp_UIToFP, LlvmOp_FPToSI,
    LlvmOp_FPToUI,  LlvmOp_FMA,     LlvmOp_FMulAdd,  LlvmOp_FAbs,      LlvmOp_MaxNum, LlvmOp_MinNum,
    LlvmOp_Maximum, LlvmOp_Minimum, LlvmOp_CopySign, TileUpstream_None};
static const TileUpstream specialOps[] = {
    LlvmOp_Exp,       LlvmOp_Exp2,       LlvmOp_Log,       LlvmOp_Log2,       LlvmOp_Log10,     LlvmOp_Sin,
    LlvmOp_Cos,       LlvmOp_Sqrt,       LlvmOp_Pow,       LlvmOp_PowI,       LlvmOp_Tanh,      NvvmOp_RcpApproxFtzF32,
    RocdlOp_ROCDLRcp, RocdlOp_ROCDLExp2, RocdlOp_ROCDLLog, RocdlOp_ROCDLSqrt, TileUpstream_None};
static const TileUpstream controlOps[] = {LlvmOp_Br, LlvmOp_CondBr, LlvmOp_Switch, LlvmOp_Return, TileUpstream_None};
// No instruction at all.
static const TileUpstream freeOps[] = {
    LlvmOp_Constant,     LlvmOp_Undef,         LlvmOp_Poison,         LlvmOp_Zero,          LlvmOp_AddressOf,
    LlvmOp_ExtractValue, LlvmOp_InsertValue,   LlvmOp_Bitcast,        LlvmOp_Freeze,        LlvmOp_IntToPtr,
    LlvmOp_PtrToInt,     LlvmOp_AddrSpaceCast, LlvmOp_ExtractElement, LlvmOp_InsertElement, LlvmOp_ShuffleVector,
    LlvmOp_Alloca,       LlvmOp_Unreachable,   LlvmOp_Assume,         LlvmOp_Load,          LlvmOp_Store,
    LlvmOp_AtomicRMW,    LlvmOp_AtomicCmpXchg, LlvmOp_Fence,          TileUpstream_None};

static int64_t elementsOf(MlirOperation op) {
  MlirType type = tileOnlyResultType(op);
  return mlirTypeIsAVector(type) ? mlirShapedTypeGetDimSize(type, 0) : 1;
}

// Two lanes of f16 are one instruction (f16x2, v_pk_*_f16).
static int64_t instructionsOf(MlirOperation op) {
  MlirType type = tileOnlyResultType(op);
  bool isPacked = mlirTypeIsAVector(type) && mlirTypeIsAF16(mlirShapedTypeGetElementType(type));
  return isPacked ? (elementsOf(op) + 1) / 2 : elementsOf(op);
}

// Lanes of 32 bits are registers. Bytes of a word are permuted (prmt, v_perm_b32).
static bool permutesBytes(MlirOperation op) {
  MlirType type = llvmShuffleVectorOpIsA(op) ? mlirShapedTypeGetElementType(tileOnlyResultType(op)) : (MlirType){NULL};
  return !mlirTypeIsNull(type) && mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 8;
}

static int64_t flopsOf(MlirOperation op) {
  if (llvmFMAOpIsA(op) || llvmFMulAddOpIsA(op))
    return 2 * elementsOf(op);
  switch (llvmOpKind(op)) {
  case LlvmOp_FAdd:
  case LlvmOp_FSub:
  case LlvmOp_FMul:
  case LlvmOp_FDiv:
  case LlvmOp_FRem:
  case LlvmOp_FNeg:
    return elementsOf(op);
  default:
    return tileUpstreamIsOneOf(op, specialOps) ? elementsOf(op) : 0;
  }
}

static bool isMathCall(MlirOperation op) {
  return (llvmInlineAsmOpIsA(op) && emulatorSays(op, "asm_string", "ex2.approx")) ||
         (llvmCallOpIsA(op) && (emulatorSays(op, "callee", "@__nv_") || emulatorSays(op, "callee", "@__ocml_")));
}

static void count(MlirOperation op, Counts *counts) {
  if (permutesBytes(op))
    ++counts->classes[TESSERA_EMU_INTEGER];
  if (tileUpstreamIsOneOf(op, freeOps))
    return;
  counts->flops += flopsOf(op);
  if (tileUpstreamIsOneOf(op, floatingOps))
    counts->classes[TESSERA_EMU_FLOATING] += instructionsOf(op);
  else if (tileUpstreamIsOneOf(op, specialOps) || isMathCall(op))
    ++counts->classes[TESSERA_EMU_SPECIAL];
  else if (tileUpstreamIsOneOf(op, controlOps) || llvmCallOpIsA(op))
    ++counts->classes[TESSERA_EMU_CONTROL];
  else if (mlirOperationGetNumResults(op) && tileOpIsOfDialect(op, "llvm"))
    counts->classes[TESSERA_EMU_INTEGER] += elementsOf(op);
}

static int64_t instructionsIn(const Counts *counts) {
  int64_t sum = 0;
  for (int i = 0; i < TESSERA_EMU_CLASSES; ++i)
    sum += counts->classes[i];
  return sum;
}

static void tell(EmulatorBuild *build, MlirOperation before, const Counts *counts) {
  TileBuilder b = tileBuilderBefore(before);
  for (int i = 0; i < TESSERA_EMU_CLASSES; ++i)
    if (counts->classes[i]) {
      MlirValue operands[] = {build->self, emulatorI32(build, &b, i), emulatorI32(build, &b, counts->classes[i])};
      emulatorCall(build, &b, "tessera_emu_count", (MlirType){NULL}, 3, operands);
    }
  if (counts->flops) {
    MlirValue operands[] = {build->self, emulatorI64(build, &b, counts->flops)};
    emulatorCall(build, &b, "tessera_emu_count_flops", (MlirType){NULL}, 2, operands);
  }
}

//===--- uses ---------------------------------------------------------------------===//

static const TileUpstream loadOps[] = {LlvmOp_Load, LlvmOp_MaskedLoad, NvvmOp_LdMatrix, RocdlOp_RawPtrBufferLoad,
                                       TileUpstream_None};

static bool loads(MlirOperation op) { return tileUpstreamIsOneOf(op, loadOps); }

enum { MostUseBlocks = 8, MostVisits = 256 };

// The first op of each block that does something with a value.
typedef struct Uses {
  MlirOperation first[MostUseBlocks];
  int count, visits; // visits: bounds the search
  bool areTooMany;
} Uses;

static void addUse(Uses *uses, MlirOperation user) {
  for (int i = 0; i < uses->count; ++i)
    if (mlirBlockEqual(mlirOperationGetBlock(uses->first[i]), mlirOperationGetBlock(user))) {
      if (mlirOperationIsBeforeInBlock(user, uses->first[i]))
        uses->first[i] = user;
      return;
    }
  uses->areTooMany |= uses->count == MostUseBlocks;
  if (!uses->areTooMany)
    uses->first[uses->count++] = user;
}

// What only takes the value apart is no use. A branch that hands it on is one: a loop that loads ahead has had its
// body's time, and the site loads something else in the next round.
static void findUses(MlirValue value, Uses *uses) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use) && --uses->visits > 0;
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (tileUpstreamIsOneOf(user, freeOps) && mlirOperationGetNumResults(user) == 1 && !loads(user))
      findUses(tileOnlyResult(user), uses);
    else
      addUse(uses, user);
  }
}

// The first uses of all that is loaded.
static void findFirstUses(MlirRegion body, TileTable *table) {
  for (MlirBlock block = mlirRegionGetFirstBlock(body); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block))
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
      Uses uses = {.visits = MostVisits};
      if (!loads(op) || !mlirOperationGetNumResults(op))
        continue;
      findUses(tileOnlyResult(op), &uses);
      for (int i = 0; i < uses.count; ++i)
        tileTableSet(table, uses.first[i].ptr, uses.first[i].ptr);
    }
}

void emulatorMarkUses(EmulatorBuild *build, const TileOps *ops) {
  build->use = build->useEnd = build->program->siteCount;
  for (intptr_t i = 0; i < ops->count; ++i) {
    MlirOperation op = ops->items[i];
    Uses uses = {.visits = MostVisits};
    if (!loads(op) || !mlirOperationGetNumResults(op))
      continue;
    findUses(tileOnlyResult(op), &uses);
    if (uses.areTooMany || uses.visits <= 0) // it is wanted at the end of its block, at the latest
      uses = (Uses){.first = {mlirBlockGetTerminator(mlirOperationGetBlock(op))}, .count = 1};
    for (int k = 0; k < uses.count; ++k) {
      TileBuilder b = tileBuilderBefore(uses.first[k]);
      MlirValue operands[] = {build->self, emulatorI32(build, &b, emulatorSite(build, op))};
      emulatorCall(build, &b, "tessera_emu_use", (MlirType){NULL}, 2, operands);
    }
  }
  build->useEnd = build->program->siteCount;
}

//===--- blocks -------------------------------------------------------------------===//

// Where a prediction looks at the time: what others see of a warp, and where a warp may have to wait.
static bool isMoment(MlirOperation op, const TileTable *uses) {
  return tileTableFind(uses, op.ptr) || (tileOpHasEffects(op) && !tileUpstreamIsOneOf(op, controlOps));
}

// Work is told where it is done, so that loads which stand ahead of it run beside it. A few instructions are told with
// the next ones.
void emulatorCountBlocks(EmulatorBuild *build, MlirRegion body) {
  enum { FewInstructions = 8 };
  TileTable uses = {NULL};
  if (build->options->predict)
    findFirstUses(body, &uses);
  for (MlirBlock block = mlirRegionGetFirstBlock(body); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block)) {
    Counts counts = {.flops = 0};
    MlirOperation from = mlirBlockGetFirstOperation(block);
    bool isFirst = true;
    for (MlirOperation op = from; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
      if (build->options->predict && instructionsIn(&counts) >= FewInstructions && isMoment(op, &uses)) {
        tell(build, op, &counts);
        counts = (Counts){.flops = 0};
        isFirst = false;
      }
      count(op, &counts);
    }
    tell(build, isFirst ? from : mlirBlockGetTerminator(block), &counts);
  }
  tileTableFree(&uses);
}
