# C unit tests and the target check-tessera, which runs all tests with lit (test/lit.cfg.py says what a test sees).
# Every test/**/NAME_test.c is an executable build/test/bin/NAME_test; a .test file beside it runs it under lit.
# A test may use whatever its room may: it links the sources of pure-C rooms through libtessera and the runtime.
# The dialect `probe` of test/ir goes through the generator too.
set(GENERATED_HEADERS)
tessera_generate_ops(probe test/ir/probe)
file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS test/*_test.c)
foreach(source ${unit_tests})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source} ${GENERATED_HEADERS})
  target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:tessera> $<TARGET_NAME_IF_EXISTS:tessera-runtime> m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/bin)
  list(APPEND TESSERA_UNIT_TESTS ${name})
endforeach()

# Stand-ins for the vendors' libraries, whose kernels run on the emulator, and what records the modules they run
# (test/runtime/standin). device_test runs such modules itself, as the emulator's user.
set(standin ${CMAKE_SOURCE_DIR}/test/runtime/standin)
function(tessera_add_standin name file)
  list(TRANSFORM ARGN PREPEND ${standin}/)
  add_library(${name} MODULE ${ARGN} ${standin}/path.c)
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME ${file} SUFFIX ""
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/standin)
endfunction()
tessera_add_standin(standin_cuda libcuda.so.1 standin.c twin.c)
tessera_add_standin(standin_hip libamdhip64.so standin.c twin.c)
tessera_add_standin(standin_record record.so record.c)
tessera_add_standin(standin_tiles tiles.so tiles.c)
target_link_libraries(standin_tiles PRIVATE m)
list(APPEND TESSERA_UNIT_TESTS standin_cuda standin_hip standin_record standin_tiles)
target_link_libraries(standin_cuda PRIVATE tessera)
target_link_libraries(standin_hip PRIVATE tessera)
target_compile_definitions(standin_hip PRIVATE HIP)
target_sources(device_test PRIVATE ${standin}/twin.c ${standin}/path.c)
target_link_libraries(device_test PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(device_test PROPERTIES ENABLE_EXPORTS ON) # it loads a program
target_link_libraries(program_test PRIVATE tessera-execution)
target_link_libraries(jit_test PRIVATE LLVM) # it parses its modules from text
target_link_libraries(messages_test PRIVATE LLVM)
set_target_properties(messages_test PROPERTIES ENABLE_EXPORTS ON) # its module calls it

# A plugin of passes that are broken on purpose, for --tile-validate-each.
add_library(broken_passes MODULE test/tools/Inputs/validate/broken_passes.c)
target_link_libraries(broken_passes PRIVATE tessera)
set_target_properties(broken_passes PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/bin)
list(APPEND TESSERA_UNIT_TESTS broken_passes)

# The dialect probe as a plugin: ops with effects that no pass knows.
add_library(probe_dialect MODULE test/ir/probe/plugin.c ${GENERATED_HEADERS})
target_link_libraries(probe_dialect PRIVATE tessera)
set_target_properties(probe_dialect PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/bin)
list(APPEND TESSERA_UNIT_TESTS probe_dialect)

configure_file(test/lit.site.cfg.py.in test/lit.site.cfg.py @ONLY)

add_custom_target(check-tessera
  COMMAND ${TESSERA_PYTHON} ${LLVM_TOOLS_BINARY_DIR}/lit -sv ${CMAKE_BINARY_DIR}/test
  DEPENDS $<TARGET_NAME_IF_EXISTS:tessera> $<TARGET_NAME_IF_EXISTS:tessera-runtime> ${TESSERA_TOOLS} ${TESSERA_UNIT_TESTS}
  USES_TERMINAL COMMENT "Running the tests")
