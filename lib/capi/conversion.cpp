// Dialect conversion: targets, type converters, 1:1 and 1:N patterns, materializations. Debian's MLIR exports none of
// it.
#include "lib/capi/conversion.h"
#include "lib/capi/impl.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlirExt;

namespace {
// ConversionTarget keeps its context to itself; op names need it.
struct Target : ConversionTarget {
  explicit Target(MLIRContext &context) : ConversionTarget(context), context(context) {}
  OperationName op(const char *name) { return OperationName(name, &context); }
  MLIRContext &context;
};
Target &targetOf(MlirExtConversionTarget target) { return *static_cast<Target *>(target.ptr); }
TypeConverter &converterOf(MlirExtTypeConverter converter) { return *static_cast<TypeConverter *>(converter.ptr); }

// A pattern with a 1:1 or a 1:N callback.
class PatternInC : public ConversionPattern {
public:
  PatternInC(MlirExtTypeConverter converter, const char *root, unsigned benefit, MlirContext context,
             MlirExtConversionCallback convert, MlirExtConversion1ToNCallback convert1ToN, void *userData)
      : ConversionPattern(converterOf(converter), root, benefit, ::unwrap(context)), converter(converter),
        convert(convert), convert1ToN(convert1ToN), userData(userData) {
    setDebugName(root);
  }
  // A pattern for every op.
  PatternInC(MlirExtTypeConverter converter, unsigned benefit, MlirContext context, MlirExtConversionCallback convert,
             MlirExtConversion1ToNCallback convert1ToN, void *userData)
      : ConversionPattern(converterOf(converter), MatchAnyOpTypeTag(), benefit, ::unwrap(context)),
        converter(converter), convert(convert), convert1ToN(convert1ToN), userData(userData) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<MlirValue, 8> values = wrapAll(operands);
    return unwrap(convert(wrap(op), values.size(), values.data(), handle(rewriter), converter, userData));
  }
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!convert1ToN)
      return ConversionPattern::matchAndRewrite(op, operands, rewriter); // comes back as 1:1
    auto values = llvm::map_to_vector(operands, [](ValueRange range) { return wrapAll(range); });
    auto ranges = llvm::map_to_vector(values, [](const SmallVector<MlirValue, 8> &range) {
      return MlirExtValueRange{intptr_t(range.size()), range.data()};
    });
    return unwrap(convert1ToN(wrap(op), ranges.size(), ranges.data(), handle(rewriter), converter, userData));
  }

private:
  static MlirPatternRewriter handle(PatternRewriter &rewriter) { return wrap(&rewriter); }
  MlirExtTypeConverter converter;
  MlirExtConversionCallback convert;
  MlirExtConversion1ToNCallback convert1ToN;
  void *userData;
};

// The builder need not be a rewriter, the callback's handle must be: a rewriter at the same place, same listener.
auto materialization(MlirExtMaterialization materialize, void *userData) {
  return [=](OpBuilder &builder, Type type, ValueRange inputs, Location location) -> Value {
    IRRewriter rewriter(builder);
    SmallVector<MlirValue, 8> values = wrapAll(inputs);
    return unwrap(materialize(wrap(static_cast<RewriterBase *>(&rewriter)), wrap(type), values.size(), values.data(),
                              wrap(location), userData));
  };
}
auto legality(MlirExtLegalityCallback isLegal, void *userData) {
  return [=](Operation *op) -> std::optional<bool> { return isLegal(wrap(op), userData); };
}
} // namespace

//===--- target -------------------------------------------------------------===//
MlirExtConversionTarget mlirExtConversionTargetCreate(MlirContext context) { return {new Target(*unwrap(context))}; }
void mlirExtConversionTargetDestroy(MlirExtConversionTarget target) { delete &targetOf(target); }
void mlirExtConversionTargetAddLegalDialect(MlirExtConversionTarget target, const char *name) {
  targetOf(target).addLegalDialect(name);
}
void mlirExtConversionTargetAddIllegalDialect(MlirExtConversionTarget target, const char *name) {
  targetOf(target).addIllegalDialect(name);
}
void mlirExtConversionTargetAddLegalOp(MlirExtConversionTarget target, const char *name) {
  targetOf(target).addLegalOp(targetOf(target).op(name));
}
void mlirExtConversionTargetAddIllegalOp(MlirExtConversionTarget target, const char *name) {
  targetOf(target).addIllegalOp(targetOf(target).op(name));
}
void mlirExtConversionTargetAddDynamicallyLegalOp(MlirExtConversionTarget target, const char *name,
                                                  MlirExtLegalityCallback isLegal, void *userData) {
  targetOf(target).addDynamicallyLegalOp(targetOf(target).op(name), legality(isLegal, userData));
}
void mlirExtConversionTargetMarkUnknownOpDynamicallyLegal(MlirExtConversionTarget target,
                                                          MlirExtLegalityCallback isLegal, void *userData) {
  targetOf(target).markUnknownOpDynamicallyLegal(legality(isLegal, userData));
}

