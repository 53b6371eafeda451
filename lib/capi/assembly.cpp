// Parsing and printing from C. One handle stands for AsmParser and OpAsmParser (AsmPrinter and OpAsmPrinter): it holds
// the base's address.
#include "lib/capi/assembly.h"
#include "lib/capi/impl.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Parser/Parser.h"

using namespace mlirExt;

static AsmParser &parserOf(MlirExtParser parser) { return *static_cast<AsmParser *>(parser.ptr); }
static OpAsmParser &opParserOf(MlirExtParser parser) { return static_cast<OpAsmParser &>(parserOf(parser)); }
static AsmPrinter &printerOf(MlirExtPrinter printer) { return *static_cast<AsmPrinter *>(printer.ptr); }
static OpAsmPrinter &opPrinterOf(MlirExtPrinter printer) { return static_cast<OpAsmPrinter &>(printerOf(printer)); }
static OperationState &stateOf(MlirExtOpState state) { return *static_cast<OperationState *>(state.ptr); }

static OpAsmParser::UnresolvedOperand unwrap(MlirExtOperand operand) {
  return {SMLoc::getFromPointer(operand.location), ::unwrap(operand.name), operand.number};
}
static MlirExtOperand wrap(const OpAsmParser::UnresolvedOperand &operand) {
  return {operand.location.getPointer(), ::wrap(operand.name), operand.number};
}
static MlirExtParseResult wrap(OptionalParseResult result) {
  if (!result.has_value())
    return MlirExtParse_Absent;
  return succeeded(*result) ? MlirExtParse_Present : MlirExtParse_Failed;
}
// Hands `value` over if it was parsed.
template <typename Handle, typename Value> static bool give(ParseResult parsed, const Value &value, Handle *out) {
  if (failed(parsed))
    return false;
  *out = wrap(value);
  return true;
}
template <typename Handle, typename Value>
static MlirExtParseResult give(OptionalParseResult parsed, const Value &value, Handle *out) {
  MlirExtParseResult result = wrap(parsed);
  if (result == MlirExtParse_Present)
    *out = wrap(value);
  return result;
}

//===--- parser: position and errors ----------------------------------------===//
MlirContext mlirExtParserGetContext(MlirExtParser parser) { return wrap(parserOf(parser).getContext()); }

MlirExtSourceLocation mlirExtParserGetLocation(MlirExtParser parser) {
  return parserOf(parser).getCurrentLocation().getPointer();
}

MlirLocation mlirExtParserEncodeLocation(MlirExtParser parser, MlirExtSourceLocation location) {
  return wrap(parserOf(parser).getEncodedSourceLoc(SMLoc::getFromPointer(location)));
}

bool mlirExtParserError(MlirExtParser parser, MlirExtSourceLocation location, MlirStringRef message) {
  parserOf(parser).emitError(SMLoc::getFromPointer(location), unwrap(message));
  return false;
}

