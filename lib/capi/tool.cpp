// The mains of upstream's tools and translations defined in C.
#include "lib/capi/tool.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include <deque>

using namespace mlir;

const bool *mlirExtToolAddFlag(const char *name, const char *help) {
  static std::deque<llvm::cl::opt<bool>> flags; // the parser keeps their addresses
  return &flags.emplace_back(StringRef(name), llvm::cl::desc(help)).getValue();
}

int mlirExtOptMain(int argc, char **argv, const char *toolName, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirOptMain(argc, argv, toolName, *unwrap(registry)));
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
