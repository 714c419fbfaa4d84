"""What a training was asked and gave, as a line of a file: settings, the store, tables of scores.

The engine writes such lines and readers read them; nothing here trains.
"""
