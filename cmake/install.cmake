# `cmake --install` gives a tree that stands alone and may be moved: bin/ with launchers that find
# everything relative to themselves, the libraries and programs under FOREBAY_LIB_DESTINATION, the
# Python package with the packages it needs beside it, manual, completions and module files.
include(GNUInstallDirs)
set(FOREBAY_PYTHON_DESTINATION lib/forebay/python)
set(FOREBAY_PYTHON_PACKAGES ON CACHE BOOL "Install the PyPI packages that the command needs")
set(FOREBAY_INSTALL_EXTRAS html tuning
    CACHE STRING "Extras of pyproject.toml to install with them, if they can be had")
set(data share)
if(SKBUILD)
    set(data ${SKBUILD_DATA_DIR}/share)
endif()
set(FOREBAY_DATA_DESTINATION ${data} CACHE STRING "Where manual, completions and modules go")
set(FOREBAY_RUN_PYTHON "" CACHE FILEPATH "The Python that an installed tree runs with")
set(packaging ${FOREBAY_SOURCE_DIR}/packaging)

if(NOT FOREBAY_RUN_PYTHON)
    execute_process(
        COMMAND ${Python3_EXECUTABLE} -I ${packaging}/interpreter.py
        OUTPUT_VARIABLE found
        OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT found)
        set(found ${Python3_EXECUTABLE})
        message(STATUS "an installed forebay will run with ${found}, which not everyone may execute")
    endif()
    set_property(CACHE FOREBAY_RUN_PYTHON PROPERTY VALUE ${found})
endif()

# A wheel has the package already, and pip sees to what it needs.
if(NOT SKBUILD)
    install(
        DIRECTORY ${FOREBAY_SOURCE_DIR}/python/forebay ${FOREBAY_SOURCE_DIR}/python/forebay_tuning
                  ${FOREBAY_SOURCE_DIR}/python/forebay_output
        DESTINATION ${FOREBAY_PYTHON_DESTINATION}
        PATTERN "__pycache__" EXCLUDE
        PATTERN "*_test.py" EXCLUDE)
    install(DIRECTORY ${FOREBAY_SOURCE_DIR}/schema ${FOREBAY_SOURCE_DIR}/platforms
            DESTINATION ${FOREBAY_PYTHON_DESTINATION}/forebay)
    configure_file(
        ${FOREBAY_SOURCE_DIR}/python/launcher/forebay.in ${FOREBAY_BINARY_DIR}/launcher/forebay
        @ONLY)
    install(PROGRAMS ${FOREBAY_BINARY_DIR}/launcher/forebay DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES ${FOREBAY_SOURCE_DIR}/include/forebay_pool.h
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    set(modules ${FOREBAY_DATA_DESTINATION}/modulefiles/forebay)
    install(FILES ${packaging}/modules/forebay.lua DESTINATION ${modules}
            RENAME ${FOREBAY_VERSION}.lua)
    install(FILES ${packaging}/modules/forebay.tcl DESTINATION ${modules}
            RENAME ${FOREBAY_VERSION})
    # The dashboard, and the timer that writes metrics for node_exporter (docs/site.md).
    install(DIRECTORY ${packaging}/monitoring DESTINATION ${FOREBAY_DATA_DESTINATION}/forebay
            USE_SOURCE_PERMISSIONS)
    # Slurm's burst buffer (docs/site.md).
    install(FILES ${packaging}/slurm/burst_buffer.lua
            DESTINATION ${FOREBAY_DATA_DESTINATION}/forebay/slurm)
    if(FOREBAY_PYTHON_PACKAGES)
        install(
            CODE "execute_process(
                COMMAND \"${FOREBAY_RUN_PYTHON}\" -I \"${packaging}/dependencies.py\"
                        \"${FOREBAY_SOURCE_DIR}/pyproject.toml\"
                        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${FOREBAY_PYTHON_DESTINATION}\"
                        ${FOREBAY_INSTALL_EXTRAS}
                COMMAND_ERROR_IS_FATAL ANY)")
        # The command that was just installed makes the manual.
        set(documenter "${FOREBAY_RUN_PYTHON}")
    endif()
endif()

# In bin/, a script for each benchmark that starts the build for the MPI that it is run under.
foreach(tool IN ITEMS ior hpio meta)
    configure_file(
        ${FOREBAY_SOURCE_DIR}/cmake/forebay-tool.in
        ${FOREBAY_BINARY_DIR}/launcher/forebay-${tool}
        @ONLY
        FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                         WORLD_EXECUTE)
    install(PROGRAMS ${FOREBAY_BINARY_DIR}/launcher/forebay-${tool}
            DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()

# Made at installation, from the help of what was built, and then installed like all else.
if(NOT documenter)
    set(documenter ${Python3_EXECUTABLE})
endif()
set(emulator "")
if(CMAKE_CROSSCOMPILING_EMULATOR)
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR "\" \"" emulator)
    set(emulator "-- \"${emulator}\"")
endif()
install(
    CODE "execute_process(
        COMMAND \"${documenter}\" -B \"${packaging}/make_documents.py\"
                --source \"${FOREBAY_SOURCE_DIR}\" --libraries \"${FOREBAY_BINARY_DIR}/lib\"
                --packages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${FOREBAY_PYTHON_DESTINATION}\"
                --into \"${FOREBAY_BINARY_DIR}/documents\" ${emulator}
        COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${FOREBAY_BINARY_DIR}/documents/ DESTINATION ${FOREBAY_DATA_DESTINATION}
        OPTIONAL)
