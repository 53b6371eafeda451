// Looks for the weights of a program in another file. See bind_by_name.h. A model is imported for its own globals: so
// its tensors have the names and the types that the importer gives them.
#include "lib/pipelines/bind_by_name.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/extern_weights.h"
#include "lib/import/weights/named_weights.h"
#include "lib/ir/support.h"
#include "lib/pipelines/read_text.h"
#include "lib/support/files/checksum.h"
#include "upstream/ml_program.h"

#include <string.h>

//===--- types ------------------------------------------------------------------===//

static intptr_t nextSize(MlirType type, intptr_t d) {
  while (d < mlirShapedTypeGetRank(type) && mlirShapedTypeGetDimSize(type, d) == 1)
    ++d;
  return d;
}

// Sizes of 1 move no element.
static bool areAlike(MlirType a, MlirType b) {
  if (!mlirTypeIsARankedTensor(a) || !mlirTypeIsARankedTensor(b) ||
      !mlirTypeEqual(mlirShapedTypeGetElementType(a), mlirShapedTypeGetElementType(b)))
    return false;
  intptr_t i = nextSize(a, 0), j = nextSize(b, 0), n = mlirShapedTypeGetRank(a), m = mlirShapedTypeGetRank(b);
  for (; i < n && j < m; i = nextSize(a, i + 1), j = nextSize(b, j + 1))
    if (mlirShapedTypeGetDimSize(a, i) != mlirShapedTypeGetDimSize(b, j))
      return false;
  return i == n && j == m;
}

static bool bind(MlirOperation global, MlirType found, MlirAttribute source, const char *path) {
  MlirType type = mlProgramGlobalOpGetTypeValue(global);
  MlirStringRef name = mlProgramGlobalOpGetSymNameValue(global);
  char wanted[256], seen[256];
  if (mlirAttributeIsNull(source))
    return tileError(global, "'%.*s': %s has no tensor of this name", (int)name.length, name.data, path);
  if (mlirTypeIsNull(found) || !areAlike(type, found))
    return tileError(global, "'%.*s' is %s; that of %s is %s", (int)name.length, name.data,
                     tileTypeText(type, wanted, sizeof wanted), path,
                     mlirTypeIsNull(found) ? "of elements that are not supported"
                                           : tileTypeText(found, seen, sizeof seen));
  tileOpSetSource(global, source);
  return true;
}

//===--- files ------------------------------------------------------------------===//

static bool bindToTensors(const TileOps *globals, MlirContext context, const char *path, tessera_error_t *error) {
  NamedWeights weights;
  bool ok = tileNamedWeightsRead(context, path, &weights, error);
  for (intptr_t i = 0; i < globals->count && ok; ++i) {
    const NamedWeight *weight = tileNamedWeightsFind(&weights, mlProgramGlobalOpGetSymNameValue(globals->items[i]));
    MlirAttribute source = mlirAttributeGetNull();
    if (weight) {
      uint64_t checksum = tessera_checksum(0, weights.file->data + weight->offset, weight->bytes);
      source = tileWeightsSource(context, &(tessera_weights_source_t){path, weight->offset, weight->bytes, checksum});
    }
    ok = bind(globals->items[i], weight ? weight->type : (MlirType){NULL}, source, path) ||
         tessera_fail(error, "%s: cannot be used for the weights of this program", path);
  }
  tileNamedWeightsFree(&weights);
  return ok;
}

static bool bindToModel(const TileOps *globals, MlirContext context, const char *path, tessera_error_t *error) {
  MlirModule model = tileReadModel(context, path, error);
  if (mlirModuleIsNull(model))
    return false;
  MlirSymbolTable symbols = mlirSymbolTableCreate(mlirModuleGetOperation(model));
  bool ok = true;
  for (intptr_t i = 0; i < globals->count && ok; ++i) {
    MlirOperation other = mlirSymbolTableLookup(symbols, mlProgramGlobalOpGetSymNameValue(globals->items[i]));
    bool isThere = !mlirOperationIsNull(other) && tileWeightsIsExtern(other);
    ok = bind(globals->items[i], isThere ? mlProgramGlobalOpGetTypeValue(other) : (MlirType){NULL},
              isThere ? tileOpGetSource(other) : mlirAttributeGetNull(), path) ||
         tessera_fail(error, "%s: cannot be used for the weights of this program", path);
  }
  mlirSymbolTableDestroy(symbols);
  mlirModuleDestroy(model);
  return ok;
}

bool tileBindWeightsByName(MlirModule module, const char *path, tessera_error_t *error) {
  if (!tileIsModel(path) && !tileNamedWeightsIsFile(path))
    return tessera_fail(error, "--weights=%s: expected a name that ends in .onnx, .pt2, .safetensors or .npz", path);
  TileOps globals = tileCollectOps(mlirModuleGetOperation(module), tileWeightsIsExtern);
  MlirContext context = mlirModuleGetContext(module);
  bool ok = globals.count || tessera_fail(error, "--weights=%s: the program has no weights that lie in files", path);
  ok = ok && (tileIsModel(path) ? bindToModel : bindToTensors)(&globals, context, path, error);
  tileOpsFree(&globals);
  return ok;
}
