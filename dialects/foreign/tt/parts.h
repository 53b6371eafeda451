// Shared by the files of the dialects tt and ttg only: the tables that dialect.c puts together, verifiers and forms
// that rows name beside those that the generated header declares.
#pragma once

#include "lib/capi/dialect.h"
#include "lib/ir/op_table.h"
#include "lib/ir/support.h"

// types.c; the lists of ops.def's columns end with name == null.
extern const MlirExtParametricDefinition ttTypeDefinitions[];
extern const intptr_t ttNumTypeDefinitions;
extern const MlirExtParametricDefinition ttAttributeDefinitions[];
extern const intptr_t ttNumAttributeDefinitions;
extern const TileConstraint ttConstraints[];
extern const TileTypeRule ttRules[];
bool ttParseShortPointer(MlirExtParser parser, MlirType *type); // `<f32>` or `!tt.ptr<f32>`
bool ttParseShortDescriptor(MlirExtParser parser, MlirType *type);
void ttPrintShort(MlirExtPrinter printer, MlirType type);
#define TT_TYPE_TEXT(type) tileTypeText(type, (char[128]){0}, 128)

// words.c
extern const TileAttributeKind ttAttributeKinds[];

// forms.c
extern const TileDirective ttDirectives[];
bool ttFuncOpParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state);
void ttFuncOpPrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer);

// verify.c: all operands and results are scalars, or tiles of one shape.
bool ttVerifySameShape(MlirOperation op);
bool ttCallOpVerifySymbolUses(MlirOperation op);
MlirAttribute ttCallOpCallee(MlirOperation op);
void ttCallOpCallArguments(MlirOperation op, intptr_t *begin, intptr_t *count);
