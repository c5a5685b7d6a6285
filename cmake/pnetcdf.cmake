# PnetCDF, where there is one of an MPI family. Debian's is Open MPI's; where that of another family
# is, the user says by its prefix, below which are include and lib.
foreach(family IN LISTS FOREBAY_MPI_FAMILIES)
    set(FOREBAY_PNETCDF_${family} "" CACHE PATH "Prefix of a PnetCDF that is ${family}'s")
endforeach()

# Links `archive` to the PnetCDF that was found, unless it was built with another family's MPI.
function(forebay_link_found_pnetcdf archive family)
    set(library ${FOREBAY_PNETCDF_LIBRARY_${family}})
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE needed)
    set(mpi_of_mpich "NEEDED +libmpi(ch)?\\.so\\.12")
    set(mpi_of_openmpi "NEEDED +libmpi\\.so\\.40")
    foreach(other IN ITEMS mpich openmpi)
        if(NOT other STREQUAL family AND needed MATCHES "${mpi_of_${other}}")
            message(STATUS "${library} is not used for ${family}: it is ${other}'s")
            return()
        endif()
    endforeach()
    target_include_directories(
        ${archive} SYSTEM PRIVATE ${FOREBAY_PNETCDF_INCLUDE_${family}})
    target_compile_definitions(${archive} PRIVATE FOREBAY_HAVE_PNETCDF=1)
    target_link_libraries(${archive} PUBLIC ${library})
    message(STATUS "NCMPI of ${family}: ${library} (${archive})")
endfunction()

# Links `archive` to the family's PnetCDF and defines FOREBAY_HAVE_PNETCDF in it, if there is one.
function(forebay_link_pnetcdf archive family)
    if(NOT FOREBAY_FILE_LIBRARIES)
        return()
    endif()
    if(FOREBAY_PNETCDF_${family})
        set(places PATHS ${FOREBAY_PNETCDF_${family}} NO_DEFAULT_PATH PATH_SUFFIXES include lib
                   lib/${CMAKE_LIBRARY_ARCHITECTURE})
    elseif(NOT family STREQUAL "openmpi")
        return()
    endif()
    find_path(FOREBAY_PNETCDF_INCLUDE_${family} pnetcdf.h ${places})
    find_library(FOREBAY_PNETCDF_LIBRARY_${family} pnetcdf ${places})
    if(FOREBAY_PNETCDF_INCLUDE_${family} AND FOREBAY_PNETCDF_LIBRARY_${family})
        forebay_link_found_pnetcdf(${archive} ${family})
    elseif(FOREBAY_PNETCDF_${family})
        message(FATAL_ERROR "there is no PnetCDF below ${FOREBAY_PNETCDF_${family}} (include/"
                            "pnetcdf.h and lib/libpnetcdf are looked for). Correct "
                            "FOREBAY_PNETCDF_${family} or leave it out.")
    endif()
endfunction()
