"""The commands, one file each: the function is the command, its docstring the help."""
