# `cmake --install` gives headers, libraries and a package file: find_package(lamella) → lamella::lamella.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
