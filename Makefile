# Everything is run from the checkout: `make setup` fills .venv and nothing outside it.
# Stamps in .venv say which requirements it holds, so that a second call has nothing to do.

UV = 0.13.8
PYTHON = $(shell for p in python3 python3.12 python3.11 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN = .venv/bin
# Where Python may not keep what it has compiled, each of its starts compiles half a thousand files again.
export PYTHONDONTWRITEBYTECODE =
# Tests wait for a fifth of their time: one more of them at a time than there are cores.
WORKERS = $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 6 ? n + 1 : 6)))

.DEFAULT_GOAL := help
.PHONY: help setup run up-real test check lint types imports fresh contracts demo demo-random eval bench kill-trial chaos

help: ## Say what can be done here
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: .venv/ready-for-work ## Make .venv with all that development needs
	@:

run: .venv/ready-to-run ## Start the whole platform in one process (SUMA_PORT, SUMA_DATA_DIR); Ctrl-C stops it
	@$(BIN)/python -m services

up-real: setup ## The production profile without containers: Kafka, OPA, S3 and six processes (DATA=folder); Ctrl-C stops it
	@$(BIN)/python -m tests.infrastructure.up $(if $(DATA),--data $(DATA)) $(ARGS)

demo: .venv/ready-to-run ## Clean up a messy folder from plan to rollback, and prove that nothing was lost
	@$(BIN)/python -m services.cli.demo

demo-random: .venv/ready-to-run ## The same on a random folder; SEED=n repeats one
	@$(BIN)/python -m services.cli.demo --random $(if $(SEED),--seed $(SEED))

test: setup ## Run every test; ARGS="-k outbox" for some, ARGS="-n 4" for more at a time
	@$(BIN)/pytest -ra -n $(WORKERS) --dist loadfile --no-loadscope-reorder --ignore=tests/benchmarks $(ARGS)

check: lint types imports fresh ## All that is looked at without running the platform

lint: setup ## Style and formatting
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: setup ## Types, strictly, of source and tests
	@$(BIN)/mypy -p libs -p services -p tests

imports: setup ## Who may import whom
	@$(BIN)/lint-imports

fresh: setup ## proto/ says what the event classes and the gateway's routes say
	@$(BIN)/python -m libs.events.contracts --check
	@$(BIN)/python -m services.contracts --check

contracts: .venv/ready-to-run ## Write proto/ from the event classes and the gateway's routes
	@$(BIN)/python -m libs.events.contracts
	@$(BIN)/python -m services.contracts

eval: .venv/ready-to-run ## Measure a model on the held-out cases (MODEL=provider:name; else the offline one)
	@$(BIN)/python -m services.cli eval $(if $(MODEL),--model $(MODEL)) $(ARGS)

bench: setup ## Measure against other platforms; writes build/bench.json
	@$(BIN)/python -m tests.benchmarks

chaos: setup ## Break everything under load and check what is left (MINUTES, SEED, PROFILE=embedded|split|production)
	@$(BIN)/python -m tests.chaos --profile $(or $(PROFILE),embedded) --minutes $(or $(MINUTES),30) $(if $(SEED),--seed $(SEED))

kill-trial: setup ## SIGKILL around effects, beside LangGraph and DBOS (TURNS, SEED); writes build/kill-trial.json
	@$(BIN)/python -m tests.trial $(if $(TURNS),--turns $(TURNS)) $(if $(SEED),--seed $(SEED)) $(ARGS)

.venv/ready-for-work: requirements-dev.txt
	@tools/setup "$(PYTHON)" $(UV) requirements-dev.txt
	@touch .venv/ready-to-run $@

.venv/ready-to-run: requirements.txt
	@tools/setup "$(PYTHON)" $(UV) requirements.txt
	@touch $@
