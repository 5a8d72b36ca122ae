# SPDX-License-Identifier: MIT
# The panel: Dear ImGui from Debian's libimgui, through the cimgui names, which app/ui/cimgui.cpp exports. Where a cimgui library
# is installed it takes that file's place; it must have been made from the ImGui whose headers are found here.
find_path(CIMGUI_INCLUDE_DIR cimgui.h)
find_library(CIMGUI_LIBRARY cimgui)

target_sources(sand_app_window PRIVATE
    app/ui/interface.cpp
    app/ui/plot.c
    app/ui/plot_axis.c
    app/ui/plot_svg.c
    app/ui/marks.c
    app/ui/race_plot.c
    app/ui/card.c
    app/ui/overlay.c
    app/ui/show_caption.c
    app/ui/panel/citation.c
    app/ui/panel/controls.c
    app/ui/panel/panel.c
    app/ui/panel/panel_controls.c
    app/ui/panel/panel_figures.c
    app/ui/panel/panel_plot.c
    app/ui/panel/panel_probes.c
    app/ui/panel/panel_race.c
    app/ui/panel/panel_state.c
    app/ui/panel/panel_theater.c
    app/ui/panel/panel_transport.c
)
if(CIMGUI_INCLUDE_DIR AND CIMGUI_LIBRARY)
    target_compile_definitions(sand_app_window PRIVATE SAND_CIMGUI=1)
    target_include_directories(sand_app_window SYSTEM PRIVATE ${CIMGUI_INCLUDE_DIR})
    target_link_libraries(sand_app_window PUBLIC ${CIMGUI_LIBRARY})
else()
    target_sources(sand_app_window PRIVATE app/ui/cimgui.cpp)
endif()
target_include_directories(sand_app_window SYSTEM PRIVATE ${IMGUI_INCLUDE_DIR})
target_link_libraries(sand_app_window PUBLIC ${IMGUI_LIBRARY} ${STB_LIBRARY} ${CMAKE_DL_LIBS} stdc++)
