# Writes OUTPUT, a C file with the text of each of FILES (a ;-list, sorted) as an array. See lib/machine/embedded.h.
# Run as a script: cmake -DOUTPUT=… "-DFILES=…" -P EmbedMachines.cmake. Bytes, so that no character needs escaping.
set(arrays "")
set(rows "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE "\\.machine$" "" name ${name})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  # The last byte gives an empty file a legal array; it is not counted.
  string(APPEND arrays "static const unsigned char machine${number}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", machine${number}, sizeof machine${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"lib/machine/embedded.h\"\n\n${arrays}
const TileEmbeddedMachine tileEmbeddedMachines[] = {\n${rows}};
const size_t tileEmbeddedMachineCount = ${number};\n")
