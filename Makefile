# Everything is run from the checkout: `make setup` fills .venv and nothing outside it.
# Stamps in .venv record its requirements, so that a second call has nothing to do.

UV = 0.13.8
PYTHON = $(shell for p in python3 python3.12 python3.11 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN = .venv/bin
# Without stored bytecode every start of Python would compile about 500 files again.
export PYTHONDONTWRITEBYTECODE =
# Tests wait for a fifth of their time, so run one more worker than there are cores.
WORKERS = $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 6 ? n + 1 : 6)))
# tests/tiers.py says which tests are slow.
PYTEST = $(BIN)/pytest -ra -n $(WORKERS) --dist loadfile --no-loadscope-reorder --ignore=tests/benchmarks

.DEFAULT_GOAL := help
.PHONY: help setup run web web-check up-real test test-all check lint types imports fresh contracts requirements diagrams sandbox-image demo demo-random eval explore bench bench-turn bench-memory bench-memory-scale kill-trial stream-trial chaos

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: .venv/ready-for-work ## Create .venv with everything for development
	@:

run: web ## Start the whole platform in one process (SUMA_PORT, SUMA_DATA_DIR); stop it with Ctrl-C
	@$(BIN)/python -m services

web: .venv/ready-to-run ## Build the web application (once per change of its sources, about 40 s from nothing)
	@$(BIN)/python -m deploy.local.web

up-real: setup web ## Start the production profile without containers: Kafka, OPA, S3, six processes (DATA=folder)
	@$(BIN)/python -m deploy.local.up $(if $(DATA),--data $(DATA)) $(ARGS)

sandbox-image: .venv/ready-to-run ## Build the sandbox's image in the local Docker engine, without a registry (BASE=image with Python)
	@$(BIN)/python -m deploy.local.runner_image $(BASE)

demo: .venv/ready-to-run ## Clean up a messy folder from plan to rollback, and prove that nothing was lost
	@$(BIN)/python -m services.cli.demo

demo-random: .venv/ready-to-run ## Run the demo on a random folder; SEED=n repeats one
	@$(BIN)/python -m services.cli.demo --random $(if $(SEED),--seed $(SEED))

test: setup ## Run the fast tier (4 to 6 minutes on two cores; builds no server); ARGS="-k relay" selects some
	@$(PYTEST) -m "not slow" $(ARGS)

test-all: setup ## Run the slow tier, all tests that `make test` leaves out (about 20 minutes; the first run builds servers)
	@$(if $(ARGS),,$(BIN)/python -m tests.infrastructure)
	@$(PYTEST) -m slow $(ARGS)

check: lint types imports fresh web-check ## Check lint, types, imports, generated files and the web application

lint: setup ## Check style and formatting
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: setup ## Check types of source and tests, strictly
	@$(BIN)/mypy -p libs -p services -p deploy.local -p deploy.runner -p tests

imports: setup ## Check which packages import which
	@$(BIN)/lint-imports

fresh: setup ## Check that proto/, docs/requirements.md and docs/turn.md match the code and tests
	@$(BIN)/python -m libs.events.contracts --check
	@$(BIN)/python -m services.contracts --check
	@$(BIN)/python -m tests.proofs --check
	@$(BIN)/python -m services.diagrams --check

web-check: setup ## Check the web application: types, lint, unit tests (skipped if its sources passed before)
	@$(BIN)/python -m deploy.local.web --check

contracts: .venv/ready-to-run ## Write proto/ from the event classes and the gateway's routes
	@$(BIN)/python -m libs.events.contracts
	@$(BIN)/python -m services.contracts

diagrams: .venv/ready-to-run ## Write docs/turn.md and the table of a turn's rules
	@$(BIN)/python -m services.diagrams

requirements: .venv/ready-to-run ## Write docs/requirements.md from the tests' markers
	@$(BIN)/python -m tests.proofs

eval: .venv/ready-to-run ## Measure a model on the held-out cases (MODEL=provider:name; default: offline)
	@$(BIN)/python -m services.cli eval $(if $(MODEL),--model $(MODEL)) $(ARGS)

explore: setup ## Explore the HTTP API with schemathesis as two tenants (CASES of each kind and operation, SEQUENCES, SEED)
	@$(BIN)/python -m tests.exploration --cases $(or $(CASES),200) --sequences $(or $(SEQUENCES),300) --seed $(or $(SEED),1)

bench: setup ## Measure against other platforms; writes build/bench.json
	@$(BIN)/python -m tests.benchmarks

bench-turn: setup ## Count what one turn needs (commits, reads, bytes, spans, …), and show its CPU
	@$(BIN)/python -m tests.benchmarks.turn

bench-memory: setup ## Measure how well memories are found, for each embedder
	@$(BIN)/python -m tests.benchmarks.memory

bench-memory-scale: setup ## Measure recall among very many memories beside pgvector's own index (SIZE, FOLDER to reuse)
	@$(BIN)/python -m tests.benchmarks.memory_scale $(if $(SIZE),--size $(SIZE)) $(if $(FOLDER),--folder $(FOLDER))

chaos: setup ## Inject faults under load and check the results (MINUTES, SEED, PROFILE=embedded|split|production)
	@$(BIN)/python -m tests.chaos --profile $(or $(PROFILE),embedded) --minutes $(or $(MINUTES),30) $(if $(SEED),--seed $(SEED))

kill-trial: setup ## Compare SIGKILLs around effects with LangGraph and DBOS (TURNS, SEED); writes build/kill-trial.json
	@$(BIN)/python -m tests.trial $(if $(TURNS),--turns $(TURNS)) $(if $(SEED),--seed $(SEED)) $(ARGS)

stream-trial: setup ## Kill a gateway while clients watch a turn, and compare what they saw (KILLS, CUTS of the clients, SEED)
	@$(BIN)/python -m tests.chaos.streams --kills $(or $(KILLS),100) --cuts $(or $(CUTS),1000) --seed $(or $(SEED),1)

.venv/ready-for-work: requirements-dev.txt
	@tools/setup "$(PYTHON)" $(UV) requirements-dev.txt
	@touch .venv/ready-to-run $@

.venv/ready-to-run: requirements.txt
	@tools/setup "$(PYTHON)" $(UV) requirements.txt
	@touch $@