//===--- parser: tokens -----------------------------------------------------===//
static bool parseToken(AsmParser &parser, StringRef token, bool optional) {
  bool isKeyword = isalpha(static_cast<unsigned char>(token.front())) || token.front() == '_';
#define PUNCTUATION(text, Name)                                                                                        \
  if (!isKeyword && token == text)                                                                                     \
    return succeeded(optional ? parser.parseOptional##Name() : parser.parse##Name());
  PUNCTUATION(",", Comma)
  PUNCTUATION(":", Colon)
  PUNCTUATION("->", Arrow)
  PUNCTUATION("(", LParen)
  PUNCTUATION(")", RParen)
  PUNCTUATION("<", Less)
  PUNCTUATION(">", Greater)
  PUNCTUATION("[", LSquare)
  PUNCTUATION("]", RSquare)
  PUNCTUATION("{", LBrace)
  PUNCTUATION("}", RBrace)
  PUNCTUATION("=", Equal)
  PUNCTUATION("?", Question)
  PUNCTUATION("+", Plus)
  PUNCTUATION("-", Minus)
  PUNCTUATION("*", Star)
  PUNCTUATION("/", Slash)
  PUNCTUATION("|", VerticalBar)
  PUNCTUATION("...", Ellipsis)
#undef PUNCTUATION
  return succeeded(optional ? parser.parseOptionalKeyword(token) : parser.parseKeyword(token));
}

bool mlirExtParserParseToken(MlirExtParser parser, const char *token) {
  return parseToken(parserOf(parser), token, /*optional=*/false);
}

bool mlirExtParserParseOptionalToken(MlirExtParser parser, const char *token) {
  return parseToken(parserOf(parser), token, /*optional=*/true);
}

bool mlirExtParserParseKeyword(MlirExtParser parser, MlirStringRef *keyword) {
  StringRef text;
  return give(parserOf(parser).parseKeyword(&text), text, keyword);
}

MlirExtParseResult mlirExtParserParseOptionalKeyword(MlirExtParser parser, MlirStringRef *keyword) {
  StringRef text;
  return give(parserOf(parser).parseOptionalKeyword(&text), text, keyword) ? MlirExtParse_Present : MlirExtParse_Absent;
}

bool mlirExtParserParseKeywordOrString(MlirExtParser parser, MlirStringRef *text) {
  std::string parsed;
  if (parserOf(parser).parseKeywordOrString(&parsed))
    return false;
  *text = wrap(StringAttr::get(parserOf(parser).getContext(), parsed).getValue());
  return true;
}

bool mlirExtParserParseInteger(MlirExtParser parser, int64_t *value) {
  return succeeded(parserOf(parser).parseInteger(*value));
}

MlirExtParseResult mlirExtParserParseOptionalInteger(MlirExtParser parser, int64_t *value) {
  return wrap(parserOf(parser).parseOptionalInteger(*value));
}

bool mlirExtParserParseDimensions(MlirExtParser parser, bool allowDynamic, intptr_t capacity, int64_t *sizes,
                                  intptr_t *count) {
  SmallVector<int64_t> parsed;
  SMLoc location = parserOf(parser).getCurrentLocation();
  if (parserOf(parser).parseDimensionList(parsed, allowDynamic, /*withTrailingX=*/true))
    return false;
  *count = parsed.size();
  if (*count > capacity)
    return parserOf(parser).emitError(location, "at most ") << capacity << " dimensions are allowed", false;
  llvm::copy(parsed, sizes);
  return true;
}

//===--- parser: types and attributes ---------------------------------------===//
bool mlirExtParserParseType(MlirExtParser parser, MlirType *type) {
  Type parsed;
  return give(parserOf(parser).parseType(parsed), parsed, type);
}

MlirExtParseResult mlirExtParserParseOptionalType(MlirExtParser parser, MlirType *type) {
  Type parsed;
  OptionalParseResult result = parserOf(parser).parseOptionalType(parsed);
  return give(result, parsed, type);
}

bool mlirExtParserParseAttribute(MlirExtParser parser, MlirType typeOrNull, MlirAttribute *attribute) {
  Attribute parsed;
  return give(parserOf(parser).parseAttribute(parsed, unwrap(typeOrNull)), parsed, attribute);
}

MlirExtParseResult mlirExtParserParseOptionalAttribute(MlirExtParser parser, MlirType typeOrNull,
                                                       MlirAttribute *attribute) {
  Attribute parsed;
  OptionalParseResult result = parserOf(parser).parseOptionalAttribute(parsed, unwrap(typeOrNull));
  return give(result, parsed, attribute);
}

bool mlirExtParserParseSymbolName(MlirExtParser parser, MlirAttribute *stringAttribute) {
  StringAttr parsed;
  return give(parserOf(parser).parseSymbolName(parsed), Attribute(parsed), stringAttribute);
}

//===--- parser: operations -------------------------------------------------===//
bool mlirExtParserParseAttributeDictionary(MlirExtParser parser, MlirExtOpState state, bool withKeyword) {
  NamedAttrList &attributes = stateOf(state).attributes;
  return succeeded(withKeyword ? opParserOf(parser).parseOptionalAttrDictWithKeyword(attributes)
                               : opParserOf(parser).parseOptionalAttrDict(attributes));
}

bool mlirExtParserParseOperand(MlirExtParser parser, MlirExtOperand *operand) {
  OpAsmParser::UnresolvedOperand parsed;
  return give(opParserOf(parser).parseOperand(parsed), parsed, operand);
}

MlirExtParseResult mlirExtParserParseOptionalOperand(MlirExtParser parser, MlirExtOperand *operand) {
  OpAsmParser::UnresolvedOperand parsed;
  OptionalParseResult result = opParserOf(parser).parseOptionalOperand(parsed);
  return give(result, parsed, operand);
}

bool mlirExtParserResolveOperand(MlirExtParser parser, MlirExtOpState state, MlirExtOperand operand, MlirType type) {
  return succeeded(opParserOf(parser).resolveOperand(unwrap(operand), unwrap(type), stateOf(state).operands));
}

bool mlirExtParserParseRegion(MlirExtParser parser, MlirExtOpState state, intptr_t count,
                              const MlirExtOperand *arguments, const MlirType *types, bool shadow) {
  SmallVector<OpAsmParser::Argument> parsed(count);
  for (intptr_t i = 0; i < count; ++i) {
    parsed[i].ssaName = unwrap(arguments[i]);
    parsed[i].type = unwrap(types[i]);
  }
  return succeeded(opParserOf(parser).parseRegion(*stateOf(state).addRegion(), parsed, shadow));
}

MlirExtParseResult mlirExtParserParseOptionalRegion(MlirExtParser parser, MlirExtOpState state) {
  auto region = std::make_unique<Region>();
  MlirExtParseResult result = wrap(opParserOf(parser).parseOptionalRegion(*region));
  if (result == MlirExtParse_Present)
    stateOf(state).addRegion(std::move(region));
  return result;
}

bool mlirExtParserParseFunction(MlirExtParser parser, MlirExtOpState state) {
  Builder &builder = opParserOf(parser).getBuilder();
  auto makeType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                     function_interface_impl::VariadicFlag,
                     std::string &) { return builder.getFunctionType(arguments, results); };
  return succeeded(function_interface_impl::parseFunctionOp(
      opParserOf(parser), stateOf(state), /*allowVariadic=*/false, builder.getStringAttr("function_type"), makeType,
      builder.getStringAttr("arg_attrs"), builder.getStringAttr("res_attrs")));
}

