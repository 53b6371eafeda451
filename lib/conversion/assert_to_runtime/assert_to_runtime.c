// Turns cf.assert into a call of tessera_raise_message, with the place in the program, when the condition is false. An
// assertion that compares two indices calls tessera_raise_unequal, which says them.
//
// Why: upstream's lowering ends the process (abort); a failed assertion of a compiled program is an error its caller
// gets as text (lib/runtime/call.h). Expects: any level with func.func. Leaves: scf.if, func.call, a constant text for
// each assertion; no cf.assert.
#include "lib/conversion/assert_to_runtime/assert_to_runtime.h"

#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/cf.h"

#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/scf.h"
#include <stdio.h>

static const char *const raiseFunction = "tessera_raise_message", *const raiseUnequalFunction = "tessera_raise_unequal";

//===--- what the module needs ----------------------------------------------===//

static void declareRaise(TileBuilder *builder, MlirOperation module, const char *name, intptr_t inputs) {
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirType types[] = {mlirLLVMPointerTypeGet(builder->context, 0), index, index};
  if (mlirOperationIsNull(tileFindSymbol(module, name)))
    tileBuildDeclaration(builder, name, mlirFunctionTypeGet(builder->context, inputs, types, 0, NULL));
}

//===--- one assertion ------------------------------------------------------===//

// "file:line:column: assertion failed: the message"
static void describe(MlirOperation assertion, char *text, size_t size) {
  MlirLocation location = tileWrittenAt(assertion);
  MlirStringRef message = mlirStringAttrGetValue(tileOpAttribute(assertion, "msg"));
  int length = 0;
  if (mlirLocationIsAFileLineColRange(location)) {
    MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
    length = snprintf(text, size, "%.*s:%d:%d: ", (int)file.length, file.data,
                      mlirLocationFileLineColRangeGetStartLine(location),
                      mlirLocationFileLineColRangeGetStartColumn(location));
  }
  if (length >= 0 && (size_t)length < size)
    snprintf(text + length, size - (size_t)length, "assertion failed: %.*s", (int)message.length, message.data);
}

// The comparison of two indices that the assertion is of; null: it is of something else.
static MlirOperation comparisonOf(MlirOperation assertion) {
  MlirOperation op = tileDefiningOp(cfAssertOpGetArg(assertion));
  bool isOfIndices = arithCmpIOpIsA(op) && mlirTypeIsAIndex(mlirValueGetType(arithCmpIOpGetLhs(op)));
  return isOfIndices ? op : (MlirOperation){NULL};
}

static void buildRaise(TileBuilder *builder, MlirOperation module, MlirOperation comparison, const char *text) {
  MlirValue operands[3] = {tileBuildNewText(builder, module, "assert_text", text)};
  bool isOfTwo = !mlirOperationIsNull(comparison);
  if (isOfTwo) {
    operands[1] = arithCmpIOpGetLhs(comparison);
    operands[2] = arithCmpIOpGetRhs(comparison);
  }
  tileBuildCall(builder, isOfTwo ? raiseUnequalFunction : raiseFunction, isOfTwo ? 3 : 1, operands);
  tileBuildYield(builder, 0, NULL);
}

static void lower(MlirOperation assertion, MlirOperation module) {
  char text[1024];
  describe(assertion, text, sizeof text);
  TileBuilder builder = tileBuilderBefore(assertion);
  MlirType bit = mlirIntegerTypeGet(builder.context, 1);
  MlirValue isWrong = arithXOrIOpBuild(&builder, cfAssertOpGetArg(assertion), tileBuildInteger(&builder, bit, 1));
  MlirRegion then;
  TileBuilder inside = tileBuilderInRegion(&builder, &then, 0, NULL);
  buildRaise(&inside, module, comparisonOf(assertion), text);
  scfIfOpBuild(&builder, 0, NULL, isWrong, then, mlirRegionCreate());
  mlirOperationDestroy(assertion);
}

//===--- the pass -----------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps assertions = tileCollectOps(module, cfAssertOpIsA);
  TileBuilder top = tileBuilderAtTop(module);
  for (intptr_t i = 0; i < assertions.count; ++i) {
    bool isOfTwo = !mlirOperationIsNull(comparisonOf(assertions.items[i]));
    declareRaise(&top, module, isOfTwo ? raiseUnequalFunction : raiseFunction, isOfTwo ? 3 : 1);
    lower(assertions.items[i], module);
  }
  mlirExtPassAddStatistic(pass, 0, (uint64_t)assertions.count);
  tileOpsFree(&assertions);
  return true;
}

const MlirExtPassDefinition tileAssertToRuntimePass = {
    .argument = "convert-assert-to-runtime",
    .summary = "Lower cf.assert to a failure that the program's caller gets as text",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"assertions: assertions lowered", NULL},
    .dialects = (const char *const[]){"llvm", "arith", "scf", "func", NULL},
    .run = run,
};
