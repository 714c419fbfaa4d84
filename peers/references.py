"""Where other people's code comes from: installed packages, and folders with checkouts."""

import __future__

import ast
import os
import subprocess
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

PACKAGES = {
    "GPyTorch": "gpytorch",
    "NumPy": "numpy",
    "OpenNMT-py": "OpenNMT-py",
    "pandas": "pandas",
    "positional-encodings": "positional-encodings",
    "PyTorch": "torch",
    "PyTorch Geometric": "torch_geometric",
    "PyWavelets": "PyWavelets",
    "rotary-embedding-torch": "rotary-embedding-torch",
    "rtdl_num_embeddings": "rtdl_num_embeddings",
    "timm": "timm",
    "transformers": "transformers",
    "x-transformers": "x-transformers",
}
"""Name in the table -> name of the installed package."""

CHECKOUTS = {
    "annotated_deep_learning_paper_implementations": (
        "labmlai/annotated_deep_learning_paper_implementations"
    ),
    "annotated-transformer": "harvardnlp/annotated-transformer",
    "arithmetic": "mcleish7/arithmetic",
    "BlaGPT": "erogol/BlaGPT",
    "Cable": "axiomlab/Cable",
    "ConvTran": "Navidfoumani/ConvTran",
    "DFStrans": "dfstrans/DFStrans",
    "DyWPE": "imics-lab/DyWPE",
    "flash-linear-attention": "fla-org/flash-linear-attention",
    "Fourier-Position-Embedding": "TsinghuaC3I/Fourier-Position-Embedding",
    "KERPLE": "chijames/KERPLE",
    "mvts_transformer": "gzerveas/mvts_transformer",
    "positional-encoding-benchmark": "imics-lab/positional-encoding-benchmark",
    "rope-vit": "naver-ai/rope-vit",
    "spacetimeformer": "QData/spacetimeformer",
    "spe": "aliutkus/spe",
    "T2B-PE": "jlu-phyComputer/T2B-PE",
    "torchscale": "microsoft/torchscale",
    "torchtune": "meta-pytorch/torchtune",
    "transformer-xl": "kimiyoung/transformer-xl",
    "TUPE": "guolinke/TUPE",
}
"""Name in the table and of the folder -> owner and name on GitHub."""

REFERENCES = [*PACKAGES, *CHECKOUTS]


class Missing(Exception):
    """A reference that cannot be had here, with the reason."""


def version(reference: str) -> str:
    """Return the version of a package or the commit of a checkout; raise `Missing` if absent."""
    if reference in CHECKOUTS:
        return _commit(folder(reference))
    try:
        known = metadata.version(PACKAGES[reference])
    except metadata.PackageNotFoundError:
        raise Missing(f"{PACKAGES[reference]} is not installed") from None
    if reference == "timm" and find_spec("torchvision") is None:
        raise Missing("timm wants torchvision, and there is none that fits this torch")
    return known


def code(reference: str, *files: str) -> ModuleType:
    """Return a module with the classes and functions of some files of a checkout.

    Only definitions are taken, and imports that work: what else a file does, such as loading
    data or a plotting library, is none of our business. All files share one namespace, in which
    a later definition replaces an earlier one. Annotations are read as text where a file asks so.
    """
    module = ModuleType(reference)
    for file in files:
        path = folder(reference) / file
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                _try(node, path, module, ImportError)
            elif isinstance(node, ast.ClassDef | ast.FunctionDef):
                # a class derived from one that could not be imported is missed only where used
                _try(node, path, module, NameError)
    return module


def _try(node: ast.stmt, path: Path, module: ModuleType, allowed: type[Exception]) -> None:
    # each definition is a program of its own, to which the file's first line does not speak
    as_text = "from __future__ import annotations" in path.read_text(encoding="utf-8")
    flags = __future__.annotations.compiler_flag if as_text else 0
    with suppress(allowed):
        exec(compile(ast.Module([node], []), path, "exec", flags, True), vars(module))


def folder(reference: str) -> Path:
    parent = os.environ.get("POSENC_CHECKOUTS")
    if not parent:
        raise Missing("no folder with checkouts is named: make peers CHECKOUTS=folder")
    folder = Path(parent) / reference
    if not folder.is_dir():
        raise Missing(f"the folder of checkouts has no {reference}")
    return folder


def _commit(folder: Path) -> str:
    """Return the commit of a checkout, marked if its files were changed since."""
    if not (folder / ".git").exists():
        raise Missing(f"{folder.name} is no git checkout, so its commit is unknown")
    commit = _git(folder, "rev-parse", "--short=12", "HEAD").strip()
    changed = _git(folder, "diff", "--name-only", "--diff-filter=M", "HEAD").strip()
    return f"{commit} + changes" if changed else commit


def _git(folder: Path, *arguments: str) -> str:
    run = ["git", "-C", str(folder), *arguments]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout
