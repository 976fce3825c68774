# Installs the scenarios, examples, pages and the CMake package for plugin authors. Everything is found relative to
# the prefix, so an installed tree can be moved.
include(CMakePackageConfigHelpers)

set(TRAPEZE_SHARE ${CMAKE_INSTALL_DATADIR}/trapeze)
set(TRAPEZE_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/Trapeze)

# Scenarios with their inputs; the shell scripts are for the source tree only.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/ DESTINATION ${TRAPEZE_SHARE}/scripts
    PATTERN "*.sh" EXCLUDE)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${TRAPEZE_SHARE})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TrapezeConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/TrapezeConfig.cmake
    INSTALL_DESTINATION ${TRAPEZE_PACKAGE}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
# The same for the build tree, which plugins may be built against, too.
block()
    set(CMAKE_INSTALL_INCLUDEDIR ${CMAKE_CURRENT_LIST_DIR}/include)
    set(CMAKE_INSTALL_BINDIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TrapezeConfig.cmake.in
        ${PROJECT_BINARY_DIR}/TrapezeConfig.cmake
        INSTALL_DESTINATION ${PROJECT_BINARY_DIR} INSTALL_PREFIX ${PROJECT_BINARY_DIR}
        PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
    configure_file(${PROJECT_SOURCE_DIR}/plugins/TrapezePlugin.cmake ${PROJECT_BINARY_DIR} COPYONLY)
endblock()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/TrapezeConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/package/TrapezeConfig.cmake
    ${PROJECT_BINARY_DIR}/package/TrapezeConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/plugins/TrapezePlugin.cmake
    DESTINATION ${TRAPEZE_PACKAGE})
