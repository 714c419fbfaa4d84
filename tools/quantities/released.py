"""What released models do with positions, counted in the register."""

from posenc import register


def models():
    """Released models of the register, and how many of them do what the guide says."""
    layers = [
        [layer for layer in register.read(name).layers if layer.kind != "none"]
        for name in register.released()
    ]
    return {
        "all": str(len(layers)),
        "turning": str(sum(any(x.door == "rotate" for x in own) for own in layers)),
        "stretched": str(sum(any(x.scaling for x in own) for own in layers)),
        "unlike": str(sum(len({(x.door, x.base) for x in own}) > 1 for own in layers)),
    }
