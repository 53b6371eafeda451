// LLVM's default pipeline without some of its passes. See optimize.h.
#include "lib/capi/optimize.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

void mlirExtOptimizeWithout(LLVMModuleRef module, LLVMTargetMachineRef machine, int level, const char *without) {
  static const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
                                             OptimizationLevel::O3};
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([=](StringRef name, Any) { return name != without; });
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
