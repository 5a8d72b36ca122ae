# SPDX-License-Identifier: MIT
# The off-screen renderer: a GL loader made by glad, EGL and cglm. It needs neither a window system nor the panel, so that the
# program and the Python package share it. SAND_HAVE_PICTURES is ON where all of it is found.
find_path(EGL_INCLUDE_DIR EGL/egl.h)
find_library(EGL_LIBRARY EGL)
find_path(CGLM_INCLUDE_DIR cglm/cglm.h)
find_program(GLAD glad)
find_program(PYTHON3 python3)
# Where its own interpreter is missing, the module may still be there for another.
set(glad_command "")
foreach(candidate "${GLAD}" "${PYTHON3};-m;glad")
    if(NOT glad_command)
        execute_process(COMMAND ${candidate} --help RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(NOT failed)
            set(glad_command ${candidate})
        endif()
    endif()
endforeach()

set(SAND_HAVE_PICTURES ON)
set(sand_pictures_missing "")
foreach(what EGL_INCLUDE_DIR EGL_LIBRARY CGLM_INCLUDE_DIR glad_command)
    if(NOT ${what})
        set(SAND_HAVE_PICTURES OFF)
        list(APPEND sand_pictures_missing ${what})
    endif()
endforeach()
if(NOT SAND_HAVE_PICTURES)
    return()
endif()

# The loader, made at build time.
set(glad_dir ${CMAKE_BINARY_DIR}/glad)
add_custom_command(
    OUTPUT ${glad_dir}/src/gl.c ${glad_dir}/include/glad/gl.h
    COMMAND ${glad_command} --reproducible --quiet --extensions GL_KHR_debug --api gl:core=4.5 --out-path ${glad_dir} c
    VERBATIM)
add_library(sand_glad STATIC EXCLUDE_FROM_ALL ${glad_dir}/src/gl.c ${glad_dir}/include/glad/gl.h)
target_include_directories(sand_glad SYSTEM PUBLIC ${glad_dir}/include)

# Shaders and color maps travel inside the program.
file(GLOB sand_shaders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shaders/*/*)
file(GLOB sand_assets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/assets/*.txt)
set(shader_dir ${CMAKE_BINARY_DIR}/shaders)
add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/embedded.c
    COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR} -DTO=${CMAKE_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${sand_shaders} ${sand_assets} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)

# Objects, for the program and for the shared library of the package alike.
add_library(sand_picture OBJECT EXCLUDE_FROM_ALL
    app/render/accumulator.c
    app/render/camera.c
    app/render/colormap.c
    app/render/context.c
    app/render/cull.c
    app/render/depth_tiles.c
    app/render/visible.c
    app/render/frame_uniforms.c
    app/render/environment.c
    app/render/lighting.c
    app/render/render_scene.c
    app/render/scenery.c
    app/render/renderer.c
    app/render/shader.c
    app/render/solid_mesh.c
    app/render/solid_ray.c
    app/render/solids.c
    app/render/splat.c
    app/render/split.c
    app/render/surface.c
    app/render/targets.c
    app/render/vertex_array.c
    app/render/vessel_frame.c
    app/render/warm.c
    ${CMAKE_BINARY_DIR}/embedded.c
)
target_include_directories(sand_picture SYSTEM PUBLIC ${EGL_INCLUDE_DIR} ${CGLM_INCLUDE_DIR})
target_link_libraries(sand_picture PUBLIC sand_flags sand_glad ${EGL_LIBRARY} m)
