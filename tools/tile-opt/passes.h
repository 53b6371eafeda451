// --tile-write-differences: what each pass of a pipeline did to the ops, as JSON.
//
//   {"passes": [{"pass": "cse", "pipeline": "builtin.module(func.func(cse))", "ops_before": 52, "ops_after": 50,
//                "added": [], "removed": ["%4 = arith.addf %1, %2 : f32", …],
//                "changed": [{"before": "scf.for …", "after": "scf.for …"}], "left_out": 0}, …]}
//
// `changed`: one that went and one that came with the same name, in order. At most 200 lines of a pass; left_out counts
// the others.
#pragma once

#include "mlir-c/IR.h"
#include <stdbool.h>

// Runs `pipeline` on `module` pass by pass and writes `path`; false after a diagnostic.
bool passesWriteDifferences(MlirOperation module, MlirStringRef pipeline, const char *path);
