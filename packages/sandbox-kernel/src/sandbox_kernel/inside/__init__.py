"""Programs that run inside the sandbox, as plain files: they import each other, and nothing else of this package."""