//===--- type converter -----------------------------------------------------===//
MlirExtTypeConverter mlirExtTypeConverterCreate(void) { return {new TypeConverter()}; }
void mlirExtTypeConverterDestroy(MlirExtTypeConverter converter) { delete &converterOf(converter); }
void mlirExtTypeConverterAddConversion(MlirExtTypeConverter converter, MlirExtTypeConversion convert, void *userData) {
  converterOf(converter).addConversion([=](Type type) -> std::optional<Type> {
    Type converted = unwrap(convert(wrap(type), userData));
    return converted ? std::optional(converted) : std::nullopt;
  });
}
void mlirExtTypeConverterAdd1ToNConversion(MlirExtTypeConverter converter, MlirExtTypeConversion1ToN convert,
                                           void *userData) {
  converterOf(converter).addConversion([=](Type type, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
    return convert(wrap(type), {&types}, userData) ? std::optional(success()) : std::nullopt;
  });
}
void mlirExtTypeConverterAddSourceMaterialization(MlirExtTypeConverter converter, MlirExtMaterialization materialize,
                                                  void *userData) {
  converterOf(converter).addSourceMaterialization(materialization(materialize, userData));
}
void mlirExtTypeConverterAddTargetMaterialization(MlirExtTypeConverter converter, MlirExtMaterialization materialize,
                                                  void *userData) {
  converterOf(converter).addTargetMaterialization(materialization(materialize, userData));
}
MlirType mlirExtTypeConverterConvertType(MlirExtTypeConverter converter, MlirType type) {
  return wrap(converterOf(converter).convertType(unwrap(type)));
}
bool mlirExtTypeConverterConvertTypes(MlirExtTypeConverter converter, MlirType type, MlirExtTypeList types) {
  return succeeded(converterOf(converter).convertType(unwrap(type), *static_cast<SmallVectorImpl<Type> *>(types.ptr)));
}

//===--- patterns -----------------------------------------------------------===//
static MlirRewritePattern wrapPattern(PatternInC *pattern) { return wrap(static_cast<RewritePattern *>(pattern)); }

MlirRewritePattern mlirExtOpConversionPatternCreate(const char *root, unsigned benefit, MlirContext context,
                                                    MlirExtTypeConverter converter, MlirExtConversionCallback convert,
                                                    void *userData) {
  return wrapPattern(root ? new PatternInC(converter, root, benefit, context, convert, nullptr, userData)
                          : new PatternInC(converter, benefit, context, convert, nullptr, userData));
}
MlirRewritePattern mlirExtOpConversion1ToNPatternCreate(const char *root, unsigned benefit, MlirContext context,
                                                        MlirExtTypeConverter converter,
                                                        MlirExtConversion1ToNCallback convert, void *userData) {
  return wrapPattern(root ? new PatternInC(converter, root, benefit, context, nullptr, convert, userData)
                          : new PatternInC(converter, benefit, context, nullptr, convert, userData));
}
void mlirExtRewriterReplaceOpWithMultiple(MlirPatternRewriter rewriter, MlirOperation op, intptr_t count,
                                          const MlirExtValueRange *results) {
  auto values = llvm::map_to_vector(ArrayRef(results, count), [](const MlirExtValueRange &range) {
    return llvm::to_vector(unwrapAll(range.count, range.values));
  });
  static_cast<ConversionPatternRewriter *>(unwrap(rewriter))->replaceOpWithMultiple(unwrap(op), std::move(values));
}

void mlirExtPopulateFuncTypeConversion(MlirRewritePatternSet patterns, MlirExtTypeConverter converter,
                                       MlirExtConversionTarget target) {
  TypeConverter &types = converterOf(converter);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(*unwrap(patterns), types);
  populateReturnOpTypeConversionPattern(*unwrap(patterns), types);
  populateCallOpTypeConversionPattern(*unwrap(patterns), types);
  targetOf(target).addDynamicallyLegalOp<func::FuncOp>([&types](func::FuncOp function) {
    return types.isSignatureLegal(function.getFunctionType()) && types.isLegal(&function.getBody());
  });
  targetOf(target).addDynamicallyLegalOp<func::ReturnOp, func::CallOp>(
      [&types](Operation *op) { return types.isLegal(op); });
}
void mlirExtPopulateScfTypeConversion(MlirRewritePatternSet patterns, MlirExtTypeConverter converter,
                                      MlirExtConversionTarget target) {
  scf::populateSCFStructuralTypeConversionsAndLegality(converterOf(converter), *unwrap(patterns), targetOf(target));
}

MlirLogicalResult mlirExtApplyPartialConversion(MlirOperation op, MlirExtConversionTarget target,
                                                MlirFrozenRewritePatternSet patterns) {
  return wrap(applyPartialConversion(unwrap(op), targetOf(target), *unwrap(patterns)));
}
MlirLogicalResult mlirExtApplyFullConversion(MlirOperation op, MlirExtConversionTarget target,
                                             MlirFrozenRewritePatternSet patterns) {
  return wrap(applyFullConversion(unwrap(op), targetOf(target), *unwrap(patterns)));
}
