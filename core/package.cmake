# Packages for Debian and Ubuntu, from a finished build: cpack -G DEB --config BUILD/CPackConfig.cmake
#
# trapeze has the program, the stencils, records and scenarios, libtrapeze0 the library for programs, python3-trapeze the
# Python package, trapeze-dev what authors of plugins and programs need, trapeze-mpi
# the module for runs of several machines. package_debian.cmake adds what Debian's policy asks of their files.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL trapeze lib python dev)
if(TARGET trapeze-mpi)
    list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
# Without a number after "-" that a package of Debian itself would have.
set(CPACK_DEBIAN_PACKAGE_RELEASE 0upstream1)
set(CPACK_PACKAGE_CONTACT "The Trapeze contributors <trapeze@example.org>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_debian.cmake)
set(same "trapeze (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_DEBIAN_TRAPEZE_PACKAGE_NAME trapeze)
set(CPACK_DEBIAN_TRAPEZE_PACKAGE_RECOMMENDS "trapeze-dev, gcc, libc6-dev")
set(CPACK_DEBIAN_TRAPEZE_PACKAGE_SUGGESTS
    "ffmpeg, gnuplot-nox | gnuplot, hdf5-tools, libfftw3-double3, libumfpack5 | libumfpack6, libmicrohttpd12 | libmicrohttpd12t64, paraview, python3-numpy, trapeze-mpi")
set(CPACK_COMPONENT_TRAPEZE_DESCRIPTION "iterative stencil loops with ghost zones, run from Lua scenarios
Simulations that update every cell of a grid from its neighbours, again and
again, on CPUs and NVIDIA GPUs. A stencil is a small C plugin or a formula in
the scenario; results are PNG frames, movies, arrays, tables and a report.
.
Halos are exchanged only after several iterations. Performance models predict
how many are best, and results have the same bits for any number.
.
Formulas of scenarios (tz.stencil) need a C compiler and trapeze-dev.")

set(CPACK_DEBIAN_LIB_PACKAGE_NAME libtrapeze0)
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIB_PACKAGE_DEPENDS "${same}")
# What packages that link it depend on, and that the loader's list is made anew.
file(WRITE ${PROJECT_BINARY_DIR}/package/shlibs "libtrapeze 0 libtrapeze0 (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/shlibs ${PROJECT_BINARY_DIR}/package/triggers)
set(CPACK_COMPONENT_LIB_DESCRIPTION "iterative stencil loops with ghost zones, as a library
The library with which programs define stencils, set and get fields in their
own memory, and run simulations on CPUs and NVIDIA GPUs. Its stencils and
records of devices are those of the package trapeze.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME trapeze-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "${same}, libtrapeze0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), libc6-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "gcc, cmake, make | ninja-build")
set(CPACK_COMPONENT_DEV_DESCRIPTION "headers and tests for programs and plugins with Trapeze
The public headers of libtrapeze and of plugins, the CMake package with
trapeze_add_plugin(), an example, and trapeze-contract, which tests that a
plugin reads and writes what it declares and that every plan gives the same
bits.
.
Trapeze itself uses the headers to compile the stencils of scenarios.")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME trapeze-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${same}")
set(CPACK_COMPONENT_MPI_DESCRIPTION "Trapeze on several machines through MPI
The module that Trapeze loads under mpirun, to run a scenario on several
processes, which may be on several machines.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-trapeze)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "${same}, libtrapeze0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), python3 (>= 3.9), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/python/debian/postinst ${PROJECT_SOURCE_DIR}/python/debian/prerm)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "iterative stencil loops with ghost zones, from Python
The package trapeze: stencils from formulas, simulations whose fields are
arrays of numpy, and scenarios, whose results are arrays and tables.")

set(CPACK_TRAPEZE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_TRAPEZE_STRIP ${CMAKE_STRIP})
set(CPACK_TRAPEZE_EMULATOR ${CMAKE_CROSSCOMPILING_EMULATOR})
include(CPack)
