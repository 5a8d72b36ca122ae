# SPDX-License-Identifier: MIT
# Installing what was built. A build of a single target, as `make run` makes it, leaves out the rest: that is named, and not
# a failure.

# The license of what is installed, and those of what is inside it.
function(sand_install_licenses destination component)
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md DESTINATION ${destination}
            COMPONENT ${component} ${ARGN})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/licenses DESTINATION ${destination} COMPONENT ${component} ${ARGN})
endfunction()

# Says at the end of a component which of its files there are none of.
function(sand_name_unbuilt component files)
    install(CODE "
        set(files \"${files}\")
        set(unbuilt \"\")
        foreach(file IN LISTS files)
            if(NOT EXISTS \"\${file}\")
                get_filename_component(name \"\${file}\" NAME)
                list(APPEND unbuilt \"\${name}\")
            endif()
        endforeach()
        if(unbuilt)
            list(JOIN unbuilt \", \" unbuilt)
            message(\"Not built, and so not installed: \${unbuilt}. To build everything: cmake --build ${CMAKE_BINARY_DIR}\")
        endif()"
        COMPONENT ${component})
endfunction()
