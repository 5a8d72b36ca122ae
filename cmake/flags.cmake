# SPDX-License-Identifier: MIT
# What every target is compiled with: sand_flags is linked by all of them.
include(CheckCCompilerFlag)

add_library(sand_flags INTERFACE)
target_compile_definitions(sand_flags INTERFACE _POSIX_C_SOURCE=200809L)
# Every include names its file from the root of the repository.
target_include_directories(sand_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
# A hash of the state is promised, so products and sums are not fused behind our back.
target_compile_options(sand_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Werror;-ffp-contract=off>)
# gcc warns that vectors of four numbers are passed differently where there is no AVX; only inlined functions pass them.
check_c_compiler_flag(-Wno-psabi SAND_HAVE_NO_PSABI)
if(SAND_HAVE_NO_PSABI)
    target_compile_options(sand_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wno-psabi>)
endif()

# The shared library exports what its headers mark with SAND_API.
target_compile_options(sand_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fvisibility=hidden>)

# Functions of the shared library may be inlined like those of the program: nobody replaces them.
check_c_compiler_flag(-fno-semantic-interposition SAND_HAVE_NO_INTERPOSITION)
if(SAND_HAVE_NO_INTERPOSITION)
    target_compile_options(sand_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fno-semantic-interposition>)
endif()

if(SAND_NATIVE)
    check_c_compiler_flag(-march=native SAND_HAVE_MARCH_NATIVE)
    if(SAND_HAVE_MARCH_NATIVE)
        target_compile_options(sand_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-march=native>)
    endif()
elseif(SAND_WHEEL AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # Products and sums are fused where the processor does it (REAL_FUSED), and so the bits of a wheel are those of a build on
    # the machine itself only with FMA: that of all x86-64 since 2013, and of every 64-bit Arm.
    target_compile_options(sand_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-march=x86-64-v3>)
endif()

# Debug and sanitizer builds check what comments promise (sim/core/assert.h).
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR NOT SAND_SANITIZE STREQUAL "none")
    set(assertions ON)
else()
    set(assertions OFF)
endif()
option(SAND_ASSERTIONS "Check assertions" ${assertions})
if(SAND_ASSERTIONS)
    target_compile_definitions(sand_flags INTERFACE SAND_ASSERTIONS)
endif()

set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

# The solver kernels: loops over a tile of contacts must vectorize whole. Neither errno nor floating-point traps are read,
# and peeling a tile for alignment would leave half of it to scalar code.
set(SAND_KERNEL_FLAGS -O3 -fno-math-errno -fno-trapping-math)
check_c_compiler_flag(--param=vect-max-peeling-for-alignment=0 SAND_HAVE_NO_PEELING)
if(SAND_HAVE_NO_PEELING)
    list(APPEND SAND_KERNEL_FLAGS --param=vect-max-peeling-for-alignment=0)
endif()
# A tile is a few vectors. Their arithmetic in one sequence, and not in a loop, is what a processor has in flight at once.
check_c_compiler_flag(--param=max-completely-peeled-insns=2000 SAND_HAVE_PEELED_INSNS)
if(SAND_HAVE_PEELED_INSNS)
    list(APPEND SAND_KERNEL_FLAGS --param=max-completely-peeled-insns=2000)
endif()

# Sanitizers. A report is an error: the program ends at the first.
if(SAND_SANITIZE STREQUAL "address")
    set(checks -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(SAND_SANITIZE STREQUAL "thread")
    set(checks -fsanitize=thread)
elseif(SAND_SANITIZE STREQUAL "fuzzer")
    set(checks -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(NOT SAND_SANITIZE STREQUAL "none")
    message(FATAL_ERROR "SAND_SANITIZE is '${SAND_SANITIZE}'; expected none, address, thread or fuzzer")
endif()
if(NOT SAND_SANITIZE STREQUAL "none")
    # A report needs lines, not variables, and those take a third of the time to compile.
    set(CMAKE_C_FLAGS_RELEASE "-O1 -g1 -fno-omit-frame-pointer")
    # The kernels are large. Checks of each pointer double what they take to compile, and the address sanitizer sees most
    # of what those would; the fuzzers read files and solve nothing.
    set(SAND_KERNEL_FLAGS -fno-math-errno)
    set(kernel_checks ${checks})
    if(SAND_SANITIZE STREQUAL "address")
        list(APPEND kernel_checks -fno-sanitize=null,alignment,object-size,pointer-overflow)
    elseif(SAND_SANITIZE STREQUAL "fuzzer")
        set(kernel_checks -O0)
        list(APPEND checks -fsanitize=fuzzer-no-link)
    endif()
    set(is_kernel $<BOOL:$<TARGET_PROPERTY:SAND_KERNEL>>)
    # Instrumented code makes gcc warn of what cannot happen, and clang of loops that it could not vectorize; the plain
    # build is where warnings are errors.
    target_compile_options(sand_flags INTERFACE -Wno-error "$<${is_kernel}:${kernel_checks}>"
                                                "$<$<NOT:${is_kernel}>:${checks}>" $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
    target_link_options(sand_flags INTERFACE ${checks})
endif()
