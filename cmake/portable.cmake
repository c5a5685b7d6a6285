# Everything that users get (cores, programs) runs where it was not linked: it needs no C++ library
# of the machine, and no libc newer than 2.28, with whatever glibc it was linked
# (docs/decisions/0054). An MPI, HDF5 and PnetCDF are the user's own, and stay shared libraries.
#
#   FOREBAY_IS_PORTABLE            whether that is possible here
#   forebay_portable(<target>)     links a core or a program so
#   forebay_needs(<target> <library>…)
#                                  has these loaded with it, whatever the linker finds in them
include(CheckCXXSourceCompiles)
option(FOREBAY_PORTABLE "Link what users get so that it needs no C++ library and no newer libc" ON)
set(FOREBAY_IS_PORTABLE OFF)

# Sanitizers have run times of their own, which replace libc's functions.
if(FOREBAY_PORTABLE AND NOT FOREBAY_SANITIZE)
    set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc)
    check_cxx_source_compiles("#include <string>
                               #include <iostream>
                               int main(int count, char**) {
                                   try { throw std::string(count, 'x'); }
                                   catch (const std::string& text) { std::cout << text; }
                               }" FOREBAY_STATIC_CXX)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    if(FOREBAY_STATIC_CXX)
        set(FOREBAY_IS_PORTABLE ON)
    else()
        message(STATUS "there is no libstdc++.a (RHEL: libstdc++-static): the MPI cores and the "
                       "programs will need this machine's libstdc++, and MPI programs that bring "
                       "an older one will run without Forebay")
    endif()
endif()

# With glibc 2.34 libpthread and libdl became parts of libc. An older glibc has them apart, so they
# are asked for by name; a newer one has empty libraries of these names.
find_library(FOREBAY_PTHREAD_LIBRARY NAMES libpthread.so.0)
find_library(FOREBAY_DL_LIBRARY NAMES libdl.so.2)
if(FOREBAY_IS_PORTABLE)
    check_cxx_source_compiles("#include <features.h>
                               #if !__GLIBC_PREREQ(2, 34)
                               #error older
                               #endif
                               int main() {}" FOREBAY_LIBC_IS_WHOLE)
endif()

function(forebay_needs target)
    list(FILTER ARGN EXCLUDE REGEX "NOTFOUND$")
    string(REPLACE ";" "," libraries "${ARGN}")
    if(libraries)
        # One word, which CMake neither sorts nor takes apart.
        target_link_libraries(
            ${target} PRIVATE -Wl,--push-state,--no-as-needed,${libraries},--pop-state)
    endif()
endfunction()

function(forebay_portable target)
    if(NOT FOREBAY_IS_PORTABLE)
        return()
    endif()
    # __cxa_pure_virtual: libstdc++.a refers to it weakly, so that otherwise the program's would do.
    # Sections that nobody needs are dropped, as libstdc++'s own file calls (tools/checks/kernel.py).
    target_link_options(
        ${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,-u,__cxa_pure_virtual
                          -Wl,--gc-sections)
    target_link_libraries(${target} PRIVATE forebay_older_libc)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
        target_link_libraries(${target} PRIVATE forebay_older_start)
    endif()
    if(FOREBAY_LIBC_IS_WHOLE)
        forebay_needs(${target} ${FOREBAY_PTHREAD_LIBRARY} ${FOREBAY_DL_LIBRARY})
    endif()
endfunction()
