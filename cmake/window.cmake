# What pictures need: a GL loader made by glad, EGL, GLFW, stb, cglm, Dear ImGui. SAND_WINDOW is ON where all of it is found;
# without it the program still builds, and says so when asked for a picture.
find_path(EGL_INCLUDE_DIR EGL/egl.h)
find_library(EGL_LIBRARY EGL)
find_path(GLFW_INCLUDE_DIR GLFW/glfw3.h)
find_library(GLFW_LIBRARY glfw)
find_path(STB_INCLUDE_DIR stb/stb_image_write.h)
find_path(CGLM_INCLUDE_DIR cglm/cglm.h)
find_path(IMGUI_INCLUDE_DIR imgui.h PATH_SUFFIXES imgui)
find_library(IMGUI_LIBRARY imgui)
find_library(STB_LIBRARY stb)
find_file(SAND_FONT DejaVuSans.ttf PATHS /usr/share/fonts/truetype/dejavu /usr/share/fonts/dejavu /usr/share/fonts/TTF)
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

set(found ON)
set(missing "")
foreach(what EGL_INCLUDE_DIR EGL_LIBRARY GLFW_INCLUDE_DIR GLFW_LIBRARY STB_INCLUDE_DIR CGLM_INCLUDE_DIR SAND_FONT
             IMGUI_INCLUDE_DIR IMGUI_LIBRARY STB_LIBRARY)
    if(NOT ${what})
        set(found OFF)
        list(APPEND missing ${what})
    endif()
endforeach()
if(NOT glad_command)
    set(found OFF)
    list(APPEND missing glad)
endif()
option(SAND_WINDOW "Window, pictures and films (needs GLFW, EGL, glad, stb, cglm, Dear ImGui and the DejaVu font)" ${found})
if(SAND_WINDOW AND NOT found)
    message(FATAL_ERROR "SAND_WINDOW: not found: ${missing}")
endif()
if(NOT SAND_WINDOW)
    message(STATUS "without window and films: ${missing}")
    return()
endif()

# The loader, made at build time.
set(glad_dir ${CMAKE_BINARY_DIR}/glad)
add_custom_command(
    OUTPUT ${glad_dir}/src/gl.c ${glad_dir}/include/glad/gl.h
    COMMAND ${glad_command} --reproducible --quiet --extensions GL_KHR_debug --api gl:core=4.5 --out-path ${glad_dir} c
    VERBATIM)
add_library(sand_glad STATIC ${glad_dir}/src/gl.c ${glad_dir}/include/glad/gl.h)
target_include_directories(sand_glad SYSTEM PUBLIC ${glad_dir}/include)

# Shaders and color maps travel inside the program.
file(GLOB sand_shaders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shaders/*)
file(GLOB sand_assets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/assets/*.txt)
set(shader_dir ${CMAKE_BINARY_DIR}/shaders)
add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/embedded.c
    COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR} -DTO=${CMAKE_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${sand_shaders} ${sand_assets} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)

add_library(sand_app_window STATIC
    app/render/accumulator.c
    app/render/context.c
    app/render/cull.c
    app/render/lighting.c
    app/render/splat.c
    app/render/split.c
    app/render/shader.c
    app/render/camera.c
    app/render/colormap.c
    app/render/frame_uniforms.c
    app/render/render_scene.c
    app/render/surface.c
    app/render/renderer.c
    app/render/solid_mesh.c
    app/render/solid_ray.c
    app/render/solids.c
    app/render/targets.c
    app/render/vertex_array.c
    app/render/vessel_frame.c
    app/render/warm.c
    app/io/png.c
    app/io/snapshot.c
    app/io/caption.c
    app/io/film.c
    app/io/free_path.c
    app/io/open_folder.c
    app/ui/window.c
    app/ui/window_demo.c
    app/ui/window_files.c
    app/ui/window_drive.c
    app/ui/window_keys.c
    app/ui/window_mouse.c
    app/ui/window_recording.c
    app/io/recorder.c
    app/engine/history.c
    app/engine/timeline.c
    app/engine/beside.c
    app/engine/aim.c
    app/engine/picked_body.c
    app/engine/probe_readings.c
    app/engine/wheels.c
    app/engine/triple_buffer.c
    app/engine/triple_buffer_gl.c
    app/engine/engine.c
    app/engine/engine_publish.c
    app/engine/engine_requests.c
    app/engine/engine_scene.c
    app/engine/race_job.c
    app/ui/input.c
    app/engine/real_time_trial.c
    app/ui/frame_pacing.c
    app/ui/settings.c
    ${CMAKE_BINARY_DIR}/embedded.c
)
target_compile_definitions(sand_app_window PUBLIC SAND_WINDOW=1)
set_source_files_properties(app/io/caption.c PROPERTIES COMPILE_DEFINITIONS "SAND_FONT=\"${SAND_FONT}\"")
# stb's PNG writer reads bytes as words.
set_source_files_properties(app/io/png.c PROPERTIES COMPILE_OPTIONS "-fno-strict-aliasing")
target_include_directories(sand_app_window SYSTEM PUBLIC ${EGL_INCLUDE_DIR} ${GLFW_INCLUDE_DIR} ${STB_INCLUDE_DIR} ${CGLM_INCLUDE_DIR})
find_package(Threads REQUIRED)
target_link_libraries(sand_app_window PUBLIC sand_app_core sand_glad ${EGL_LIBRARY} ${GLFW_LIBRARY} Threads::Threads m)

include(cmake/panel.cmake)
