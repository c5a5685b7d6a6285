# Parallel HDF5, where there is one of an MPI family. Debian's is linked to Debian's MPI: a program with
# another one would have two.

# Links `archive` to the family's HDF5 and defines FOREBAY_HAVE_HDF5 in it, if there is one. With
# HIGH_LEVEL as the third argument: to its high-level library, too, or not at all.
function(forebay_link_hdf5 archive family)
    if(NOT FOREBAY_FILE_LIBRARIES)
        return()
    endif()
    if(FOREBAY_MPICC_${family} MATCHES "/mpicc\\.${family}$")
        find_path(FOREBAY_HDF5_INCLUDE_${family} hdf5.h PATHS /usr/include/hdf5/${family})
        find_library(FOREBAY_HDF5_${family} hdf5_${family})
        find_library(FOREBAY_HDF5_HL_${family} hdf5_${family}_hl)
    endif()
    set(libraries ${FOREBAY_HDF5_${family}})
    if("HIGH_LEVEL" IN_LIST ARGN)
        list(PREPEND libraries ${FOREBAY_HDF5_HL_${family}})
    endif()
    if(NOT FOREBAY_HDF5_INCLUDE_${family} OR libraries MATCHES "NOTFOUND$" OR NOT libraries)
        return()
    endif()
    target_include_directories(${archive} SYSTEM PRIVATE ${FOREBAY_HDF5_INCLUDE_${family}})
    target_compile_definitions(${archive} PRIVATE FOREBAY_HAVE_HDF5=1)
    target_link_libraries(${archive} PUBLIC ${libraries})
endfunction()
