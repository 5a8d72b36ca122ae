# SPDX-License-Identifier: MIT
# What the Python package loads:
#   libsandglass.so          the shared library (cmake/shared.cmake)
#   libsandglass_picture.so  the off-screen renderer, loaded with the first picture: it alone needs EGL
#   libsandglass_fmu.so      what an FMU of a scene calls (python/fmu.c); it is not loaded, but copied into the FMU
sand_shared_library(sandglass_fmu sandglass_fmu python/fmu.c)
target_link_libraries(sandglass_fmu PRIVATE sand_flags sandglass_shared)
set(sand_python_targets sandglass_shared sandglass_fmu)
if(SAND_HAVE_PICTURES)
    sand_shared_library(sandglass_picture sandglass_picture python/picture.c app/render/camera_path.c)
    target_link_libraries(sandglass_picture PRIVATE sand_picture sandglass_shared)
    list(APPEND sand_python_targets sandglass_picture)
endif()
add_custom_target(sandglass_python DEPENDS ${sand_python_targets})
# Under their plain names: a wheel has no links.
foreach(target ${sand_python_targets})
    install(FILES $<TARGET_FILE:${target}> DESTINATION . RENAME lib$<TARGET_PROPERTY:${target},OUTPUT_NAME>.so COMPONENT python EXCLUDE_FROM_ALL)
endforeach()

# The wheel has the scenes beside the libraries. What these need of the system auditwheel adds to it (`make wheel`).
install(DIRECTORY scenes/ DESTINATION scenes COMPONENT python EXCLUDE_FROM_ALL)
sand_install_licenses(. python EXCLUDE_FROM_ALL)
