"""The rules of a snippet: its text as it is copied, and its code."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from cookbook.apis import Names
from cookbook.claims import claims
from cookbook.pages import PageError, read_text
from cookbook.rules import Problem

MAX_COLUMNS = 79
MAX_LINES = {"call": 25, "helper": 45, "program": 60}
ANNOTATION = re.compile(r"# \(\d+\)!")
REQUIREMENTS = ("requirements.in", "requirements-paddle.txt")
# Packages that are imported under another name than they are installed.
IMPORTED_AS = {"pillow": "PIL", "pyyaml": "yaml", "scikit-learn": "sklearn"}
IMPORTED_AS |= {"paddlepaddle": "paddle"}
BROUGHT_ALONG = {"PIL"}  # by torchvision, which can not do without
NETWORK = ("torch.hub.", "torch.utils.model_zoo.", "urllib.request.", "http.client.")
NETWORK += ("ftplib.", "requests.", "huggingface_hub.", "socket.create_connection")
EXITS = ("exit", "quit", "os._exit", "sys.exit", "SystemExit")
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS = FUNCTIONS | ast.ClassDef
# A function that may build a model, and weights: ResNet18_Weights.DEFAULT, "DEFAULT".
MODEL = re.compile(r"torchvision\.models\.([a-z]\w*\.)?(?!get_|list_)[a-z]\w*")
WEIGHTS = re.compile(r"_Weights\.|^['\"]")
# Each entry is proved by a test: torch says itself that the name is deprecated, or
# it is gone; and the replacement exists.
DEPRECATED = {
    "functorch.grad": "torch.func.grad",
    "functorch.make_functional": "torch.func.functional_call",
    "functorch.vmap": "torch.func.vmap",
    "torch.ao.quantization.quantize_dynamic": "torchao.quantization.quantize_",
    "torch.autograd.Variable": "torch.tensor",
    "torch.backends.cuda.sdp_kernel": "torch.nn.attention.sdpa_kernel",
    "torch.chain_matmul": "torch.linalg.multi_dot",
    "torch.cholesky": "torch.linalg.cholesky",
    "torch.cpu.amp.GradScaler": "torch.amp.GradScaler",
    "torch.cpu.amp.autocast": "torch.amp.autocast",
    "torch.cuda.amp.GradScaler": "torch.amp.GradScaler",
    "torch.cuda.amp.autocast": "torch.amp.autocast",
    "torch.cuda.amp.custom_bwd": "torch.amp.custom_bwd",
    "torch.cuda.amp.custom_fwd": "torch.amp.custom_fwd",
    "torch.cuda.max_memory_cached": "torch.cuda.max_memory_reserved",
    "torch.cuda.memory_cached": "torch.cuda.memory_reserved",
    "torch.cuda.reset_max_memory_allocated": "torch.cuda.reset_peak_memory_stats",
    "torch.eig": "torch.linalg.eig",
    "torch.ger": "torch.outer",
    "torch.has_cuda": "torch.backends.cuda.is_built",
    "torch.jit.freeze": "torch.export.export",
    "torch.jit.script": "torch.compile",
    "torch.jit.trace": "torch.export.export",
    "torch.lstsq": "torch.linalg.lstsq",
    "torch.lu": "torch.linalg.lu_factor",
    "torch.lu_solve": "torch.linalg.lu_solve",
    "torch.matrix_rank": "torch.linalg.matrix_rank",
    "torch.nn.UpsamplingBilinear2d": "torch.nn.functional.interpolate",
    "torch.nn.UpsamplingNearest2d": "torch.nn.functional.interpolate",
    "torch.nn.functional.upsample": "torch.nn.functional.interpolate",
    "torch.nn.init.constant": "torch.nn.init.constant_",
    "torch.nn.init.kaiming_normal": "torch.nn.init.kaiming_normal_",
    "torch.nn.init.kaiming_uniform": "torch.nn.init.kaiming_uniform_",
    "torch.nn.init.normal": "torch.nn.init.normal_",
    "torch.nn.init.orthogonal": "torch.nn.init.orthogonal_",
    "torch.nn.init.uniform": "torch.nn.init.uniform_",
    "torch.nn.init.xavier_normal": "torch.nn.init.xavier_normal_",
    "torch.nn.init.xavier_uniform": "torch.nn.init.xavier_uniform_",
    "torch.nn.utils.clip_grad_norm": "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.weight_norm": "torch.nn.utils.parametrizations.weight_norm",
    "torch.norm": "torch.linalg.vector_norm",
    "torch.onnx.dynamo_export": "torch.onnx.export",
    "torch.qr": "torch.linalg.qr",
    "torch.quantization.quantize_dynamic": "torchao.quantization.quantize_",
    "torch.range": "torch.arange",
    "torch.set_default_tensor_type": "torch.set_default_dtype",
    "torch.solve": "torch.linalg.solve",
    "torch.svd": "torch.linalg.svd",
    "torch.symeig": "torch.linalg.eigh",
    "torch.testing.assert_allclose": "torch.testing.assert_close",
    "torch.triangular_solve": "torch.linalg.solve_triangular",
    "torchvision.transforms.v2.ToTensor": "torchvision.transforms.v2.ToImage",
}
DEPRECATED_ARGUMENTS = {
    ("torch.nn.", "size_average"): "reduction=",
    ("torch.nn.", "reduce"): "reduction=",
    ("torchvision.models.", "pretrained"): "weights=",
    ("torch.autograd.backward", "grad_variables"): "grad_tensors=",
}


def problems(root: Path, path: Path, is_program: bool = False) -> Iterator[Problem]:
    """What is wrong with a snippet, by itself; a program may be longer."""
    if is_module(root, path.stem):
        yield Problem(path, 1, "module-name-shadowed", {"name": path.stem})
    try:
        source = read_text(root, path)
    except PageError as error:
        yield error.problem
        return
    yield from _text_problems(path, source)
    text = (root / path).with_suffix(".out")
    if text.exists() and not text.read_text("utf-8", "replace").strip(". \n"):
        yield Problem(path.with_suffix(".out"), 1, "output-says-nothing")
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        yield Problem(
            path, error.lineno or 1, "snippet-does-not-parse", {"reason": error.msg}
        )
        return
    yield from _length_problems(path, source, "program" if is_program else shape(tree))
    if not ast.get_docstring(tree):
        yield Problem(path, 1, "docstring-missing")
    if not any(claims(tree)) and not _prints((root / path).with_suffix(".out")):
        yield Problem(path, 1, "claim-missing")
    yield from _definition_problems(path, tree)
    yield from _import_problems(path, tree, _declared(root))
    yield from _name_problems(path, tree, source)


def _text_problems(path: Path, source: str) -> Iterator[Problem]:
    lines = source.split("\n")
    for number, line in enumerate(lines, start=1):
        if rule := _line_fault(line):
            facts = {"count": len(line), "limit": MAX_COLUMNS + 1}
            yield Problem(path, number, rule, facts)
    if not source.endswith("\n") or source.endswith("\n\n"):
        yield Problem(path, len(lines), "file-end")


def shape(tree: ast.Module) -> str:
    """A helper defines something to keep; a call is read from top to bottom."""
    return "helper" if any(isinstance(n, DEFINITIONS) for n in tree.body) else "call"


def _length_problems(path: Path, source: str, shape: str) -> Iterator[Problem]:
    count, limit = source.count("\n"), MAX_LINES[shape]
    if count > limit:
        facts = {"count": count, "limit": limit, "shape": shape}
        yield Problem(path, limit + 1, "snippet-too-long", facts)


def _line_fault(line: str) -> str | None:
    """The rule broken by a line that is shown or copied otherwise than written."""
    if len(line) > MAX_COLUMNS:
        return "line-too-long"
    if "\t" in line:
        return "tab"
    if line != line.rstrip():
        return "trailing-spaces"
    if "```" in line:
        return "fence-in-snippet"
    if ANNOTATION.search(line):
        return "annotation-in-snippet"
    if "-8<-" in line:
        return "include-in-snippet"
    return None


def _prints(output: Path) -> bool:
    """Whether an output is recorded, and says something."""
    return output.exists() and bool(output.read_text("utf-8", "replace").strip())


def _definition_problems(path: Path, tree: ast.Module) -> Iterator[Problem]:
    """What a reader reuses has a docstring."""
    for node in tree.body:
        is_definition = isinstance(node, DEFINITIONS)
        if is_definition and not ast.get_docstring(node):
            yield Problem(
                path, node.lineno, "function-docstring-missing", {"name": node.name}
            )


def _declared(root: Path) -> frozenset[str]:
    """The names under which the declared packages are imported."""
    text = "\n".join((root / name).read_text("utf-8") for name in REQUIREMENTS)
    packages = re.findall(r"^[A-Za-z][\w-]*", text, re.MULTILINE)
    return frozenset(IMPORTED_AS.get(name, name) for name in packages) | BROUGHT_ALONG


def is_module(root: Path, name: str) -> bool:
    """Whether a file of this name would hide a module from those beside it."""
    return name in sys.stdlib_module_names or name in _declared(root)


def _import_problems(
    path: Path, tree: ast.Module, declared: frozenset[str]
) -> Iterator[Problem]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "."]
        else:
            continue
        for module in modules:
            package = module.partition(".")[0]
            if package not in declared and package not in sys.stdlib_module_names:
                yield Problem(
                    path, node.lineno, "package-undeclared", {"package": package or "."}
                )


def _name_problems(path: Path, tree: ast.Module, source: str) -> Iterator[Problem]:
    """Symbols that need the network, are deprecated or unsafe, or end the run."""
    names = Names(tree)
    for node, name in names.outermost:
        if name.startswith(NETWORK):
            yield Problem(path, node.lineno, "snippet-needs-network", {"name": name})
        elif name in DEPRECATED:
            facts = {"name": name, "replacement": DEPRECATED[name]}
            yield Problem(path, node.lineno, "api-deprecated", facts)
    lines = ["", *source.split("\n")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = names.full_name(node.func) or getattr(node.func, "id", "")
            commented = "#" in "".join(lines[node.lineno - 1 : node.end_lineno + 1])
            yield from _call_problems(path, node, name, commented)
        if isinstance(node, ast.Raise) and getattr(node.exc, "id", "") in EXITS:
            yield Problem(path, node.lineno, "early-exit", {"name": node.exc.id})
        if _is_data_of_tensor(node, names):
            facts = {"name": ".data", "replacement": "torch.Tensor.detach"}
            yield Problem(path, node.lineno, "api-deprecated", facts)


def _call_problems(
    path: Path, call: ast.Call, name: str, commented: bool
) -> Iterator[Problem]:
    given = _arguments(call, name)
    for argument in given:
        for (prefix, old), new in DEPRECATED_ARGUMENTS.items():
            if argument == old and name.startswith(prefix):
                facts = {"name": f"{old}=", "replacement": new}
                yield Problem(path, call.lineno, "api-deprecated", facts)
    if argument := _download(name, given):
        yield Problem(path, call.lineno, "snippet-needs-network", {"name": argument})
    if name == "torch.load" and not _is_safe(given, commented):
        yield Problem(path, call.lineno, "load-without-weights-only")
    if name in EXITS:
        yield Problem(path, call.lineno, "early-exit", {"name": name})


def _arguments(call: ast.Call, name: str) -> dict[str | None, ast.expr]:
    """The arguments by name, None for ``**``; and what torchvision takes by place."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if name.startswith("torchvision.datasets.") and any(map(_is_true, call.args[2:])):
        given["download"] = ast.Constant(True)  # after root and train
    if call.args and MODEL.fullmatch(name):
        if isinstance(getattr(call.args[0], "value", None), bool):
            given["pretrained"] = call.args[0]
        elif WEIGHTS.search(ast.unparse(call.args[0])):
            given["weights"] = call.args[0]
    return given


def _is_safe(given: dict[str | None, ast.expr], commented: bool) -> bool:
    """Whether weights_only is said, and a comment beside it where it is False."""
    if "weights_only" not in given:
        return None in given
    return _is_true(given["weights_only"]) or commented


def _download(name: str, given: dict[str | None, ast.expr]) -> str | None:
    """The argument that makes a call download something."""
    if _is_true(given.get("download")):
        return "download=True"
    if name.endswith(".create_model") and _is_true(given.get("pretrained")):
        return "pretrained=True"
    weights = given.get("weights")
    if name.startswith("torchvision.models.") and weights is not None:
        is_none = isinstance(weights, ast.Constant) and weights.value is None
        return None if is_none else "weights="
    return None


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_data_of_tensor(node: ast.AST, names: Names) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != "data":
        return False
    owner = getattr(node.value, "attr", None)
    return owner in ("weight", "bias") or names.is_tensor(node.value)
