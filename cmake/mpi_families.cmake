# The MPI ABI families found on this machine. Sources of a family layer are compiled once per
# family against that family's mpi.h; nothing is linked to a libmpi (the program brings its own).
#
#   FOREBAY_MPICC                 compiler wrappers of the MPIs to build for (; or : between them).
#                                 Empty: Debian's mpicc.<family>, and for a family without one those
#                                 of mpi_wrappers.cmake. The environment's counts, too
#   FOREBAY_MPI_FAMILIES          list of "mpich", "openmpi" and "abi" (MPI-5's standard ABI), those
#                                 that were found
#   FOREBAY_MPICC_<family>        the wrapper that was taken for it
#   forebay_mpi_<family>          INTERFACE target: mpi.h and FOREBAY_MPI_FAMILY="<family>"
#   forebay_libmpi_<family>       INTERFACE target: the library too, for tests and benchmarks
#   FOREBAY_MPIEXEC_<family>      launcher of that family, for tests
include(${CMAKE_CURRENT_LIST_DIR}/mpi_wrappers.cmake)
set(FOREBAY_MPI_FAMILIES "")
set(FOREBAY_MPICC "" CACHE STRING "Compiler wrappers of the MPIs (empty: those that are found)")
if(DEFINED ENV{FOREBAY_MPICC})
    set_property(CACHE FOREBAY_MPICC PROPERTY VALUE "$ENV{FOREBAY_MPICC}")
endif()

