# SPDX-License-Identifier: MIT
# Sets SAND_HAVE_MPI, and makes the backend where MPI is found or asked for.
set(SAND_HAVE_MPI OFF)
if(NOT SAND_MPI STREQUAL "OFF")
    find_package(MPI COMPONENTS C)
    if(MPI_C_FOUND)
        set(SAND_HAVE_MPI ON)
    elseif(SAND_MPI STREQUAL "ON")
        message(FATAL_ERROR "SAND_MPI is ON and MPI was not found (Debian: libopenmpi-dev)")
    endif()
endif()

if(SAND_HAVE_MPI)
    add_library(sand_mpi STATIC mpi/backend.c mpi/communicator.c mpi/steps.c)
    target_link_libraries(sand_mpi PUBLIC sand PRIVATE MPI::MPI_C)
endif()
