// The dialects StableHLO and CHLO for other rooms: registration and what the attributes say.
#pragma once

#include "lib/capi/common.h"
#include <stddef.h>

void stablehloRegisterDialect(MlirDialectRegistry registry);
void chloRegisterDialect(MlirDialectRegistry registry);
void sdyRegisterDialect(MlirDialectRegistry registry);

// The word of `#stablehlo<comparison_direction GT>` and the like, by number in the order below.
typedef enum StablehloDirection {
  StablehloDirection_EQ,
  StablehloDirection_NE,
  StablehloDirection_GE,
  StablehloDirection_GT,
  StablehloDirection_LE,
  StablehloDirection_LT
} StablehloDirection;
typedef enum StablehloComparison {
  StablehloComparison_None,
  StablehloComparison_Float,
  StablehloComparison_TotalOrder,
  StablehloComparison_Signed,
  StablehloComparison_Unsigned
} StablehloComparison;
typedef enum StablehloFft { StablehloFft_Fft, StablehloFft_Ifft, StablehloFft_Rfft, StablehloFft_Irfft } StablehloFft;
typedef enum StablehloTranspose {
  StablehloTranspose_Invalid,
  StablehloTranspose_None,
  StablehloTranspose_Transpose,
  StablehloTranspose_Adjoint
} StablehloTranspose;
typedef enum StablehloAlgorithm {
  StablehloAlgorithm_Default,
  StablehloAlgorithm_ThreeFry,
  StablehloAlgorithm_Philox
} StablehloAlgorithm;
int stablehloWordOf(MlirAttribute attribute);

// A list of dimensions or numbers: those of an i64 array, or the number `field` of an attribute of dimension numbers.
typedef struct StablehloList {
  intptr_t count;
  int64_t items[32];
} StablehloList;
StablehloList stablehloList(MlirAttribute array); // null: empty
bool stablehloListHas(const StablehloList *list, int64_t item);

// Fields, in the order of the text.
enum { StablehloDot_LhsBatch, StablehloDot_RhsBatch, StablehloDot_LhsContracting, StablehloDot_RhsContracting };
enum {
  StablehloGather_OffsetDims,
  StablehloGather_CollapsedSliceDims,
  StablehloGather_OperandBatchingDims,
  StablehloGather_StartIndicesBatchingDims,
  StablehloGather_StartIndexMap,
  StablehloGather_IndexVectorDim
};
enum {
  StablehloScatter_UpdateWindowDims,
  StablehloScatter_InsertedWindowDims,
  StablehloScatter_InputBatchingDims,
  StablehloScatter_ScatterIndicesBatchingDims,
  StablehloScatter_ScatterDimsToOperandDims,
  StablehloScatter_IndexVectorDim
};
StablehloList stablehloField(MlirAttribute numbers, int field);
int64_t stablehloFieldNumber(MlirAttribute numbers, int field); // of a field that is one number

// Where batch (or a kernel's output features), features (input features) and spatial dimensions stand.
typedef struct StablehloSide {
  int64_t first, second; // [b, f] of images, [i, o] of kernels
  StablehloList spatial;
} StablehloSide;
typedef struct StablehloConvolution {
  StablehloSide input, kernel, output;
} StablehloConvolution;
StablehloConvolution stablehloConvolutionOf(MlirAttribute numbers);

// Number `at` of dense padding; 0 where there is none.
int64_t stablehloPaddingAt(MlirAttribute padding, intptr_t at);
unsigned stablehloElementBits(MlirType element); // of both parts of a complex number
