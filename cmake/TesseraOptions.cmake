# Warnings, sanitizers and include paths shared by every target.
option(TESSERA_WERROR "Treat warnings in C as errors" ON)
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

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
endif()