function(forebay_add_mpi_family family includes links)
    add_library(forebay_mpi_${family} INTERFACE)
    target_include_directories(forebay_mpi_${family} SYSTEM INTERFACE ${includes})
    target_compile_definitions(
        forebay_mpi_${family}
        INTERFACE FOREBAY_MPI_FAMILY="${family}" OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
    if(family STREQUAL "abi")
        # MPICH's mpi.h has both, and its wrapper chooses by this.
        target_compile_definitions(forebay_mpi_abi INTERFACE MPI_ABI=1)
    endif()
    add_library(forebay_libmpi_${family} INTERFACE)
    target_link_libraries(forebay_libmpi_${family} INTERFACE forebay_mpi_${family} ${links})
    list(APPEND FOREBAY_MPI_FAMILIES ${family})
    set(FOREBAY_MPI_FAMILIES "${FOREBAY_MPI_FAMILIES}" PARENT_SCOPE)
endfunction()

# The launcher lies beside the wrapper, or beside the one that it is a link to.
function(forebay_find_launcher family wrapper)
    get_filename_component(folder ${wrapper} DIRECTORY)
    get_filename_component(real ${wrapper} REALPATH)
    get_filename_component(real_folder ${real} DIRECTORY)
    find_program(FOREBAY_MPIEXEC_${family} NAMES mpiexec mpirun PATHS ${folder} NO_DEFAULT_PATH)
    find_program(FOREBAY_MPIEXEC_${family} NAMES mpiexec.${family} mpirun.${family} mpiexec mpirun
                 PATHS ${real_folder} NO_DEFAULT_PATH)
endfunction()

# The family whose wrapper has Debian's name, or is in the cache: it is not asked which one it is.
function(forebay_find_mpi_family family)
    find_program(FOREBAY_MPICC_${family} NAMES mpicc.${family})
    if(NOT FOREBAY_MPICC_${family})
        return()
    endif()
    forebay_wrapper_words(${FOREBAY_MPICC_${family}} words)
    if(NOT words)
        message(FATAL_ERROR "${FOREBAY_MPICC_${family}} -show fails (it should tell how it compiles"
                            "). Repair that MPI, or name another one by FOREBAY_MPICC.")
    endif()
    forebay_sort_words("${words}" includes links)
    get_filename_component(name ${FOREBAY_MPICC_${family}} NAME)
    if(name STREQUAL "mpicc.${family}")
        find_program(FOREBAY_MPIEXEC_${family} NAMES mpiexec.${family} mpirun.${family})
    else()
        forebay_find_launcher(${family} ${FOREBAY_MPICC_${family}})
    endif()
    forebay_add_mpi_family(${family} "${includes}" "${links}")
    set(FOREBAY_MPI_FAMILIES "${FOREBAY_MPI_FAMILIES}" PARENT_SCOPE)
endfunction()

# Adds the families of `wrappers` that are not there yet. What cannot be used goes to <problems>,
# one line each.
function(forebay_ask_wrappers wrappers problems)
    set(lines "")
    foreach(wrapper IN LISTS wrappers)
        forebay_ask_wrapper(${wrapper} told)
        if(NOT told_family)
            string(APPEND lines "\n  ${wrapper}: ${told_name}.")
        elseif(told_family IN_LIST FOREBAY_MPI_FAMILIES)
            message(STATUS "${wrapper} (${told_name}) is not asked further: "
                           "${FOREBAY_MPICC_${told_family}} is of its family, ${told_family}")
        else()
            set(FOREBAY_MPICC_${told_family} ${wrapper} CACHE FILEPATH "" FORCE)
            forebay_find_launcher(${told_family} ${wrapper})
            forebay_add_mpi_family(${told_family} "${told_includes}" "${told_links}")
            message(STATUS "MPI of the family ${told_family}: ${told_name} (${wrapper})")
        endif()
    endforeach()
    set(FOREBAY_MPI_FAMILIES "${FOREBAY_MPI_FAMILIES}" PARENT_SCOPE)
    set(${problems} "${lines}" PARENT_SCOPE)
endfunction()

# The wrappers that the user names, each of which has to be one.
function(forebay_ask_named_wrappers)
    string(REPLACE ":" ";" names "${FOREBAY_MPICC}")
    set(wrappers "")
    foreach(name IN LISTS names)
        unset(found)
        find_program(found ${name} NO_CACHE)
        if(NOT found)
            message(FATAL_ERROR "there is no ${name} (FOREBAY_MPICC names it). Load its module, or "
                                "name a compiler wrapper of an MPI by its whole path.")
        endif()
        list(APPEND wrappers ${found})
    endforeach()
    forebay_ask_wrappers("${wrappers}" problems)
    if(problems)
        message(FATAL_ERROR "not every wrapper that FOREBAY_MPICC names can be used:${problems}\n"
                            "Name other ones, or load what these need.")
    endif()
    set(FOREBAY_MPI_FAMILIES "${FOREBAY_MPI_FAMILIES}" PARENT_SCOPE)
endfunction()

function(forebay_find_mpi_families)
    forebay_find_mpi_family(mpich)
    forebay_find_mpi_family(openmpi)
    list(LENGTH FOREBAY_MPI_FAMILIES count)
    if(count LESS 2)
        forebay_usual_wrappers(wrappers)
        forebay_ask_wrappers("${wrappers}" problems)
    endif()
    find_program(found mpicc_abi NO_CACHE)
    if(found)
        forebay_ask_wrappers("${found}" problems_of_abi)
        string(APPEND problems "${problems_of_abi}")
    endif()
    if(NOT FOREBAY_MPI_FAMILIES AND problems)
        message(FATAL_ERROR "no MPI can be used:${problems}\nName another compiler wrapper by "
                            "-DFOREBAY_MPICC=/path/to/mpicc (make and pip: in the environment), or "
                            "build the pool without MPI by -DFOREBAY_MPI=none.")
    elseif(NOT FOREBAY_MPI_FAMILIES)
        message(FATAL_ERROR "there is no MPI (no mpicc, mpiicx or mpiicc is in PATH). Load the "
                            "MPI's module, name its compiler wrapper by "
                            "-DFOREBAY_MPICC=/path/to/mpicc (make and pip: in the environment), or "
                            "build the pool without MPI by -DFOREBAY_MPI=none.")
    endif()
    set(FOREBAY_MPI_FAMILIES "${FOREBAY_MPI_FAMILIES}" PARENT_SCOPE)
endfunction()

if(FOREBAY_MPICC)
    forebay_ask_named_wrappers()
else()
    forebay_find_mpi_families()
endif()
foreach(family IN ITEMS mpich openmpi)
    if(NOT family IN_LIST FOREBAY_MPI_FAMILIES)
        message(STATUS "no MPI of the family ${family}: programs of it run without Forebay. "
                       "FOREBAY_MPICC names wrappers")
    endif()
endforeach()
