"""What reads results: statistics, score tables, figures, the report.

It needs numpy and scipy only, and matplotlib where figures are drawn; nothing here trains.
"""
