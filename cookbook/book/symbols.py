"""Derive the library symbols a snippet uses, and where they are documented."""

import ast
from pathlib import Path

LIBRARIES = ("torch.", "torchvision.", "timm.")
# Too common to tell a reader anything.
NOISE = {"torch.Tensor", "torch.nn", "torch.nn.functional"}
OWN = "torch.ops."  # what somebody has registered
DTYPES = ("torch.float", "torch.bfloat", "torch.int", "torch.uint", "torch.complex")
# Functions of these modules return tensors, unless they begin like this.
TENSOR_MODULES = {"torch", "torch.nn.functional"}
NOT_TENSORS = ("set_", "get_", "is_", "use_", "load", "save", "manual_seed", "compile")
NOT_TENSORS += ("autocast", "device", "no_grad", "inference_mode", "allclose", "equal")
LEAVES_TENSORS = {"item", "tolist", "numpy", "size", "dim", "numel", "data_ptr"}

STABLE = "https://docs.pytorch.org/docs/stable"
VISION = "https://docs.pytorch.org/vision/stable"
# Modules documented on one page; every other symbol has a page of its own.
SHARED_PAGES = {
    "torch.amp": "amp",
    "torch.autocast": "amp",
    "torch.backends": "backends",
    "torch.device": "tensor_attributes",
    "torch.distributed": "distributed",
    "torch.multiprocessing": "multiprocessing",
    "torch.nn.init": "nn.init",
    "torch.onnx": "onnx_export",
    "torch.testing": "testing",
    "torch.utils.checkpoint": "checkpoint",
    "torch.utils.data": "data",
}


def symbols(file: Path) -> dict[str, set[int]]:
    """Full names such as ``torch.nn.functional.one_hot``, each with its lines.

    Methods are found on names annotated as tensors, and on what torch's
    functions and those methods return. None are found in a file that does not parse,
    which a rule says.
    """
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    except SyntaxError:
        return {}
    return Names(tree).symbols


def module(name: str) -> str:
    """The module or class a symbol belongs to: torch.Tensor, torch.optim."""
    return name.rpartition(".")[0]


def documentation(name: str) -> str:
    """The address of a symbol's documentation."""
    if name.startswith("torchvision.models."):
        return f"{VISION}/models/generated/{name}.html"
    if name.startswith("torchvision."):
        return f"{VISION}/generated/{name}.html"
    if name.startswith("timm."):
        return "https://huggingface.co/docs/timm"
    for module, page in SHARED_PAGES.items():
        if name == module or name.startswith(module + "."):
            return f"{STABLE}/{page}.html#{name}"
    return f"{STABLE}/generated/{name}.html"


class Names:
    """What the names of a module stand for: library symbols, and tensors."""

    def __init__(self, tree: ast.Module):
        self.imports: dict[str, str] = {}
        self.tensors: set[str] = set()
        self.symbols: dict[str, set[int]] = {}  # and the lines of their use
        nodes = list(ast.walk(tree))  # walking takes longer than looking
        for node in nodes:
            self._read_import(node)
        # Twice: a name may be assigned from a method of one seen later.
        for node in nodes * 2:
            self._read_value(node)
        # Every call of a method, and every use of an import by its longest dotted name.
        inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            is_whole = isinstance(node, ast.Call) or id(node) not in inner
            if is_whole and (name := self._symbol(node)):
                lines = range(node.lineno, node.end_lineno + 1)
                self.symbols.setdefault(name, set()).update(lines)

    def _read_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.split(".")[0]
                self.imports[bound] = alias.name if alias.asname else bound
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                self.imports[alias.asname or alias.name] = name

    def _read_value(self, node: ast.AST) -> None:
        annotation = getattr(node, "annotation", None)
        if self.full_name(annotation) == "torch.Tensor":
            name = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
            self.tensors.add(name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._pair(target, node.value)

    def _pair(self, target: ast.AST, value: ast.AST) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, other in zip(target.elts, value.elts, strict=False):
                self._pair(one, other)
        elif isinstance(target, ast.Name) and self.is_tensor(value):
            self.tensors.add(target.id)

    def _symbol(self, node: ast.AST) -> str | None:
        """The symbol that a node uses: a tensor's method, or what is imported."""
        if isinstance(node, ast.Call):
            method = node.func
            if isinstance(method, ast.Attribute) and self.is_tensor(method.value):
                return f"torch.Tensor.{method.attr}"
        name = self.full_name(node) or ""
        is_told = name not in NOISE and not name.startswith((OWN, *DTYPES))
        return name if name.startswith(LIBRARIES) and is_told else None

    def full_name(self, node: ast.AST | None) -> str | None:
        """The dotted name of an imported symbol; None for anything else."""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.full_name(node.value)
            return f"{base}.{node.attr}" if base else None
        return None

    def is_tensor(self, node: ast.AST) -> bool:
        """Whether an expression is known to be a tensor."""
        if isinstance(node, ast.Name):
            return node.id in self.tensors
        if isinstance(node, ast.BinOp):
            return self.is_tensor(node.left) or self.is_tensor(node.right)
        if isinstance(node, ast.Subscript):
            return self.is_tensor(node.value)
        if not isinstance(node, ast.Call):
            return False
        if name := self.full_name(node.func):
            module, _, function = name.rpartition(".")
            is_function = function.islower() and not function.startswith(NOT_TENSORS)
            return module in TENSOR_MODULES and is_function
        method = node.func
        if not isinstance(method, ast.Attribute) or method.attr in LEAVES_TENSORS:
            return False
        return self.is_tensor(method.value)
