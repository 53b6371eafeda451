// Every template of the library parses with its samples and verifies. A template that does not fails here with its file
// and line, whoever uses it.
#include "lib/ir/support.h"
#include "lib/ir/template.h"
#include "lib/pipelines/register.h"
#include "test/check.h"

#include <stdlib.h>

static void printMessage(MlirStringRef text, void *unused) { printf("%.*s", (int)text.length, text.data); }

// Templates are parsed from memory, line by line as in the file.
static MlirLogicalResult report(MlirDiagnostic diagnostic, void *file) {
  MlirLocation location = mlirDiagnosticGetLocation(diagnostic);
  if (mlirLocationIsAFileLineColRange(location))
    printf("%s:%d:%d: ", (const char *)file, mlirLocationFileLineColRangeGetStartLine(location),
           mlirLocationFileLineColRangeGetStartColumn(location));
  mlirDiagnosticPrint(diagnostic, printMessage, NULL);
  printf("\n");
  return mlirLogicalResultSuccess();
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tesseraRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  for (int i = 0; i < tileTemplatesCount; ++i) {
    const TileTemplate *from = &tileTemplates[i];
    MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(context, report, (void *)from->file, NULL);
    char *text = tileTemplateSample(from);
    MlirModule module = mlirModuleCreateParse(context, tileString(text));
    CHECK(!mlirModuleIsNull(module), "%s: the template does not parse with its samples", from->file);
    if (!mlirModuleIsNull(module))
      mlirModuleDestroy(module);
    free(text);
    mlirContextDetachDiagnosticHandler(context, handler);
  }
  mlirContextDestroy(context);
  return checkResult(50);
}
