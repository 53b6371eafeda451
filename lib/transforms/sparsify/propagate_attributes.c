// sparse-propagate-attributes{direction=both finite=false}: carries facts through the module, from producers to readers
// (which elements are zero) and back (which elements nobody needs), until nothing changes.
//
//   x · w, where column 1 of w is zero  →  column 1 of the product is zero, if x holds neither infinities nor nans
//   h · v, where row 1 of v is zero     →  column 1 of h is dead, if h has no other reader
//
// Expects: any module; facts that it carries already hold. Leaves: the same program, with `sparse.attribute`. The rules
// are in lib/analysis/sparsity/module_facts.h. SparTA (OSDI 2022) has one bit for both facts, and only a stub of this
// pass. Cost: linear in the ops times the groups of rows and columns that differ.
#include "dialects/sparse/sparse.h"
#include "lib/capi/pass.h"
#include "lib/ir/pass.h"
#include "lib/transforms/sparsify/attributes.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "upstream/builtin.h"

static bool run(MlirOperation module, MlirExtPass pass) {
  MlirStringRef direction = mlirExtPassGetString(pass, "direction");
  bool isBoth = tileStringEquals(direction, "both");
  if (!isBoth && !tileStringEquals(direction, "forward"))
    return tileError(module, "direction is '%.*s'; forward and both are accepted", (int)direction.length,
                     direction.data);
  SparseProgram *program =
      sparseProgramCreate(module, (SparseProgramOptions){
                                      .direction = isBoth ? SparseDirection_Both : SparseDirection_Forward,
                                      .finite = mlirExtPassGetBool(pass, "finite"),
                                  });
  if (program)
    mlirExtPassAddStatistic(pass, 0, sparseAttributesWrite(program, module));
  sparseProgramDestroy(program);
  return program != NULL;
}

const MlirExtPassDefinition sparsePropagateAttributesPass = {
    .argument = "sparse-propagate-attributes",
    .summary = "Carry which elements are zero to readers, and which nobody needs to producers",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            {"direction", "both: zero elements forward and dead ones backward; forward: zero elements alone",
             MlirExtOption_String, "both"},
            {"finite", "no tensor of the program holds an infinity or a nan, so that 0 times x is 0 for every x",
             MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = (const char *const[]){"attributes: tensors of which something is known", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
