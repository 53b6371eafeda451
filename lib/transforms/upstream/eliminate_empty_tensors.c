// tile-eliminate-empty-tensors: runs upstream's eliminate-empty-tensors on functions that it ends on in good time.
//
// Why: the time of upstream's analysis grows with more than the third power of a chain of tensor.insert_slice (200: 52
// s; https://github.com/llvm/llvm-project/issues/81959). Expects: func.func on tensors, before bufferization. Leaves: a
// longer chain as it is, which costs one copy of each slice. Cost: linear, and upstream's on what is short.
#include "lib/ir/pass.h"
#include "lib/transforms/upstream/faults.h"
#include "upstream/func.h"
#include "upstream/tensor.h"

enum { MostInserts = 48 }; // 0.3 s

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps inserts = tileCollectOps(function, tensorInsertSliceOpIsA);
  bool isShort = inserts.count <= MostInserts;
  tileOpsFree(&inserts);
  return !isShort || tileRunPipeline(function, "eliminate-empty-tensors");
}

const MlirExtPassDefinition tileEliminateEmptyTensorsPass = {
    .argument = "tile-eliminate-empty-tensors",
    .summary = "Run upstream's eliminate-empty-tensors where it ends in good time",
    .anchor = funcFuncOpName,
    .dialects = (const char *const[]){"bufferization", "tensor", NULL},
    .run = run,
};
