// The hooks of rarer kinds that the rows of ops.def name; the generated header declares the others.
#pragma once

#include "lib/capi/op.h"

bool stablehloReduceOpParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state);
void stablehloReduceOpPrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer);
bool stablehloWhileOpParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state);
void stablehloWhileOpPrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer);
bool stablehloVerifyParts(MlirOperation op);
