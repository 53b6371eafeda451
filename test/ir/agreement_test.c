// agreement_test FILE…: for every own op of the programs in the files, text, bytecode and the generated builder agree:
// the program reads back from its text and from bytecode as the same text, and each op that is taken apart by the
// generated accessors and built again by its Create has the same values, types, attributes and regions. Ends with the
// ops that no file holds.
#include "dialects/foreign/chlo/ops.h"
#include "dialects/foreign/stablehlo/ops.h"
#include "dialects/foreign/stablehlo/stablehlo.h"
#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/tt/tt.h"
#include "dialects/foreign/ttg/ops.h"
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "mlir-c/RegisterEverything.h"
#include "test/check.h"
#include <stdlib.h>

enum { AgreeValues = 64 };

static MlirType agreeType(MlirValue value) {
  return mlirValueIsNull(value) ? (MlirType){NULL} : mlirValueGetType(value);
}

static MlirRegion agreeTakeRegion(MlirOperation op, intptr_t index) {
  MlirRegion region = mlirRegionCreate();
  if (index < mlirOperationGetNumRegions(op))
    mlirRegionTakeBody(region, mlirOperationGetRegion(op, index));
  return region;
}

static intptr_t countBlocks(MlirRegion region) {
  intptr_t count = 0;
  for (MlirBlock block = mlirRegionGetFirstBlock(region); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block))
    ++count;
  return count;
}

static bool agree(MlirOperation a, MlirOperation b) {
  if (mlirOperationIsNull(b) || mlirOperationGetNumOperands(a) != mlirOperationGetNumOperands(b) ||
      mlirOperationGetNumResults(a) != mlirOperationGetNumResults(b) ||
      mlirOperationGetNumRegions(a) != mlirOperationGetNumRegions(b))
    return false;
  bool ok = mlirIdentifierEqual(mlirOperationGetName(a), mlirOperationGetName(b));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(a); ++i)
    ok &= mlirValueEqual(mlirOperationGetOperand(a, i), mlirOperationGetOperand(b, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(a); ++i)
    ok &= mlirTypeEqual(tileResultType(a, i), tileResultType(b, i));
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(a); ++i)
    ok &= countBlocks(mlirOperationGetRegion(a, i)) == countBlocks(mlirOperationGetRegion(b, i));
  return ok;
}

#include "dialects/foreign/chlo/agreement.h"
#include "dialects/foreign/stablehlo/agreement.h"
#include "dialects/foreign/tt/agreement.h"
#include "dialects/foreign/ttg/agreement.h"
#include "dialects/sparse/agreement.h"
#include "dialects/tile/agreement.h"

enum { MostOps = 256 };

typedef struct Dialect {
  const char *name;
  int numOps;
  bool (*const *agrees)(TileBuilder *b, MlirOperation op);
  const char *const *names;
} Dialect;

static const Dialect dialects[] = {
    {"tile", TileNumOps, tileAgrees, tileAgreeNames},
    {"sparse", SparseNumOps, sparseAgrees, sparseAgreeNames},
    {"stablehlo", StablehloNumOps, stablehloAgrees, stablehloAgreeNames},
    {"chlo", ChloNumOps, chloAgrees, chloAgreeNames},
    {"tt", TtNumOps, ttAgrees, ttAgreeNames},
    {"ttg", TtgNumOps, ttgAgrees, ttgAgreeNames},
};
enum { NumDialects = sizeof dialects / sizeof *dialects };
static bool seen[NumDialects][MostOps];

//===--- builders -----------------------------------------------------------===//
static MlirWalkResult rebuild(MlirOperation op, void *data) {
  TileBuilder b = tileBuilderBefore(op);
  for (int d = 0; d < NumDialects; ++d) {
    intptr_t kind = tileOpRowIndex(op, dialects[d].name);
    if (kind < 0)
      continue;
    bool ok = dialects[d].agrees[kind](&b, op);
    CHECK(ok);
    if (!ok)
      tileError(op, "built again by its Create, it is another op");
    seen[d][kind] = true;
  }
  return MlirWalkResultAdvance;
}

//===--- text and bytecode --------------------------------------------------===//
typedef struct Text {
  char *data;
  size_t length;
} Text;

static void append(MlirStringRef part, void *data) {
  Text *text = data;
  text->data = realloc(text->data, text->length + part.length + 1);
  memcpy(text->data + text->length, part.data, part.length);
  text->length += part.length;
  text->data[text->length] = 0;
}

static Text textOf(MlirOperation op) {
  Text text = {NULL, 0};
  mlirOperationPrint(op, append, &text);
  return text;
}

static void readsBack(MlirContext context, const Text *source, const Text *wanted) {
  MlirOperation again =
      mlirOperationCreateParse(context, mlirStringRefCreate(source->data, source->length), tileString("again"));
  CHECK(!mlirOperationIsNull(again));
  if (mlirOperationIsNull(again))
    return;
  Text text = textOf(again);
  CHECK(text.length == wanted->length && !memcmp(text.data, wanted->data, text.length));
  free(text.data);
  mlirOperationDestroy(again);
}

static void checkProgram(MlirContext context, const char *source) {
  MlirModule module = mlirModuleCreateParse(context, tileString(source));
  if (mlirModuleIsNull(module)) // a part that shows an error
    return;
  MlirOperation op = mlirModuleGetOperation(module);
  Text text = textOf(op), bytes = {NULL, 0};
  mlirOperationWriteBytecode(op, append, &bytes);
  readsBack(context, &text, &text);
  readsBack(context, &bytes, &text);
  mlirOperationWalk(op, rebuild, NULL, MlirWalkPostOrder);
  free(text.data);
  free(bytes.data);
  mlirModuleDestroy(module);
}

//===--- files --------------------------------------------------------------===//
static char *readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  enum { MostBytes = 1 << 20 };
  char *text = file ? calloc(MostBytes, 1) : NULL;
  bool isWhole = text && fread(text, 1, MostBytes - 1, file) < MostBytes - 1;
  if (file)
    fclose(file);
  if (isWhole)
    return text;
  free(text);
  return NULL;
}

static void checkFile(MlirContext context, const char *path) {
  char *source = readFile(path);
  CHECK(source);
  for (char *part = source, *end; part; part = end) {
    end = strstr(part, "\n// -----");
    if (end)
      *end++ = 0;
    checkProgram(context, part);
  }
  free(source);
}

static MlirLogicalResult quiet(MlirDiagnostic diagnostic, void *data) { return mlirLogicalResultSuccess(); }

int main(int argc, char **argv) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  tileRegisterDialect(registry);
  sparseRegisterDialect(registry);
  stablehloRegisterDialect(registry);
  chloRegisterDialect(registry);
  sdyRegisterDialect(registry);
  ttRegisterDialect(registry);
  ttgRegisterDialect(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  mlirContextAttachDiagnosticHandler(context, quiet, NULL, NULL);
  for (int i = 1; i < argc; ++i)
    checkFile(context, argv[i]);
  for (int d = 0; d < NumDialects; ++d)
    for (int i = 0; i < dialects[d].numOps; ++i)
      if (!seen[d][i])
        printf("no program holds %s\n", dialects[d].names[i]);
  mlirContextDestroy(context);
  return checkResult(800);
}
