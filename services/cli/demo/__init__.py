"""The demo: the main job end to end, on real files, through the same client code that the commands use.

It starts the real platform as a process of its own, makes a messy folder, has it cleaned up, and takes everything back.
Whether everything is back is judged by another process, which knows nothing of us (`manifest`).
"""
