// tile-eliminate-empty-tensors: runs upstream's eliminate-empty-tensors on functions that it ends on in good time.
//
// Why: the time of upstream's analysis grows with more than the third power of a chain of tensor.insert_slice (200: 52
// s; https://github.com/llvm/llvm-project/issues/81959). Expects: func.func on tensors, before bufferization. Leaves: a
// longer chain as it is, which costs one copy of each slice. A function without an op that puts a tensor into another
// one is left alone, too: upstream's pass does nothing there, but looks at each pair of ops (240 cells of an LSTM:
// three quarters of the compile time). Cost: linear, and upstream's on what is short.
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/upstream/faults.h"
#include "upstream/bufferization.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"
#include "upstream/vector.h"

enum { MostInserts = 48 }; // 0.3 s

// linalg.copy, or another named op of one operand and one result.
static bool mayCopy(MlirOperation op) {
  return tileOpIsStructured(op) && mlirOperationGetNumOperands(op) == 2 && !linalgGenericOpIsA(op) &&
         !linalgFillOpIsA(op);
}

// Upstream's SubsetInsertionOpInterface, and the op that names where a tensor shall lie.
static bool putsInto(MlirOperation op) {
  return tensorInsertSliceOpIsA(op) || tensorParallelInsertSliceOpIsA(op) || vectorTransferWriteOpIsA(op) ||
         bufferizationMaterializeInDestinationOpIsA(op) || mayCopy(op);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps inserts = tileCollectOps(function, putsInto);
  bool isShort = inserts.count > 0 && inserts.count <= MostInserts;
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
