"""The programs inside the sandbox. They run there as plain files and import nothing else of this package."""
