# SPDX-License-Identifier: MIT
# The library, in three archives that are installed apart; the shared library (shared.cmake) has all of them:
#   sandglass_core       worlds, collision, the solver kernels, the step: libc, libm and OpenMP
#   sandglass_scene      scenes in YAML: cyaml
#   sandglass_reference  methods that need N as a matrix, FCLIB files: AMD, METIS, HDF5, PETSc
# `sand` stands for all three.

find_package(OpenMP REQUIRED COMPONENTS C)

# --- core -----------------------------------------------------------------------------------------------------

add_library(sandglass_core STATIC
    sim/core/array.c
    sim/core/clock.c
    sim/core/error.c
    sim/core/fork.c
    sim/core/suggestion.c
    sim/core/ranks.c
    sim/core/thread_pool.c
    sim/geometry/boundary.c
    sim/geometry/boundary_ray.c
    sim/geometry/compound.c
    sim/geometry/convex_shape.c
    sim/geometry/gltf.c
    sim/geometry/hull.c
    sim/geometry/json.c
    sim/geometry/mesh.c
    sim/geometry/mesh_distance.c
    sim/geometry/mesh_file.c
    sim/geometry/obj.c
    sim/geometry/ply.c
    sim/geometry/principal.c
    sim/geometry/revolution.c
    sim/geometry/shape.c
    sim/geometry/solid.c
    sim/geometry/stl.c
    sim/world/joint.c
    sim/world/render_instance.c
    sim/world/body_arrays.c
    sim/world/world.c
    sim/world/world_build.c
    sim/world/world_check.c
    sim/world/world_copy.c
    sim/world/world_key.c
    sim/world/flow.c
    sim/world/probe.c
    sim/world/scatter.c
    sim/collision/body_tree.c
    sim/collision/broad_phase.c
    sim/collision/images.c
    sim/collision/collide.c
    sim/collision/tree_query.c
    sim/collision/warm_start.c
    sim/solver/adjacency.c
    sim/solver/blocks.c
    sim/solver/cells.c
    sim/solver/assembled.c
    sim/solver/contact_result.c
    sim/solver/cpu_solver.c
    sim/solver/chunks.c
    sim/solver/subproblem.c
    sim/solver/verification.c
    sim/solver/evaluator.c
    sim/solver/island_newton.c
    sim/solver/island_order.c
    sim/solver/islands.c
    sim/solver/problem.c
    sim/solver/skyline.c
    sim/solver/solver_table.c
    sim/ranks/body_blocks.c
    sim/ranks/body_records.c
    sim/ranks/cpu_engine.c
    sim/ranks/cut_chunks.c
    sim/ranks/gather_step.c
    sim/ranks/ghost_search.c
    sim/ranks/messages.c
    sim/ranks/near_proxies.c
    sim/ranks/owners.c
    sim/ranks/rank_report.c
    sim/ranks/subdomain.c
    sim/ranks/subdomain_checkpoint.c
    sim/ranks/subdomain_ghosts.c
    sim/step/asking.c
    sim/step/backend_list.c
    sim/step/batch.c
    sim/step/build_problem.c
    sim/step/checkpoint.c
    sim/step/checkpoint_file.c
    sim/step/contact_forces.c
    sim/step/contact_watch.c
    sim/step/cpu_backend.c
    sim/step/edits.c
    sim/step/forces.c
    sim/step/energy_bound.c
    sim/study/gap_study.c
    sim/step/joint_report.c
    sim/step/laws.c
    sim/study/race.c
    sim/step/residency.c
    sim/step/saved_state.c
    sim/step/probe.c
    sim/step/probe_cpu.c
    sim/step/sleep.c
    sim/step/second_look.c
    sim/step/inlet.c
    sim/step/simulation.c
    sim/step/squeeze.c
    sim/study/track.c
)
set_source_files_properties(sim/solver/skyline.c PROPERTIES COMPILE_OPTIONS "-O3")
target_include_directories(sandglass_core PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                 $<INSTALL_INTERFACE:include>)
target_link_libraries(sandglass_core PRIVATE $<BUILD_INTERFACE:sand_flags> PUBLIC OpenMP::OpenMP_C m)
set_target_properties(sandglass_core PROPERTIES OUTPUT_NAME sandglass EXPORT_NAME core)

# The solver kernels: one source, compiled for each precision, number of rows a contact, kind of arms and basis of an impulse
# (sim/solver/kernel/variant.h). `user` is the target that calls it.
function(sand_solver_kernel user name real rows radial local)
    add_library(sand_kernel_${name} OBJECT ${PROJECT_SOURCE_DIR}/sim/solver/cpu_kernel.c)
    target_compile_definitions(sand_kernel_${name} PRIVATE SAND_REAL=${real} SAND_ROWS=${rows} SAND_RADIAL=${radial}
                                                           SAND_LOCAL=${local} SAND_KERNEL_NAME=sand_kernel_${name})
    target_compile_options(sand_kernel_${name} PRIVATE ${SAND_KERNEL_FLAGS})
    set_target_properties(sand_kernel_${name} PROPERTIES SAND_KERNEL ON)
    target_link_libraries(sand_kernel_${name} PRIVATE sand_flags OpenMP::OpenMP_C)
    target_sources(${user} PRIVATE $<TARGET_OBJECTS:sand_kernel_${name}>)
