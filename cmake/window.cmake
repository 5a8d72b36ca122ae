# SPDX-License-Identifier: MIT
# What the window and films need beyond pictures: GLFW, stb, Dear ImGui. SAND_WINDOW is ON where all of it is found;
# without it the program still builds, and says so when asked for a picture.
find_path(GLFW_INCLUDE_DIR GLFW/glfw3.h)
find_library(GLFW_LIBRARY glfw)
find_path(STB_INCLUDE_DIR stb/stb_image_write.h)
find_path(IMGUI_INCLUDE_DIR imgui.h PATH_SUFFIXES imgui)
find_library(IMGUI_LIBRARY imgui)
find_library(STB_LIBRARY stb)
find_file(SAND_FONT DejaVuSans.ttf PATHS /usr/share/fonts/truetype/dejavu /usr/share/fonts/dejavu /usr/share/fonts/TTF)

set(found ${SAND_HAVE_PICTURES})
set(missing ${sand_pictures_missing})
foreach(what GLFW_INCLUDE_DIR GLFW_LIBRARY STB_INCLUDE_DIR SAND_FONT IMGUI_INCLUDE_DIR IMGUI_LIBRARY STB_LIBRARY)
    if(NOT ${what})
        set(found OFF)
        list(APPEND missing ${what})
    endif()
endforeach()
option(SAND_WINDOW "Window, pictures and films (needs GLFW, EGL, glad, stb, cglm, Dear ImGui and the DejaVu font)" ${found})
if(SAND_WINDOW AND NOT found)
    message(FATAL_ERROR "SAND_WINDOW: not found: ${missing}")
endif()
if(NOT SAND_WINDOW)
    message(STATUS "without window and films: ${missing}")
    return()
endif()

add_library(sand_app_window STATIC
    app/render/window_context.c
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
    app/ui/window_turn.c
    app/ui/start_screen.c
    app/ui/window_opening.c
    app/ui/window_keys.c
    app/ui/window_view.c
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
)
target_compile_definitions(sand_app_window PUBLIC SAND_WINDOW=1)
set_source_files_properties(app/io/caption.c PROPERTIES COMPILE_DEFINITIONS "SAND_FONT=\"${SAND_FONT}\"")
# stb's PNG writer reads bytes as words.
set_source_files_properties(app/io/png.c PROPERTIES COMPILE_OPTIONS "-fno-strict-aliasing")
target_include_directories(sand_app_window SYSTEM PUBLIC ${GLFW_INCLUDE_DIR} ${STB_INCLUDE_DIR})
find_package(Threads REQUIRED)
target_link_libraries(sand_app_window PUBLIC sand_picture sand_app_core ${GLFW_LIBRARY} Threads::Threads m)

include(cmake/panel.cmake)
