# Installs the scenarios, examples, pages and the CMake package for authors of plugins and programs. Everything is found relative to
# the prefix, so an installed tree can be moved.
include(CMakePackageConfigHelpers)

set(TRAPEZE_SHARE ${CMAKE_INSTALL_DATADIR}/trapeze)
set(TRAPEZE_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/Trapeze)

# Scenarios with their inputs; the shell scripts are for the source tree only.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/ DESTINATION ${TRAPEZE_SHARE}/scripts
    PATTERN "*.sh" EXCLUDE)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${TRAPEZE_SHARE} PATTERN heat EXCLUDE PATTERN c EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/heat ${PROJECT_SOURCE_DIR}/examples/c DESTINATION ${TRAPEZE_SHARE}/examples COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(TRAPEZE_LIBRARY ${CMAKE_INSTALL_LIBDIR}/libtrapeze.so)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TrapezeConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/TrapezeConfig.cmake
    INSTALL_DESTINATION ${TRAPEZE_PACKAGE}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR TRAPEZE_LIBRARY)
# The same for the build tree, which plugins may be built against, too.
block()
    set(CMAKE_INSTALL_INCLUDEDIR ${CMAKE_CURRENT_LIST_DIR}/include)
    set(CMAKE_INSTALL_BINDIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    set(TRAPEZE_LIBRARY ${CMAKE_BINARY_DIR}/lib/libtrapeze.so)
    configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TrapezeConfig.cmake.in
        ${PROJECT_BINARY_DIR}/TrapezeConfig.cmake
        INSTALL_DESTINATION ${PROJECT_BINARY_DIR} INSTALL_PREFIX ${PROJECT_BINARY_DIR}
        PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR TRAPEZE_LIBRARY)
    configure_file(${PROJECT_SOURCE_DIR}/plugins/TrapezePlugin.cmake ${PROJECT_BINARY_DIR} COPYONLY)
endblock()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/TrapezeConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/package/TrapezeConfig.cmake
    ${PROJECT_BINARY_DIR}/package/TrapezeConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/plugins/TrapezePlugin.cmake
    DESTINATION ${TRAPEZE_PACKAGE} COMPONENT dev)
configure_file(${CMAKE_CURRENT_LIST_DIR}/library/trapeze.pc.in ${PROJECT_BINARY_DIR}/package/trapeze.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/trapeze.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig COMPONENT dev)

# The Python package, which finds libtrapeze.so in the lib/ that it lies in.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/trapeze DESTINATION ${CMAKE_INSTALL_LIBDIR}/python3/dist-packages COMPONENT python
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN __pycache__ EXCLUDE)

# The page of man(1) and the completions of shells are written by the program that is installed.
install(CODE [[
    set(folder ${CMAKE_INSTALL_PREFIX})
    if(NOT "$ENV{DESTDIR}" STREQUAL "")
        set(folder $ENV{DESTDIR}${folder})
    endif()
    function(write path)
        get_filename_component(into ${folder}/${path} DIRECTORY)
        file(MAKE_DIRECTORY ${into})
        execute_process(COMMAND $<TARGET_PROPERTY:trapeze,CROSSCOMPILING_EMULATOR> $<TARGET_FILE:trapeze> manual ${ARGN} OUTPUT_FILE ${folder}/${path}
            COMMAND_ERROR_IS_FATAL ANY)
    endfunction()
    write(share/man/man1/trapeze.1 --man)
    write(share/bash-completion/completions/trapeze --completion bash)
    write(share/zsh/site-functions/_trapeze --completion zsh)
    write(share/fish/vendor_completions.d/trapeze.fish --completion fish)
]])
