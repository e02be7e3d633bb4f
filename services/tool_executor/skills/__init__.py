"""Skills of a workspace, their administration, and search among skills."""
