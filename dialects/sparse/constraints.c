// What the values and attributes of the Sparse ops may be: the names that the columns of ops.def use, beside the
// builtin ones of lib/ir/op_table.h.
#include "dialects/sparse/definitions.h"

static bool isEncoded(MlirType type) { return !mlirAttributeIsNull(sparseTypeGetEncoding(type)); }
static bool isDense(MlirType type) {
  return mlirTypeIsARankedTensor(type) && mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
}
static bool isTensor(MlirType type) { return isDense(type) || isEncoded(type); }

const TileConstraint sparseConstraints[] = {
    {"encoded", isEncoded, "a tensor with an encoding of the sparse dialect"},
    {"dense", isDense, "a ranked tensor without an encoding"},
    {"tensor", isTensor, "a ranked tensor, dense or with an encoding of the sparse dialect"},
    {NULL},
};

static const char *const semirings[] = {"add_mul", "max_plus", "min_plus", "or_and",
                                        "max_mul", "min_mul",  "mean_mul", NULL};
static const char *const combines[] = {"add", "max", "min", "mean", NULL};
static const char *const duplicates[] = {"sum", "error", NULL};

const TileAttributeKind sparseAttributeKinds[] = {
    {"semiring", .description = "a semiring", .keywords = semirings},
    {"combine", .description = "how entries are combined", .keywords = combines},
    {"duplicates", .description = "what becomes of two entries at one place", .keywords = duplicates},
    {NULL},
};
