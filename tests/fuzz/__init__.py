"""Random templates and chats, held against Ollama: `python -m fuzz --help` in `tests`."""
