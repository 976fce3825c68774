# trapeze_add_plugin(NAME SOURCE...): a stencil plugin as a loadable module NAME.so.
#
# Plugins need these options. Without contraction, CPU and GPU results have the same bits. With -O3, compilers
# vectorise row functions. A text is compiled for each precision and instruction set: the first error is enough, and it
# is about the text, not about the macros of <trapeze/rows.h>.
set_property(GLOBAL PROPERTY TRAPEZE_PLUGIN_OPTIONS -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall -Wextra
    -Wdouble-promotion -Wfatal-errors)

function(trapeze_add_plugin name)
    add_library(${name} MODULE ${ARGN})
    # The headers' macros are not a system's: warnings in them are about the plugin.
    set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" C_STANDARD 17
        C_EXTENSIONS ON C_VISIBILITY_PRESET hidden NO_SYSTEM_FROM_IMPORTED ON)
    get_property(options GLOBAL PROPERTY TRAPEZE_PLUGIN_OPTIONS)
    target_compile_options(${name} PRIVATE ${options} $<$<C_COMPILER_ID:GNU>:-ftrack-macro-expansion=0>
        $<$<C_COMPILER_ID:Clang>:-fmacro-backtrace-limit=1> $<$<NOT:$<CONFIG:Debug>>:-O3>)
    # Cell updates are included, and embedded as text (.incbin), both found relative to the plugin's source.
    foreach(source IN LISTS ARGN)
        get_filename_component(folder "${source}" DIRECTORY)
        get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
        target_compile_options(${name} PRIVATE "-Wa,-I${folder}")
        target_include_directories(${name} PRIVATE "${folder}")
    endforeach()
    # A function that does not exist is an error of the build, not of the first run.
    target_link_options(${name} PRIVATE -Wl,-z,defs)
    target_link_libraries(${name} PRIVATE m)
    if(TARGET Trapeze::headers)
        target_link_libraries(${name} PRIVATE Trapeze::headers)
    endif()
    # When the folder's CMakeLists.txt has been read, all options are known.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL trapeze__check_options [[${name}]])")
endfunction()

# Refuses options that change bits.
function(trapeze__check_options name)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
    set(options "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${config}} ${CMAKE_MODULE_LINKER_FLAGS}")
    get_target_property(sources ${name} SOURCES)
    foreach(property COMPILE_OPTIONS COMPILE_FLAGS LINK_OPTIONS)
        get_target_property(more ${name} ${property})
        string(APPEND options " ${more}")
        foreach(source IN LISTS sources)
            get_source_file_property(more ${source} ${property})
            string(APPEND options " ${more}")
        endforeach()
    endforeach()
    string(REGEX MATCH "-Ofast|-ffast-math|-ffp-contract=(fast|on)|-ffp-model=[a-z]+|-funsafe-math-optimizations|\
-ffinite-math-only|-fassociative-math|-freciprocal-math|-fno-signed-zeros|-fsingle-precision-constant|\
-mfpmath=387" bad "${options}")
    if(bad)
        message(FATAL_ERROR "${name}: the option ${bad} changes bits, so that results differ from a GPU's: build "
            "plugins without it")
    endif()
endfunction()
