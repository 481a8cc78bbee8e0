"""What `engine.search` is made of: terms, queries, texts, the side file and snippets."""
