# Filled by the packaging step: headers, library, CMake package, pkg-config.
