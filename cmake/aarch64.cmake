# A build for arm64 on another machine: Debian's cross compiler, and the arm64 libraries that scripts/arm64
# lays out in MCP_SYSROOT. Programs run under qemu-user, tests included.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MCP_SYSROOT)
set(CMAKE_SYSROOT ${MCP_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(libraries ${MCP_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${MCP_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
  ${libraries}/openblas-pthread/pkgconfig:${libraries}/pkgconfig:${MCP_SYSROOT}/usr/share/pkgconfig)
find_program(MCP_QEMU NAMES qemu-aarch64 qemu-aarch64-static REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${MCP_QEMU} -L ${MCP_SYSROOT})
