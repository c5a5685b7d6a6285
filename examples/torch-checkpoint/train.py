#!/usr/bin/env python3
"""Trains a small network, with checkpoints by PyTorch. Started again, it goes on from the last
whole one."""

import os
from pathlib import Path

import torch

CHECKPOINT = Path("checkpoint.pt")
EPOCHS, EACH = 20, 5

torch.manual_seed(1)
inputs = torch.rand(256, 512)
wanted = inputs.roll(1, dims=1)
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Tanh(), torch.nn.Linear(512, 512))
optimizer = torch.optim.Adam(model.parameters())


def save(epoch: int) -> None:
    """Leaves the old checkpoint or the new one, and never a part of one, whatever ends the
    program or the node."""
    new = CHECKPOINT.with_suffix(".new")
    states = {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    with new.open("wb") as file:  # a file, and not a path: fsync needs it
        torch.save(states, file)
        file.flush()  # Python's buffer
        os.fsync(file.fileno())
    new.replace(CHECKPOINT)  # only a whole checkpoint takes the old one's name


first = 0
if CHECKPOINT.exists():
    saved = torch.load(CHECKPOINT, map_location="cpu")
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    first = saved["epoch"]
for epoch in range(first + 1, first + EPOCHS + 1):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), wanted)
    loss.backward()
    optimizer.step()
    if epoch % EACH == 0:
        save(epoch)
        print(f"epoch {epoch}: loss {loss.item():.4f}", flush=True)
