"""What builds the site: reading, running and assembling the lessons, and the MkDocs hook."""
