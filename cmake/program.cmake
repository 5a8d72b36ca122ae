# SPDX-License-Identifier: MIT
# What is installed with the program: scenes, manual page, completion of shells, desktop entry and icon. The page and the
# completion are printed by the program itself, from its tables of verbs and options.
set(manual_dir ${CMAKE_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${manual_dir})
set(manual_files "")
foreach(page man:sandglass.1 bash:sandglass.bash zsh:_sandglass fish:sandglass.fish)
    string(REPLACE ":" ";" parts ${page})
    list(GET parts 0 topic)
    list(GET parts 1 file)
    add_custom_command(OUTPUT ${manual_dir}/${file} COMMAND sandglass help ${topic} > ${manual_dir}/${file} DEPENDS sandglass
                       VERBATIM)
    list(APPEND manual_files ${manual_dir}/${file})
endforeach()
add_custom_target(manual ALL DEPENDS ${manual_files})

install(TARGETS sandglass RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program OPTIONAL)
sand_install_licenses(${CMAKE_INSTALL_DOCDIR} program)
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sandglass/scenes COMPONENT program)
install(FILES ${manual_dir}/sandglass.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program OPTIONAL)
install(FILES ${manual_dir}/sandglass.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sandglass
        COMPONENT program OPTIONAL)
install(FILES ${manual_dir}/_sandglass DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program OPTIONAL)
install(FILES ${manual_dir}/sandglass.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program
        OPTIONAL)
install(FILES assets/desktop/sandglass.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT program)
install(FILES assets/desktop/sandglass.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps
        COMPONENT program)
sand_name_unbuilt(program "$<TARGET_FILE:sandglass>;${manual_files}")
