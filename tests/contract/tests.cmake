# Included by tests/CMakeLists.txt.
set(contract_folder ${CMAKE_CURRENT_SOURCE_DIR}/contract)

# Fails when it checks nothing. The plugin lies in a folder of its own: other tests must not load it.
trapeze_add_plugin(refusing ${contract_folder}/refusing/refusing.c)
target_include_directories(refusing PRIVATE ${PROJECT_SOURCE_DIR}/core/include)
target_link_libraries(refusing PRIVATE trapeze_flags)
set_target_properties(refusing PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/refusing-plugins)
trapeze_add_test(contract refusals sh ${contract_folder}/run_refusal_tests.sh $<TARGET_FILE:contract>
    ${PROJECT_BINARY_DIR}/plugins ${PROJECT_BINARY_DIR}/refusing-plugins ${PROJECT_BINARY_DIR}/test-fakes)

foreach(stencil augmented2d shared2d shared3d)
    trapeze_add_test(contract ${stencil} contract --stencil ${stencil} --section descriptor --section fields --section radius
        --section identity --section devices --section diverge ${PROJECT_BINARY_DIR}/defined-plugins)
    set(cases quick)
    if(stencil STREQUAL shared3d) # as shared2d, in more cells
        set(cases smoke)
    endif()
    set_property(TEST contract/${stencil} APPEND PROPERTY ENVIRONMENT TZ_CONTRACT=${cases})
endforeach()

# All sections but device on each archetype: the tests of backend/cuda compile and run their texts. Of the other stencils what
# takes no time; test-all.sh has all.
foreach(stencil IN LISTS archetypes)
    trapeze_add_test(contract ${stencil} contract --stencil ${stencil} --section descriptor --section fields --section radius
        --section identity --section extremes --section devices --section outputs --section diverge
        ${PROJECT_BINARY_DIR}/plugins ${PROJECT_BINARY_DIR}/test-plugins)
    set(cases quick)
    if(stencil STREQUAL d3q19) # 14 s
        set(cases smoke)
    endif()
    set_property(TEST contract/${stencil} APPEND PROPERTY ENVIRONMENT TZ_CONTRACT=${cases})
endforeach()
trapeze_add_test(contract descriptors contract --section descriptor ${PROJECT_BINARY_DIR}/plugins ${PROJECT_BINARY_DIR}/test-plugins)
