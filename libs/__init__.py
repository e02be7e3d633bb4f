"""The parts that services are made of. Nothing here knows of any service."""
