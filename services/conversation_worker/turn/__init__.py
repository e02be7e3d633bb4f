"""One turn, from a message to its end: the modules stand in the order in which a message visits them."""
