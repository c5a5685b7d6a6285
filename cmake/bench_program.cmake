# forebay_bench_program(<tool>): src/apps/bench/<tool>/program/main.cpp becomes forebay-<tool>, one
# program for each MPI family, in lib/<family>/ where it is built and where it is installed.
include(GNUInstallDirs)

function(forebay_bench_program tool)
    foreach(family IN LISTS FOREBAY_MPI_FAMILIES)
        set(archive forebay_apps_bench_${tool}_${family})
        set(program forebay_${tool}_${family})
        add_executable(${program} ${PROJECT_SOURCE_DIR}/src/apps/bench/${tool}/program/main.cpp)
        target_link_libraries(${program} PRIVATE ${archive} forebay_libmpi_${family})
        foreach(target IN ITEMS ${archive} ${program})
            target_compile_definitions(${target} PRIVATE FOREBAY_VERSION="${PROJECT_VERSION}")
        endforeach()
        set_target_properties(
            ${program} PROPERTIES OUTPUT_NAME forebay-${tool}
                                  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/${family})
        install(TARGETS ${program} RUNTIME DESTINATION ${FOREBAY_LIB_DESTINATION}/${family})
    endforeach()
    # The same launcher in bin/ as forebay-ior's, under this tool's name.
    file(READ ${PROJECT_SOURCE_DIR}/src/apps/bench/ior/forebay-ior.in script)
    string(REPLACE "forebay-ior" "forebay-${tool}" script "${script}")
    string(REPLACE "forebay bench ior" "forebay bench ${tool}" script "${script}")
    string(CONFIGURE "${script}" script @ONLY)
    file(WRITE ${PROJECT_BINARY_DIR}/launcher/forebay-${tool} "${script}")
    install(PROGRAMS ${PROJECT_BINARY_DIR}/launcher/forebay-${tool}
            DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
