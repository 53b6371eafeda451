# cmake --install: tools, both libraries, the public headers, a CMake package and pkg-config files.
# A program outside the tree writes find_package(Tessera) and links tessera::tessera, or asks pkg-config for tessera;
# headers keep their paths (#include "lib/ir/builder.h"), under include/tessera. Held by test/capi/install.test.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(TESSERA_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/tessera)
set(TESSERA_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)

# Public: every header and op table that speaks C. What includes C++ headers is the shim's own business.
file(GLOB_RECURSE headers RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS
     lib/support/*.h lib/support/npy/*.h lib/layout/*.h lib/machine/*.h lib/machine/*.def lib/search/*.h lib/search/*.def
     lib/capi/*.h lib/ir/*.h lib/analysis/*.h lib/pipelines/*.h
     lib/runtime/*.h lib/execution/program.h dialects/*.h dialects/*.def)
foreach(header ${headers})
  file(STRINGS ${header} cplusplus REGEX "^ *# *include *[\"<](mlir|llvm)/" LIMIT_COUNT 1)
  get_filename_component(folder ${header} DIRECTORY)
  if(NOT cplusplus)
    install(FILES ${header} DESTINATION ${TESSERA_HEADERS}/${folder})
  endif()
endforeach()
install(DIRECTORY ${CMAKE_BINARY_DIR}/generated/ DESTINATION ${TESSERA_HEADERS} FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
        PATTERN "*.def" PATTERN "test" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The libraries find each other and Debian's libMLIR where they lie, from any prefix.
foreach(target tessera tessera-runtime tessera-execution ${TESSERA_TOOLS})
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
                                               INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${target} EXPORT TesseraTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
if(TARGET tessera)
  target_include_directories(tessera INTERFACE $<INSTALL_INTERFACE:${TESSERA_HEADERS}>)
endif()
if(TARGET tessera-runtime)
  target_include_directories(tessera-runtime INTERFACE $<INSTALL_INTERFACE:${TESSERA_HEADERS}>)
endif()

if(TARGET tessera AND TARGET tessera-runtime)
  install(EXPORT TesseraTargets NAMESPACE tessera:: DESTINATION ${TESSERA_PACKAGE})
  list(GET MLIR_INCLUDE_DIRS 0 TESSERA_MLIR_INCLUDE_DIR)
  configure_package_config_file(cmake/TesseraConfig.cmake.in TesseraConfig.cmake INSTALL_DESTINATION ${TESSERA_PACKAGE})
  write_basic_package_version_file(TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/TesseraConfig.cmake ${CMAKE_BINARY_DIR}/TesseraConfigVersion.cmake
          DESTINATION ${TESSERA_PACKAGE})
  # The .pc files tell the prefix from their own place, so an installed tree may be moved.
  file(RELATIVE_PATH TESSERA_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  foreach(name tessera tessera-runtime)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
endif()
