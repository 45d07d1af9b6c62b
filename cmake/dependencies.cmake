# The libraries that Lamella stands on; docs/architecture.md says why each.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
find_path(BLOSC_INCLUDE_DIR blosc.h REQUIRED)
find_library(BLOSC_LIBRARY blosc REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)

add_library(lamella_json INTERFACE)
target_link_libraries(lamella_json INTERFACE nlohmann_json::nlohmann_json)

add_library(lamella_deflate INTERFACE)
target_link_libraries(lamella_deflate INTERFACE PkgConfig::DEFLATE PkgConfig::ZLIB)

add_library(lamella_codecs INTERFACE)
target_include_directories(lamella_codecs INTERFACE ${BLOSC_INCLUDE_DIR})
target_link_libraries(lamella_codecs INTERFACE lamella_deflate PkgConfig::ZSTD PkgConfig::LZ4 ${BLOSC_LIBRARY})
