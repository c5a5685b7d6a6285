# Outside libraries under the short names that layers.toml uses: forebay::<name>. Header-only
# forms and archives where they exist: the cores are loaded into strangers' programs and should need
# nothing but libc there (portable.cmake; what is preloaded: forebay_preloaded_library).
option(FOREBAY_FILE_LIBRARIES "Link to the HDF5 and PnetCDF that are found" ON)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(URING IMPORTED_TARGET liburing)
pkg_check_modules(TOMLPLUSPLUS tomlplusplus)

function(forebay_package name)
    if(NOT TARGET forebay_package_${name})
        add_library(forebay_package_${name} INTERFACE)
        add_library(forebay::${name} ALIAS forebay_package_${name})
    endif()
    target_link_libraries(forebay_package_${name} INTERFACE ${ARGN})
endfunction()

# An archive that another tree has built with the same flags: FOREBAY_ARCHIVES says where.
function(forebay_built_archive target)
    file(MAKE_DIRECTORY ${FOREBAY_BINARY_DIR}/generated)  # the include path is checked
    add_library(${target} STATIC IMPORTED GLOBAL)
    set_target_properties(
        ${target} PROPERTIES IMPORTED_LOCATION ${FOREBAY_ARCHIVES}/lib${target}.a SYSTEM OFF)
endfunction()

# {fmt} 9 (Debian 12's) as an archive of our own: see fmt.cpp. Other versions header-only.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
    get_target_property(FOREBAY_FMT_INCLUDES fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
    if(FOREBAY_ARCHIVES)
        forebay_built_archive(forebay_fmt)
    else()
        add_library(forebay_fmt STATIC ${FOREBAY_SOURCE_DIR}/cmake/fmt.cpp)
        target_include_directories(forebay_fmt SYSTEM PRIVATE ${FOREBAY_FMT_INCLUDES})
        target_link_libraries(forebay_fmt PRIVATE forebay_options)
    endif()
    target_include_directories(forebay_fmt SYSTEM INTERFACE ${FOREBAY_FMT_INCLUDES})
    forebay_package(fmt forebay_fmt)
else()
    forebay_package(fmt fmt::fmt-header-only)
endif()

forebay_package(expected tl::expected)
forebay_package(json nlohmann_json::nlohmann_json)
forebay_package(threads Threads::Threads)
# Header-only: xxhash.h with XXH_INLINE_ALL.
find_path(FOREBAY_XXHASH_INCLUDE xxhash.h REQUIRED)
forebay_package(xxhash)
target_include_directories(forebay_package_xxhash SYSTEM INTERFACE ${FOREBAY_XXHASH_INCLUDE})
# Not a library: FOREBAY_VERSION, for what says which version it is.
forebay_package(version)
target_compile_definitions(forebay_package_version INTERFACE FOREBAY_VERSION="${FOREBAY_VERSION}")

# libsodium: daemons of a job prove by it who they are, and encrypt. The archive, as below.
pkg_check_modules(SODIUM REQUIRED libsodium)
find_library(FOREBAY_SODIUM_ARCHIVE NAMES libsodium.a HINTS ${SODIUM_LIBRARY_DIRS})
if(FOREBAY_SODIUM_ARCHIVE)
    forebay_package(sodium ${FOREBAY_SODIUM_ARCHIVE})
else()
    forebay_package(sodium ${SODIUM_LINK_LIBRARIES})
endif()
target_include_directories(forebay_package_sodium SYSTEM INTERFACE ${SODIUM_INCLUDE_DIRS})

if(URING_FOUND)
    # The archive where there is one (Debian's is PIC): no library that a compute node may lack.
    find_library(FOREBAY_URING_ARCHIVE NAMES liburing.a HINTS ${URING_LIBRARY_DIRS})
    if(FOREBAY_URING_ARCHIVE)
        forebay_package(uring ${FOREBAY_URING_ARCHIVE})
        target_include_directories(forebay_package_uring SYSTEM INTERFACE ${URING_INCLUDE_DIRS})
    else()
        forebay_package(uring PkgConfig::URING)
    endif()
    target_compile_definitions(forebay_package_uring INTERFACE FOREBAY_HAVE_URING=1)
else()
    forebay_package(uring)
endif()

forebay_package(toml)
target_compile_definitions(forebay_package_toml INTERFACE TOML_HEADER_ONLY=1 TOML_EXCEPTIONS=0)
if(TOMLPLUSPLUS_INCLUDE_DIRS)
    target_include_directories(
        forebay_package_toml SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIRS})
endif()

# Only the simulator needs it; without it the simulator is not built.
find_path(FOREBAY_SIMGRID_INCLUDE simgrid/s4u.hpp)
find_path(FOREBAY_SMPI_INCLUDE smpi/smpi.h)
find_library(FOREBAY_SIMGRID_LIBRARY simgrid)
forebay_package(simgrid)
set(FOREBAY_SIMGRID OFF)
if(FOREBAY_SIMGRID_INCLUDE AND FOREBAY_SMPI_INCLUDE AND FOREBAY_SIMGRID_LIBRARY)
    set(FOREBAY_SIMGRID ON)
    target_include_directories(
        forebay_package_simgrid SYSTEM INTERFACE ${FOREBAY_SIMGRID_INCLUDE} ${FOREBAY_SMPI_INCLUDE})
    target_link_libraries(forebay_package_simgrid INTERFACE ${FOREBAY_SIMGRID_LIBRARY})
endif()

# libfuse's low-level interface; without it the mount is not built. The archive, as above.
pkg_check_modules(FUSE IMPORTED_TARGET fuse3>=3.14)
forebay_package(fuse)
set(FOREBAY_FUSE OFF)
if(FUSE_FOUND)
    set(FOREBAY_FUSE ON)
    find_library(FOREBAY_FUSE_ARCHIVE NAMES libfuse3.a HINTS ${FUSE_LIBRARY_DIRS})
    if(FOREBAY_FUSE_ARCHIVE)
        forebay_package(fuse ${FOREBAY_FUSE_ARCHIVE} Threads::Threads ${CMAKE_DL_LIBS})
        target_include_directories(forebay_package_fuse SYSTEM INTERFACE ${FUSE_INCLUDE_DIRS})
    else()
        forebay_package(fuse PkgConfig::FUSE)
    endif()
    target_compile_definitions(forebay_package_fuse INTERFACE FUSE_USE_VERSION=312)
endif()

# SQLite: the list of the tier's replicas; without it the list is not built. The archive, as above.
pkg_check_modules(SQLITE IMPORTED_TARGET sqlite3>=3.26)
forebay_package(sqlite)
set(FOREBAY_SQLITE OFF)
if(SQLITE_FOUND)
    set(FOREBAY_SQLITE ON)
    find_library(FOREBAY_SQLITE_ARCHIVE NAMES libsqlite3.a HINTS ${SQLITE_LIBRARY_DIRS})
    if(FOREBAY_SQLITE_ARCHIVE)
        forebay_package(sqlite ${FOREBAY_SQLITE_ARCHIVE} Threads::Threads m ${CMAKE_DL_LIBS})
        target_include_directories(forebay_package_sqlite SYSTEM INTERFACE ${SQLITE_INCLUDE_DIRS})
    else()
        forebay_package(sqlite PkgConfig::SQLITE)
    endif()
endif()

# Slurm's headers; without them its plugin is not built.
find_path(FOREBAY_SLURM_INCLUDE slurm/spank.h)
set(FOREBAY_SLURM OFF)
if(FOREBAY_SLURM_INCLUDE)
    set(FOREBAY_SLURM ON)
endif()
