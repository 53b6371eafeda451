# What tile-run and tile-exec share: lib/run, between the runtime and the tools. What compiles programs to run them
# besides: lib/execution, which needs the runtime and is therefore no part of libtessera.
file(GLOB run_sources CONFIGURE_DEPENDS lib/run/*.c)
file(GLOB execution_sources CONFIGURE_DEPENDS lib/execution/*.c)
add_library(execution OBJECT ${execution_sources} ${run_sources})
add_dependencies(execution tessera) # the generated headers come first

# libtessera-execution.so: the same and the runtime for a host that runs programs in its own process (python/tessera).
add_library(tessera-execution SHARED $<TARGET_OBJECTS:execution>)
target_link_libraries(tessera-execution PRIVATE tessera -Wl,--whole-archive tessera-runtime -Wl,--no-whole-archive m)
target_link_options(tessera-execution PRIVATE -Wl,-Bsymbolic-functions
                    -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libtessera-execution.map)
set_target_properties(tessera-execution PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE C LINK_DEPENDS
                      ${CMAKE_SOURCE_DIR}/cmake/libtessera-execution.map)

file(GLOB support_sources CONFIGURE_DEPENDS lib/support/*.c lib/support/npy/*.c)

# Every tools/NAME/main.c (with whatever lies beside it) is an executable NAME linked to libtessera; tile-exec, which runs
# where there is no MLIR, has lib/support inside instead, and tessera-codegen, which LLVM may end, links LLVM only.
file(GLOB tool_mains CONFIGURE_DEPENDS tools/*/main.c)
foreach(main ${tool_mains})
  get_filename_component(folder ${main} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
  add_executable(${name} ${sources})
  if(name STREQUAL "tile-exec")
    target_sources(${name} PRIVATE ${support_sources})
    target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS} -Wl,--no-as-needed m -Wl,--as-needed) # programs may call libm
    target_link_options(${name} PRIVATE $<$<CONFIG:Release>:-s>)
  elseif(name STREQUAL "tessera-codegen")
    target_link_libraries(${name} PRIVATE LLVM)
  else()
    target_link_libraries(${name} PRIVATE tessera)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  list(APPEND TESSERA_TOOLS ${name})
  # What runs programs holds all of the runtime and shows it to the code it compiles.
  if(name MATCHES "^tile-(run|opt)$")
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:execution>)
  elseif(name STREQUAL "tile-exec")
    target_sources(${name} PRIVATE ${run_sources})
  endif()
  if(name MATCHES "^tile-(run|exec|opt)$")
    target_link_libraries(${name} PRIVATE -Wl,--whole-archive tessera-runtime -Wl,--no-whole-archive)
    set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  endif()
endforeach()

# The Python of tile-bench and the tests: ./dev passes its .venv; a build by hand takes that if it is there, else any python3.
if(NOT TESSERA_PYTHON AND EXISTS ${CMAKE_SOURCE_DIR}/.venv/bin/python)
  set(TESSERA_PYTHON ${CMAKE_SOURCE_DIR}/.venv/bin/python CACHE FILEPATH "Python that runs tile-bench and the tests")
endif()
find_program(TESSERA_PYTHON python3 DOC "Python that runs tile-bench and the tests" REQUIRED)
# tile-bench runs peers that are Python's, so it is Python itself, and tile-compare only runs tools; scripts stand beside
# the other tools.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
foreach(name tile-bench tile-compare)
  configure_file(tools/${name}/${name}.in ${CMAKE_BINARY_DIR}/bin/${name} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
