# `cmake --install` gives bin/forebay, the interposer under FOREBAY_LIB_DESTINATION and the Python
# package beside it; the launcher finds both relative to itself, so the tree may be moved.
include(GNUInstallDirs)
set(FOREBAY_PYTHON_DESTINATION share/forebay/python)

if(EXISTS ${PROJECT_SOURCE_DIR}/python/forebay)
    install(
        DIRECTORY ${PROJECT_SOURCE_DIR}/python/forebay
        DESTINATION ${FOREBAY_PYTHON_DESTINATION}
        PATTERN "__pycache__" EXCLUDE
        PATTERN "*_test.py" EXCLUDE)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/python/launcher/forebay.in)
    configure_file(
        ${PROJECT_SOURCE_DIR}/python/launcher/forebay.in ${PROJECT_BINARY_DIR}/launcher/forebay
        @ONLY)
    install(PROGRAMS ${PROJECT_BINARY_DIR}/launcher/forebay DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/schema/settings.toml DESTINATION share/forebay/schema)

# In bin/, a script for each benchmark that starts the build for the MPI that it is run under.
foreach(tool IN ITEMS ior hpio meta)
    configure_file(
        ${PROJECT_SOURCE_DIR}/cmake/forebay-tool.in
        ${PROJECT_BINARY_DIR}/launcher/forebay-${tool}
        @ONLY
        FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                         WORLD_EXECUTE)
    install(PROGRAMS ${PROJECT_BINARY_DIR}/launcher/forebay-${tool}
            DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()

# Also without the simulator: it may be somewhere else (FOREBAY_SIM).
install(DIRECTORY ${PROJECT_SOURCE_DIR}/platforms DESTINATION share/forebay)
