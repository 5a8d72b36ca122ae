# SPDX-License-Identifier: MIT
# Bodies and contacts for other programs: objects, for the program and for the shared library alike. Compressed where zlib is
# found, in HDF5 where that is.
set(sand_export_libraries "")
add_library(sand_export OBJECT app/io/json.c app/io/export/columns.c app/io/export/csv.c app/io/export/deflate.c app/io/export/describe.c
            app/io/export/exporter.c app/io/export/frame.c app/io/export/gsd.c app/io/export/gsd_file.c app/io/export/particle_types.c
            app/io/export/parts.c app/io/export/pvd.c app/io/export/pvd_list.c app/io/export/scenery.c app/io/export/shape_text.c app/io/export/triangles.c
            app/io/export/usd.c app/io/export/vtkhdf.c app/io/export/vtp.c app/io/export/whole_file.c)
find_package(Threads REQUIRED)
target_link_libraries(sand_export PRIVATE sand_flags Threads::Threads OpenMP::OpenMP_C)
if(HDF5_INCLUDE_DIR AND HDF5_LIBRARY)
    set_source_files_properties(app/io/export/vtkhdf.c PROPERTIES COMPILE_DEFINITIONS SAND_HDF5 INCLUDE_DIRECTORIES ${HDF5_INCLUDE_DIR})
    list(APPEND sand_export_libraries ${HDF5_LIBRARY})
endif()
find_package(ZLIB)
if(ZLIB_FOUND)
    target_compile_definitions(sand_export PRIVATE SAND_ZLIB)
    target_include_directories(sand_export SYSTEM PRIVATE ${ZLIB_INCLUDE_DIRS})
    list(APPEND sand_export_libraries ZLIB::ZLIB)
endif()

# Files say from which commit they come. After the next one CMake runs again, and one file is compiled.
find_package(Git QUIET)
if(GIT_FOUND)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --absolute-git-dir WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE git_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(commit)
        set_source_files_properties(app/io/export/describe.c PROPERTIES COMPILE_DEFINITIONS SAND_COMMIT="${commit}")
    endif()
    if(git_dir AND EXISTS ${git_dir}/logs/HEAD)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${git_dir}/logs/HEAD)
    endif()
endif()
