"""The command line: one module a command, each thin; everything else lies in the stages."""
