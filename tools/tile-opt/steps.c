// Takes the text of a pipeline apart. See steps.h. Expects: what a pass manager prints, so brackets match.
#include "tools/tile-opt/steps.h"

#include "lib/ir/support.h"
#include "lib/pipelines/read_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The end of the element that begins at `text`: a comma or closing bracket outside of all brackets, or `end`.
static const char *elementEnd(const char *text, const char *end) {
  int depth = 0;
  char quote = 0;
  for (; text < end; ++text) {
    if (quote) {
      quote = *text == quote ? 0 : quote;
    } else if (*text == '"' || *text == '\'') {
      quote = *text;
    } else if (strchr("({", *text)) {
      ++depth;
    } else if (strchr(")}", *text)) {
      if (depth-- == 0)
        return text;
    } else if (*text == ',' && depth == 0) {
      return text;
    }
  }
  return end;
}

static const char *skipSpace(const char *text, const char *end) {
  while (text < end && strchr(" \n\t", *text))
    ++text;
  return text;
}

static char *join(const char *before, const char *text, size_t length, const char *after) {
  size_t size = strlen(before) + length + strlen(after) + 1;
  char *joined = malloc(size);
  if (joined)
    snprintf(joined, size, "%s%.*s%s", before, (int)length, text, after);
  return joined;
}

static void addStep(PassSteps *steps, const char *before, const char *text, size_t length, const char *after) {
  PassStep *grown = realloc(steps->items, ((size_t)steps->count + 1) * sizeof *grown);
  if (!grown)
    return;
  steps->items = grown;
  PassStep step = {join(before, text, length, after), strndup(text, strcspn(text, "{,() \n\t"))};
  grown[steps->count++] = step;
}

// Elements of text up to end, each inside "before…after".
static void addElements(PassSteps *steps, const char *before, const char *text, const char *end, const char *after) {
  for (text = skipSpace(text, end); text < end; text = skipSpace(text, end)) {
    const char *last = elementEnd(text, end), *inner = text + strcspn(text, "({,)");
    if (inner < last && *inner == '(') { // an op and its passes
      const char *close = last - 1;
      while (close > inner && *close != ')')
        --close;
      char *outer = join(before, text, (size_t)(inner + 1 - text), ""), *closed = join(")", after, strlen(after), "");
      if (outer && closed)
        addElements(steps, outer, inner + 1, close, closed);
      free(outer);
      free(closed);
    } else if (last > text) {
      size_t length = (size_t)(last - text);
      while (length && strchr(" \n\t", text[length - 1]))
        --length;
      addStep(steps, before, text, length, after);
    }
    text = last < end ? last + 1 : end;
  }
}

PassSteps stepsOf(MlirStringRef pipeline) {
  PassSteps steps = {NULL, 0};
  char *text = strndup(pipeline.data, pipeline.length);
  if (text)
    addElements(&steps, "", text, text + strlen(text), "");
  free(text);
  return steps;
}

void stepsDestroy(PassSteps *steps) {
  for (int i = 0; i < steps->count; ++i) {
    free(steps->items[i].pipeline);
    free(steps->items[i].pass);
  }
  free(steps->items);
  *steps = (PassSteps){NULL, 0};
}

static void keepMessage(MlirStringRef text, void *userData) {
  char *message = userData;
  size_t length = strlen(message);
  snprintf(message + length, 512 - length, "%.*s", (int)text.length, text.data);
}

bool stepRun(MlirOperation module, const char *pipeline) {
  char message[512] = "";
  MlirPassManager manager = mlirPassManagerCreate(mlirOperationGetContext(module));
  MlirOpPassManager root = mlirPassManagerGetAsOpPassManager(manager);
  bool ok = mlirLogicalResultIsSuccess(tileReadPipeline(root, tileString(pipeline), keepMessage, message)) ||
            tileErrorAt(mlirOperationGetLocation(module), "cannot run '%s' by itself: %s", pipeline, message);
  ok = ok && mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, module));
  mlirPassManagerDestroy(manager);
  return ok;
}
