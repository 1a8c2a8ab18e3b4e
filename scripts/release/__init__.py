"""What a release consists of, made from the built site: `make release`."""
