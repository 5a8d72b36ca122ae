# What the Python package loads:
#   libsandglass.so          core, scenes and, where they are built, the reference methods; no window system, no OpenGL
#   libsandglass_picture.so  the off-screen renderer, loaded with the first picture: it alone needs EGL
# Both export the names that begin with sand_ and nothing else.
set(sand_exports ${PROJECT_SOURCE_DIR}/python/exports.map)
function(sand_shared_library name output)
    add_library(${name} SHARED ${ARGN})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
                          INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON LINK_DEPENDS ${sand_exports})
    target_link_options(${name} PRIVATE -Wl,--version-script=${sand_exports} -Wl,--no-undefined)
    install(TARGETS ${name} LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
endfunction()

sand_shared_library(sandglass_shared sandglass python/bridge.c python/layout.c python/matrix.c app/engine/backends.c
                    app/engine/settled.c)
target_link_libraries(sandglass_shared PRIVATE sand_flags -Wl,--whole-archive ${sand_libraries} -Wl,--no-whole-archive)
if(SAND_REFERENCE)
    target_compile_definitions(sandglass_shared PRIVATE SAND_REFERENCE)
    target_include_directories(sandglass_shared PRIVATE ${CHOLMOD_INCLUDE_DIR})
    target_link_libraries(sandglass_shared PRIVATE ${CHOLMOD_LIBRARY})
endif()
if(SAND_HAVE_CUDA)
    target_link_libraries(sandglass_shared PRIVATE sand_cuda)
endif()
set(sand_python_targets sandglass_shared)

if(SAND_HAVE_PICTURES)
    sand_shared_library(sandglass_picture sandglass_picture python/picture.c app/render/camera_path.c)
    target_link_libraries(sandglass_picture PRIVATE sand_picture sandglass_shared)
    list(APPEND sand_python_targets sandglass_picture)
endif()
add_custom_target(sandglass_python DEPENDS ${sand_python_targets})

# The wheel has the scenes beside the libraries, and what gcc brings to run OpenMP.
install(DIRECTORY scenes/ DESTINATION scenes COMPONENT python EXCLUDE_FROM_ALL)
install(FILES LICENSE DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
if(SAND_WHEEL)
    get_filename_component(gomp "${OpenMP_gomp_LIBRARY}" REALPATH)
    install(FILES ${gomp} DESTINATION . RENAME libgomp.so.1 COMPONENT python EXCLUDE_FROM_ALL)
endif()
