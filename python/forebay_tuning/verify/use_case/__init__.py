"""Use cases: advice is tried on a real file system or on a simulated one."""