endfunction()
foreach(precision f32:float f64:double)
    string(REPLACE ":" ";" precision ${precision})
    list(GET precision 0 bits)
    list(GET precision 1 real)
    sand_solver_kernel(sandglass_core ${bits}_joints_full ${real} 3 0 1)
    target_compile_definitions(sand_kernel_${bits}_joints_full PRIVATE SAND_JOINTS=1)
    sand_solver_kernel(sandglass_core ${bits}_rolling_full ${real} 3 0 1)
    target_compile_definitions(sand_kernel_${bits}_rolling_full PRIVATE SAND_JOINTS=1 SAND_ROLLING=1)
    foreach(arms full:0 radial:1)
        string(REPLACE ":" ";" arms ${arms})
        list(GET arms 0 kind)
        list(GET arms 1 radial)
        sand_solver_kernel(sandglass_core ${bits}_normal_${kind} ${real} 1 ${radial} 0)
        sand_solver_kernel(sandglass_core ${bits}_world_${kind} ${real} 3 ${radial} 0)
        sand_solver_kernel(sandglass_core ${bits}_local_${kind} ${real} 3 ${radial} 1)
    endforeach()
endforeach()

# --- scene ----------------------------------------------------------------------------------------------------

find_path(CYAML_INCLUDE_DIR cyaml/cyaml.h REQUIRED)
find_library(CYAML_LIBRARY cyaml REQUIRED)
find_path(YAML_INCLUDE_DIR yaml.h REQUIRED)
find_library(YAML_LIBRARY yaml REQUIRED)
add_library(sandglass_scene STATIC
    sim/scene/deposition.c
    sim/scene/overlap.c
    sim/scene/packing.c
    sim/scene/scene_open.c
    sim/scene/scene_build.c
    sim/scene/scene_builder.c
    sim/scene/scene_fills.c
    sim/scene/scene_scale.c
    sim/scene/scene_flow.c
    sim/scene/scene_probes.c
    sim/scene/scene_file.c
    sim/scene/scene_boundaries.c
    sim/scene/scene_joints.c
    sim/scene/scene_scenery.c
    sim/scene/scene_shapes.c
    sim/scene/scene_vehicle.c
    sim/scene/settle.c
    sim/scene/settled_state.c
    sim/scene/solver_file.c
    sim/scene/studio.c
    sim/scene/yaml_file.c
)
target_include_directories(sandglass_scene PRIVATE ${CYAML_INCLUDE_DIR} ${YAML_INCLUDE_DIR})
if(NOT SAND_WHEEL)
    target_compile_definitions(sandglass_scene PRIVATE SAND_SCENES_DIR="${PROJECT_SOURCE_DIR}/scenes")
endif()
target_link_libraries(sandglass_scene PUBLIC sandglass_core
                      PRIVATE $<BUILD_INTERFACE:sand_flags> ${CYAML_LIBRARY} ${YAML_LIBRARY})
set_target_properties(sandglass_scene PROPERTIES EXPORT_NAME scene)

add_library(sand INTERFACE)
target_link_libraries(sand INTERFACE sandglass_scene sandglass_core sand_flags)

# --- reference ------------------------------------------------------------------------------------------------

set(sand_libraries sandglass_core sandglass_scene)
if(SAND_REFERENCE)
    include(cmake/reference.cmake)
    list(APPEND sand_libraries sandglass_reference)
elseif(SAND_APP OR SAND_TESTS)
    message(FATAL_ERROR "SAND_REFERENCE is OFF: the program and the tests need the reference methods")
endif()

# --- installing -----------------------------------------------------------------------------------------------

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS ${sand_libraries} EXPORT sandglass ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT library OPTIONAL)
sand_install_licenses(${CMAKE_INSTALL_DOCDIR} library)
install(DIRECTORY include/sandglass DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT sandglass NAMESPACE sandglass:: FILE sandglass-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sandglass
        COMPONENT library)
configure_package_config_file(cmake/sandglass-config.cmake.in ${CMAKE_BINARY_DIR}/sandglass-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sandglass)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sandglass-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sandglass-config.cmake ${CMAKE_BINARY_DIR}/sandglass-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sandglass COMPONENT library)
# The prefix is found from where the file lies, so that the folder may be moved.
file(RELATIVE_PATH sand_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# sandglass.pc is the shared library; sandglass-core.pc, sandglass-scene.pc and sandglass-reference.pc are the archives.
set(sand_pc_files ${sand_libraries})
if(SAND_SHARED_LIBRARY)
    list(APPEND sand_pc_files sandglass)
endif()
foreach(library ${sand_pc_files})
    string(REPLACE "_" "-" part ${library})
    configure_file(cmake/${part}.pc.in ${CMAKE_BINARY_DIR}/${part}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${part}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endforeach()
list(TRANSFORM sand_libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE sand_archives)
sand_name_unbuilt(library "${sand_archives}")