//===--- operation state ----------------------------------------------------===//
void mlirExtOpStateAddAttribute(MlirExtOpState state, const char *name, MlirAttribute attribute) {
  OperationState &op = stateOf(state);
  for (StringAttr known : op.name.getAttributeNames()) // spares uniquing the name
    if (known.getValue() == name) {
      op.attributes.set(known, unwrap(attribute));
      return;
    }
  op.attributes.set(name, unwrap(attribute));
}
MlirAttribute mlirExtOpStateGetAttribute(MlirExtOpState state, const char *name) {
  return wrap(stateOf(state).attributes.get(name));
}
void mlirExtOpStateAddType(MlirExtOpState state, MlirType type) { stateOf(state).addTypes(unwrap(type)); }
MlirExtTypeList mlirExtOpStateGetTypes(MlirExtOpState state) {
  return {static_cast<SmallVectorImpl<Type> *>(&stateOf(state).types)};
}
void mlirExtOpStateAddEmptyRegion(MlirExtOpState state) { stateOf(state).addRegion(); }
intptr_t mlirExtOpStateGetNumOperands(MlirExtOpState state) { return stateOf(state).operands.size(); }
MlirValue mlirExtOpStateGetOperand(MlirExtOpState state, intptr_t index) {
  return wrap(stateOf(state).operands[index]);
}
intptr_t mlirExtOpStateGetNumRegions(MlirExtOpState state) { return stateOf(state).regions.size(); }
MlirRegion mlirExtOpStateGetRegion(MlirExtOpState state, intptr_t index) {
  return wrap(stateOf(state).regions[index].get());
}

void mlirExtOpStateEnsureTerminator(MlirExtParser parser, MlirExtOpState state, intptr_t index, const char *name) {
  mlir::impl::ensureRegionTerminator(
      *stateOf(state).regions[index], opParserOf(parser).getBuilder(), stateOf(state).location,
      [name](OpBuilder &, Location location) { return Operation::create(OperationState(location, name)); });
}

//===--- printer ------------------------------------------------------------===//
void mlirExtPrinterPrint(MlirExtPrinter printer, MlirStringRef text) { printerOf(printer).getStream() << unwrap(text); }
void mlirExtPrinterPrintInteger(MlirExtPrinter printer, int64_t value) { printerOf(printer).getStream() << value; }
void mlirExtPrinterPrintString(MlirExtPrinter printer, MlirStringRef text) {
  printerOf(printer).printString(unwrap(text));
}
void mlirExtPrinterPrintType(MlirExtPrinter printer, MlirType type) { printerOf(printer).printType(unwrap(type)); }
void mlirExtPrinterPrintAttribute(MlirExtPrinter printer, MlirAttribute attribute) {
  printerOf(printer).printAttribute(unwrap(attribute));
}
void mlirExtPrinterPrintAttributeWithoutType(MlirExtPrinter printer, MlirAttribute attribute) {
  printerOf(printer).printAttributeWithoutType(unwrap(attribute));
}
void mlirExtPrinterPrintSymbolName(MlirExtPrinter printer, MlirStringRef name) {
  printerOf(printer).printSymbolName(unwrap(name));
}
void mlirExtPrinterPrintOperand(MlirExtPrinter printer, MlirValue value) {
  opPrinterOf(printer).printOperand(unwrap(value));
}
void mlirExtPrinterPrintRegion(MlirExtPrinter printer, MlirRegion region, bool entryArguments, bool terminators) {
  opPrinterOf(printer).printRegion(*unwrap(region), entryArguments, terminators);
}
void mlirExtPrinterShadowRegionArguments(MlirExtPrinter printer, MlirRegion region, intptr_t count,
                                         const MlirValue *values) {
  opPrinterOf(printer).shadowRegionArgs(*unwrap(region), unwrapAll(count, values));
}

void mlirExtPrinterPrintAttributeDictionary(MlirExtPrinter printer, MlirOperation op, intptr_t elidedCount,
                                            const char *const *elided, bool withKeyword) {
  ArrayRef<NamedAttribute> attributes = unwrap(op)->getAttrDictionary().getValue();
  SmallVector<StringRef> names(elided, elided + elidedCount);
  withKeyword ? opPrinterOf(printer).printOptionalAttrDictWithKeyword(attributes, names)
              : opPrinterOf(printer).printOptionalAttrDict(attributes, names);
}

void mlirExtPrinterPrintFunction(MlirExtPrinter printer, MlirOperation op) {
  printFunction(unwrap(op), opPrinterOf(printer));
}
void mlirExtPrinterNewline(MlirExtPrinter printer) { printerOf(printer).printNewline(); }

MlirModule mlirExtModuleParse(MlirContext context, MlirStringRef source, MlirStringRef name) {
  ParserConfig config(::unwrap(context));
  return ::wrap(parseSourceString<ModuleOp>(::unwrap(source), config, ::unwrap(name)).release());
}
