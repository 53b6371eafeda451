// sparse-find-attributes: writes what single ops say of their tensors as `sparse.attribute`: constants, fills, padding,
// selects by constants or by positions.
//
//   %w = arith.constant dense<[[1.0, 0.0], [2.0, 0.0]]> : tensor<2x2xf32>
//   →  … {sparse.attribute = #sparse.attribute<grain = [2, 1], zero = dense<[[false, true]]> : tensor<1x2xi1>>}
//
// Expects: any module. Leaves: the same program, with attributes. Facts that attributes state already are taken over; a
// constant that contradicts one is an error. Cost: one look at each constant (lib/analysis/sparsity/module_facts.h).
#include "dialects/sparse/sparse.h"
#include "lib/capi/pass.h"
#include "lib/ir/pass.h"
#include "lib/transforms/sparsify/attributes.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "upstream/builtin.h"

static bool run(MlirOperation module, MlirExtPass pass) {
  SparseProgram *program = sparseProgramCreate(module, (SparseProgramOptions){.direction = SparseDirection_Local});
  if (program)
    mlirExtPassAddStatistic(pass, 0, sparseAttributesWrite(program, module));
  sparseProgramDestroy(program);
  return program != NULL;
}

const MlirExtPassDefinition sparseFindAttributesPass = {
    .argument = "sparse-find-attributes",
    .summary = "Write which elements of tensors are zero, as far as single ops say it",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"attributes: tensors of which something is known", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
