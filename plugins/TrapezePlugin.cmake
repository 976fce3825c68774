# trapeze_add_plugin(NAME SOURCE...): a stencil plugin as a loadable module NAME.so.
#
# Plugins need these flags. Without contraction, CPU and GPU results have the same bits. With -O3, compilers
# vectorise row functions.
set(TRAPEZE_PLUGIN_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall -Wextra)
function(trapeze_add_plugin name)
    add_library(${name} MODULE ${ARGN})
    set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" C_STANDARD 17
        C_EXTENSIONS ON C_VISIBILITY_PRESET hidden)
    target_compile_options(${name} PRIVATE ${TRAPEZE_PLUGIN_FLAGS} $<$<NOT:$<CONFIG:Debug>>:-O3>)
    # Cell updates are included, and embedded as text (.incbin), both found relative to the plugin's source.
    foreach(source IN LISTS ARGN)
        get_filename_component(folder "${source}" DIRECTORY)
        get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
        target_compile_options(${name} PRIVATE "-Wa,-I${folder}")
        target_include_directories(${name} PRIVATE "${folder}")
    endforeach()
    target_link_libraries(${name} PRIVATE m)
    if(TARGET Trapeze::headers)
        target_link_libraries(${name} PRIVATE Trapeze::headers)
    endif()
endfunction()
