// Kernels and the types of their parameters, from clang's debug info: LLVM IR alone does not say what a pointer points
// to. Operands of metadata stand in the order of LLVM's classes (DISubprogram: file, scope, name, linkage name, type;
// types: file, scope, name, size, offset, base, elements; a type of functions has its list in the base's place).
#include "lib/import/cuda/parts.h"
#include "lib/ir/support.h"
#include "lib/support/grow.h"

#include "mlir-c/BuiltinTypes.h"
#include "llvm-c/DebugInfo.h"

enum { NameAt = 2, TypeAt = 4, BaseAt = 5, ElementsAt = 6, MostOperands = 64, MostLinks = 64 };
enum { Dwarf_Member = 0x0d, Dwarf_Pointer = 0x0f, Dwarf_Reference = 0x10 };

//===--- metadata ----------------------------------------------------------------------------------------===//

static int operandsOf(LLVMValueRef node) { return node ? LLVMGetMDNodeNumOperands(node) : 0; }

// Null where there is none.
static LLVMValueRef operandOf(LLVMValueRef node, int index) {
  LLVMValueRef operands[MostOperands];
  int count = operandsOf(node);
  if (index >= count || count > MostOperands)
    return NULL;
  LLVMGetMDNodeOperands(node, operands);
  return operands[index];
}

static LLVMMetadataKind kindOf(LLVMValueRef node) { return LLVMGetMetadataKind(LLVMValueAsMetadata(node)); }

static char *textOf(LLVMValueRef text) {
  unsigned length = 0;
  const char *bytes = text && kindOf(text) == LLVMMDStringMetadataKind ? LLVMGetMDString(text, &length) : NULL;
  return bytes ? strndup(bytes, length) : NULL;
}

//===--- types ---------------------------------------------------------------------------------------------===//

static MlirType basicType(MlirContext context, LLVMValueRef type) {
  size_t length;
  LLVMMetadataRef metadata = LLVMValueAsMetadata(type);
  const char *text = LLVMDITypeGetName(metadata, &length);
  MlirStringRef name = mlirStringRefCreate(text, length);
  uint64_t bits = LLVMDITypeGetSizeInBits(metadata);
  if (tileStringEquals(name, "_Float16") || tileStringEquals(name, "__fp16"))
    return mlirF16TypeGet(context);
  if (tileStringEquals(name, "__bf16"))
    return mlirBF16TypeGet(context);
  if (tileStringEquals(name, "float"))
    return mlirF32TypeGet(context);
  if (tileStringEquals(name, "double"))
    return mlirF64TypeGet(context);
  if (tileStringEquals(name, "bool"))
    return mlirIntegerTypeGet(context, 1);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? mlirIntegerTypeGet(context, (unsigned)bits)
                                                             : (MlirType){NULL};
}

static MlirType elementType(MlirContext context, LLVMValueRef type, int links);

// A struct whose members are all of one type is an array of that type: float4.
static MlirType structType(MlirContext context, LLVMValueRef type, int links) {
  LLVMValueRef members = operandOf(type, ElementsAt);
  MlirType common = {NULL};
  for (int i = 0; i < operandsOf(members); ++i) {
    LLVMValueRef member = operandOf(members, i);
    if (!member || kindOf(member) != LLVMDIDerivedTypeMetadataKind ||
        LLVMGetDINodeTag(LLVMValueAsMetadata(member)) != Dwarf_Member)
      continue;
    MlirType one = elementType(context, operandOf(member, BaseAt), links + 1);
    if (mlirTypeIsNull(one) || (!mlirTypeIsNull(common) && !mlirTypeEqual(one, common)))
      return (MlirType){NULL};
    common = one;
  }
  return common;
}

// What memory of this type is an array of; null: nothing that an array of numbers can be.
static MlirType elementType(MlirContext context, LLVMValueRef type, int links) {
  if (!type || links > MostLinks) // void
    return links > MostLinks ? (MlirType){NULL} : mlirIntegerTypeGet(context, 8);
  switch (kindOf(type)) {
  case LLVMDIBasicTypeMetadataKind:
    return basicType(context, type);
  case LLVMDICompositeTypeMetadataKind:
    if (operandOf(type, BaseAt)) // an array, or an enumeration
      return elementType(context, operandOf(type, BaseAt), links + 1);
    return structType(context, type, links);
  case LLVMDIDerivedTypeMetadataKind:
    if (LLVMGetDINodeTag(LLVMValueAsMetadata(type)) == Dwarf_Pointer)
      return mlirIntegerTypeGet(context, 64); // an address
    return elementType(context, operandOf(type, BaseAt), links + 1);
  default:
    return (MlirType){NULL};
  }
}

// The pointer or reference that a parameter is, behind names and qualifiers; null: none.
static LLVMValueRef pointerOf(LLVMValueRef type) {
  for (int i = 0; type && i < MostLinks && kindOf(type) == LLVMDIDerivedTypeMetadataKind; ++i) {
    unsigned tag = LLVMGetDINodeTag(LLVMValueAsMetadata(type));
    if (tag == Dwarf_Pointer || tag == Dwarf_Reference)
      return type;
    type = operandOf(type, BaseAt);
  }
  return NULL;
}

