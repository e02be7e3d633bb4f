"""The evaluation: requests with the folders they are made in and what they ought to lead to, judged by their effects.

`cases` reads them, `folders` makes them real, `trees` says what should be there afterwards, `scoring` judges, `table`
sums up. Who carries a request out is another's affair: `running` does it through a platform, `tests/evals` in process.
"""
