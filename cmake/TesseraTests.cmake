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
target_link_libraries(jit_test PRIVATE LLVM) # it parses its modules from text

configure_file(test/lit.site.cfg.py.in test/lit.site.cfg.py @ONLY)

add_custom_target(check-tessera
  COMMAND ${TESSERA_PYTHON} ${LLVM_TOOLS_BINARY_DIR}/lit -sv ${CMAKE_BINARY_DIR}/test
  DEPENDS $<TARGET_NAME_IF_EXISTS:tessera> $<TARGET_NAME_IF_EXISTS:tessera-runtime> ${TESSERA_TOOLS} ${TESSERA_UNIT_TESTS}
  USES_TERMINAL COMMENT "Running the tests")
