# Warnings, sanitizers and include paths shared by every target.
option(TESSERA_WERROR "Treat warnings in C as errors" ON)
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

add_link_options(-fuse-ld=lld) # a tenth of GNU ld's time against libMLIR
set(CMAKE_LINK_DEPENDS_NO_SHARED ON) # a new libtessera does not link its hundred users again

include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
add_compile_definitions(_GNU_SOURCE)

set(TESSERA_C_FLAGS -Wall -Wextra -Wno-missing-field-initializers -Wno-unused-parameter)
if(TESSERA_WERROR)
  list(APPEND TESSERA_C_FLAGS -Werror)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C>:${TESSERA_C_FLAGS}>")
# NDEBUG in every build type: without it Pass::Statistic has another size than in Debian's library.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-DNDEBUG;-fno-exceptions>")
if(TESSERA_SANITIZE)
  add_compile_options(-fsanitize=${TESSERA_SANITIZE} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${TESSERA_SANITIZE})
  # That check reads the word ahead of a function. Code of the JIT has none, and may begin a page that follows nothing.
  if(TESSERA_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=function)
  endif()
endif()

# The commit, for the manifests of --stats; a new one configures again.
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --path-format=absolute --git-path logs/HEAD
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit)
    set_source_files_properties(${CMAKE_SOURCE_DIR}/lib/support/version.c PROPERTIES
      COMPILE_DEFINITIONS "TESSERA_COMMIT=\"${commit}\"")
  endif()
  if(EXISTS "${log}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
  endif()
endif()
