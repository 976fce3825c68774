# Included by tests/CMakeLists.txt: paths are from there.

# The executor's suite; needs a C++ compiler when it runs. Then the cases of cases.txt, a test for each group.
trapeze_add_test_program(test_simt backend/cuda/simt/main.c)
add_dependencies(test_simt ${plugins} ${test_plugins})
foreach(part 1 2)
    trapeze_add_test(backend/cuda/simt families_${part} test_simt --part ${part},2)
endforeach()
# Cases of a file, a test for each group, labelled with a room.
function(trapeze_add_cases room file)
    file(STRINGS ${file} groups REGEX "^\\[")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    foreach(group IN LISTS groups)
        string(REGEX REPLACE "[][]" "" group ${group})
        trapeze_add_test(${room} ${group} test_simt --cases ${CMAKE_CURRENT_SOURCE_DIR}/${file} --group ${group}
            --plugins ${PROJECT_BINARY_DIR}/plugins --plugins ${PROJECT_BINARY_DIR}/test-plugins
            --plugins ${PROJECT_BINARY_DIR}/defined-plugins)
        set_property(TEST ${room}/${group} PROPERTY LABELS ${room} release)
    endforeach()
endfunction()
trapeze_add_cases(backend/cuda/simt backend/cuda/simt/cases.txt)
if(TRAPEZE_PAPERS)
    trapeze_add_cases(papers papers/cases.txt)
endif()

# Stand-ins for the driver, NVRTC, NVML and cuFFT (fake/fake.h), found first: no GPU and no toolkit needed.
set(fakes ${PROJECT_BINARY_DIR}/test-fakes)
function(trapeze_add_fake name suffix)
    add_library(fake_${name} MODULE ${ARGN})
    if(name STREQUAL nvrtc) # it is opened by trapeze-compile
        trapeze_flags_without_sanitizers(fake_${name})
    else()
        target_link_libraries(fake_${name} PRIVATE trapeze_flags Threads::Threads)
    endif()
    set_target_properties(fake_${name} PROPERTIES PREFIX lib OUTPUT_NAME ${name} SUFFIX ${suffix}
        LIBRARY_OUTPUT_DIRECTORY ${fakes})
endfunction()
trapeze_add_fake(cuda .so.1 backend/cuda/fake/fake_cuda.c backend/cuda/fake/fake_kernels.c
    backend/cuda/fake/fake_memory.c backend/cuda/fake/fake_shared.c)
trapeze_add_fake(nvrtc .so.13 backend/cuda/fake/fake_nvrtc.c)
trapeze_add_fake(nvidia-ml .so.1 backend/cuda/fake/fake_nvml.c)
trapeze_add_fake(cufft .so.12 backend/cuda/fake/fake_cufft.c)
target_link_libraries(fake_cufft PRIVATE ${CMAKE_DL_LIBS} m)

foreach(program tests_backend_cuda tests_calibrate contract release-tests)
    add_dependencies(${program} fake_cuda fake_nvrtc fake_nvidia-ml fake_cufft)
endforeach()
trapeze_add_test(cli cuda_cli sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/run_cuda_cli_tests.sh $<TARGET_FILE:trapeze>)
set_tests_properties(backend/cuda/test_cuda_driver backend/cuda/test_cuda_kernels backend/cuda/test_cuda_compilers backend/cuda/test_cuda_asynchronous
    backend/cuda/test_cuda_slabs backend/cuda/test_cuda_streamed backend/cuda/test_cuda_jump
    backend/cuda/test_cuda_handed backend/cuda/test_cuda_half backend/cuda/test_cuda_frame cli/cuda_cli PROPERTIES ENVIRONMENT_MODIFICATION LD_LIBRARY_PATH=path_list_prepend:${fakes})

# Plans of one test are compiled once.
set_property(TEST predict/test_device_scaled APPEND PROPERTY ENVIRONMENT TRAPEZE_CACHE=${PROJECT_BINARY_DIR}/test-cache)

# These compile kernels, and leave nothing in the user's cache.
set_property(TEST backend/cuda/test_cuda_compile backend/cuda/test_cuda_reduce backend/cuda/test_cuda_update
    backend/cuda/test_cuda_work backend/cuda/test_cuda_every_stencil
    calibrate/test_cuda_calibrate APPEND PROPERTY ENVIRONMENT TRAPEZE_CACHE=)

if(TRAPEZE_PAPERS)
    add_dependencies(tests_papers fake_cuda fake_nvrtc fake_nvidia-ml fake_cufft)
    set_tests_properties(papers/test_papers_cuda papers/test_papers_costs PROPERTIES
        ENVIRONMENT_MODIFICATION LD_LIBRARY_PATH=path_list_prepend:${fakes})
    set_property(TEST papers/test_papers_cost_kernels papers/test_papers_families APPEND PROPERTY ENVIRONMENT TRAPEZE_CACHE=)
endif()
