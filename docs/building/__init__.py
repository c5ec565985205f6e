"""What docs/conf.py builds the site from: executed notebooks, the syllabus, sample pages, pages of modules."""
