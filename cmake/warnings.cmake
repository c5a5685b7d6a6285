# Warnings, visibility and sanitizers, the same for every target of the project.
add_library(forebay_options INTERFACE)
target_compile_features(forebay_options INTERFACE cxx_std_20)
target_compile_options(
    forebay_options
    INTERFACE -fvisibility=hidden
              -fvisibility-inlines-hidden
              -fno-semantic-interposition
              $<$<COMPILE_LANGUAGE:CXX>:-Wall
              -Wextra
              -Wconversion
              -Wshadow>)

# For developers and CI only: each compiler warns of something else, and users have them all.
if(FOREBAY_WERROR)
    target_compile_options(forebay_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()

# libstdc++ 12 uses its own deprecated get_temporary_buffer, which only Clang mentions; GCC's
# -Wconversion leaves signs alone in C++.
target_compile_options(
    forebay_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations
                              -Wno-sign-conversion>)

# Where a layer is one source, what hides a name of another file hides nothing in truth, and GCC takes
# every unnamed namespace for one of a header.
if(FOREBAY_UNITY)
    target_compile_options(
        forebay_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>
                                  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# FOREBAY_SANITIZE is a list as GCC and Clang spell it: "address,undefined" or "thread".
if(FOREBAY_SANITIZE)
    target_compile_options(
        forebay_options INTERFACE -fsanitize=${FOREBAY_SANITIZE} -fno-omit-frame-pointer
                                  -fno-sanitize-recover=all)
    target_link_options(forebay_options INTERFACE -fsanitize=${FOREBAY_SANITIZE})
    # One run time for program, interposer and MPI: UCX patches functions of a static one.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT FOREBAY_FUZZ)
        execute_process(
            COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
            OUTPUT_VARIABLE run_time OUTPUT_STRIP_TRAILING_WHITESPACE)
        get_filename_component(run_times ${run_time} DIRECTORY)
        target_link_options(forebay_options INTERFACE -shared-libsan -Wl,-rpath,${run_times})
    endif()
    if(FOREBAY_SANITIZE MATCHES thread)
        target_compile_definitions(forebay_options INTERFACE FOREBAY_THREAD_SANITIZER)
    endif()
    # libforebay_posix.so has no type information (src/pool/capture), which this check reads; the
    # layer below it is compiled with, and would find the objects wrong.
    target_compile_options(
        forebay_options
        INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:NAME>,forebay_pool_client>:-fno-sanitize=vptr>)
    # GCC's -Wtsan and false maybe-uninitialized under instrumentation.
    target_compile_options(
        forebay_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-error=tsan
                                  -Wno-error=maybe-uninitialized>)
endif()

if(FOREBAY_FUZZ)
    target_compile_options(forebay_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
