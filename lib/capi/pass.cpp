// Passes and pipelines found by name, with typed options that upstream's parser checks, and our own statistics.
#include "lib/capi/pass.h"
#include "lib/capi/dialect.h"
#include "lib/capi/impl.h"
#include "lib/capi/statistics.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlirExt;

namespace {
//===--- options ------------------------------------------------------------===//
struct OptionSlot {
  const MlirExtPassOption *definition = nullptr;
  bool *boolean = nullptr;
  int64_t *integer = nullptr;
  std::string *string = nullptr;
  std::vector<int64_t> *integers = nullptr;
  std::shared_ptr<void> owner; // the llvm::cl option
};

// What callbacks see as MlirExtPass.
struct OptionValues {
  SmallVector<OptionSlot> slots;
  MlirExtCounters *counters = nullptr;
  function_ref<LogicalResult(const Twine &)> *reportError = nullptr;

  OptionSlot find(const char *name) const {
    auto *found = llvm::find_if(slots, [&](const auto &slot) { return !strcmp(slot.definition->name, name); });
    return found == slots.end() ? OptionSlot{} : *found;
  }
};

SmallVector<int64_t> parseIntegers(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  return llvm::map_to_vector(parts, [](StringRef part) {
    int64_t value = 0;
    part.trim().getAsInteger(0, value);
    return value;
  });
}

// Adds a typed option to a Pass or to PassPipelineOptions (`Options`: the class whose Option templates fit).
template <typename Options, typename Parent> OptionSlot makeOption(Parent &parent, const MlirExtPassOption &option) {
  namespace cl = llvm::cl;
  OptionSlot slot;
  slot.definition = &option;
  auto make = [&](auto kept, auto *&value) {
    value = &kept->getValue();
    slot.owner = kept;
  };
  StringRef text = option.defaultValue ? option.defaultValue : "";
  cl::desc help(option.help ? option.help : "");
  switch (option.kind) {
  case MlirExtOption_Bool:
    make(std::make_shared<typename Options::template Option<bool>>(parent, option.name, help, cl::init(text == "true")),
         slot.boolean);
    break;
  case MlirExtOption_Integer: {
    int64_t value = 0;
    text.getAsInteger(0, value);
    make(std::make_shared<typename Options::template Option<int64_t>>(parent, option.name, help, cl::init(value)),
         slot.integer);
    break;
  }
  case MlirExtOption_String:
    make(std::make_shared<typename Options::template Option<std::string>>(parent, option.name, help,
                                                                          cl::init(text.str())),
         slot.string);
    break;
  case MlirExtOption_IntegerList: {
    SmallVector<int64_t> values = parseIntegers(text);
    auto kept = std::make_shared<typename Options::template ListOption<int64_t>>(
        parent, option.name, help, cl::list_init(ArrayRef<int64_t>(values)));
    slot.integers = &static_cast<std::vector<int64_t> &>(*kept);
    slot.owner = kept;
    break;
  }
  }
  return slot;
}

//===--- passes -------------------------------------------------------------===//
class PassInC : public Pass {
public:
  explicit PassInC(const MlirExtPassDefinition &definition)
      : Pass(typeIDOf(&definition), anchorOf(definition)), definition(definition) {
    values.counters = mlirExtCountersGet(&definition);
    for (const MlirExtPassOption *option = definition.options; option && option->name; ++option)
      values.slots.push_back(makeOption<Pass>(*this, *option));
  }
  StringRef getName() const override { return definition.argument; }
  StringRef getArgument() const override { return definition.argument; }
  StringRef getDescription() const override { return definition.summary ? definition.summary : ""; }
  bool canScheduleOn(RegisteredOperationName name) const override {
    return !getOpName() || name.getStringRef() == *getOpName();
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    if (definition.dialects)
      mlirExtDialectRegistryInsertNamed(wrap(&registry), definition.dialects);
    if (definition.registerDialects)
      definition.registerDialects(wrap(&registry));
  }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<PassInC>(definition); }
  void runOnOperation() override {
    if (definition.needs && !holds(getOperation(), definition.needs))
      return markAllAnalysesPreserved();
    if (!definition.run(wrap(getOperation()), {&values}))
      signalPassFailure();
  }

private:
  // Some op under the root has one of the names.
  static bool holds(Operation *root, const char *const *needs) {
    auto has = [needs](Operation *op) {
      StringRef name = op->getName().getStringRef();
      for (const char *const *need = needs; *need; ++need)
        if (name == *need || (StringRef(*need).ends_with(".") && name.starts_with(*need)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    };
    return root->walk(has).wasInterrupted();
  }
  static std::optional<StringRef> anchorOf(const MlirExtPassDefinition &definition) {
    bool any = !definition.anchor || !*definition.anchor;
    return any ? std::nullopt : std::optional<StringRef>(definition.anchor);
  }
  const MlirExtPassDefinition &definition;
  OptionValues values;
};

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  explicit PipelineOptions(const MlirExtPipelineDefinition &definition) {
    for (const MlirExtPassOption *option = definition.options; option && option->name; ++option)
      values.slots.push_back(makeOption<mlir::detail::PassOptions>(*this, *option));
  }
  OptionValues values;
};

void appendToString(MlirStringRef text, void *string) {
  static_cast<std::string *>(string)->append(text.data, text.length);
}

LogicalResult buildPipeline(const MlirExtPipelineDefinition &definition, OpPassManager &manager, StringRef optionText,
                            function_ref<LogicalResult(const Twine &)> reportError) {
  PipelineOptions options(definition);
  std::string error, text;
  llvm::raw_string_ostream errors(error);
  if (failed(options.parseFromString(optionText, errors)))
    return reportError(error);
  options.values.reportError = &reportError;
  if (!definition.build({&options.values}, appendToString, &text))
    return failure();
  return succeeded(parsePassPipeline(text, manager, errors)) ? success() : reportError(error);
}

} // namespace

