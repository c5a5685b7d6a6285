# The beginning of every project of this repository: options, packages, the layers' table and how a
# layer is built. Included by the root and by benchmarks/, each of which is a project.
get_filename_component(FOREBAY_SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
set(FOREBAY_BINARY_DIR ${CMAKE_BINARY_DIR})

option(FOREBAY_TESTS "Build the unit tests" ON)
option(FOREBAY_FUZZ "Build libFuzzer executables (Clang)" OFF)
option(FOREBAY_PRECOMPILED "Precompile common headers: a build from nothing takes less" OFF)
option(FOREBAY_UNITY "Compile all sources of a layer as one: a build from nothing takes less" OFF)
option(FOREBAY_BENCH "Build the layers' own benchmarks, *_bench.cpp" OFF)
set(FOREBAY_MPI ON CACHE STRING
    "Build the layers that are compiled per MPI family; none: the pool without MPI")
if(DEFINED ENV{FOREBAY_MPI})
    set_property(CACHE FOREBAY_MPI PROPERTY VALUE "$ENV{FOREBAY_MPI}")
endif()
option(FOREBAY_WERROR "Take warnings for errors" OFF)
set(FOREBAY_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")
set(FOREBAY_LAYERS "" CACHE STRING "Build only these layers (empty: all of layers.toml)")
set(FOREBAY_WITHOUT "" CACHE STRING "Do not build these layers")
set(FOREBAY_TESTED_LAYERS "" CACHE STRING "Build the tests of these layers only (empty: all)")
set(FOREBAY_ARCHIVES "" CACHE PATH "Take the layers' archives from there, build none (empty: build)")
set(FOREBAY_OPTIMIZED "" CACHE STRING
    "Layers and tests (below src) that are compiled with -O1, whatever the build type says")
set(FOREBAY_LIB_DESTINATION lib/forebay CACHE STRING "Where the interposer is installed")

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${FOREBAY_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${FOREBAY_BINARY_DIR}/archives)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${FOREBAY_BINARY_DIR}/bin)
find_program(FOREBAY_CCACHE ccache)
if(FOREBAY_CCACHE AND NOT CMAKE_CXX_CLANG_TIDY)
    # Relative to the source tree, so that a fresh clone (and `pip install`) compiles little anew.
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${FOREBAY_SOURCE_DIR} CCACHE_NOHASHDIR=1
                 ${FOREBAY_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${FOREBAY_SOURCE_DIR}/layers.toml ${FOREBAY_SOURCE_DIR}/cmake/layers.py)
execute_process(
    COMMAND ${Python3_EXECUTABLE} ${FOREBAY_SOURCE_DIR}/cmake/layers.py
            ${FOREBAY_SOURCE_DIR}/layers.toml ${FOREBAY_BINARY_DIR}/layers.cmake
    COMMAND_ERROR_IS_FATAL ANY)
include(${FOREBAY_BINARY_DIR}/layers.cmake)

include(${FOREBAY_SOURCE_DIR}/cmake/warnings.cmake)
include(${FOREBAY_SOURCE_DIR}/cmake/packages.cmake)
include(${FOREBAY_SOURCE_DIR}/cmake/portable.cmake)
set(FOREBAY_MPI_FAMILIES "")
if(FOREBAY_MPI AND NOT FOREBAY_MPI STREQUAL "none")
    include(${FOREBAY_SOURCE_DIR}/cmake/mpi_families.cmake)
endif()
# The benchmarks and the output API, which programs are linked to, and I/O ranks are for the MPIs' own
# interfaces: whoever has a library of the standard ABI has one of these, too, and the ABI's header
# has nothing of Fortran.
set(FOREBAY_NATIVE_FAMILIES "${FOREBAY_MPI_FAMILIES}")
list(REMOVE_ITEM FOREBAY_NATIVE_FAMILIES abi)
include(${FOREBAY_SOURCE_DIR}/cmake/layer.cmake)
if(FOREBAY_TESTS)
    enable_testing()
    find_package(GTest REQUIRED)
    find_package(rapidcheck REQUIRED)
endif()

# Adds layer `name`, unless the options leave it out or its outside library is missing. A layer with a
# CMakeLists.txt of its own calls forebay_layer() itself and adds what is special.
function(forebay_add_layer name)
    if(name IN_LIST FOREBAY_WITHOUT OR FOREBAY_LAYERS AND NOT name IN_LIST FOREBAY_LAYERS)
        return()
    endif()
    string(REPLACE "/" "_" id ${name})
    string(TOUPPER "${FOREBAY_${id}_needs}" needed)
    if(needed AND NOT FOREBAY_${needed})
        message(STATUS "no ${FOREBAY_${id}_needs}: layer ${name} is not built")
        return()
    endif()
    forebay_layer_folder(folder ${name})
    if(NOT IS_DIRECTORY ${folder})
        message(FATAL_ERROR "layer ${name} has no folder ${folder}. Correct layers.toml.")
    endif()
    if(EXISTS ${folder}/CMakeLists.txt)
        add_subdirectory(${folder} ${FOREBAY_BINARY_DIR}/layers/${name})
    else()
        forebay_layer(${name})
    endif()
endfunction()
