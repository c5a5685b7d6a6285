"""The real world behind the ports: files, processes, ELF, mounts, kernels."""
