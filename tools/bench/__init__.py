"""The benchmark of dshstore: every demand on its speed and size, measured beside what it names."""
