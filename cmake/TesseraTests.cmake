# C unit tests: every test/**/NAME_test.c is an executable build/test/bin/NAME_test; lit runs them (test/lit.cfg.py).
# A test may use whatever its room may: it links the sources of pure-C rooms through libtessera and the runtime.
file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS test/*_test.c)
foreach(source ${unit_tests})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:tessera> $<TARGET_NAME_IF_EXISTS:tessera-runtime> m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/bin)
endforeach()
