# SPDX-License-Identifier: MIT
"""How the tests and measurements call mpirun."""
import os


def environment():
    """More ranks than cores, by the names of Open MPI 4 and 5; and no copies between processes that a container may forbid."""
    settings = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
                    OMPI_MCA_btl_vader_single_copy_mechanism="none")
    if os.getuid() == 0:
        settings.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return settings
