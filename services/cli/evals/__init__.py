"""The evaluation of models: cases, and the tools that play and judge them.

`cases` reads case files, `folders` makes their folders, `trees` computes the expected files, `scoring` judges
a turn, `play` runs cases through a platform as a client of its API, `table` sums up, and `command` is `suma eval`.
`tests.evals` plays the same cases in process with the offline model.
"""
