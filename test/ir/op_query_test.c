// Questions about any op (lib/ir/op_query.h) and upstream's ops as numbers (lib/ir/upstream.h): own ops, upstream's and
// the probe's, which no pass knows.
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "mlir-c/RegisterEverything.h"
#include "test/check.h"
#include "test/ir/probe/probe.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/math.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

static const char program[] = "func.func private @g()\n"
                              "func.func @f(%m: memref<4xf32>, %n: memref<4xf32>, %i: index, %x: f32, %c: i1) {\n"
                              "  %cast = memref.cast %m : memref<4xf32> to memref<?xf32>\n"
                              "  %sub = memref.subview %cast[0][2][1] : memref<?xf32> to memref<2xf32>\n"
                              "  memref.store %x, %sub[%i] : memref<2xf32>\n"
                              "  %e = math.exp %x : f32\n"
                              "  %s = arith.addf %x, %e : f32\n"
                              "  probe.store %x, %sub : f32, memref<2xf32>\n"
                              "  func.call @g() : () -> ()\n"
                              "  scf.if %c { %l = memref.load %n[%i] : memref<4xf32> }\n"
                              "  return\n"
                              "}\n";

typedef struct Find {
  const char *name;
  MlirOperation op;
} Find;

static MlirWalkResult see(MlirOperation op, void *data) {
  Find *find = data;
  if (tileOpIs(op, find->name))
    find->op = op;
  return MlirWalkResultAdvance;
}

static MlirOperation findOp(MlirModule module, const char *name) {
  Find find = {name, {NULL}};
  mlirOperationWalk(mlirModuleGetOperation(module), see, &find, MlirWalkPreOrder);
  CHECK(!mlirOperationIsNull(find.op));
  return find.op;
}

static MlirValue argument(MlirModule module, intptr_t index) {
  return mlirBlockGetArgument(mlirRegionGetFirstBlock(funcFuncOpGetBody(findOp(module, "func.func"))), index);
}

static void effects(MlirModule module) {
  MlirValue any = {NULL}, m = argument(module, 0), n = argument(module, 1);
  MlirOperation store = findOp(module, "memref.store"), probe = findOp(module, "probe.store");
  MlirOperation branch = findOp(module, "scf.if"), call = findOp(module, "func.call");
  CHECK(tileOpWrites(store, any) && tileOpWrites(store, m) && !tileOpWrites(store, n) && !tileOpReads(store, any));
  CHECK(tileOpWrites(probe, m) && !tileOpWrites(probe, n)); // an op that nobody knows, through two views
  CHECK(tileOpReads(branch, n) && !tileOpReads(branch, m) && tileOpOnlyReads(branch));
  CHECK(tileOpWrites(call, m) && tileOpReads(call, n) && !tileOpOnlyReads(call)); // unknown: anything
  CHECK(!tileOpHasEffects(findOp(module, "math.exp")) && tileOpOnlyReads(findOp(module, "arith.addf")));
  CHECK(tileOpIsFunction(findOp(module, "math.exp")) && !tileOpIsFunction(findOp(module, "arith.addf")));
  CHECK(mlirValueEqual(tileMemoryRoot(memrefStoreOpGetMemref(store)), m));
  CHECK(mlirValueEqual(tileMemoryRoot(m), m));
}

static void properties(MlirModule module) {
  CHECK(tileOpIsElementwise(findOp(module, "arith.addf")) && tileOpIsElementwise(findOp(module, "math.exp")));
  CHECK(!tileOpIsElementwise(findOp(module, "memref.subview")) && !tileOpIsElementwise(findOp(module, "func.call")));
  CHECK(!tileOpMovesElements(findOp(module, "math.exp")));
}

static void numbers(MlirModule module) {
  CHECK(tileUpstreamKind(findOp(module, "math.exp")) == MathOp_Exp);
  CHECK(mathOpKind(findOp(module, "math.exp")) == MathOp_Exp &&
        arithOpKind(findOp(module, "math.exp")) == ArithOp_None);
  CHECK(tileUpstreamKind(findOp(module, "probe.store")) == TileUpstream_None);
  CHECK(tileUpstreamKind((MlirOperation){NULL}) == TileUpstream_None && !arithAddFOpIsA((MlirOperation){NULL}));
  for (TileUpstream i = 0; i < tileUpstreamNumOps(); ++i)
    CHECK(tileUpstreamKindOfName(tileString(tileUpstreamName(i))) == i);
  CHECK(tileUpstreamKindOfName(tileString("arith.addg")) == TileUpstream_None && !tileUpstreamName(-1));
}

// Builders of each shape: inferred types, types like an operand's, segments, regions, enums.
static void building(MlirModule module) {
  MlirOperation end = findOp(module, "func.return");
  TileBuilder b = tileBuilderBefore(end);
  MlirValue m = argument(module, 0), i = argument(module, 2), x = argument(module, 3);
  MlirValue less = arithCmpIOpBuild(&b, i, tileBuildIndex(&b, 4), ArithCmpI_Slt);
  CHECK(arithCmpIOpGetPredicateValue(tileDefiningOp(less)) == ArithCmpI_Slt);
  MlirValue loaded = memrefLoadOpBuild(&b, m, 1, &i);
  MlirOperation load = tileDefiningOp(loaded);
  CHECK(memrefLoadOpGetNumIndices(load) == 1 && mlirValueEqual(memrefLoadOpGetIndices(load, 0), i));
  MlirValue sum = tileBuildBinary(&b, ArithOp_AddF, x, loaded), root = tileBuildUnary(&b, MathOp_Sqrt, sum);
  CHECK(mathSqrtOpIsA(tileDefiningOp(root)) && mlirTypeEqual(mlirValueGetType(root), mlirValueGetType(x)));
  MlirType open = mlirTypeParseGet(b.context, tileString("memref<?xf32>"));
  MlirOperation alloc = memrefAllocOpCreate(&b, open, 1, &i, 0, NULL, (MlirAttribute){NULL});
  CHECK(memrefAllocOpGetNumDynamicSizes(alloc) == 1 && memrefAllocOpGetNumSymbolOperands(alloc) == 0);
  MlirBlock body;
  MlirOperation loop = tileBuildFor(&b, i, i, tileBuildIndex(&b, 1), 1, &x, &body);
  TileBuilder inner = tileBuilderAtEnd(body, b.location);
  MlirValue carried = mlirBlockGetArgument(body, 1);
  tileBuildYield(&inner, 1, &carried);
  CHECK(scfForOpGetNumInitArgs(loop) == 1 && scfForOpGetNumResults(loop) == 1);
  CHECK(mlirValueEqual(scfForOpGetInitArgs(loop, 0), x) && mlirOperationVerify(mlirModuleGetOperation(module)));
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirExtDialectRegistryInsert(registry, probeDialect());
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  MlirModule module = mlirModuleCreateParse(context, tileString(program));
  CHECK(!mlirModuleIsNull(module));
  effects(module);
  properties(module);
  numbers(module);
  building(module);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return checkResult(430);
}
