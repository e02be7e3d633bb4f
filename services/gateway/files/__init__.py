"""Files: uploads that can be resumed, and assets that are read in ranges."""
