"""The daemons' documents and messages as values. Pure."""
