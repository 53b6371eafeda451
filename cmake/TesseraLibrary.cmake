# libtessera.so: dialects and all of lib/ but the runtime. libtessera-runtime: what compiled programs call.
set(COMPILER_ROOMS support layout machine capi ir analysis transforms conversion search target pipelines jit interpreter
                   emulator import)
foreach(room ${COMPILER_ROOMS})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS lib/${room}/*.c lib/${room}/*.cpp)
  list(APPEND COMPILER_SOURCES ${files})
endforeach()
file(GLOB_RECURSE files CONFIGURE_DEPENDS dialects/*.c)
list(APPEND COMPILER_SOURCES ${files})

# tessera_generate_ops(tile dialects/tile): from FOLDER/ops.def, a generator tessera-opgen-tile, the header
# generated/FOLDER/ops.h (appended to GENERATED_HEADERS) and, for target docs, the page docs/generated/tile.md.
set(OPGEN_SOURCES tools/tessera-opgen/header.c tools/tessera-opgen/attributes.c tools/tessera-opgen/names.c
                  tools/tessera-opgen/output.c tools/tessera-opgen/python.c
                  lib/ir/op_arena.c lib/ir/op_columns.c lib/ir/op_format_text.c)
set(OPGEN_DIALECT_SOURCES tools/tessera-opgen/opgen.c tools/tessera-opgen/page.c tools/tessera-opgen/agree.c
                          ${OPGEN_SOURCES})
add_custom_target(docs)
function(tessera_generate_ops dialect folder)
  set(generator tessera-opgen-${dialect})
  add_executable(${generator} ${OPGEN_DIALECT_SOURCES})
  target_compile_definitions(${generator} PRIVATE OPGEN_DIALECT="${dialect}" OPGEN_ROWS="${folder}/ops.def")
  set(header ${CMAKE_BINARY_DIR}/generated/${folder}/ops.h)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/${folder})
  set(agreement ${CMAKE_BINARY_DIR}/generated/${folder}/agreement.h)
  add_custom_command(OUTPUT ${header} ${agreement} COMMAND ${generator} header ${header}
    COMMAND ${generator} agreement ${agreement} DEPENDS ${generator} VERBATIM)
  set(page ${CMAKE_SOURCE_DIR}/docs/generated/${dialect}.md)
  add_custom_target(docs-${dialect} COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_SOURCE_DIR}/docs/generated
    COMMAND ${generator} page ${page} VERBATIM)
  set(GENERATED_HEADERS ${GENERATED_HEADERS} ${header} PARENT_SCOPE)
endfunction()

file(GLOB tables CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} dialects/*/ops.def dialects/foreign/*/ops.def)
foreach(rows ${tables})
  get_filename_component(folder ${rows} DIRECTORY)
  get_filename_component(dialect ${folder} NAME)
  tessera_generate_ops(${dialect} ${folder})
  add_dependencies(docs docs-${dialect})
endforeach()

# From lib/ir/upstream.def: a header generated/upstream/DIALECT.h per section, and the tables of lib/ir/upstream.c.
add_executable(tessera-opgen-upstream tools/tessera-opgen/opgen_upstream.c ${OPGEN_SOURCES})
file(GLOB sections CONFIGURE_DEPENDS lib/ir/upstream/*.def)
set(UPSTREAM_FOLDER ${CMAKE_BINARY_DIR}/generated/upstream)
file(MAKE_DIRECTORY ${UPSTREAM_FOLDER})
foreach(section ${sections})
  get_filename_component(dialect ${section} NAME_WE)
  list(APPEND UPSTREAM_HEADERS ${UPSTREAM_FOLDER}/${dialect}.h)
endforeach()
add_custom_command(OUTPUT ${UPSTREAM_HEADERS} ${UPSTREAM_FOLDER}/names.inc ${UPSTREAM_FOLDER}/slots.inc
  ${UPSTREAM_FOLDER}/sources.inc
  COMMAND tessera-opgen-upstream ${UPSTREAM_FOLDER} DEPENDS tessera-opgen-upstream VERBATIM)
list(APPEND GENERATED_HEADERS ${UPSTREAM_HEADERS})

# The builders of the Python package, which are kept in the tree: pip install has no compiler. ./dev docs writes them.
set(PYTHON_OPS ${CMAKE_SOURCE_DIR}/python/tessera/_kernel)
add_custom_target(python-ops COMMAND tessera-opgen-tile python ${PYTHON_OPS}/_ops.py
  COMMAND tessera-opgen-upstream python ${PYTHON_OPS}/_upstream.py VERBATIM)
add_dependencies(docs python-ops)
list(APPEND COMPILER_SOURCES ${GENERATED_HEADERS})

# ONNX's schema (lib/import/onnx): nanopb's generator makes its descriptors.
find_package(nanopb REQUIRED CONFIG)
find_program(NANOPB_GENERATOR NAMES nanopb_generator.py nanopb_generator REQUIRED)
set(ONNX_SCHEMA ${CMAKE_BINARY_DIR}/generated/lib/import/onnx)
file(MAKE_DIRECTORY ${ONNX_SCHEMA})
add_custom_command(OUTPUT ${ONNX_SCHEMA}/onnx.pb.c ${ONNX_SCHEMA}/onnx.pb.h VERBATIM
  COMMAND ${NANOPB_GENERATOR} -q -D ${ONNX_SCHEMA} onnx.proto
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/lib/import/onnx
  DEPENDS lib/import/onnx/onnx.proto lib/import/onnx/onnx.options)
list(APPEND COMPILER_SOURCES ${ONNX_SCHEMA}/onnx.pb.c ${ONNX_SCHEMA}/onnx.pb.h)

# Programs of torch.export are zips of JSON (lib/import/torch_export).
find_path(JANSSON_INCLUDE jansson.h REQUIRED)
find_library(JANSSON_LIBRARY jansson REQUIRED)

# Texts that become part of the library (lib/machine/embedded_text.h): edit one and the next build has it.
function(tessera_embed table header)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  set(output ${CMAKE_BINARY_DIR}/generated/${table}.c)
  add_custom_command(OUTPUT ${output} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${files}" -DHEADER=${header} -DTABLE=${table}
            -P ${CMAKE_SOURCE_DIR}/cmake/EmbedTexts.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/EmbedTexts.cmake)
  set(EMBEDDED_TEXTS ${EMBEDDED_TEXTS} ${output} PARENT_SCOPE)
endfunction()
tessera_embed(tileEmbeddedMachines lib/machine/embedded.h lib/machine/*.machine)
tessera_embed(tileRocdlFunctions lib/target/rocdl/embedded.h lib/target/rocdl/*.ll)
tessera_embed(tileSourcePreludes lib/target/source/prelude.h lib/target/source/*.prelude)
tessera_embed(cudaHeaders lib/import/cuda/kernel_language.h lib/import/cuda/*.cuh)
list(APPEND COMPILER_SOURCES ${EMBEDDED_TEXTS})

# Templates of IR (lib/ir/template.h): FOLDER/*.mlir give generated/FOLDER.h; generated/templates.c has all texts.
file(GLOB_RECURSE templates CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} lib/*.mlir)
foreach(template ${templates})
  get_filename_component(folder ${template} DIRECTORY)
  list(APPEND template_headers ${CMAKE_BINARY_DIR}/generated/${folder}.h)
  get_filename_component(folder ${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/${folder})
endforeach()
list(REMOVE_DUPLICATES template_headers)
add_executable(tessera-templates tools/tessera-templates/templates.c)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/generated/templates.c ${template_headers} VERBATIM
  COMMAND tessera-templates ${CMAKE_BINARY_DIR}/generated templates.c ${templates}
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} DEPENDS ${templates} tessera-templates)
list(APPEND COMPILER_SOURCES ${CMAKE_BINARY_DIR}/generated/templates.c ${template_headers})

# The C API archives are taken as files: linking their CMake targets would drag in the static MLIR archives,
# a second copy of every TypeID beside libMLIR.so.
get_property(capi_targets GLOBAL PROPERTY MLIR_UPSTREAM_CAPI_LIBS)
foreach(target ${capi_targets})
  list(APPEND CAPI_ARCHIVES $<TARGET_FILE:${target}>)
endforeach()

if(COMPILER_SOURCES)
  add_library(tessera SHARED ${COMPILER_SOURCES})
  set_target_properties(tessera PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0)
  target_link_libraries(tessera PRIVATE -Wl,--whole-archive ${CAPI_ARCHIVES} -Wl,--no-whole-archive nanopb::protobuf-nanopb-static ${JANSSON_LIBRARY} MLIR LLVM
                        m)
  # As LLVM's own libraries are linked: calls within the library go straight, not through the PLT. --wrap: lib/capi/tool.cpp.
  target_link_options(tessera PRIVATE -Wl,-Bsymbolic-functions -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
                      -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libtessera.map)
  set_property(TARGET tessera APPEND PROPERTY LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libtessera.map)
endif()

file(GLOB_RECURSE RUNTIME_SOURCES CONFIGURE_DEPENDS lib/runtime/*.c lib/support/files/*.c)
if(RUNTIME_SOURCES)
  add_library(tessera-runtime STATIC ${RUNTIME_SOURCES})
  target_link_libraries(tessera-runtime PUBLIC pthread m)
endif()
