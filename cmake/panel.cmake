# The panel: Dear ImGui from Debian's libimgui, through the cimgui names, which app/cimgui.cpp exports. Where a cimgui library
# is installed it takes that file's place; it must have been made from the ImGui whose headers are found here.
find_path(CIMGUI_INCLUDE_DIR cimgui.h)
find_library(CIMGUI_LIBRARY cimgui)

target_sources(sand_picture PRIVATE
    app/interface.cpp
    app/plot.c
    app/plot_axis.c
    app/race_plot.c
    app/overlay.c
    app/citation.c
    app/controls.c
    app/panel.c
    app/panel_controls.c
    app/panel_figures.c
    app/panel_race.c
    app/panel_transport.c
)
if(CIMGUI_INCLUDE_DIR AND CIMGUI_LIBRARY)
    target_compile_definitions(sand_picture PRIVATE SAND_CIMGUI=1)
    target_include_directories(sand_picture SYSTEM PRIVATE ${CIMGUI_INCLUDE_DIR})
    target_link_libraries(sand_picture PUBLIC ${CIMGUI_LIBRARY})
else()
    target_sources(sand_picture PRIVATE app/cimgui.cpp)
endif()
target_include_directories(sand_picture SYSTEM PRIVATE ${IMGUI_INCLUDE_DIR})
target_link_libraries(sand_picture PUBLIC ${IMGUI_LIBRARY} ${STB_LIBRARY} ${CMAKE_DL_LIBS} stdc++)
