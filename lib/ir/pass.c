// What passes share (pass.h): greedy rewriting, patterns by op name, nested pipelines, dependent dialects.
#include "lib/ir/pass.h"
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

static MlirType keepType(MlirType type, void *unused) { return type; }

bool tileConvertDialect(MlirOperation op, const TileDialectConversion *conversion) {
  MlirContext context = mlirOperationGetContext(op);
  MlirExtConversionTarget target = mlirExtConversionTargetCreate(context);
  MlirExtTypeConverter converter = mlirExtTypeConverterCreate();
  MlirRewritePatternSet patterns = mlirRewritePatternSetCreate(context);
  mlirExtTypeConverterAddConversion(converter, keepType, NULL);
  if (conversion->spreadType)
    mlirExtTypeConverterAdd1ToNConversion(converter, conversion->spreadType, NULL);
  else
    mlirExtTypeConverterAddConversion(converter, conversion->convertType, NULL);
  mlirExtConversionTargetMarkUnknownOpDynamicallyLegal(target, conversion->isLegal, NULL);
  if (conversion->convert)
    mlirRewritePatternSetAdd(patterns, mlirExtOpConversionPatternCreate(NULL, 1, context, converter,
                                                                        conversion->convert, conversion->userData));
  for (intptr_t i = 0; i < conversion->numSpreads; ++i)
    mlirRewritePatternSetAdd(patterns, mlirExtOpConversion1ToNPatternCreate(
                                           NULL, 1, context, converter, conversion->spreads[i], conversion->userData));
  mlirExtPopulateFuncTypeConversion(patterns, converter, target);
  mlirExtPopulateScfTypeConversion(patterns, converter, target);
  MlirFrozenRewritePatternSet frozen = mlirFreezeRewritePattern(patterns);
  MlirLogicalResult result = mlirExtApplyPartialConversion(op, target, frozen);
  mlirFrozenRewritePatternSetDestroy(frozen);
  mlirRewritePatternSetDestroy(patterns);
  mlirExtTypeConverterDestroy(converter);
  mlirExtConversionTargetDestroy(target);
  return mlirLogicalResultIsSuccess(result);
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
