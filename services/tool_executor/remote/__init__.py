"""Tools of other servers: listed, pinned by hash, approved by an operator, and called as external tools."""
