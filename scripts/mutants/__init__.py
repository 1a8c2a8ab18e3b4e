"""Small faults put into the package, one at a time: `make mutants`."""
