"""Tells what a program of mpi4py sees of its world, by groups, splits, attributes and windows, and
by files that it writes. All goes into the folder that is the first argument. With the word
"cut", it also has to be refused what begins other worlds."""

import sys
from pathlib import Path

from mpi4py import MPI

folder = Path(sys.argv[1])
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size
told: list[str] = []


def tell(*words: object) -> None:
    told.append(" ".join(map(str, words)))


def groups() -> None:
    group = world.Get_group()
    every_other = group.Incl(range(0, size, 2))
    others = group.Excl(range(0, size, 2))
    by_range = group.Range_incl([(size - 1, 0, -1)])
    tell("groups", group.size, group.rank, every_other.size, others.size, by_range.rank)
    tell("translated", MPI.Group.Translate_ranks(group, list(range(size)), by_range))
    tell("union", MPI.Group.Union(others, every_other).size)
    tell("compared", MPI.Group.Compare(group, by_range) == MPI.SIMILAR)
    if rank % 2 == 0:
        part = world.Create_group(every_other)
        tell("create_group", part.size, part.allreduce(rank))
        part.Free()
    backwards = world.Create(by_range)
    tell("create", backwards.rank, backwards.allgather(rank))
    backwards.Free()


def splits() -> None:
    thirds = world.Split(rank % 3, -rank)
    tell("split", thirds.size, thirds.rank, thirds.allgather(rank))
    none = world.Split(MPI.UNDEFINED if rank else 0)
    tell("undefined", none == MPI.COMM_NULL)
    node = world.Split_type(MPI.COMM_TYPE_SHARED)
    tell("node", node.size, node.rank)
    grid = world.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False])
    tell("grid", grid.dims, grid.coords, grid.Shift(0, 1), grid.Sub([True, False]).size)
    ring = world.Create_dist_graph_adjacent([left], [right])
    tell("ring", ring.neighbor_allgather(rank))
    if size > 1:
        half = world.Split(rank % 2)
        between = half.Create_intercomm(0, world, 1 - rank % 2)
        tell("between", between.remote_size, between.Merge(rank % 2 == 1).allgather(rank))


def attributes() -> None:
    deleted: list[object] = []
    key = MPI.Comm.Create_keyval(
        copy_fn=lambda _comm, _key, value: value + 1,
        delete_fn=lambda _comm, _key, value: deleted.append(value),
    )
    world.Set_attr(key, 40)
    double = world.Dup()
    tell("attributes", world.Get_attr(key), double.Get_attr(key))
    double.Free()
    world.Delete_attr(key)
    tell("deleted", deleted, world.Get_attr(key))
    tell("tags", world.Get_attr(MPI.TAG_UB) >= 32767, world.Get_name())
    tell("parent", MPI.Comm.Get_parent() == MPI.COMM_NULL, world.Is_inter())


def messages() -> None:
    tell("scattered", world.scatter([{"rank": n} for n in range(size)] if rank == 0 else None))
    tell("exchanged", world.alltoall([(rank, n) for n in range(size)]))
    tell("sent", world.sendrecv({"from": rank}, dest=right, source=left))
    memory = bytearray(8)
    window = MPI.Win.Create(memory, comm=world)
    window.Fence()
    given = bytes([rank]) * 8  # has to be there until the fence
    window.Put(given, right)
    window.Fence()
    tell("put", bytes(memory), window.Get_group().size)
    window.Free()
    try:
        world.send(None, dest=size)
        tell("a rank too many was sent to")
    except MPI.Exception as error:
        tell("no such rank", error.Get_error_class() == MPI.ERR_RANK)


def files() -> None:
    mode = MPI.MODE_CREATE | MPI.MODE_RDWR
    file = MPI.File.Open(world, str(folder / "pieces"), mode)
    tell("file", file.Get_group().size)
    # No view of a vector: ROMIO 4.0.2 does not know the large counts with which mpi4py 4 makes it.
    for piece in range(20):
        file.Write_at_all(100 * (piece * size + rank), bytes([rank + 1]) * 100)
    file.Set_view(2000 * size + 8 * rank, MPI.INT64_T)
    file.Write_all(bytes([rank + 1]) * 8)
    file.Close()
    file = MPI.File.Open(world, str(folder / "ordered"), mode)
    file.Write_ordered(bytes([rank + 1]) * (1000 + rank))
    file.Close()
    own = MPI.File.Open(MPI.COMM_SELF, str(folder / f"own.{rank}"), mode)
    own.Write_at(7, b"self")
    own.Close()


def refused() -> None:
    try:
        MPI.COMM_SELF.Spawn(sys.executable, args=["-c", ""], maxprocs=1)
    except MPI.Exception as error:
        if error.Get_error_class() == MPI.ERR_SPAWN:
            return
    world.Abort(8)


for one in (groups, splits, attributes, messages, files):
    one()
(folder / f"told.{rank}").write_text("\n".join(told) + "\n")
if "cut" in sys.argv:
    refused()
world.Barrier()
if rank == 0:
    print("saw", size, flush=True)
