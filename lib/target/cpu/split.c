// Kernels to modules of their own. Why: LLVM works on one module in one thread, and nearly all the time of a
// compilation is LLVM's; a model has a hundred kernels, which know nothing of each other. See split.h.
#include "lib/target/cpu/split.h"

#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { LeastOps = 2000 }; // of a module that is worth a thread: some 50 ms of LLVM's time

typedef struct Function {
  MlirOperation op;
  int64_t ops;
  TileOps needs; // functions and globals that the body names
  bool isCalled, isTaken, isMoved;
} Function;

typedef struct Program {
  MlirOperation module;
  Function *functions;
  intptr_t count;
  MlirSymbolTable symbols;
} Program;

//===--- what functions need ----------------------------------------------------===//

static Function *find(const Program *program, MlirOperation op) {
  for (intptr_t i = 0; i < program->count; ++i)
    if (mlirOperationEqual(program->functions[i].op, op))
      return &program->functions[i];
  return NULL;
}

static void need(Program *program, Function *function, MlirAttribute symbol, bool isCall) {
  MlirOperation op = mlirSymbolTableLookup(program->symbols, mlirFlatSymbolRefAttrGetValue(symbol));
  Function *other = find(program, op);
  if (other)
    *(isCall ? &other->isCalled : &other->isTaken) = true;
  for (intptr_t i = 0; i < function->needs.count; ++i)
    if (mlirOperationEqual(function->needs.items[i], op))
      return;
  tileOpsAppend(&function->needs, op);
}

typedef struct Look {
  Program *program;
  Function *function;
} Look;

static MlirWalkResult look(MlirOperation op, void *data) {
  Look *l = data;
  ++l->function->ops;
  if (llvmCallOpIsA(op) && !mlirAttributeIsNull(llvmCallOpGetCallee(op)))
    need(l->program, l->function, llvmCallOpGetCallee(op), true);
  else if (llvmAddressOfOpIsA(op))
    need(l->program, l->function, llvmAddressOfOpGetGlobalName(op), false);
  return MlirWalkResultAdvance;
}

static bool hasBody(MlirOperation function) {
  return !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)));
}

// False where the module has other ops than functions and globals, or a global whose initializer may name functions.
static bool readProgram(Program *program) {
  MlirBlock body = mlirModuleGetBody(mlirModuleFromOperation(program->module));
  intptr_t count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op), ++count)
    if (!llvmLLVMFuncOpIsA(op) &&
        (!llvmGlobalOpIsA(op) || !mlirBlockIsNull(mlirRegionGetFirstBlock(llvmGlobalOpGetInitializer(op)))))
      return false;
  program->functions = calloc((size_t)count + 1, sizeof *program->functions);
  if (!program->functions)
    return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (llvmLLVMFuncOpIsA(op) && hasBody(op))
      program->functions[program->count++].op = op;
  program->symbols = mlirSymbolTableCreate(program->module);
  for (intptr_t i = 0; i < program->count; ++i)
    mlirOperationWalk(program->functions[i].op, look, &(Look){program, &program->functions[i]}, MlirWalkPreOrder);
  mlirSymbolTableDestroy(program->symbols);
  return true;
}

static void forget(Program *program) {
  for (intptr_t i = 0; i < program->count; ++i)
    tileOpsFree(&program->functions[i].needs);
  free(program->functions);
}

static bool names(const Function *function, MlirOperation op) {
  for (intptr_t i = 0; i < function->needs.count; ++i)
    if (mlirOperationEqual(function->needs.items[i], op))
      return true;
  return false;
}

// A constant that `function` alone names: its texts and tables.
static bool isOwn(const Program *program, const Function *function, MlirOperation global) {
  MlirAttribute linkage = llvmGlobalOpGetLinkage(global);
  MlirContext context = mlirOperationGetContext(global);
  bool is = llvmGlobalOpHasConstant(global) &&
            (mlirAttributeEqual(linkage, mlirLLVMLinkageAttrGet(context, MlirLLVMLinkageInternal)) ||
             mlirAttributeEqual(linkage, mlirLLVMLinkageAttrGet(context, MlirLLVMLinkagePrivate)));
  for (intptr_t i = 0; is && i < program->count; ++i)
    is = &program->functions[i] == function || !names(&program->functions[i], global);
  return is;
}

