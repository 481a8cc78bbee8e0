"""The commands, a module each: `command` in the module NAME is `dshstore NAME`."""
