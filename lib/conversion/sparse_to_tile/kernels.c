// The kernels of sparse ops, made of the templates in kernels/. Kernels that print alike share one symbol.
#include "lib/conversion/sparse_to_tile/lowerings.h"

#include <stdlib.h>

typedef struct SparseKernelMade {
  char *text;
  MlirAttribute symbol;
  struct SparseKernelMade *next;
} SparseKernelMade;

void sparseKernelsEnd(SparseKernels *kernels) {
  while (kernels->made) {
    SparseKernelMade *made = kernels->made;
    kernels->made = made->next;
    free(made->text);
    free(made);
  }
}

MlirAttribute sparseKernelGet(SparseKernels *kernels, const TileTemplateUse *use, MlirLocation location) {
  MlirOperation kernel = tileTemplateMake(location, use);
  if (mlirOperationIsNull(kernel))
    return mlirAttributeGetNull();
  char *text = tileTemplatePrint(kernel);
  for (const SparseKernelMade *made = kernels->made; made; made = made->next)
    if (!strcmp(made->text, text)) {
      free(text);
      mlirOperationDestroy(kernel);
      return made->symbol;
    }
  SparseKernelMade *made = calloc(1, sizeof *made);
  *made = (SparseKernelMade){text, tileTemplateInsert(kernels->module, kernel, use->from->name), kernels->made};
  kernels->made = made;
  ++kernels->count;
  return made->symbol;
}
