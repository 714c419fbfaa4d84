"""Six assignments from one source each: editions, marking, and the sandbox that marking needs."""
