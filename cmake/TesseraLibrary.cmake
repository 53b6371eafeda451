# libtessera.so: dialects and all of lib/ but the runtime. libtessera-runtime: what compiled programs call.
set(COMPILER_ROOMS support layout machine capi ir analysis transforms conversion search target pipelines jit interpreter)
foreach(room ${COMPILER_ROOMS})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS lib/${room}/*.c lib/${room}/*.cpp)
  list(APPEND COMPILER_SOURCES ${files})
endforeach()
file(GLOB_RECURSE files CONFIGURE_DEPENDS dialects/*.c)
list(APPEND COMPILER_SOURCES ${files})

# The machine files become part of the library: edit one and the next build has it.
file(GLOB machine_files CONFIGURE_DEPENDS lib/machine/*.machine)
set(embedded_machines ${CMAKE_BINARY_DIR}/generated/embedded_machines.c)
add_custom_command(OUTPUT ${embedded_machines} VERBATIM
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded_machines} "-DFILES=${machine_files}"
          -P ${CMAKE_SOURCE_DIR}/cmake/EmbedMachines.cmake
  DEPENDS ${machine_files} cmake/EmbedMachines.cmake)
list(APPEND COMPILER_SOURCES ${embedded_machines})

# The C API archives are taken as files: linking their CMake targets would drag in the static MLIR archives,
# a second copy of every TypeID beside libMLIR.so.
get_property(capi_targets GLOBAL PROPERTY MLIR_UPSTREAM_CAPI_LIBS)
foreach(target ${capi_targets})
  list(APPEND CAPI_ARCHIVES $<TARGET_FILE:${target}>)
endforeach()

if(COMPILER_SOURCES)
  add_library(tessera SHARED ${COMPILER_SOURCES})
  set_target_properties(tessera PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0)
  target_link_libraries(tessera PRIVATE -Wl,--whole-archive ${CAPI_ARCHIVES} -Wl,--no-whole-archive MLIR LLVM m)
endif()

file(GLOB_RECURSE RUNTIME_SOURCES CONFIGURE_DEPENDS lib/runtime/*.c)
if(RUNTIME_SOURCES)
  add_library(tessera-runtime STATIC ${RUNTIME_SOURCES})
  target_link_libraries(tessera-runtime PUBLIC pthread m)
endif()
