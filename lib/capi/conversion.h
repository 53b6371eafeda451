// Dialect conversion: target, type converter, patterns (1:1 and 1:N), materializations. Names as upstream head's
// mlir-c/Rewrite.h with our prefix, so that these functions can be deleted when Debian's MLIR has them.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_HANDLE(MlirExtConversionTarget); // owned: Create/Destroy
MLIR_EXT_HANDLE(MlirExtTypeConverter);    // owned: Create/Destroy

MLIR_EXT_BEGIN
MlirExtConversionTarget mlirExtConversionTargetCreate(MlirContext context);
void mlirExtConversionTargetDestroy(MlirExtConversionTarget target);
void mlirExtConversionTargetAddLegalDialect(MlirExtConversionTarget target, const char *name);
void mlirExtConversionTargetAddIllegalDialect(MlirExtConversionTarget target, const char *name);
void mlirExtConversionTargetAddLegalOp(MlirExtConversionTarget target, const char *name);
void mlirExtConversionTargetAddIllegalOp(MlirExtConversionTarget target, const char *name);
typedef bool (*MlirExtLegalityCallback)(MlirOperation op, void *userData);
void mlirExtConversionTargetAddDynamicallyLegalOp(MlirExtConversionTarget target, const char *name,
                                                  MlirExtLegalityCallback isLegal, void *userData);
void mlirExtConversionTargetMarkUnknownOpDynamicallyLegal(MlirExtConversionTarget target,
                                                          MlirExtLegalityCallback isLegal, void *userData);

MlirExtTypeConverter mlirExtTypeConverterCreate(void);
void mlirExtTypeConverterDestroy(MlirExtTypeConverter converter);
// Later conversions are tried first. Null: not mine. 1:N appends any number of types, or returns false.
typedef MlirType (*MlirExtTypeConversion)(MlirType type, void *userData);
void mlirExtTypeConverterAddConversion(MlirExtTypeConverter converter, MlirExtTypeConversion convert, void *userData);
typedef bool (*MlirExtTypeConversion1ToN)(MlirType type, MlirExtTypeList types, void *userData); // false: not mine
void mlirExtTypeConverterAdd1ToNConversion(MlirExtTypeConverter converter, MlirExtTypeConversion1ToN convert,
                                           void *userData);
typedef MlirValue (*MlirExtMaterialization)(MlirRewriterBase builder, MlirType type, intptr_t count,
                                            const MlirValue *inputs, MlirLocation location, void *userData);
void mlirExtTypeConverterAddSourceMaterialization(MlirExtTypeConverter converter, MlirExtMaterialization materialize,
                                                  void *userData);
void mlirExtTypeConverterAddTargetMaterialization(MlirExtTypeConverter converter, MlirExtMaterialization materialize,
                                                  void *userData);
MlirType mlirExtTypeConverterConvertType(MlirExtTypeConverter converter, MlirType type); // null: cannot
bool mlirExtTypeConverterConvertTypes(MlirExtTypeConverter converter, MlirType type, MlirExtTypeList types);

typedef struct MlirExtValueRange {
  intptr_t count;
  const MlirValue *values;
} MlirExtValueRange;

// `operands` are the converted ones, in order. `rewriter` takes every mlirRewriterBase* call.
typedef MlirLogicalResult (*MlirExtConversionCallback)(MlirOperation op, intptr_t count, const MlirValue *operands,
                                                       MlirPatternRewriter rewriter, MlirExtTypeConverter converter,
                                                       void *userData);
// `root`: the op's name; null: any op, for a callback that asks the op's kind and fails for those of others.
MlirRewritePattern mlirExtOpConversionPatternCreate(const char *root, unsigned benefit, MlirContext context,
                                                    MlirExtTypeConverter converter, MlirExtConversionCallback convert,
                                                    void *userData);
// 1:N: operand i became operands[i].count values.
typedef MlirLogicalResult (*MlirExtConversion1ToNCallback)(MlirOperation op, intptr_t count,
                                                           const MlirExtValueRange *operands,
                                                           MlirPatternRewriter rewriter, MlirExtTypeConverter converter,
                                                           void *userData);
MlirRewritePattern mlirExtOpConversion1ToNPatternCreate(const char *root, unsigned benefit, MlirContext context,
                                                        MlirExtTypeConverter converter,
                                                        MlirExtConversion1ToNCallback convert, void *userData);
void mlirExtRewriterReplaceOpWithMultiple(MlirPatternRewriter rewriter, MlirOperation op, intptr_t count,
                                          const MlirExtValueRange *results);
// Signatures, returns and calls of func; structural conversion of scf.
void mlirExtPopulateFuncTypeConversion(MlirRewritePatternSet patterns, MlirExtTypeConverter converter,
                                       MlirExtConversionTarget target);
void mlirExtPopulateScfTypeConversion(MlirRewritePatternSet patterns, MlirExtTypeConverter converter,
                                      MlirExtConversionTarget target);
MlirLogicalResult mlirExtApplyPartialConversion(MlirOperation op, MlirExtConversionTarget target,
                                                MlirFrozenRewritePatternSet patterns);
MlirLogicalResult mlirExtApplyFullConversion(MlirOperation op, MlirExtConversionTarget target,
                                             MlirFrozenRewritePatternSet patterns);
MLIR_EXT_END
