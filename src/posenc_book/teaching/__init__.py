"""What the chapters share: the style of figures and the scorecards of encodings."""