//===--- kernels ---------------------------------------------------------------------------------------------===//

static bool isKernel(LLVMValueRef function) {
  enum { PtxKernel = 71, AmdgpuKernel = 91 }; // llvm::CallingConv
  unsigned convention = LLVMGetFunctionCallConv(function);
  return !LLVMIsDeclaration(function) && (convention == PtxKernel || convention == AmdgpuKernel);
}

static MlirLocation placeOf(MlirContext context, LLVMMetadataRef subprogram) {
  unsigned length = 0;
  const char *file = LLVMDIFileGetFilename(LLVMDIScopeGetFile(subprogram), &length);
  return mlirLocationFileLineColGet(context, mlirStringRefCreate(file, length), LLVMDISubprogramGetLine(subprogram), 1);
}

static bool readParameter(CudaKernel *kernel, int index, LLVMValueRef type, MlirContext context, MlirLocation place) {
  LLVMTypeRef passed = LLVMTypeOf(LLVMGetParam(kernel->function, (unsigned)index));
  LLVMTypeKind kind = LLVMGetTypeKind(passed);
  LLVMValueRef pointer = pointerOf(type);
  if (pointer && kind == LLVMPointerTypeKind) {
    kernel->elements[index] = elementType(context, operandOf(pointer, BaseAt), 0);
    return !mlirTypeIsNull(kernel->elements[index]) ||
           tileErrorAt(place,
                       "kernel '%s': parameter %d points to a structure of different members; accepted are "
                       "pointers to numbers and to structures of numbers of one type",
                       kernel->name, index);
  }
  bool isNumber = kind == LLVMIntegerTypeKind || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind ||
                  kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind;
  return isNumber || tileErrorAt(place,
                                 "kernel '%s': parameter %d is passed as a structure; accepted are numbers and "
                                 "pointers",
                                 kernel->name, index);
}

static bool readKernel(CudaKernel *kernel, MlirContext context, tessera_error_t *error) {
  size_t length;
  const char *symbol = LLVMGetValueName2(kernel->function, &length);
  LLVMMetadataRef subprogram = LLVMGetSubprogram(kernel->function);
  kernel->symbol = strndup(symbol, length);
  kernel->count = (int)LLVMCountParams(kernel->function);
  kernel->elements = calloc((size_t)kernel->count + 1, sizeof *kernel->elements);
  if (!subprogram)
    return tessera_fail(error, "kernel '%s': has no debug info, which tells the types of its parameters",
                        kernel->symbol);
  LLVMValueRef node = LLVMMetadataAsValue(LLVMGetModuleContext(LLVMGetGlobalParent(kernel->function)), subprogram);
  LLVMValueRef types = operandOf(operandOf(node, TypeAt), BaseAt);
  kernel->name = textOf(operandOf(node, NameAt));
  if (!kernel->name || !kernel->symbol || !kernel->elements)
    return tessera_fail(error, "out of memory");
  MlirLocation place = placeOf(context, subprogram);
  if (operandsOf(types) != kernel->count + 1 || kernel->count >= MostOperands) // behind the result's
    return tileErrorAt(place, "kernel '%s': is passed %d parameters, and its type has %d; at most %d are accepted",
                       kernel->name, kernel->count, operandsOf(types) - 1, (int)MostOperands - 1);
  for (int i = 0; i < kernel->count; ++i)
    if (!readParameter(kernel, i, operandOf(types, i + 1), context, place))
      return false;
  return true;
}

static bool isTaken(const CudaKernels *kernels, const char *name) {
  for (intptr_t i = 0; i + 1 < kernels->count; ++i)
    if (strcmp(kernels->items[i].name, name) == 0)
      return true;
  return false;
}

// Overloads share a name: the later ones are called by their symbols.
static void renameOverload(const CudaKernels *kernels, CudaKernel *kernel) {
  char *symbol = isTaken(kernels, kernel->name) ? strdup(kernel->symbol) : NULL;
  if (symbol) {
    free(kernel->name);
    kernel->name = symbol;
  }
}

bool cudaFindKernels(LLVMModuleRef module, MlirContext context, CudaKernels *kernels, tessera_error_t *error) {
  *kernels = (CudaKernels){.count = 0};
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function)) {
    if (!isKernel(function))
      continue;
    CudaKernel *items = tessera_grow(kernels->items, kernels->count, sizeof *items);
    if (!items)
      return tessera_fail(error, "out of memory");
    kernels->items = items;
    CudaKernel *kernel = &items[kernels->count++];
    *kernel = (CudaKernel){.function = function};
    if (!readKernel(kernel, context, error))
      return false;
    renameOverload(kernels, kernel);
  }
  return true;
}

void cudaKernelsFree(CudaKernels *kernels) {
  for (intptr_t i = 0; i < kernels->count; ++i) {
    free(kernels->items[i].name);
    free(kernels->items[i].symbol);
    free(kernels->items[i].elements);
  }
  free(kernels->items);
}
