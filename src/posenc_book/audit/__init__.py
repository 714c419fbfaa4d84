"""The sources: what they print, what their code was seen to do, verdicts on their claims."""
