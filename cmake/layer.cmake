# forebay_layer(<name>): src/<name>/*.cpp (and those of its `parts`) become the static archive
# forebay_<name> ('/' → '_'); benchmarks/<name> lies at the root, a project of its own;
# its *_test.cpp one GoogleTest executable, run in shards, its *_fuzz.cpp and *_bench.cpp one
# executable each. Its *_wrong.cpp must not compile (tools/checks/wrong.py).
# A layer with `families = true` becomes one archive per MPI family: forebay_<name>_<family>.
# A layer with `program = "<name>"` becomes an executable of that name in lib/, and one per family in
# lib/<family>/. What it may link comes from layers.toml and from nowhere else.

# Sets <out> to the target of layer `name` as seen from `family` ("" for a plain layer).
function(forebay_layer_target out name family)
    string(REPLACE "/" "_" id ${name})
    if(FOREBAY_${id}_families)
        set(${out} forebay_${id}_${family} PARENT_SCOPE)
    else()
        set(${out} forebay_${id} PARENT_SCOPE)
    endif()
endfunction()

# Links `target` to the layers and packages of `names`; a layer without sources yet is left out.
function(forebay_link_layers target scope family)
    foreach(name IN LISTS ARGN)
        forebay_layer_target(other ${name} "${family}")
        if(TARGET ${other})
            target_link_libraries(${target} ${scope} ${other})
        endif()
    endforeach()
endfunction()

# Names of a layer's unnamed namespaces meet then, so they have to differ. What
# may have statics stays an object of its own (tools/checks/statics.py).
function(forebay_unite target)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "/process\\.cpp$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endfunction()

