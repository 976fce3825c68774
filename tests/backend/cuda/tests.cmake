# Included by tests/CMakeLists.txt: paths are from there.

# The executor's suite; needs a C++ compiler when it runs.
trapeze_add_test_program(test_simt backend/cuda/simt/main.c)
trapeze_add_test(backend/cuda/simt families 900 test_simt)
set_tests_properties(backend/cuda/simt/families PROPERTIES PROCESSORS 2)

# A case: the words stencil, grid, height, precision and boundary, and the value of `option` if there is one. ARGN: further options.
set(simt_tests backend/cuda/simt/families)
function(trapeze_add_simt_case prefix family option case)
    string(REPLACE " " ";" words ${case})
    list(GET words 0 stencil)
    list(GET words 1 grid)
    list(GET words 2 height)
    list(GET words 3 precision)
    list(GET words 4 boundary)
    if(option)
        list(GET words 5 value)
        list(APPEND option ${value})
    endif()
    string(REGEX REPLACE "[ ,]" "_" name ${prefix}${case})
    trapeze_add_test(backend/cuda/simt ${name} 300 test_simt --plugins ${PROJECT_BINARY_DIR}/plugins
        --plugins ${PROJECT_BINARY_DIR}/test-plugins --stencil ${stencil} --family ${family} --grid ${grid}
        --height ${height} --precision ${precision} --boundary ${boundary} ${option} ${ARGN})
    set(simt_tests ${simt_tests} backend/cuda/simt/${name} PARENT_SCOPE)
endfunction()

# Ends of grids that strips in rows treat one by one (TZ_SIMPLE_ENDS of rows.cuh), all of them; and of lines that are longer and
# shorter than the strips of a block (TZ_SHORT of line.cuh).
foreach(case "star2d1r 301,150 5 single clamp" "star2d1r 303,150 5 single mirror" "star2d1r 302,150 5 single fixed"
        "star2d1r 300,150 5 single periodic" "star2d2r 303,150 2 double mirror,clamp"
        "star2d2r 302,150 3 single fixed,mirror" "box2d2r 303,150 3 single clamp" "box2d2r 300,150 2 double fixed,periodic"
        "box2d1r 301,150 4 single periodic,clamp" "box2d1r 300,150 4 single clamp,mirror" "hotspot 301,150 6 single clamp"
        "poisson 300,150 4 double fixed" "life 8192,60 4 single fixed" "life 8192,60 3 single periodic"
        "pathfinder 5003 20 single periodic" "pathfinder 5003 20 single mirror" "pathfinder 37 20 single periodic"
        "pathfinder 37 20 single mirror")
    trapeze_add_simt_case("" stream "" ${case})
endforeach()

# Periodic rows that end within the columns of a lane, in 2-D and 3-D (TZ_TURNED of rows.cuh), and lanes at the end of a row with
# fewer columns than a cell reads.
foreach(case "star2d1r 303,150 4 single periodic" "redblack 301,60 2 double periodic,mirror" "hotspot3d 70,14,9 2 single periodic"
        "star2d2r 301,150 3 single clamp" "box2d2r 301,80 2 single fixed:mirror,clamp")
    trapeze_add_simt_case(ends_ stream "" ${case})
endforeach()
# Tiles of planes whose rows have half a warp (TZ_LANES of planes.cuh), several along x and y, with all sides.
foreach(case "star3d1r 150,70,14 2 single clamp 16" "star3d1r 149,71,14 3 single mirror 4" "star3d1r 131,67,9 2 single fixed 16"
        "star3d1r 128,60,9 4 single periodic 8" "star3d2r 147,71,12 2 single mirror,fixed,clamp 8"
        "box3d1r 146,72,12 2 single clamp,periodic,fixed 4" "hotspot3d 133,70,12 2 single periodic,mirror,clamp 8"
        "wave3d 130,60,12 2 single fixed,clamp,mirror 4" "star3d1r 100,40,9 2 double clamp 4")
    trapeze_add_simt_case(square_ stream --warps ${case} --lanes 16 --vector 4)
endforeach()
# Blocks of 12 and of eight warps whose lanes have three or four rows: the usual ones with one field.
foreach(case "star3d1r 150,71,14 3 single mirror" "star3d1r 131,51,12 4 double fixed" "star3d1r 130,50,20 4 double periodic"
        "box3d1r 146,101,12 3 single clamp,periodic,fixed" "box3d1r 130,61,10 2 double mirror" "star3d2r 141,60,12 2 double clamp")
    trapeze_add_simt_case(tall_ stream "" ${case})
endforeach()
# Fields of which only the plane above is read, with a plane that clamp sides repeat.
if(NOT TRAPEZE_SANITIZE) # it lacks the plugin
    trapeze_add_simt_case(ends_ stream "" "d3q19 40,14,20 2 single clamp")
endif()

# Periodic rows of bits that do not fill their words, which stay on chip: whole bricks, a last brick with unused words (TZ_UNUSED of
# resident.cuh), fewer words than spare bits, and ghost cells that are gathered.
foreach(case "life 1000,90 4 single periodic" "life 4190,90 5 single periodic" "life 732,60 3 single periodic,fixed"
        "cell 100,20,12 2 single periodic" "rule1d 1000 8 single periodic")
    trapeze_add_simt_case(spare_ resident "" ${case})
