# SPDX-License-Identifier: MIT
# The reference library: methods that need N as a matrix, and the files of FCLIB and Siconos. It needs AMD and METIS
# for the order in which sparse matrices are factorized; where they are found HDF5 and PETSc. CHOLMOD and UMFPACK are not
# linked: parts of them are under the GPL, which would then hold for the whole program.
find_path(AMD_INCLUDE_DIR suitesparse/amd.h REQUIRED)
find_library(AMD_LIBRARY amd REQUIRED)
find_path(METIS_INCLUDE_DIR metis.h REQUIRED)
find_library(METIS_LIBRARY metis REQUIRED)
set(sand_factor_libraries ${AMD_LIBRARY} ${METIS_LIBRARY})
list(JOIN sand_factor_libraries " " sand_pc_factor_libraries)
# For stored problems of FCLIB; without it they are refused. A wheel would have to carry all that Debian's brings along, curl
# and Kerberos among it.
if(NOT SAND_WHEEL)
    find_path(HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
    find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5)
endif()
add_library(sandglass_reference STATIC
    sim/solver/reference/amg.c
    sim/solver/reference/cone_program.c
    sim/solver/reference/coulomb.c
    sim/solver/reference/coulomb_newton.c
    sim/solver/reference/dense_factor.c
    sim/solver/reference/dense_multiply.c
    sim/solver/reference/factor_shape.c
    sim/solver/reference/factors.c
    sim/solver/reference/fclib.c
    sim/solver/reference/ipm.c
    sim/solver/reference/kkt.c
    sim/solver/reference/newton.c
    sim/solver/reference/ngs_newton.c
    sim/solver/reference/reference.c
    sim/solver/reference/semismooth.c
    sim/solver/reference/siconos_text.c
    sim/solver/reference/sparse.c
    sim/solver/reference/stored_matrix.c
    sim/solver/reference/fclib_write.c
)
target_include_directories(sandglass_reference PRIVATE ${AMD_INCLUDE_DIR} ${METIS_INCLUDE_DIR})
target_link_libraries(sandglass_reference PUBLIC sandglass_core PRIVATE $<BUILD_INTERFACE:sand_flags> ${sand_factor_libraries})
# Products of dense matrices, fused, as those of a BLAS are.
set_source_files_properties(sim/solver/reference/dense_multiply.c sim/solver/reference/dense_factor.c sim/solver/reference/factors.c PROPERTIES
                            COMPILE_OPTIONS "-O3;-ffp-contract=fast")
set_target_properties(sandglass_reference PROPERTIES EXPORT_NAME reference)
if(HDF5_INCLUDE_DIR AND HDF5_LIBRARY)
    set_source_files_properties(sim/solver/reference/fclib.c sim/solver/reference/fclib_write.c PROPERTIES COMPILE_DEFINITIONS SAND_HDF5
                                INCLUDE_DIRECTORIES ${HDF5_INCLUDE_DIR})
    target_link_libraries(sandglass_reference PRIVATE ${HDF5_LIBRARY})
    set(sand_hdf5_library ${HDF5_LIBRARY})
endif()

# Two more methods. Only include paths and libraries are taken: the compiler's flags are ours.
if(SAND_PETSC)
    find_package(PkgConfig REQUIRED)
    find_package(Threads REQUIRED)
    pkg_check_modules(PETSC REQUIRED PETSc mpi-c)
    target_sources(sandglass_reference PRIVATE sim/solver/reference/tao.c)
    target_include_directories(sandglass_reference SYSTEM PRIVATE ${PETSC_INCLUDE_DIRS})
    target_compile_definitions(sandglass_reference PRIVATE SAND_PETSC)
    target_link_libraries(sandglass_reference PRIVATE ${PETSC_LINK_LIBRARIES} Threads::Threads)
endif()

target_link_libraries(sand INTERFACE sandglass_reference)
