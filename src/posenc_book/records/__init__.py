"""What trainings were asked and gave: settings, the store of lines, tables of scores.

The engine writes such lines and readers read them; nothing here trains.
"""
