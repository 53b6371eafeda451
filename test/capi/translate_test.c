// A translation defined in C, in upstream's main: prints the names of all ops. Run by translate_test.test.
#include "lib/capi/tool.h"
#include "test/capi/test_session.h"

typedef struct Output {
  MlirStringCallback append;
  void *userData;
} Output;

static MlirWalkResult printName(MlirOperation op, void *userData) {
  Output *output = userData;
  output->append(mlirIdentifierStr(mlirOperationGetName(op)), output->userData);
  output->append(text("\n"), output->userData);
  return MlirWalkResultAdvance;
}

static bool printNames(MlirOperation op, MlirStringCallback append, void *userData) {
  Output output = {append, userData};
  mlirOperationWalk(op, printName, &output, MlirWalkPreOrder);
  return mlirAttributeIsNull(mlirOperationGetDiscardableAttributeByName(op, text("u.fail")));
}

static void dialects(MlirDialectRegistry registry) {
  mlirRegisterAllDialects(registry);
  mlirExtDialectRegistryInsert(registry, &testDialect);
}

int main(int argc, char **argv) {
  mlirExtTranslationRegister("test-names", "Prints the names of all ops", printNames, dialects);
  return mlirExtTranslateMain(argc, argv, "translate_test");
}
