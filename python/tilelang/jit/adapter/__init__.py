"""How compiled kernels meet the host: nothing here is needed to run one."""