void mlirExtPassRegister(const MlirExtPassDefinition *definition) {
  registerPass([definition]() -> std::unique_ptr<Pass> { return std::make_unique<PassInC>(*definition); });
}

void mlirExtPipelineRegister(const MlirExtPipelineDefinition *definition) {
  registerPassPipeline(
      definition->argument, definition->summary,
      [definition](OpPassManager &manager, StringRef options, function_ref<LogicalResult(const Twine &)> reportError) {
        return buildPipeline(*definition, manager, options, reportError);
      },
      [definition](function_ref<void(const mlir::detail::PassOptions &)> visit) {
        visit(PipelineOptions(*definition));
      });
}

static OptionValues &valuesOf(MlirExtPass pass) { return *static_cast<OptionValues *>(pass.ptr); }

bool mlirExtPipelineError(MlirExtPass options, MlirStringRef message) {
  if (auto *report = valuesOf(options).reportError)
    (void)(*report)(unwrap(message));
  return false;
}

bool mlirExtPassGetBool(MlirExtPass pass, const char *name) {
  const bool *value = valuesOf(pass).find(name).boolean;
  return value && *value;
}
int64_t mlirExtPassGetInteger(MlirExtPass pass, const char *name) {
  const int64_t *value = valuesOf(pass).find(name).integer;
  return value ? *value : 0;
}
MlirStringRef mlirExtPassGetString(MlirExtPass pass, const char *name) {
  const std::string *value = valuesOf(pass).find(name).string;
  return wrap(value ? StringRef(*value) : StringRef());
}
intptr_t mlirExtPassGetIntegers(MlirExtPass pass, const char *name, const int64_t **values) {
  const std::vector<int64_t> *list = valuesOf(pass).find(name).integers;
  *values = list ? list->data() : nullptr;
  return list ? list->size() : 0;
}

void mlirExtPassAddStatistic(MlirExtPass pass, intptr_t index, uint64_t amount) {
  mlirExtCountersAdd(valuesOf(pass).counters, index, amount);
}
