"""The kill trial: does SIGKILL of the process that runs a tool ever repeat its effect, or lose it (P2)?

`python -m tests.trial --turns 1000 --seed 7` gives every contender the same turns, each with one effect in another
database, and kills the process that makes them, again and again, at moments drawn from the seed. Then it counts rows.

A *contender* has an executor, a process that is killed and restarted, and a driver, which takes turns and says how they
ended; with the others both are one process. A *moment* is what a tool tells of itself on a side channel that its
platform knows nothing of: the killer aims by it. A kill *hits* a turn when the turn's intent was recorded and its
outcome was not, by the contender's own tables, once the dead process's database sessions are gone.

- `schedule` draws turns and kills; `world` is the other database; `count` turns its rows into figures
- `wire` is the side channel, `stem` forks executors from a process that has imported everything
- `executors` holds the contenders' processes; `contenders` what the trial must know of each
- `killer` runs one contender through its turns; `report` prints and writes
"""
