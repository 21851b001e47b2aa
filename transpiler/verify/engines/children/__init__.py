"""Scripts that run in a process of their own; each stands alone and is started by its path."""
