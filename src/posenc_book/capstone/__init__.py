"""What a reader of the capstone runs: a GPT that is stretched, and an encoding of one idea."""
