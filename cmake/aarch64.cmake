# Toolchain file: builds for aarch64 on another machine, with Debian's g++-aarch64-linux-gnu. The
# libraries come from FOREBAY_SYSROOT, a folder with the files of Debian's arm64 packages
# (tools/ci/arm64.sh makes one), and programs run under qemu's user emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FOREBAY_SYSROOT)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT ${FOREBAY_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${FOREBAY_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${FOREBAY_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${FOREBAY_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${FOREBAY_SYSROOT}/usr/share/pkgconfig)
