"""The fast loop over the cases: the offline model plans in process, and its steps run on a real folder.

`python -m tests.evals --half tuned`. No platform, so nobody approves and nothing is policed: `suma eval` is the measure
of the whole, and judges by the same rules.
"""
