"""Use case: probing; and the modelled and simulated systems that it can probe."""