endforeach()
trapeze_add_simt_case(spare_ resident --room "life 4190,500 4 single periodic 6,1")

# Few multiprocessors, so that bricks are large and the blocks of the resident family gather ghost cells (TZ_GATHER of
# resident_exchange.cuh).
foreach(case "star2d1r 400,300 8 double mirror 6,1" "star2d1r 400,300 8 double periodic 9,1" "box2d2r 300,310 2 double fixed,clamp 6,1"
        "life 3001,300 4 single fixed 6,1" "grayscott 160,150 1 single clamp,periodic 11,1" "swirl1d 20011 60 single periodic 3,1"
        "d2q9 120,110 1 single periodic 12,1" "lbm 100,90 4 single periodic 9,1")
    trapeze_add_simt_case(gather_ resident --room ${case})
endforeach()

# Ghost cells of many fields, whose words arrive in one group or in several (TZ_EXCHANGES of resident_kernel.cuh).
foreach(case "lbm 41,37 2 single periodic 9,1" "d2q9 64,60 6 double periodic 6,1")
    trapeze_add_simt_case(fields_ resident --room ${case})
endforeach()
if(NOT TRAPEZE_SANITIZE) # it lacks the plugin
    trapeze_add_simt_case(fields_ resident --room "d3q19 12,14,12 1 single clamp,periodic 8,1")
endif()

# Tiles with columns and rows past their ghost zones, which are not exchanged (TZ_SURPLUS of resident.cuh), with and without
# gathering; bricks of an odd number of columns.
foreach(case "star2d1r 393,296 2 double periodic 13,1" "box2d1r 420,272 1 double periodic,clamp 18,1" "star2d2r 210,190 3 single fixed 7,1"
        "box3d1r 40,37,33 2 single mirror,periodic 12,1" "grayscott 39,48 6 single fixed,clamp 2,1")
    trapeze_add_simt_case(surplus_ resident --room ${case})
endforeach()

# Lanes past the end of a row copy different cells to shared memory: copies of the same cells by one warp are made one after the
# other on a GPU. Two lanes may copy the same, one inside the grid and one outside.
foreach(case "star3d1r 70,30,20 3 double clamp" "hotspot3d 75,30,20 2 single mirror,clamp" "star3d1r 40,30,20 2 double fixed"
        "hotspot 72,200 4 double clamp" "star2d1r 101,200 6 double fixed,mirror" "cell 640,20,9 1 single fixed")
    trapeze_add_simt_case(spread_ stream "" ${case} --alike 2)
endforeach()

# Copies have the same place in a sector in shared memory as in device memory: ghost zones of 12 and 4 columns of 4 bytes, 6 of 8
# bytes, one side wider than the other, lanes with two packets.
foreach(case "star2d1r 700,200 9 single clamp 0" "hotspot 500,150 3 single mirror 0" "star2d1r 400,150 6 double periodic 2"
        "onesided2d 900,150 3 single periodic 4" "box2d1r 900,120 4 single periodic 8" "star2d1r 500,120 5 double fixed 4"
        "star3d1r 400,30,20 2 single clamp 4" "hotspot3d 200,30,20 1 double fixed 2")
    trapeze_add_simt_case(sector_ stream --vector ${case} --split 20)
endforeach()
# Lanes with two packets: adjacent lanes copy and store adjacent ones, of several fields, also where rows end within a lane.
foreach(case "maxwell2d 600,100 2 single clamp 8" "maxwell2d 601,90 2 single periodic 8" "grayscott 300,90 2 double mirror,fixed 4"
        "hotspot 261,90 3 double periodic,clamp 4")
    trapeze_add_simt_case(packets_ stream --vector ${case})
    trapeze_add_simt_case(unswapped_ stream --vector ${case} --swap 2)
endforeach()
# Ghost zones that end between two packets of a lane, but not in strips at the ends of rows (TZ_SPLIT of rows.cuh): one strip at the
# high end and two.
foreach(case "star2d1r 401,120 5 double clamp 4" "star2d1r 512,70 9 double periodic 4" "box2d1r 403,90 6 double mirror,fixed 4"
        "star2d2r 390,90 3 double fixed,clamp 4" "hotspot 333,90 5 double clamp 4" "star2d1r 700,80 3 single mirror 8")
    trapeze_add_simt_case(split_ stream --vector ${case} --swap 2)
endforeach()
# Larger groups of levels that take a static row together, since a scheduler holds two warps only.
foreach(case "hotspot 145,70 9 single mirror 4" "poisson 140,75 10 single periodic,fixed 4" "hotspot 150,70 9 double clamp 4")
    trapeze_add_simt_case(groups_ stream --blocks ${case})
endforeach()
# Corners of rows of bits, with another value at each side of the grid.
foreach(case "cell 5000,40,12 2 single fixed 3" "cell 4203,40,12 2 single fixed 3")
    trapeze_add_simt_case(corner_ stream --seed ${case})
