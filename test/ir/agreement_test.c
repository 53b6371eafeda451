// agreement_test FILE…: for every own op of the programs in the files, text, bytecode and the generated builder agree:
// the program reads back from its text and from bytecode as the same text, and each op that is taken apart by the
// generated accessors and built again by its Create has the same values, types, attributes and regions. Ends with the
// ops that no file holds.
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

#include "dialects/sparse/agreement.h"
#include "dialects/tile/agreement.h"

static bool seenTile[TileNumOps], seenSparse[SparseNumOps];

//===--- builders -----------------------------------------------------------===//
static MlirWalkResult rebuild(MlirOperation op, void *data) {
  TileOp tile = tileOpKind(op);
  SparseOp sparse = sparseOpKind(op);
  if (tile == TileOp_None && sparse == SparseOp_None)
    return MlirWalkResultAdvance;
  TileBuilder b = tileBuilderBefore(op);
  bool ok = tile != TileOp_None ? tileAgrees[tile](&b, op) : sparseAgrees[sparse](&b, op);
  CHECK(ok);
  if (!ok)
    tileError(op, "built again by its Create, it is another op");
  if (tile != TileOp_None)
    seenTile[tile] = true;
  else
    seenSparse[sparse] = true;
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
  CHECK(source != NULL);
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
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  mlirContextAttachDiagnosticHandler(context, quiet, NULL, NULL);
  for (int i = 1; i < argc; ++i)
    checkFile(context, argv[i]);
  for (int i = 0; i < TileNumOps; ++i)
    if (!seenTile[i])
      printf("no program holds %s\n", tileAgreeNames[i]);
  for (int i = 0; i < SparseNumOps; ++i)
    if (!seenSparse[i])
      printf("no program holds %s\n", sparseAgreeNames[i]);
  mlirContextDestroy(context);
  return checkResult(800);
}
