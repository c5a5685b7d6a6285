# The MPI ABI families found on this machine. Sources of a family layer are compiled once per
# family against that family's mpi.h; nothing is linked to a libmpi (the program brings its own).
#
#   FOREBAY_MPI_FAMILIES          list of "mpich" and "openmpi", those that were found
#   forebay_mpi_<family>          INTERFACE target: mpi.h and FOREBAY_MPI_FAMILY="<family>"
#   forebay_libmpi_<family>       INTERFACE target: the library too, for tests and benchmarks
#   FOREBAY_MPIEXEC_<family>      launcher of that family, for tests
set(FOREBAY_MPI_FAMILIES "")

function(forebay_find_mpi_family family)
    find_program(FOREBAY_MPICC_${family} NAMES mpicc.${family})
    find_program(FOREBAY_MPIEXEC_${family} NAMES mpiexec.${family} mpirun.${family})
    if(NOT FOREBAY_MPICC_${family})
        message(STATUS "no mpicc.${family}: its interposer is not built")
        return()
    endif()
    execute_process(
        COMMAND ${FOREBAY_MPICC_${family}} -show
        OUTPUT_VARIABLE shown
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(words UNIX_COMMAND "${shown}")
    set(includes "")
    set(links "")
    foreach(word IN LISTS words)
        if(word MATCHES "^-I(.+)")
            list(APPEND includes "${CMAKE_MATCH_1}")
        elseif(word MATCHES "^-[lL]")
            list(APPEND links "${word}")
        endif()
    endforeach()
    add_library(forebay_mpi_${family} INTERFACE)
    target_include_directories(forebay_mpi_${family} SYSTEM INTERFACE ${includes})
    target_compile_definitions(
        forebay_mpi_${family}
        INTERFACE FOREBAY_MPI_FAMILY="${family}" OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
    add_library(forebay_libmpi_${family} INTERFACE)
    target_link_libraries(forebay_libmpi_${family} INTERFACE forebay_mpi_${family} ${links})
    list(APPEND FOREBAY_MPI_FAMILIES ${family})
    set(FOREBAY_MPI_FAMILIES "${FOREBAY_MPI_FAMILIES}" PARENT_SCOPE)
endfunction()

forebay_find_mpi_family(mpich)
forebay_find_mpi_family(openmpi)
