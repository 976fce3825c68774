# Run by ctest itself: one test per stencil that the plugin folders hold.
set(stencils)
if(EXISTS ${CONTRACT_PROGRAM})
    execute_process(COMMAND ${CONTRACT_PROGRAM} --list ${CONTRACT_FOLDERS}
        OUTPUT_VARIABLE output RESULT_VARIABLE result)
    string(REGEX MATCHALL "[^\n]+" stencils "${output}")
endif()
if(NOT stencils OR NOT result EQUAL 0)
    # Fails and says why, instead of being silently absent.
    add_test(contract ${CONTRACT_PROGRAM} --list ${CONTRACT_FOLDERS})
endif()
foreach(stencil IN LISTS stencils)
    # All sections but device: the tests of backend/cuda compile and run all texts.
    add_test(contract/${stencil} ${CONTRACT_PROGRAM} --stencil ${stencil} --section descriptor --section fields
        --section radius --section identity --section devices --section outputs --section diverge ${CONTRACT_FOLDERS})
    # Every case of stencils of each kind; fewer cases of others that are like them. (ctest has no set_property.)
    set(environment ${CONTRACT_ENVIRONMENT})
    if(NOT stencil MATCHES "^(star2d1r|box2d2r|star3d1r|hotspot|life|pathfinder|poisson|cyclic|mixed1d|mixed3d|\
twofields|integers_2d|redblack|walls_2d|maxwell2d|swirl2d)$")
        list(APPEND environment TZ_CONTRACT=quick)
    endif()
    set_tests_properties(contract/${stencil} PROPERTIES LABELS contract TIMEOUT 600 ENVIRONMENT "${environment}")
endforeach()
