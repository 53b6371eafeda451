// What passes share (pass.h): greedy rewriting, patterns by op name, nested pipelines, dependent dialects.
#include "lib/ir/pass.h"
#include "mlir-c/Dialect/Affine.h"
#include "mlir-c/Dialect/AMX.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/Async.h"
#include "mlir-c/Dialect/Bufferization.h"
#include "mlir-c/Dialect/Complex.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/DLTI.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/Index.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/MemRef.h"
#include "mlir-c/Dialect/NVGPU.h"
#include "mlir-c/Dialect/NVVM.h"
#include "mlir-c/Dialect/Quant.h"
#include "mlir-c/Dialect/ROCDL.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/Shape.h"
#include "mlir-c/Dialect/SparseTensor.h"
#include "mlir-c/Dialect/Tensor.h"
#include "mlir-c/Dialect/UB.h"
#include "mlir-c/Dialect/Vector.h"
#include <assert.h>
#include <string.h>

//===--- rewriting ----------------------------------------------------------===//
bool tileApplyPatterns(MlirOperation op, void (*populate)(MlirRewritePatternSet patterns, MlirContext context)) {
  MlirContext context = mlirOperationGetContext(op);
  MlirRewritePatternSet patterns = mlirRewritePatternSetCreate(context);
  populate(patterns, context);
  MlirFrozenRewritePatternSet frozen = mlirFreezeRewritePattern(patterns);
  mlirRewritePatternSetDestroy(patterns); // freezing takes its patterns and leaves the empty set behind
  MlirGreedyRewriteDriverConfig config = mlirGreedyRewriteDriverConfigCreate();
  MlirLogicalResult result = mlirApplyPatternsAndFoldGreedilyWithOp(op, frozen, config);
  mlirGreedyRewriteDriverConfigDestroy(config);
  mlirFrozenRewritePatternSetDestroy(frozen);
  return mlirLogicalResultIsSuccess(result);
}

void tileAddPattern(MlirRewritePatternSet patterns, MlirContext context, const char *name, unsigned benefit,
                    TileRewrite rewrite) {
  MlirRewritePatternCallbacks callbacks = {.matchAndRewrite = rewrite};
  mlirRewritePatternSetAdd(patterns,
                           mlirOpRewritePatternCreate(tileString(name), benefit, context, callbacks, NULL, 0, NULL));
}

//===--- pipelines ----------------------------------------------------------===//
// What the pipeline's parser says comes in pieces.
typedef struct Message {
  char text[512];
  size_t used;
} Message;

static void appendText(MlirStringRef text, void *userData) {
  Message *message = userData;
  size_t room = sizeof message->text - message->used;
  size_t length = text.length < room ? text.length : room;
  memcpy(message->text + message->used, text.data, length);
  message->used += length;
}

static void trimNewlines(Message *message) {
  while (message->used && message->text[message->used - 1] == '\n')
    --message->used;
}

bool tileRunPipeline(MlirOperation op, const char *pipeline) {
  Message message = {.used = 0};
  MlirPassManager manager = mlirPassManagerCreateOnOperation(mlirOperationGetContext(op), tileOpName(op));
  bool ok = mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(manager),
                                                                    tileString(pipeline), appendText, &message));
  trimNewlines(&message);
  if (!ok)
    tileError(op, "cannot run the pipeline '%s': %.*s", pipeline, (int)message.used, message.text);
  mlirPassManagerEnableVerifier(manager, false); // whoever runs the calling pass verifies what the pass leaves
  ok = ok && mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, op));
  mlirPassManagerDestroy(manager);
  return ok;
}

//===--- dialects -----------------------------------------------------------===//
typedef MlirDialectHandle (*HandleGetter)(void);
static const HandleGetter handles[] = {
    mlirGetDialectHandle__amx__,
    mlirGetDialectHandle__affine__,
    mlirGetDialectHandle__arith__,
    mlirGetDialectHandle__async__,
    mlirGetDialectHandle__bufferization__,
    mlirGetDialectHandle__complex__,
    mlirGetDialectHandle__cf__,
    mlirGetDialectHandle__dlti__,
    mlirGetDialectHandle__func__,
    mlirGetDialectHandle__gpu__,
    mlirGetDialectHandle__index__,
    mlirGetDialectHandle__llvm__,
    mlirGetDialectHandle__linalg__,
    mlirGetDialectHandle__math__,
    mlirGetDialectHandle__memref__,
    mlirGetDialectHandle__nvgpu__,
    mlirGetDialectHandle__nvvm__,
    mlirGetDialectHandle__quant__,
    mlirGetDialectHandle__rocdl__,
    mlirGetDialectHandle__scf__,
    mlirGetDialectHandle__shape__,
    mlirGetDialectHandle__sparse_tensor__,
    mlirGetDialectHandle__tensor__,
    mlirGetDialectHandle__ub__,
    mlirGetDialectHandle__vector__,
};

static bool insertDialect(MlirDialectRegistry registry, const char *name) {
  for (size_t i = 0; i < sizeof handles / sizeof *handles; ++i) {
    MlirDialectHandle handle = handles[i]();
    if (tileStringEquals(mlirDialectHandleGetNamespace(handle), name)) {
      mlirDialectHandleInsertDialect(handle, registry);
      return true;
    }
  }
  return false;
}

void tileInsertDialects(MlirDialectRegistry registry, const char *const *names) {
  for (; *names; ++names) {
    bool known = insertDialect(registry, *names);
    assert(known && "no upstream dialect of that name");
    (void)known;
  }
}
