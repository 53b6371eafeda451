# What tile-run and tile-exec share: lib/run, between the runtime and the tools.
file(GLOB run_sources CONFIGURE_DEPENDS lib/run/*.c)

# Every tools/NAME/main.c (with whatever lies beside it) is an executable NAME linked to libtessera.
file(GLOB tool_mains CONFIGURE_DEPENDS tools/*/main.c)
foreach(main ${tool_mains})
  get_filename_component(folder ${main} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE tessera)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  list(APPEND TESSERA_TOOLS ${name})
  # What runs programs holds all of the runtime and shows it to the code it compiles.
  if(name STREQUAL "tile-run")
    target_sources(${name} PRIVATE ${run_sources})
    target_link_libraries(${name} PRIVATE -Wl,--whole-archive tessera-runtime -Wl,--no-whole-archive)
    set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  endif()
endforeach()
