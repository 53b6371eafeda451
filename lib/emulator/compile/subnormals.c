// Workaround for LLVM 22: it rounds to bf16 by vcvtneps2bf16 where the processor has it, which takes and gives zero for
// subnormals, unlike any GPU; so functions say that they run on one without. Then, and where there is none, it calls
// functions that not every C library has: they are here.
#include "lib/emulator/compile/subnormals.h"

#include "llvm-c/IRReader.h"
#include "llvm-c/Linker.h"
#include "llvm-c/TargetMachine.h"

#include <stdio.h>
#include <string.h>

// From f64 by way of f32: inexact results are made odd, so that the second rounding is the only one.
static const char roundings[] = "define bfloat @__truncsfbf2(float %x) {\n"
                                "  %bits = bitcast float %x to i32\n"
                                "  %above = lshr i32 %bits, 16\n"
                                "  %is.odd = and i32 %above, 1\n"
                                "  %half = add i32 %is.odd, 32767\n"
                                "  %sum = add i32 %bits, %half\n"
                                "  %nearest = lshr i32 %sum, 16\n"
                                "  %quiet = or i32 %above, 64\n"
                                "  %is.nan = fcmp uno float %x, %x\n"
                                "  %chosen = select i1 %is.nan, i32 %quiet, i32 %nearest\n"
                                "  %short = trunc i32 %chosen to i16\n"
                                "  %y = bitcast i16 %short to bfloat\n"
                                "  ret bfloat %y\n"
                                "}\n"
                                "define bfloat @__truncdfbf2(double %x) {\n"
                                "  %near = fptrunc double %x to float\n"
                                "  %bits = bitcast float %near to i32\n"
                                "  %back = fpext float %near to double\n"
                                "  %size = call double @llvm.fabs.f64(double %x)\n"
                                "  %near.size = call double @llvm.fabs.f64(double %back)\n"
                                "  %is.beyond = fcmp ogt double %near.size, %size\n"
                                "  %one = zext i1 %is.beyond to i32\n"
                                "  %before = sub i32 %bits, %one\n"
                                "  %odd = or i32 %before, 1\n"
                                "  %is.inexact = fcmp one double %near.size, %size\n"
                                "  %chosen = select i1 %is.inexact, i32 %odd, i32 %bits\n"
                                "  %narrow = bitcast i32 %chosen to float\n"
                                "  %y = call bfloat @__truncsfbf2(float %narrow)\n"
                                "  ret bfloat %y\n"
                                "}\n"
                                "declare double @llvm.fabs.f64(double)\n";

static bool addRoundings(LLVMModuleRef module, tessera_error_t *error) {
  LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRange(roundings, sizeof roundings - 1, "roundings", true);
  LLVMModuleRef functions = NULL;
  char *message = NULL;
  bool ok = !LLVMParseIRInContext(LLVMGetModuleContext(module), text, &functions, &message);
  if (!ok)
    tessera_fail(error, "roundings to bf16: %s", message ? message : "not LLVM IR");
  LLVMDisposeMessage(message);
  if (!ok)
    return false;
  LLVMSetTarget(functions, LLVMGetTarget(module));
  LLVMSetDataLayout(functions, LLVMGetDataLayoutStr(module));
  return !LLVMLinkModules2(module, functions) || tessera_fail(error, "roundings to bf16 cannot be linked");
}

bool emulatorKeepSubnormals(LLVMModuleRef module, tessera_error_t *error) {
  static const char key[] = "target-features";
  char *host = LLVMGetHostCPUFeatures(), features[16384];
  bool flushes = strstr(host, "+avx512bf16") || strstr(host, "+avxneconvert");
  int length = snprintf(features, sizeof features, "%s,-avx512bf16,-avxneconvert", host);
  LLVMDisposeMessage(host);
  LLVMAttributeRef attribute =
      LLVMCreateStringAttribute(LLVMGetModuleContext(module), key, sizeof key - 1, features, (unsigned)length);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f && flushes; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, attribute);
  return addRoundings(module, error);
}
