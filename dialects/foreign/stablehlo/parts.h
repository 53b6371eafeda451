// Shared by the dialects of StableHLO and CHLO only: the tables that their dialect.c put together, and verifiers.
#pragma once

#include "lib/capi/dialect.h"
#include "lib/ir/op_table.h"
#include "lib/ir/support.h"
#include "lib/support/array.h"

enum { StablehloMaxRank = TESSERA_MAX_RANK };

// attrs.c. One definition for each attribute; constraints.c: end with name == null.
extern const MlirExtParametricDefinition stablehloAttributeDefinitions[];
extern const intptr_t stablehloNumAttributeDefinitions;
extern const MlirExtParametricDefinition *const stablehloDotDefinition;
extern const TileConstraint stablehloConstraints[];
extern const TileAttributeKind stablehloAttributeKinds[];

// forms.c
extern const TileDirective stablehloDirectives[];

// verify.c. Operands and results have one shape, and one element type; of those without the latter only one shape.
bool stablehloVerifyElementwise(MlirOperation op);
bool stablehloVerifySameShapes(MlirOperation op);

// Sizes that either leaves open may meet at run time.
bool stablehloIsCompatible(MlirType a, MlirType b);
