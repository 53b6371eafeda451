// sparse-shrink-tensors{sparsity=exact}: cuts rows and columns out of constants, and out of all tensors between them,
// that no sum needs.
//
//   h = relu(x · w);  y = h · v;  row 7 of v is zero  →  column 7 leaves w and h, row 7 leaves v
//
// Which axes belong together: all that one loop of a linalg op runs along, and those that padding, slices and reshapes
// carry over whole. Each such set of axes loses the indices that every sum along it does without: the term is zero, or
// nobody needs the sum (lib/analysis/sparsity). A set stays whole if an argument, a result of a function or an op
// without a rule has one of its axes: entries keep their types.
//
// Expects: linalg on tensors, before ops are grouped. Leaves: smaller constants and ops, and no `sparse.attribute`. Of
// 32 indices or more a multiple of 16 stays, as vectors and tiles want it. Papers: SparTA (OSDI 2022), the fast path.
// Cost: that of the facts; without zeros in constants and without attributes nothing is done.
#include "dialects/sparse/sparse.h"
#include "lib/ir/pass.h"
#include "lib/transforms/sparsify/attributes.h"
#include "lib/transforms/sparsify/axes.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "upstream/builtin.h"

enum { Axes, Indices };

static bool shrink(MlirOperation module, MlirExtPass pass, bool finite) {
  SparseProgram *program =
      sparseProgramCreate(module, (SparseProgramOptions){.direction = SparseDirection_Both, .finite = finite});
  if (!program)
    return false;
  SparseAxes *axes = sparseAxesCreate(program, module);
  uint64_t cut = sparseAxesChoose(axes);
  sparseAttributesRemove(module);
  mlirExtPassAddStatistic(pass, Axes, sparseAxesNumCut(axes));
  mlirExtPassAddStatistic(pass, Indices, cut);
  bool ok = sparseAxesRewrite(axes);
  sparseAxesDestroy(axes);
  sparseProgramDestroy(program);
  return ok;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  MlirStringRef sparsity = mlirExtPassGetString(pass, "sparsity");
  bool isFinite = tileStringEquals(sparsity, "finite");
  if (tileStringEquals(sparsity, "off"))
    return true;
  if (!isFinite && sparsity.length && !tileStringEquals(sparsity, "exact"))
    return tileError(module, "sparsity is '%.*s'; exact, finite and off are accepted", (int)sparsity.length,
                     sparsity.data);
  return !sparseModuleMaySkip(module) || shrink(module, pass, isFinite);
}

const MlirExtPassDefinition sparseShrinkTensorsPass = {
    .argument = "sparse-shrink-tensors",
    .summary = "Cut rows and columns that no sum needs out of constants and of what lies between them",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            {"sparsity",
             "exact: 0 times x is 0 where x is known to be finite; finite: no tensor holds an infinity or a nan; off: "
             "nothing is cut",
             MlirExtOption_String, "exact"},
            {NULL}},
    .statistics =
        (const char *const[]){"axes: sets of axes that became shorter", "indices: indices cut out of them", NULL},
    .dialects = (const char *const[]){"arith", "linalg", "tensor", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