endforeach()

# Rows that end within a packet, sides that repeat columns elsewhere, and rows shorter than the reads, in the family direct.
foreach(case "star3d1r 131,7,9 1 single periodic" "star3d2r 130,9,6 1 double clamp,mirror" "hotspot3d 133,5,4 1 single fixed:mirror,clamp"
        "star3d2r 3,3,3 1 single mirror,periodic")
    trapeze_add_simt_case(direct_ direct "" ${case})
endforeach()

# Loop bodies of other lengths.
foreach(case "grayscott 160,150 3 single periodic 2" "hotspot 301,150 6 double mirror,fixed 1" "d2q9 130,90 2 single periodic 5")
    trapeze_add_simt_case(unroll_ stream --unroll ${case})
endforeach()

# An augmented stencil: its cells near clamp and fixed sides have an update of their own.
foreach(case "stream 2 clamp,fixed" "tile 3 fixed,clamp" "resident 2 mirror,clamp")
    string(REPLACE " " ";" words ${case})
    list(GET words 0 family)
    list(GET words 1 height)
    list(GET words 2 boundary)
    trapeze_add_test(backend/cuda/simt augmented2d_${family} 300 test_simt --plugins ${PROJECT_BINARY_DIR}/defined-plugins
        --stencil augmented2d --family ${family} --grid 61,40 --height ${height} --precision single --boundary ${boundary})
    list(APPEND simt_tests backend/cuda/simt/augmented2d_${family})
endforeach()

# Under ASan a second stack for each of very many fibers takes most of the time, and NVRTC is not checked by it: tests
# compile for one architecture there, and for all in the release build.
if(TRAPEZE_SANITIZE)
    set_property(TEST ${simt_tests} backend/cuda/simt/test_simt_machine backend/cuda/simt/test_simt_mistakes backend/cuda/test_cuda_reduce
        backend/cuda/test_cuda_update backend/cuda/test_cuda_work backend/cuda/test_cuda_jump backend/cuda/test_cuda_jump_run
        backend/cuda/test_cuda_plain backend/cuda/test_cuda_handed calibrate/test_cuda_calibrate APPEND PROPERTY ENVIRONMENT
        TZ_NVRTC=quick TZ_SIMT=quick ASAN_OPTIONS=detect_stack_use_after_return=0:strict_string_checks=1:malloc_context_size=5)
endif()

# Stand-ins for the driver, NVRTC, NVML and cuFFT (fake/fake.h), found first: no GPU and no toolkit needed.
set(fakes ${PROJECT_BINARY_DIR}/test-fakes)
function(trapeze_add_fake name suffix)
    add_library(fake_${name} MODULE ${ARGN})
    target_link_libraries(fake_${name} PRIVATE trapeze_flags Threads::Threads)
    set_target_properties(fake_${name} PROPERTIES PREFIX lib OUTPUT_NAME ${name} SUFFIX ${suffix}
        LIBRARY_OUTPUT_DIRECTORY ${fakes})
endfunction()
trapeze_add_fake(cuda .so.1 backend/cuda/fake/fake_cuda.c backend/cuda/fake/fake_kernels.c
    backend/cuda/fake/fake_memory.c backend/cuda/fake/fake_shared.c)
trapeze_add_fake(nvrtc .so.13 backend/cuda/fake/fake_nvrtc.c)
trapeze_add_fake(nvidia-ml .so.1 backend/cuda/fake/fake_nvml.c)
trapeze_add_fake(cufft .so.12 backend/cuda/fake/fake_cufft.c)
target_link_libraries(fake_cufft PRIVATE ${CMAKE_DL_LIBS} m)

foreach(name driver kernels asynchronous slabs links jump jump_run plain handed costs)
    add_dependencies(test_cuda_${name} fake_cuda fake_nvrtc fake_nvidia-ml fake_cufft)
endforeach()
trapeze_add_test(cli cuda_cli 120 sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/run_cuda_cli_tests.sh $<TARGET_FILE:trapeze>)
set_tests_properties(backend/cuda/test_cuda_driver backend/cuda/test_cuda_kernels backend/cuda/test_cuda_asynchronous
    backend/cuda/test_cuda_slabs backend/cuda/test_cuda_links backend/cuda/test_cuda_jump
    backend/cuda/test_cuda_jump_run backend/cuda/test_cuda_plain backend/cuda/test_cuda_handed calibrate/test_cuda_costs cli/cuda_cli PROPERTIES ENVIRONMENT_MODIFICATION LD_LIBRARY_PATH=path_list_prepend:${fakes})

# Plans of one test are compiled once.
set_property(TEST predict/test_device_scaled APPEND PROPERTY ENVIRONMENT TRAPEZE_CACHE=${PROJECT_BINARY_DIR}/test-cache)

# These compile kernels, and leave nothing in the user's cache.
set_property(TEST backend/cuda/test_cuda_compile backend/cuda/test_cuda_reduce backend/cuda/test_cuda_update
    backend/cuda/test_cuda_work
    calibrate/test_cuda_calibrate APPEND PROPERTY ENVIRONMENT TRAPEZE_CACHE=)
