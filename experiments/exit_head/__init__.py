"""Does a flattened head make positions superfluous, or only where attention has no work?"""