function(forebay_layer_archive name target family sources)
    string(REPLACE "/" "_" id ${name})
    if(sources AND FOREBAY_ARCHIVES)
        forebay_built_archive(${target})
        set(scope INTERFACE)
    elseif(sources)
        add_library(${target} STATIC ${sources})
        # The fuzz preset builds only what its fuzzers link.
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ${FOREBAY_FUZZ})
        set(precompiled forebay_precompiled)
        if(name IN_LIST FOREBAY_OPTIMIZED)
            target_compile_options(${target} PRIVATE -O1)
            set(precompiled forebay_precompiled_optimized)
        endif()
        if(FOREBAY_PRECOMPILED)
            target_precompile_headers(${target} REUSE_FROM ${precompiled})
        endif()
        # libforebay_posix.so takes only those objects that it needs: the rest needs a C++ library.
        if(FOREBAY_UNITY AND NOT name IN_LIST FOREBAY_pool_capture_uses)
            forebay_unite(${target})
        endif()
        set(scope PUBLIC)
    else()
        add_library(${target} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(
        ${target} ${scope} ${FOREBAY_SOURCE_DIR}/src ${FOREBAY_BINARY_DIR}/generated)
    if(name MATCHES "^benchmarks/")
        target_include_directories(${target} ${scope} ${FOREBAY_SOURCE_DIR})
    endif()
    target_link_libraries(${target} ${scope} forebay_options)
    foreach(package IN LISTS FOREBAY_${id}_packages)
        target_link_libraries(${target} ${scope} forebay::${package})
    endforeach()
    if(family)
        target_link_libraries(${target} ${scope} forebay_mpi_${family})
    endif()
    forebay_link_layers(${target} ${scope} "${family}" ${FOREBAY_${id}_uses})
endfunction()

# The headers that most sources include, parsed once: half the time with clang, a quarter less with GCC. Not where
# ccache has the objects of an earlier build: it keeps none that were made with it.
if(FOREBAY_PRECOMPILED)
    # Written once: what is written anew is compiled anew.
    file(CONFIGURE OUTPUT ${FOREBAY_BINARY_DIR}/precompiled.cpp CONTENT "")
    set(precompiled forebay_precompiled)
    if(FOREBAY_OPTIMIZED)
        list(APPEND precompiled forebay_precompiled_optimized)
    endif()
    foreach(target IN LISTS precompiled)
        add_library(${target} STATIC EXCLUDE_FROM_ALL ${FOREBAY_BINARY_DIR}/precompiled.cpp)
        target_link_libraries(${target} PRIVATE forebay_options forebay::expected forebay::fmt)
        target_precompile_headers(
            ${target} PRIVATE <algorithm> <array> <cstdint> <filesystem> <functional> <map>
            <memory> <mutex> <optional> <span> <string> <vector> <fmt/format.h> <tl/expected.hpp>)
    endforeach()
    if(FOREBAY_OPTIMIZED)
        target_compile_options(forebay_precompiled_optimized PRIVATE -O1)
    endif()
    if(FOREBAY_TESTS)
        add_executable(forebay_precompiled_tests ${FOREBAY_BINARY_DIR}/precompiled.cpp)
        set_target_properties(forebay_precompiled_tests PROPERTIES EXCLUDE_FROM_ALL ON)
        target_link_libraries(
            forebay_precompiled_tests
            PRIVATE forebay_options forebay::expected GTest::gtest_main GTest::gmock rapidcheck
                    rapidcheck_gtest)
        target_precompile_headers(
            forebay_precompiled_tests PRIVATE <algorithm> <array> <cstdint> <filesystem>
            <functional> <map> <memory> <mutex> <optional> <span> <string> <vector>
            <tl/expected.hpp> <gtest/gtest.h> <gmock/gmock.h> <rapidcheck.h> <rapidcheck/gtest.h>)
    endif()
endif()

# Tests of a family layer run under its launcher; one of its *_test.cpp holds main(), which calls
# MPI_Init and RUN_ALL_TESTS.
function(forebay_family_tests name family sources)
    string(REPLACE "/" "_" id ${name})
    set(test ${id}_test_${family})
    add_executable(${test} ${sources})
    forebay_layer_target(target ${name} ${family})
    target_link_libraries(
        ${test} PRIVATE ${target} forebay_libmpi_${family} GTest::gtest GTest::gmock rapidcheck)
    forebay_link_layers(${test} PRIVATE "${family}" ${FOREBAY_${id}_test_uses})
    set(flags "")
    if(family STREQUAL "openmpi")
        set(flags --allow-run-as-root --oversubscribe)
    endif()
    foreach(ranks IN ITEMS 1 2 3 4 7)
        add_test(NAME ${test}.${ranks}_ranks COMMAND ${FOREBAY_MPIEXEC_${family}} ${flags} -n
                                                     ${ranks} $<TARGET_FILE:${test}>)
        set_tests_properties(${test}.${ranks}_ranks PROPERTIES TIMEOUT 600 PROCESSORS 2)
        # `make test` meets each number of ranks and each MPI, `make test-all` all pairs of them.
        if(family STREQUAL "openmpi" AND ranks MATCHES "[137]" OR family STREQUAL "mpich"
                                                                  AND ranks MATCHES "[24]")
            set_tests_properties(${test}.${ranks}_ranks PROPERTIES LABELS rest)
        endif()
        # Leaks of the MPI's own are not ours to mend.
        set_tests_properties(
            ${test}.${ranks}_ranks
            PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0")
    endforeach()
endfunction()

# Sources that FOREBAY_OPTIMIZED names; what was precompiled without optimisation does not fit them.
function(forebay_optimize_sources)
    foreach(source IN LISTS ARGN)
        file(RELATIVE_PATH path ${FOREBAY_SOURCE_DIR}/src ${source})
        if(path IN_LIST FOREBAY_OPTIMIZED)
            set_source_files_properties(
                ${source} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
        endif()
    endforeach()
endfunction()

# GoogleTest cases of archive `target`, which is of layer `name`.
function(forebay_test_program test name target sources)
    add_executable(${test} ${sources})
    target_link_libraries(
        ${test} PRIVATE ${target} GTest::gtest_main GTest::gmock rapidcheck rapidcheck_gtest)
    target_compile_definitions(
        ${test} PRIVATE FOREBAY_SOURCE_DIR="${FOREBAY_SOURCE_DIR}"
                        FOREBAY_TEST_DIR="${CMAKE_CURRENT_BINARY_DIR}")
    if(FOREBAY_PRECOMPILED)
        target_precompile_headers(${test} REUSE_FROM forebay_precompiled_tests)
    endif()
    forebay_shards(${test} ${name})
endfunction()

function(forebay_layer_tests name sources)
    string(REPLACE "/" "_" id ${name})
    forebay_layer_target(target ${name} "")
    forebay_optimize_sources(${sources})
    forebay_test_program(${id}_test ${name} ${target} "${sources}")
    forebay_link_layers(${id}_test PRIVATE "" ${FOREBAY_${id}_test_uses})
endfunction()

# The cases of a program in processes of some cases each: starting one for every case took longer
# than most cases do. Where there are many shards, every sixth has the label `sixth`, the others
# `rest`.
function(forebay_shards test name)
    set(shards 2)
    if(FOREBAY_${test}_shards)
        set(shards ${FOREBAY_${test}_shards})
    endif()
    math(EXPR last "${shards} - 1")
    foreach(shard RANGE ${last})
        math(EXPR number "${shard} + 1")
        set(case ${name}.${number}_of_${shards})
        add_test(NAME ${case} COMMAND ${test})
        set_tests_properties(
            ${case} PROPERTIES TIMEOUT 3600 ENVIRONMENT
                               "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
        math(EXPR sixth "${shard} % 6")
        if(shards GREATER 2 AND sixth EQUAL 0)
            set_tests_properties(${case} PROPERTIES LABELS sixth)
        elseif(shards GREATER 2)
            set_tests_properties(${case} PROPERTIES LABELS rest)
        endif()
    endforeach()
endfunction()

# Executables of single sources of layer `name`: <name>_<stem> of <stem>.cpp, with the further sources
# of ARGN. Their targets go to `out`.
function(forebay_layer_executables out name sources)
    string(REPLACE "/" "_" id ${name})
    forebay_layer_target(target ${name} "")
    set(made "")
    foreach(source IN LISTS sources)
        get_filename_component(stem ${source} NAME_WE)
        add_executable(${id}_${stem} ${source} ${ARGN})
        target_link_libraries(${id}_${stem} PRIVATE ${target})
        forebay_link_layers(${id}_${stem} PRIVATE "" ${FOREBAY_${id}_test_uses})
        list(APPEND made ${id}_${stem})
    endforeach()
    set(${out} ${made} PARENT_SCOPE)
endfunction()

# Fuzzers run what they once found worth keeping: their corpora are tests like others. The fuzz
# preset makes real fuzzers of them, with libFuzzer.
function(forebay_replayed_fuzzers name sources)
    string(REPLACE "/" "_" id ${name})
    forebay_layer_executables(
        fuzzers ${name} "${sources}" ${FOREBAY_SOURCE_DIR}/tests/fuzz/replay.cpp)
    foreach(fuzzer IN LISTS fuzzers)
        string(REGEX REPLACE "^${id}_" "${name}." case ${fuzzer})
        add_test(NAME ${case} COMMAND ${fuzzer} ${FOREBAY_SOURCE_DIR}/tests/fuzz/${fuzzer})
        set_tests_properties(${case} PROPERTIES TIMEOUT 3600)
    endforeach()
endfunction()

function(forebay_layer_fuzzers name sources)
    forebay_layer_executables(fuzzers ${name} "${sources}")
    foreach(fuzzer IN LISTS fuzzers)
        target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
        set_target_properties(
            ${fuzzer} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${FOREBAY_BINARY_DIR}/fuzz)
    endforeach()
endfunction()

# The executable of a layer that is a program, installed where it is built below the libraries.
function(forebay_layer_program name family sources)
    string(REPLACE "/" "_" id ${name})
    set(subfolder "")
    set(target forebay_${id})
    if(family)
        set(subfolder /${family})
        set(target forebay_${id}_${family})
    endif()
    add_executable(${target} ${sources})
    target_link_libraries(${target} PRIVATE forebay_options forebay::version)
    target_include_directories(${target} PRIVATE ${FOREBAY_SOURCE_DIR}/src ${FOREBAY_SOURCE_DIR})
    forebay_link_layers(${target} PRIVATE "${family}" ${FOREBAY_${id}_uses})
    if(family)
        target_link_libraries(${target} PRIVATE forebay_libmpi_${family})
    endif()
    # SimGrid is a library of C++, which hands objects of libstdc++ over: both need the same one.
    if(NOT FOREBAY_${id}_needs STREQUAL "simgrid")
        forebay_portable(${target})
    endif()
    set_target_properties(
        ${target} PROPERTIES OUTPUT_NAME ${FOREBAY_${id}_program}
                             RUNTIME_OUTPUT_DIRECTORY ${FOREBAY_BINARY_DIR}/lib${subfolder})
    install(TARGETS ${target} RUNTIME DESTINATION ${FOREBAY_LIB_DESTINATION}${subfolder})
endfunction()

# Sets <out> to the folder of layer `name`.
function(forebay_layer_folder out name)
    if(name MATCHES "^benchmarks/")
        set(${out} ${FOREBAY_SOURCE_DIR}/${name} PARENT_SCOPE)
    else()
        set(${out} ${FOREBAY_SOURCE_DIR}/src/${name} PARENT_SCOPE)
    endif()
endfunction()

function(forebay_layer name)
    forebay_layer_folder(folder ${name})
    string(REPLACE "/" "_" id ${name})
    set(patterns ${folder}/*.cpp)
    foreach(part IN LISTS FOREBAY_${id}_parts)
        list(APPEND patterns ${folder}/${part}/*.cpp)
    endforeach()
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    set(tests ${sources})
    set(fuzzers ${sources})
    set(benches ${sources})
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
    list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench|wrong)\\.cpp$")
    set(families ${FOREBAY_MPI_FAMILIES})
    if(name MATCHES "^(benchmarks|io_ranks|output)/")
        set(families ${FOREBAY_NATIVE_FAMILIES})
    endif()
    if(FOREBAY_${id}_program AND FOREBAY_${id}_families)
        foreach(family IN LISTS families)
            forebay_layer_program(${name} ${family} "${sources}")
        endforeach()
        return()
    elseif(FOREBAY_${id}_program)
        forebay_layer_program(${name} "" "${sources}")
        return()
    endif()
    if(NOT FOREBAY_TESTS OR (FOREBAY_TESTED_LAYERS AND NOT name IN_LIST FOREBAY_TESTED_LAYERS))
        set(tests "")
    endif()
    if(FOREBAY_${id}_families)
        foreach(family IN LISTS families)
            forebay_layer_archive(${name} forebay_${id}_${family} ${family} "${sources}")
            if(tests)
                forebay_family_tests(${name} ${family} "${tests}")
            endif()
        endforeach()
        return()
    endif()
    forebay_layer_archive(${name} forebay_${id} "" "${sources}")
    if(tests)
        forebay_layer_tests(${name} "${tests}")
    endif()
    if(benches AND FOREBAY_BENCH)
        # Run by hand: build/release/bin/foundation_pattern_copy_bench.
        forebay_layer_executables(programs ${name} "${benches}")
    endif()
    if(fuzzers AND FOREBAY_FUZZ)
        forebay_layer_fuzzers(${name} "${fuzzers}")
    elseif(fuzzers AND FOREBAY_TESTS AND NOT FOREBAY_ARCHIVES)
        forebay_replayed_fuzzers(${name} "${fuzzers}")
    endif()
endfunction()

# A library that LD_PRELOAD brings into every program: it needs libc and nothing else, whatever libstdc++ the
# program has or has not. The C driver links it, without the libraries of C++, and what is still
# undefined is an error. (Sanitizers' run times are in C++.) A macro: the variable is the folder's.
# ARGN may be a subfolder that it is installed in, with its slash.
macro(forebay_preloaded_library target)
    if(NOT FOREBAY_SANITIZE)
        set(CMAKE_CXX_IMPLICIT_LINK_LIBRARIES "")
    endif()
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
    target_link_options(${target} PRIVATE -static-libgcc -Wl,-z,now -Wl,-z,defs -Wl,--as-needed)
    install(TARGETS ${target} LIBRARY DESTINATION ${FOREBAY_LIB_DESTINATION}${ARGN})
endmacro()

# The core of one MPI family: a module that the preload stub loads when it knows which MPI the
# program uses. MPI symbols stay undefined on purpose.
function(forebay_core_module family)
    set(core forebay_core_${family})
    add_library(${core} MODULE ${ARGN})
    target_link_libraries(${core} PRIVATE forebay_collective_mpi_${family})
    target_link_options(${core} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,now -Wl,--as-needed)
    forebay_portable(${core})
    install(TARGETS ${core} LIBRARY DESTINATION ${FOREBAY_LIB_DESTINATION})
endfunction()
