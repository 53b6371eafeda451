// Finds rows of the table. See operators.h.
#include "lib/import/onnx/operators.h"

#include "lib/import/onnx/compose.h"

#include "upstream/arith.h"
#include "upstream/math.h"

// Kinds are ops of upstream (arith, math) or small numbers of the emitter's own.
static const OnnxOperator operators[] = {
#define ONNX_OPERATOR(domain, name, since, until, least, most, types, attributes, emit, kind)                          \
  {domain, name, since, until, least, most, types, attributes, emit, kind},
#include "lib/import/onnx/operators.def"
#undef ONNX_OPERATOR
};

const OnnxOperator *onnxOperatorFind(OnnxText domain, OnnxText name, int64_t opset, bool *isKnown) {
  *isKnown = false;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i) {
    const OnnxOperator *row = &operators[i];
    bool isOurs = onnxTextIs(name, row->name) &&
                  (onnxTextIs(domain, row->domain) || (!*row->domain && onnxTextIs(domain, "ai.onnx")));
    if (isOurs && opset >= row->since && (!row->until || opset <= row->until))
      return row;
    *isKnown |= isOurs;
  }
  return NULL;
}
