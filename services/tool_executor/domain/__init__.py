"""The rules of the executor: which call may run, and what each primitive does to a stage."""
