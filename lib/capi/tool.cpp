// The mains of upstream's tools and translations defined in C.
#include "lib/capi/tool.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"
#include <atomic>
#include <deque>
#include <mutex>
#include <new>

using namespace mlir;

static std::atomic<void (*)()> whenOutOfMemory;

void mlirExtToolWhenOutOfMemory(void (*outOfMemory)(void)) {
  static std::new_handler others;
  static std::once_flag once;
  if (!whenOutOfMemory)
    others = std::get_new_handler();
  whenOutOfMemory = outOfMemory;
  std::set_new_handler(outOfMemory ? outOfMemory : others);
  // Upstream's mains set a handler of operator new that asks this one.
  std::call_once(once, [] {
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) {
      if (auto call = whenOutOfMemory.load())
        call();
    });
  });
}

// The linker sends the library's own calls of malloc, calloc and realloc here (cmake/TesseraLibrary.cmake): mlir-c
// writes what mlirOperationStateAdd… gets without a look, and so do passes. A large piece has the size of a program's
// data; who asks for it reports it at an op.
static constexpr size_t MostForPasses = 1 << 20;

static void *orOutOfMemory(void *memory, size_t size) {
  auto call = memory ? nullptr : whenOutOfMemory.load();
  if (call && size && size < MostForPasses)
    call();
  return memory;
}

extern "C" {
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size) { return orOutOfMemory(__real_malloc(size), size); }
void *__wrap_calloc(size_t count, size_t size) {
  size_t all;
  return orOutOfMemory(__real_calloc(count, size), __builtin_mul_overflow(count, size, &all) ? MostForPasses : all);
}
void *__wrap_realloc(void *old, size_t size) { return orOutOfMemory(__real_realloc(old, size), size); }
}

const bool *mlirExtToolAddFlag(const char *name, const char *help) {
  static std::deque<llvm::cl::opt<bool>> flags; // the parser keeps their addresses
  return &flags.emplace_back(StringRef(name), llvm::cl::desc(help)).getValue();
}

struct MlirExtToolText {
  MlirExtToolText(const char *name, const char *valueName, const char *help)
      : flag(StringRef(name), llvm::cl::value_desc(valueName), llvm::cl::desc(help), llvm::cl::ValueOptional) {}
  llvm::cl::opt<std::string> flag;
};

MlirExtToolText *mlirExtToolAddText(const char *name, const char *valueName, const char *help) {
  static std::deque<MlirExtToolText> flags;
  return &flags.emplace_back(name, valueName, help);
}

const char *mlirExtToolTextGet(MlirExtToolText *flag) {
  return flag->flag.getNumOccurrences() ? flag->flag.getValue().c_str() : nullptr;
}

namespace {
using RunInC = bool (*)(MlirOperation op, MlirStringRef pipeline, void *userData);

// The one pass of a pass manager whose passes another runs.
struct RunPipeline : PassWrapper<RunPipeline, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RunPipeline)
  RunPipeline(std::shared_ptr<PassManager> passes, RunInC run, void *userData)
      : passes(std::move(passes)), run(run), userData(userData) {}
  StringRef getName() const override { return "run-pipeline"; }
  void getDependentDialects(DialectRegistry &registry) const override { passes->getDependentDialects(registry); }
  void runOnOperation() override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    passes->printAsTextualPipeline(stream);
    if (!run(wrap(getOperation()), wrap(StringRef(text)), userData))
      signalPassFailure();
  }
  std::shared_ptr<PassManager> passes;
  RunInC run;
  void *userData;
};
} // namespace

static MlirOptMainConfig configureFor(const MlirExtOptHooks *hooks, const MlirOptMainConfig &asked) {
  MlirOptMainConfig config = asked;
  config.setPassPipelineSetupFn([hooks, &asked](PassManager &manager) {
    hooks->beginPasses(hooks->userData);
    if (!hooks->isWanted(hooks->userData))
      return asked.setupPassPipeline(manager);
    manager.getContext()->disableMultithreading();
    auto passes = std::make_shared<PassManager>(manager.getContext());
    if (failed(asked.setupPassPipeline(*passes)))
      return failure();
    manager.addPass(std::make_unique<RunPipeline>(std::move(passes), hooks->run, hooks->userData));
    return success();
  });
  return config;
}

static LogicalResult runOn(std::unique_ptr<llvm::MemoryBuffer> input, StringRef output, DialectRegistry &registry,
                           const MlirOptMainConfig &config, const MlirExtOptHooks *hooks) {
  if (output == "-")
    return MlirOptMain(llvm::outs(), std::move(input), registry, config);
  std::string content;
  llvm::raw_string_ostream stream(content);
  bool done = succeeded(MlirOptMain(stream, std::move(input), registry, config));
  return success(done && hooks->writeOutput(wrap(output), wrap(StringRef(content)), hooks->userData));
}

int mlirExtOptMain(int argc, char **argv, const char *toolName, MlirDialectRegistry registry,
                   const MlirExtOptHooks *hooks) {
  if (!hooks)
    return asMainReturnCode(MlirOptMain(argc, argv, toolName, *unwrap(registry)));
  llvm::InitLLVM init(argc, argv);
  auto [inputName, outputName] = registerAndParseCLIOptions(argc, argv, toolName, *unwrap(registry));
  MlirOptMainConfig asked = MlirOptMainConfig::createFromCLOptions();
  if (asked.shouldShowDialects() || asked.shouldListPasses()) // reads nothing
    return asMainReturnCode(MlirOptMain(argc, argv, inputName, outputName, *unwrap(registry)));
  if (inputName == "-" && llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n";
  std::string error;
  auto input = openInputFile(inputName, &error);
  if (!input) {
    llvm::errs() << error << "\n";
    return EXIT_FAILURE;
  }
  if (!hooks->checkInput(wrap(input->getBuffer()), wrap(StringRef(inputName)), wrap(StringRef(outputName)),
                         hooks->userData))
    return EXIT_FAILURE;
  MlirOptMainConfig config = configureFor(hooks, asked);
  return asMainReturnCode(runOn(std::move(input), outputName, *unwrap(registry), config, hooks));
}

int mlirExtTranslateMain(int argc, char **argv, const char *toolName) {
  return asMainReturnCode(mlirTranslateMain(argc, argv, toolName));
}

int mlirExtLspServerMain(int argc, char **argv, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(registry)));
}

int mlirExtReduceMain(int argc, char **argv, MlirDialectRegistry registry) {
  MLIRContext context(*unwrap(registry));
  return asMainReturnCode(mlirReduceMain(argc, argv, context));
}

static void appendToStream(MlirStringRef text, void *stream) { *static_cast<raw_ostream *>(stream) << unwrap(text); }

void mlirExtTranslationRegister(const char *name, const char *summary, MlirExtTranslation translate,
                                void (*dialects)(MlirDialectRegistry registry)) {
  TranslateFromMLIRRegistration(
      name, summary,
      [translate](Operation *op, raw_ostream &stream) { return success(translate(wrap(op), appendToStream, &stream)); },
      [dialects](DialectRegistry &registry) { dialects(wrap(&registry)); });
}
