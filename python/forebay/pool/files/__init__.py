"""Daemons as processes and over their sockets, on one node or several; rescue files."""
