# Writes OUTPUT, a C file with the text of each of FILES (a ;-list, sorted) as the table TABLE, which HEADER declares
# (lib/machine/embedded_text.h). Run as a script: cmake -DOUTPUT=… "-DFILES=…" -DHEADER=… -DTABLE=… -P EmbedTexts.cmake.
# Bytes, so that no character needs escaping.
set(arrays "")
set(rows "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  # The last byte gives an empty file a legal array; it is not counted.
  string(APPEND arrays "static const unsigned char text${number}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", text${number}, sizeof text${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\n${arrays}
const TileEmbeddedText ${TABLE}[] = {\n${rows}};
const size_t ${TABLE}Count = ${number};\n")
