# `cmake --install` gives headers, libraries and a package file: find_package(lamella) → lamella::lamella.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The whole of Lamella in one name; the layers have theirs, lamella::base … lamella::anndata.
add_library(lamella_whole INTERFACE)
target_link_libraries(lamella_whole INTERFACE ${LAMELLA_LAYERS})
target_compile_features(lamella_whole INTERFACE cxx_std_20)
set_target_properties(lamella_whole PROPERTIES EXPORT_NAME lamella)
add_library(lamella::lamella ALIAS lamella_whole)

foreach(layer IN LISTS LAMELLA_LAYERS)
  string(REPLACE "lamella_" "" name ${layer})
  set_target_properties(${layer} PROPERTIES EXPORT_NAME ${name})
endforeach()

set(LAMELLA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lamella)
install(TARGETS lamella_whole ${LAMELLA_LAYERS} lamella_json lamella_deflate lamella_codecs EXPORT lamella
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lamella FILES_MATCHING PATTERN "*.h"
        PATTERN "python" EXCLUDE PATTERN "cli" EXCLUDE)
install(EXPORT lamella NAMESPACE lamella:: FILE lamellaTargets.cmake DESTINATION ${LAMELLA_PACKAGE_DIR})
configure_package_config_file(cmake/lamellaConfig.cmake.in ${PROJECT_BINARY_DIR}/lamellaConfig.cmake
                              INSTALL_DESTINATION ${LAMELLA_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lamellaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lamellaConfig.cmake ${PROJECT_BINARY_DIR}/lamellaConfigVersion.cmake
        DESTINATION ${LAMELLA_PACKAGE_DIR})
