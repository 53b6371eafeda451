// Every named pattern set can be added; one with an option and one with a list of ops do what they say.
#include "lib/capi/patterns.h"
#include "mlir-c/Rewrite.h"
#include "test/capi/test_session.h"

static void everyName(Session *s) {
  int count = 0;
  for (const char *const *name = mlirExtPatternSetNames(); *name; ++name, ++count) {
    MlirRewritePatternSet patterns = mlirRewritePatternSetCreate(s->context);
    CHECK(mlirExtPopulatePatterns(patterns, *name, NULL, 1));
    mlirRewritePatternSetDestroy(patterns);
  }
  CHECK(count >= 30);
  MlirRewritePatternSet patterns = mlirRewritePatternSetCreate(s->context);
  CHECK(!mlirExtPopulatePatterns(patterns, "no-such-set", NULL, 1));
  mlirRewritePatternSetDestroy(patterns);
}

static Text rewritten(Session *s, const char *program, const char *set, const char *option) {
  MlirModule module = mlirModuleCreateParse(s->context, text(program));
  MlirRewritePatternSet patterns = mlirRewritePatternSetCreate(s->context);
  CHECK(mlirExtPopulatePatterns(patterns, set, option, 1));
  MlirFrozenRewritePatternSet frozen = mlirFreezeRewritePattern(patterns);
  MlirGreedyRewriteDriverConfig config = mlirGreedyRewriteDriverConfigCreate();
  mlirApplyPatternsAndFoldGreedily(module, frozen, config);
  Text out = {NULL, 0};
  mlirOperationPrint(mlirModuleGetOperation(module), textAppend, &out);
  mlirGreedyRewriteDriverConfigDestroy(config);
  mlirFrozenRewritePatternSetDestroy(frozen);
  mlirRewritePatternSetDestroy(patterns);
  mlirModuleDestroy(module);
  return out;
}

static void options(Session *s) {
  const char *contract =
      "#map = affine_map<(i,j,k) -> (i,k)>\n#map1 = affine_map<(i,j,k) -> (k,j)>\n#map2 = affine_map<(i,j,k) -> "
      "(i,j)>\n"
      "func.func @f(%a: vector<2x2xf32>, %b: vector<2x2xf32>, %c: vector<2x2xf32>) -> vector<2x2xf32> {\n"
      "%0 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = [\"parallel\", \"parallel\", "
      "\"reduction\"]} %a, %b, %c : vector<2x2xf32>, vector<2x2xf32> into vector<2x2xf32>\n"
      "return %0 : vector<2x2xf32> }";
  Text outer = rewritten(s, contract, "vector-contract", "outerproduct"),
       dot = rewritten(s, contract, "vector-contract", "dot");
  CHECK(textHas(&outer, "vector.fma") && !strstr(outer.data, "vector.reduction"));
  CHECK(textHas(&dot, "vector.reduction"));
  free(outer.data);
  free(dot.data);
  const char *math = "func.func @f(%a: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {\n%0 = math.exp %a : "
                     "vector<8xf32>\n%1 = math.tanh %a : vector<8xf32>\nreturn %0, %1 : vector<8xf32>, vector<8xf32> }";
  Text tanhOnly = rewritten(s, math, "math-polynomial-approximation", "math.tanh,math.log");
  CHECK(textHas(&tanhOnly, "math.exp") && !strstr(tanhOnly.data, "math.tanh"));
  free(tanhOnly.data);
}

int main(void) {
  Session session;
  sessionBegin(&session);
  mlirContextLoadAllAvailableDialects(session.context);
  everyName(&session);
  options(&session);
  sessionEnd(&session);
  return failures != 0;
}
