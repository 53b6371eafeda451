// Loops in the program.
#pragma once

#include "lib/import/onnx/node.h"

// Replaces the carried values by those of the next step; their types and sizes stay. `at` counts from 0.
typedef bool OnnxStep(Node *node, MlirValue at, OnnxValue **carried, const void *data);
// `carried` are the first values and, after it, the last. False after an error.
bool onnxFor(Node *node, MlirValue count, int number, OnnxValue **carried, OnnxStep *step, const void *data);
// As above, until `goesOn`, a boolean, is false or after `most` steps (null: no limit). `condition`: whether to begin.
// Sizes that are not constants are asked of the results. `count` (may be null): the steps.
typedef bool OnnxWhileStep(Node *node, MlirValue at, MlirValue condition, OnnxValue **carried, MlirValue *goesOn,
                           const void *data);
bool onnxWhile(Node *node, MlirValue most, MlirValue condition, int number, OnnxValue **carried, OnnxWhileStep *step,
               const void *data, MlirValue *count);
// As onnxEmitGraph, where all outputs must be tensors.
bool onnxEmitTensors(Node *node, const OnnxGraph *graph, int numInputs, OnnxValue *const *inputs, OnnxValue **outputs);
// Row `at` along an axis, which the result lacks; and the tensor with such a row replaced.
OnnxValue *onnxRow(Node *node, OnnxValue *x, int axis, MlirValue at);
OnnxValue *onnxWithRow(Node *node, OnnxValue *x, int axis, MlirValue at, OnnxValue *row);
// The tensor with one element replaced.
OnnxValue *onnxWithElement(Node *node, OnnxValue *x, const MlirValue *index, MlirValue element);
// A scalar integer of i64 for an index.
OnnxValue *onnxOfIndex(Node *node, MlirValue index);
