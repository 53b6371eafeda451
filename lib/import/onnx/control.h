// Loops in the program.
#pragma once

#include "lib/import/onnx/node.h"

// Replaces the carried values by those of the next step; their types and sizes stay. `at` counts from 0.
typedef bool OnnxStep(Node *node, MlirValue at, Value **carried, const void *data);
// `carried` are the first values and, after it, the last. False after an error.
bool onnxFor(Node *node, MlirValue count, int number, Value **carried, OnnxStep *step, const void *data);
// Row `at` along an axis, which the result lacks; and the tensor with such a row replaced.
Value *onnxRow(Node *node, Value *x, int axis, MlirValue at);
Value *onnxWithRow(Node *node, Value *x, int axis, MlirValue at, Value *row);
// The tensor with one element replaced.
Value *onnxWithElement(Node *node, Value *x, const MlirValue *index, MlirValue element);
// A scalar integer of i64 for an index.
Value *onnxOfIndex(Node *node, MlirValue index);
