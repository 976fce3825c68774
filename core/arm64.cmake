# Builds for arm64 (AArch64) on another machine, with Debian's cross compiler and its libraries for arm64; programs run
# under qemu-user. scripts/setup.sh --arm64 installs these; the preset arm64 uses this file.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON) # its compiler's paths are this machine's
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
