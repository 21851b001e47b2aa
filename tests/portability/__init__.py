"""An independent reader of emitted Jinja: nothing here knows how the text was made."""
