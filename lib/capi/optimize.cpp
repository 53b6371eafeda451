// LLVM's default pipeline without some of its work. See optimize.h.
#include "lib/capi/optimize.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

static size_t countInstructions(const Loop &loop) {
  size_t count = 0;
  for (const BasicBlock *block : loop.blocks())
    count += block->size();
  return count;
}

static bool shouldRun(StringRef pass, const Any &ir, const MlirExtOptimizeLimits &limits) {
  if (const auto *loop = any_cast<const Loop *>(&ir); loop && pass == "LoopFullUnrollPass")
    return countInstructions(**loop) <= limits.unrolled_loop;
  if (const auto *function = any_cast<const Function *>(&ir); function && pass == "LoopUnrollPass")
    return (*function)->getInstructionCount() <= limits.unrolled_function;
  return pass != limits.pass;
}

void mlirExtOptimizeWithin(LLVMModuleRef module, LLVMTargetMachineRef machine, int level,
                           const MlirExtOptimizeLimits *limits) {
  static const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
                                             OptimizationLevel::O3};
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([=](StringRef pass, Any ir) { return shouldRun(pass, ir, *limits); });
  PassBuilder builder(reinterpret_cast<TargetMachine *>(machine), PipelineTuningOptions(), std::nullopt, &callbacks);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(levels[level]).run(*unwrap(module), modules);
}
