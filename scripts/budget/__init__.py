"""What a page costs its reader, beside what it may: `make budget`."""
