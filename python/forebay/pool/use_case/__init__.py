"""The pool of scripts and of runs, and rescued bytes; the port Pools."""
