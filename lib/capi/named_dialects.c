// Upstream's dialects by name, for what a pass or a dialect depends on.
#include "lib/capi/dialect.h"
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
    if (mlirStringRefEqual(mlirDialectHandleGetNamespace(handle), mlirStringRefCreateFromCString(name))) {
      mlirDialectHandleInsertDialect(handle, registry);
      return true;
    }
  }
  return false;
}

void mlirExtContextLoadNamedDialects(MlirContext context) {
  for (size_t i = 0; i < sizeof handles / sizeof *handles; ++i)
    mlirDialectHandleLoadDialect(handles[i](), context);
}

void mlirExtDialectRegistryInsertNamed(MlirDialectRegistry registry, const char *const *names) {
  for (; *names; ++names) {
    bool known = insertDialect(registry, *names);
    assert(known && "no upstream dialect of that name");
    (void)known;
  }
}
