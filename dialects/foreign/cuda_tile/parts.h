// Shared by the files of the dialect cuda_tile only: the tables that dialect.c puts together, and verifiers that rows
// name beside those that the generated header declares.
#pragma once

#include "lib/capi/dialect.h"
#include "lib/ir/op_table.h"
#include "lib/ir/support.h"

// types.c
extern const MlirExtParametricDefinition cudaTileTypeDefinitions[];
extern const intptr_t cudaTileNumTypeDefinitions;
extern const TileConstraint cudaTileConstraints[];
extern const TileTypeRule cudaTileRules[];
bool cudaTileParseType(MlirExtParser parser, MlirType *type); // `tile<64xf32>`, `token`, or with the prefix
void cudaTilePrintType(MlirExtPrinter printer, MlirType type);
#define CUDA_TILE_TEXT(type) tileTypeText(type, (char[256]){0}, 256)

// words.c
extern const MlirExtParametricDefinition cudaTileAttributeDefinitions[];
extern const intptr_t cudaTileNumAttributeDefinitions;
extern const TileAttributeKind cudaTileAttributeKinds[];

// verify.c
bool cudaTileEntryOpParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state);
void cudaTileEntryOpPrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer);
bool cudaTileVerifySameShape(MlirOperation op);
