"""OpenAI's API over Suma's turns: models, chat completions and responses (decision 0075)."""
