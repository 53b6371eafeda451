// Declaring passes. A pass file ends with one definition; rooms list their definitions in a table that
// lib/pipelines/register.c registers.
//
//   static bool run(MlirOperation op, MlirExtPass pass) { … }
//   const MlirExtPassDefinition tileHoistCopiesPass = {.argument = "tile-hoist-copies", …, .run = run};
#pragma once

#include "lib/capi/conversion.h"
#include "lib/capi/pass.h"
#include "lib/ir/support.h"

// Rewrites everything under `op` greedily by the patterns that `populate` adds. False if this does not converge.
bool tileApplyPatterns(MlirOperation op, void (*populate)(MlirRewritePatternSet patterns, MlirContext context));
// Adds one pattern for the ops of that name.
typedef MlirLogicalResult (*TileRewrite)(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                         void *userData);
void tileAddPattern(MlirRewritePatternSet patterns, MlirContext context, const char *name, unsigned benefit,
                    TileRewrite rewrite);
// A conversion of the ops that `isLegal` refuses, and of the types of functions and of scf's loops. Types that no
// converter takes stay.
typedef struct TileDialectConversion {
  MlirExtTypeConversion convertType;    // one type for one
  MlirExtTypeConversion1ToN spreadType; // several types for one; null: convertType converts
  MlirExtLegalityCallback isLegal;
  // Asked one after another for any op: converts take one value for one, spreads several.
  MlirExtConversionCallback convert;
  intptr_t numSpreads;
  const MlirExtConversion1ToNCallback *spreads;
  void *userData; // of convert and spreads
} TileDialectConversion;
// False after a diagnostic.
bool tileConvertDialect(MlirOperation op, const TileDialectConversion *conversion);
// Runs a pipeline given as text on `op` ("canonicalize,cse"). False after a diagnostic.
bool tileRunPipeline(MlirOperation op, const char *pipeline);
