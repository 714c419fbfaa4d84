"""What changes when each encoding is what its paper defines? What trained the third edition."""
