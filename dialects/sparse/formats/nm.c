// #sparse.nm: n of each window of m elements along `axis`. `vector`: lines that keep the same, and elements that stay
// together.
#include "dialects/sparse/definitions.h"

// Window and group: what n, m, the vector and the coordinates' type say together.
static bool verify(MlirExtEmitter emitter, const MlirAttribute *values) {
  int64_t n = mlirIntegerAttrGetValueInt(values[0]), m = mlirIntegerAttrGetValueInt(values[1]),
          axis = mlirIntegerAttrGetValueInt(values[2]);
  unsigned width = mlirIntegerTypeGetWidth(mlirTypeAttrGetValue(values[4]));
  if (!sparseVerifyRange(emitter, &sparseNmFormat, "m", m, 1 << 20) ||
      !sparseVerifyRange(emitter, &sparseNmFormat, "n", n, m))
    return false;
  int64_t together = mlirDenseI64ArrayGetElement(values[3], axis), places = m / together;
  if (n % together || m % together)
    return tileEmit(emitter,
                    "vector of #sparse.nm keeps %ld elements together along axis %ld, which divides not both n = %ld "
                    "and m = %ld",
                    (long)together, (long)axis, (long)n, (long)m);
  return width >= 32 || places <= INT64_C(1) << width ||
         tileEmit(emitter, "coordinates of #sparse.nm are i%u, too narrow for %ld places in a window", width,
                  (long)places);
}

const SparseFormat sparseNmFormat = {
    .name = "nm",
    .scheme = SparseScheme_Windows,
    .keys = {{"n", SparseKey_Number, SparseKeyRequired},
             {"m", SparseKey_Number, SparseKeyRequired},
             {"axis", SparseKey_Number, 1},
             {"vector", SparseKey_Sizes, 1},
             {"coordinates", SparseKey_IntegerType, 8}},
    .verify = verify,
};
