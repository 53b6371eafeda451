// Parsers and printers of whole ops whose form no format can say: the .parse and .print hooks in ops.def.
#pragma once

#include "lib/capi/op.h"

// kernel, func: `(private)? @name(…) -> results attributes {…} region?`
bool tileParseFunctionOp(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state);
void tilePrintFunctionOp(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer);

// `%address sizes [%m, 64] (strides [%s, 1])? attr-dict : i64 to memref`: numbers where the memref's type says them.
bool tileParseMemrefAt(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state);
void tilePrintMemrefAt(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer);

// `captures(%x : T)? (attributes {…})? (partition "name" warps(4) (registers(40))? region)+`
bool tileParseWarpSpecialize(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state);
void tilePrintWarpSpecialize(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer);
