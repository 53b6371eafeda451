// convert-gpu-reports-to-llvm: gpu.printf and cf.assert of a gpu.module become calls of vprintf and __assertfail.
//
//   gpu.printf "%d: %f\n", %i, %x : i8, f32   →   vprintf("%lld: %f\n", {i64, f64})
//   cf.assert %holds, "text"                  →   scf.if (!%holds) { __assertfail("text", …) }
//
// Why: upstream has these lowerings for NVIDIA only, or for libraries that are not linked here. The two functions mean
// the same on every device: docs/gpu.md (Messages). Each value is eight bytes wide, as AMD's vprintf wants them.
// Expects: gpu.modules before their structured control flow is lowered. Leaves: neither op in them. Cost: linear.
#include "lib/conversion/gpu_reports_to_llvm/gpu_reports_to_llvm.h"

#include "lib/ir/builder.h"
#include "lib/ir/emit/device_report.h"
#include "lib/ir/pass.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/arith.h"
#include "upstream/cf.h"
#include "upstream/gpu.h"
#include "upstream/scf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { Statistic_Prints, Statistic_Assertions };

//===--- printing -----------------------------------------------------------------===//

// The format with every integer as `ll`; `isUnsigned[i]`: conversion number i is. -1: there are more than `most`.
static intptr_t widenFormat(MlirStringRef format, char *text, bool *isUnsigned, intptr_t most) {
  intptr_t count = 0;
  for (size_t i = 0; i < format.length;) {
    *text++ = format.data[i];
    if (format.data[i++] != '%')
      continue;
    if (i < format.length && format.data[i] == '%') {
      *text++ = format.data[i++];
      continue;
    }
    while (i < format.length && !isalpha((unsigned char)format.data[i]))
      *text++ = format.data[i++];
    while (i < format.length && strchr("hlzjtq", format.data[i]))
      ++i;
    if (i == format.length || count == most)
      return -1;
    isUnsigned[count++] = strchr("ouxX", format.data[i]) != NULL;
    if (strchr("diouxX", format.data[i])) {
      *text++ = 'l';
      *text++ = 'l';
    }
    *text++ = format.data[i++];
  }
  *text = 0;
  return count;
}

// As a word of eight bytes; null: it cannot be one.
static MlirValue widened(TileBuilder *b, MlirValue value, bool isUnsigned) {
  MlirType type = mlirValueGetType(value), i64 = mlirIntegerTypeGet(b->context, 64), f64 = mlirF64TypeGet(b->context);
  if (mlirTypeIsAIndex(type))
    return arithIndexCastOpBuild(b, i64, value);
  if (mlirTypeIsAFloat(type) && mlirFloatTypeGetWidth(type) <= 64)
    return mlirTypeEqual(type, f64) ? value : arithExtFOpBuild(b, f64, value);
  if (!mlirTypeIsAInteger(type))
    return mlirTypeIsALLVMPointerType(type) ? value : (MlirValue){NULL};
  unsigned width = mlirIntegerTypeGetWidth(type);
  if (width == 64)
    return value;
  if (width > 64)
    return (MlirValue){NULL};
  return isUnsigned || width == 1 ? arithExtUIOpBuild(b, i64, value) : arithExtSIOpBuild(b, i64, value);
}

static bool lowerPrint(MlirOperation op, MlirOperation module, unsigned space) {
  MlirStringRef format = mlirStringAttrGetValue(tileOpAttribute(op, "format"));
  intptr_t given = gpuPrintfOpGetNumArgs(op);
  char *text = malloc(3 * format.length + 1);
  bool *isUnsigned = calloc((size_t)given + 1, sizeof *isUnsigned);
  MlirValue *values = calloc((size_t)given + 1, sizeof *values);
  intptr_t count = text && isUnsigned && values ? widenFormat(format, text, isUnsigned, given) : -1;
  bool ok = count == given ||
            tileError(op, "has %lld values, expected one for each conversion of its format", (long long)given);
  TileBuilder b = tileBuilderBefore(op);
  for (intptr_t i = 0; i < given && ok; ++i) {
    values[i] = widened(&b, gpuPrintfOpGetArgs(op, i), isUnsigned[i]);
    ok = !mlirValueIsNull(values[i]) || tileError(op, "prints a value that is no number of up to 64 bits");
  }
  if (ok) {
    tileBuildDevicePrint(&b, module, space, text, given, values);
    mlirOperationDestroy(op);
  }
  free(text);
  free(isUnsigned);
  free(values);
  return ok;
}

//===--- assertions ---------------------------------------------------------------===//

static void lowerAssertion(MlirOperation op, MlirOperation module) {
  MlirStringRef message = mlirStringAttrGetValue(tileOpAttribute(op, "msg"));
  char text[512];
  snprintf(text, sizeof text, "%.*s", (int)message.length, message.data);
  TileBuilder b = tileBuilderBefore(op);
  MlirType bit = mlirIntegerTypeGet(b.context, 1);
  MlirValue isWrong = arithXOrIOpBuild(&b, cfAssertOpGetArg(op), tileBuildInteger(&b, bit, 1));
  MlirRegion then;
  TileBuilder inside = tileBuilderInRegion(&b, &then, 0, NULL);
  tileBuildDeviceFail(&inside, module, text);
  tileBuildYield(&inside, 0, NULL);
  scfIfOpBuild(&b, 0, NULL, isWrong, then, mlirRegionCreate());
  mlirOperationDestroy(op);
}

//===--- the pass -----------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps prints = tileCollectOps(module, gpuPrintfOpIsA), assertions = tileCollectOps(module, cfAssertOpIsA);
  unsigned space = (unsigned)mlirExtPassGetInteger(pass, "private-space");
  bool ok = true;
  for (intptr_t i = 0; i < prints.count && ok; ++i)
    ok = lowerPrint(prints.items[i], module, space);
  for (intptr_t i = 0; i < assertions.count && ok; ++i)
    lowerAssertion(assertions.items[i], module);
  mlirExtPassAddStatistic(pass, Statistic_Prints, (uint64_t)prints.count);
  mlirExtPassAddStatistic(pass, Statistic_Assertions, (uint64_t)assertions.count);
  tileOpsFree(&prints);
  tileOpsFree(&assertions);
  return ok;
}

const MlirExtPassDefinition gpuReportsToLlvmPass = {
    .argument = "convert-gpu-reports-to-llvm",
    .summary = "Lower what kernels of upstream's dialects print and assert to calls of the device's functions",
    .anchor = gpuGPUModuleOpName,
    .options =
        (const MlirExtPassOption[]){{"private-space", "address space of private memory", MlirExtOption_Integer, "0"},
                                    {NULL}},
    .statistics = (const char *const[]){"prints: ops that print", "assertions: assertions lowered", NULL},
    .dialects = (const char *const[]){"llvm", "arith", "scf", NULL},
    .run = run,
};
