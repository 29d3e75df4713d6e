"""The agents of the house: programs that see an observation and say when help is wanted, and which."""
