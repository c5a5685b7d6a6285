"""Daemons: started, asked over their sockets, on one node or many; rescue files."""
