"""What reads several experiments at once: the guide, the chooser, what the atlas quotes."""
