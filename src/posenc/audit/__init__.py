"""The sources under examination: what they print, what was measured, and the rules for verdicts."""
