"""The command `proact`: one module a group of commands; the only room that knows all others by name."""
