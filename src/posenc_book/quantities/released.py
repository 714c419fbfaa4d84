"""What released models do with positions, counted in the register."""

from posenc import register


def tables():
    """Released models of the register by where their numbers were taken from."""
    addresses = list(register.released().values())
    projects = ("litgpt", "mlc-llm", "maxtext")
    counts = {name: sum(f"/{name}/blob/" in one for one in addresses) for name in projects}
    counts["copies"] = len(addresses) - sum(counts.values())
    return {name.replace("-", "_"): str(n) for name, n in counts.items()}


def qwen3():
    """Tokens that Qwen3 8B was trained on, and those that its configuration allows."""
    read = register.read("Qwen/Qwen3-8B")
    return {"trained": f"{read.trained:,}", "allowed": f"{read.length:,}"}


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
