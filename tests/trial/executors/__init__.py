"""The contenders' processes, each in the environment of its own platform: `main(socket, ...)` is run by the stem."""
