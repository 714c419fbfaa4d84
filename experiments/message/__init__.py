"""Does it help to put position into the message, and is that why eRPE leads? Planned, not run."""
