"""The workspace: real files, changed only by staged, shown, approved and journaled operations (architecture.md 10).

`Tree.scan` reads the folder into a graph. A `Stage` applies operations to that graph alone and can return to any
version. `commit` writes the net change to the disk, all of it or none. `recover` settles transactions that a crash
interrupted. `rollback` restores the state before a commit, to the byte. All of this is blocking code: callers run it in
threads.
"""

__all__ = [
    "blob_cache",
    "commit",
    "diff",
    "engine",
    "errors",
    "examples",
    "history",
    "ignore_rules",
    "lock",
    "names",
    "operations",
    "ownership",
    "queries",
    "recovery",
    "reserved",
    "rollback",
    "roots",
    "scan",
    "scope",
    "signature",
    "stage",
    "transaction",
    "tree",
    "view",
]
