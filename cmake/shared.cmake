# SPDX-License-Identifier: MIT
# The shared library, libsandglass.so: core, scenes and, where they are built, the reference methods and CUDA; no window system,
# no OpenGL. C programs link it, and the Python package loads it. It exports what the headers mark with SAND_API; the list of
# exports keeps out what comes from other archives.
set(sand_exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
function(sand_shared_library name output)
    add_library(${name} SHARED ${ARGN})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
                          INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON LINK_DEPENDS ${sand_exports})
    target_link_options(${name} PRIVATE -Wl,--version-script=${sand_exports} -Wl,--no-undefined)
endfunction()

sand_shared_library(sandglass_shared sandglass python/bridge.c python/layout.c python/matrix.c app/engine/backends.c app/engine/settled.c
                    app/io/export/library.c $<TARGET_OBJECTS:sand_export>)
# A minor version may change structs and functions (include/sandglass/sandglass.h), and so has a name of its own; a wheel has
# one version alone.
set_target_properties(sandglass_shared PROPERTIES EXPORT_NAME sandglass)
if(NOT SAND_WHEEL)
    set_target_properties(sandglass_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
target_include_directories(sandglass_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(sandglass_shared PRIVATE sand_flags -Wl,--whole-archive ${sand_libraries} -Wl,--no-whole-archive ${sand_export_libraries}
                      Threads::Threads OpenMP::OpenMP_C INTERFACE m)
if(SAND_REFERENCE)
    target_compile_definitions(sandglass_shared PRIVATE SAND_REFERENCE)
    target_link_libraries(sandglass_shared PRIVATE ${sand_factor_libraries})
endif()
if(SAND_HAVE_CUDA)
    target_link_libraries(sandglass_shared PRIVATE sand_cuda)
endif()
install(TARGETS sandglass_shared EXPORT sandglass LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library OPTIONAL)
