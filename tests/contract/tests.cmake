# Included by tests/CMakeLists.txt. One suite over every plugin, built in or for tests; a new one is found when ctest
# starts.
set(contract_folder ${CMAKE_CURRENT_SOURCE_DIR}/contract)

# Fails when it checks nothing. The plugin lies in a folder of its own: other tests must not load it.
trapeze_add_plugin(refusing ${contract_folder}/refusing/refusing.c)
target_include_directories(refusing PRIVATE ${PROJECT_SOURCE_DIR}/core/include)
target_link_libraries(refusing PRIVATE trapeze_flags)
set_target_properties(refusing PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/refusing-plugins)
trapeze_add_test(contract refusals 120 sh ${contract_folder}/run_refusal_tests.sh $<TARGET_FILE:contract>
    ${PROJECT_BINARY_DIR}/plugins ${PROJECT_BINARY_DIR}/refusing-plugins ${PROJECT_BINARY_DIR}/test-fakes)

trapeze_add_test(contract augmented2d 120 contract --stencil augmented2d --section descriptor --section fields --section radius
    --section identity --section devices --section diverge ${PROJECT_BINARY_DIR}/defined-plugins)
set_property(TEST contract/augmented2d APPEND PROPERTY ENVIRONMENT TZ_CONTRACT=quick)

# One ctest for each stencil; the built plugins are asked for their names.
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/contract-settings.cmake CONTENT "\
set(CONTRACT_PROGRAM [==[$<TARGET_FILE:contract>]==])
set(CONTRACT_FOLDERS [==[${PROJECT_BINARY_DIR}/plugins]==] [==[${PROJECT_BINARY_DIR}/test-plugins]==])
set(CONTRACT_ENVIRONMENT [==[${TRAPEZE_TEST_ENVIRONMENT}]==])
")
configure_file(${contract_folder}/discover.cmake ${CMAKE_CURRENT_BINARY_DIR}/contract-discover.cmake COPYONLY)
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES
    ${CMAKE_CURRENT_BINARY_DIR}/contract-settings.cmake ${CMAKE_CURRENT_BINARY_DIR}/contract-discover.cmake)