static bool isMovable(const Program *program, const Function *function) {
  bool is = function->isTaken && !function->isCalled && mlirAttributeIsNull(llvmLLVMFuncOpGetComdat(function->op));
  for (intptr_t i = 0; is && i < function->needs.count; ++i) {
    MlirOperation op = function->needs.items[i];
    is = !mlirOperationIsNull(op) && (llvmLLVMFuncOpIsA(op) ? !hasBody(op) : isOwn(program, function, op));
  }
  return is;
}

//===--- moving -----------------------------------------------------------------===//

static MlirModule createPart(MlirOperation module) {
  MlirModule part = mlirModuleCreateEmpty(mlirOperationGetLocation(module));
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(module); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetDiscardableAttribute(module, i);
    mlirOperationSetDiscardableAttributeByName(mlirModuleGetOperation(part), mlirIdentifierStr(attribute.name),
                                               attribute.attribute);
  }
  return part;
}

static bool declares(MlirBlock block, MlirOperation declaration) {
  MlirAttribute name = llvmLLVMFuncOpGetSymName(declaration);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (llvmLLVMFuncOpIsA(op) && mlirAttributeEqual(llvmLLVMFuncOpGetSymName(op), name))
      return true;
  return false;
}

static void move(Function *function, MlirModule part) {
  MlirBlock block = mlirModuleGetBody(part);
  MlirOperation op = function->op;
  TileBuilder here = tileBuilderBefore(op);
  MlirAttribute external = mlirLLVMLinkageAttrGet(here.context, MlirLLVMLinkageExternal);
  llvmLLVMFuncOpSetLinkage(op, external);
  llvmLLVMFuncOpBuild(&here, llvmLLVMFuncOpGetSymName(op), llvmLLVMFuncOpGetFunctionType(op), mlirRegionCreate());
  mlirOperationRemoveFromParent(op);
  for (intptr_t i = 0; i < function->needs.count; ++i) {
    MlirOperation needed = function->needs.items[i];
    if (llvmGlobalOpIsA(needed))
      mlirOperationRemoveFromParent(needed);
    else if (declares(block, needed))
      continue;
    else
      needed = mlirOperationClone(needed);
    mlirBlockAppendOwnedOperation(block, needed);
  }
  mlirBlockAppendOwnedOperation(block, op);
  function->isMoved = true;
}

static int64_t largest(const Program *program) {
  int64_t best = -1;
  for (intptr_t i = 0; i < program->count; ++i)
    if (!program->functions[i].isMoved && isMovable(program, &program->functions[i]) &&
        (best < 0 || program->functions[i].ops > program->functions[best].ops))
      best = i;
  return best;
}

// The largest kernel goes to the smallest module, until that is the program's own: its other kernels stay.
static void distribute(Program *program, MlirModule *parts, int count) {
  int64_t sizes[TileCpuMaxParts] = {0}, left = 0;
  for (intptr_t i = 0; i < program->count; ++i)
    left += program->functions[i].ops;
  for (int64_t next; (next = largest(program)) >= 0;) {
    int smallest = 0;
    for (int i = 1; i < count; ++i)
      smallest = sizes[i] < sizes[smallest] ? i : smallest;
    if (sizes[smallest] + program->functions[next].ops > left)
      break;
    move(&program->functions[next], parts[smallest]);
    sizes[smallest] += program->functions[next].ops;
    left -= program->functions[next].ops;
  }
}

int tileCpuProcessors(void) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int tileCpuSplit(MlirOperation module, int most, MlirModule *parts) {
  Program program = {.module = module};
  int64_t total = 0;
  int count = 0;
  if (readProgram(&program)) {
    for (intptr_t i = 0; i < program.count; ++i)
      total += program.functions[i].ops;
    int64_t worth = total / LeastOps;
    most = most < TileCpuMaxParts ? most : TileCpuMaxParts;
    count = (int)(worth < most ? worth : most) - 1;
  }
  count = count < 0 ? 0 : count;
  for (int i = 0; i < count; ++i)
    parts[i] = createPart(module);
  if (count)
    distribute(&program, parts, count);
  forget(&program);
  return count;
}

void tileCpuDestroyParts(MlirModule *parts, int count) {
  for (int i = 0; i < count; ++i)
    mlirModuleDestroy(parts[i]);
}
