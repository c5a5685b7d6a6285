"""Words that descriptions of settings use and do not explain each time. Pure."""

import re
from collections.abc import Iterable, Mapping

from forebay.settings.model.table import Setting

_MEANINGS: Mapping[str, str] = {
    "aggregator": "a rank that reads or writes the file on behalf of others (ROMIO: cb_node)",
    "captured": "its calls of the C library are answered by a library that `forebay run` preloads",
    "collective": "of MPI-IO: a call that all ranks of a communicator make together",
    "collective buffer": "memory in which an aggregator puts together what it writes or reads",
    "control group": "processes with a limit of memory of their own, as those of a batch job",
    "daemon": "forebayd, one on a node: it has the pool's memory, and writes it out",
    "drained": "written from the pool to the file system",
    "EARTH": "the scheduling of requests by Tsujita et al., 2015, from which the idea of k is",
    "journal": "a copy on a local disk of what is in the pool, for a crash of the node",
    "k": "how many requests a storage target may have outstanding at a time",
    "pool": "memory of the node for what programs wrote and the file system does not have yet",
    "rescue": "to keep in a file what could not be written where it belongs",
    "storage target": "one disk array of a parallel file system (Lustre: an OST)",
    "stripe": "the contiguous part of a file that lies on one storage target",
}


def words_of(settings: Iterable[Setting]) -> tuple[tuple[str, str], ...]:
    """The words in the descriptions, each with its meaning."""
    text = " ".join(one.doc for one in settings)
    return tuple((word, meaning) for word, meaning in _MEANINGS.items() if _has(text, word))


def _has(text: str, word: str) -> bool:
    flags = 0 if word in ("k", "EARTH") else int(re.IGNORECASE)
    return re.search(rf"\b{re.escape(word)}(s|d)?\b", text, flags) is not None
