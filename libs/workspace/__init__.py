"""The workspace: a folder of a person's real files, changed only by what was staged, shown, approved and journaled
(DESIGN §9).

`Tree.scan` reads the folder into a graph. A `Stage` takes operations into that graph alone and can go back to any
version. `commit` carries the net change to the disk, all of it or none; `recover` settles what a crash left;
`rollback` brings back what was, to the byte. Everything here is plain blocking code: callers run it in threads.
"""
