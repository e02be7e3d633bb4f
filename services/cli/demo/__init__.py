"""The demo: the main job end to end, on real files, with the client code of the commands.

It starts a separate platform, creates a messy folder, cleans it up and rolls it back. Another process, which uses no
code of Suma (`manifest`), checks that everything is restored.
"""
