// The dialect cuda_tile put together: rows, types, attributes; and its registration. Tools register it; the plugin does
// not, because its host may have the real one.
#include <stdio.h>

#include "dialects/foreign/cuda_tile/bytecode.h"
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/cuda_tile/ops.h"
#include "dialects/foreign/cuda_tile/parts.h"
#include "lib/ir/op_dialect.h"

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS TESSERA_HOOKS
static const TileOpRow rows[] = {
#include "dialects/foreign/cuda_tile/ops.def"
};

static const TileDialectTable table = {
    .name = "cuda_tile",
    .numRows = sizeof rows / sizeof *rows,
    .rows = rows,
    .constraints = cudaTileConstraints,
    .kinds = cudaTileAttributeKinds,
    .directives = (const TileDirective[]){{NULL}},
    .rules = cudaTileRules,
    .parseType = cudaTileParseType,
    .printType = cudaTilePrintType,
};

static MlirExtDialectDefinition base(void) {
  return (MlirExtDialectDefinition){
      .numTypes = cudaTileNumTypeDefinitions,
      .types = cudaTileTypeDefinitions,
      .numAttributes = cudaTileNumAttributeDefinitions,
      .attributes = cudaTileAttributeDefinitions,
  };
}

const MlirExtDialectDefinition *cudaTileDialectDefinition(void) {
  char error[512];
  const MlirExtDialectDefinition *definition = tileDialectFromTable(&table, base(), error, sizeof error);
  if (!definition)
    fprintf(stderr, "error in the table of the cuda_tile dialect: %s\n", error);
  return definition;
}

void cudaTileRegisterDialect(MlirDialectRegistry registry) { tileDialectRegister(&table, base(), registry); }
