"""The network of all-MiniLM-L6-v2 (BERT: 6 layers, 384 wide, 12 heads), in NumPy and as a graph for ONNX Runtime.

Both take what the embedding tables give, float32 of shape (texts, pieces, 384), all texts of one length, and give the
last layer's states in the same shape. Nothing is padded, so nothing is masked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.embedders.onnx_file import MICROSOFT, Graph
from simulator.core.errors import UsageError
from simulator.core.extras import install_extra, onnxruntime

__all__ = ["WIDTH", "Network", "in_numpy", "in_onnx"]

WIDTH, _HEADS, _LAYERS, _TINY = 384, 12, 6, 1e-12
_BLOCK = 64
"""Weights that share a scale in 8 bits. Measured: 32 is as exact and slower, 128 lets texts of a batch share scales."""

Table = NDArray[np.float32]
Network = Callable[[Table], Table]


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer; matrices of shape (inputs, outputs), contiguous."""

    qkv: Table
    qkv_bias: Table
    out: Table
    out_bias: Table
    norm: tuple[Table, Table]
    up: Table
    up_bias: Table
    down: Table
    down_bias: Table
    last_norm: tuple[Table, Table]


def _layers(tensors: Mapping[str, Table]) -> list[_Layer]:
    found = []
    for n in range(_LAYERS):

        def of(name: str, n: int = n) -> Table:
            return tensors[f"encoder.layer.{n}.{name}"]

        def matrix(name: str, of: Callable[[str], Table] = of) -> Table:
            return np.ascontiguousarray(of(f"{name}.weight").T)

        def norm(name: str, of: Callable[[str], Table] = of) -> tuple[Table, Table]:
            return of(f"{name}.LayerNorm.weight"), of(f"{name}.LayerNorm.bias")

        three = [f"attention.self.{name}" for name in ("query", "key", "value")]
        found.append(_Layer(
            np.ascontiguousarray(np.concatenate([of(f"{name}.weight") for name in three]).T),
            np.concatenate([of(f"{name}.bias") for name in three]),
            matrix("attention.output.dense"), of("attention.output.dense.bias"), norm("attention.output"),
            matrix("intermediate.dense"), of("intermediate.dense.bias"),
            matrix("output.dense"), of("output.dense.bias"), norm("output"),
        ))  # fmt: skip
    return found


def _first_norm(tensors: Mapping[str, Table]) -> tuple[Table, Table]:
    return tensors["embeddings.LayerNorm.weight"], tensors["embeddings.LayerNorm.bias"]


# ---------------------------------------------------------------------- NumPy


def in_numpy(tensors: Mapping[str, Table]) -> Network:
    """The network in plain NumPy: nothing to install. The last bits depend on how many texts go through together."""
    layers, norm = _layers(tensors), _first_norm(tensors)

    def run(embedded: Table) -> Table:
        n_texts, n_pieces, _ = embedded.shape
        states: Table = _normed(embedded.reshape(-1, WIDTH), *norm)
        for layer in layers:
            mixed = _attended(states @ layer.qkv + layer.qkv_bias, n_texts, n_pieces)
            states = _normed(mixed @ layer.out + layer.out_bias + states, *layer.norm)
            wide = _gelu(states @ layer.up + layer.up_bias)
            states = _normed(wide @ layer.down + layer.down_bias + states, *layer.last_norm)
        return states.reshape(embedded.shape)

    return run


def _attended(qkv: Table, n_texts: int, n_pieces: int) -> Table:
    parts = qkv.reshape(n_texts, n_pieces, 3, _HEADS, WIDTH // _HEADS)
    query, key, value = (parts[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    scores: Table = (query @ key.transpose(0, 1, 3, 2)) * np.float32((WIDTH // _HEADS) ** -0.5)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    np.divide(scores, scores.sum(axis=-1, keepdims=True), out=scores)
    mixed: Table = (scores @ value).transpose(0, 2, 1, 3)
    return mixed.reshape(-1, WIDTH)


def _normed(states: Table, weight: Table, bias: Table) -> Table:
    centred = states - states.mean(axis=-1, keepdims=True)
    spread = np.einsum("ij,ij->i", centred, centred)[:, None] / np.float32(WIDTH) + np.float32(_TINY)
    made: Table = centred / np.sqrt(spread) * weight + bias
    return made


_ABOVE = (-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
          -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02)  # fmt: skip
_BELOW = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
          -1.42647390514189e-02)  # fmt: skip


def _gelu(x: Table) -> Table:
    """``x (1 + erf(x / √2)) / 2``. The error function as a ratio of polynomials, exact to single precision; with these
    coefficients it stands in Eigen and other libraries (NumPy has none).
    """
    y = np.clip(x * np.float32(0.5**0.5), -4, 4)
    square = y * y
    above, below = np.full_like(y, _ABOVE[0]), np.full_like(y, _BELOW[0])
    for c in _ABOVE[1:]:
        above = above * square + np.float32(c)
    for c in _BELOW[1:]:
        below = below * square + np.float32(c)
    made: Table = x * np.float32(0.5) * (1 + y * above / below)
    return made


# ---------------------------------------------------------------------- ONNX Runtime


def in_onnx(tensors: Mapping[str, Table], *, eight_bits: bool) -> Network:
    """The network in ONNX Runtime, on one thread, with its fused operators.

    Args:
        tensors: the parameters.
        eight_bits: products of 8-bit integers: weights by blocks of 64, and each piece's states by the same blocks, so
            that what else is in a batch changes nothing.

    Raises:
        UsageError: ONNX Runtime is not installed, or is too old.
    """
    try:
        ort = onnxruntime()
    except ImportError as error:
        want = f"{install_extra('embed')}; or say minilm:engine=numpy, which is slower"
        raise UsageError(f"embedder 'minilm': onnxruntime, which computes it, is not installed: {want}") from error
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    made = _graph(tensors, eight_bits)
    try:
        session: Any = ort.InferenceSession(made, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # it has many kinds of its own
        raise UsageError(f"embedder 'minilm': this onnxruntime ({ort.__version__}) does not take its network; 1.22 or "
                         f"newer is wanted, or minilm:engine=numpy ({type(error).__name__})") from error  # fmt: skip

    def run(embedded: Table) -> Table:
        (states,) = session.run(["states"], {"embedded": embedded})
        found: Table = states
        return found

    return run


def _graph(tensors: Mapping[str, Table], eight_bits: bool) -> bytes:
    graph = Graph()
    product = _eight_bit_product if eight_bits else _product
    (states,) = graph.op("LayerNormalization", "embedded", *map(graph.constant, _first_norm(tensors)),
                         axis=-1, epsilon=_TINY)  # fmt: skip
    thirds = graph.constant(np.full(3, WIDTH, np.int64))
    for layer in _layers(tensors):
        (qkv,) = graph.op("Add", product(graph, states, layer.qkv), graph.constant(layer.qkv_bias))
        parts = graph.op("Split", qkv, thirds, outputs=3, axis=2)
        (mixed,) = graph.op("MultiHeadAttention", *parts, domain=MICROSOFT, num_heads=_HEADS)
        states = _added(graph, product(graph, mixed, layer.out), states, layer.norm, layer.out_bias)
        (wide,) = graph.op("BiasGelu", product(graph, states, layer.up), graph.constant(layer.up_bias),
                           domain=MICROSOFT)  # fmt: skip
        states = _added(graph, product(graph, wide, layer.down), states, layer.last_norm, layer.down_bias)
    shape = ("texts", "pieces", WIDTH)
    graph.op("Identity", states, name="states")
    return graph.model(("embedded", shape), ("states", shape))


def _added(graph: Graph, made: str, before: str, norm: tuple[Table, Table], bias: Table) -> str:
    (states,) = graph.op("SkipLayerNormalization", made, before, *map(graph.constant, (*norm, bias)),
                         domain=MICROSOFT, epsilon=_TINY)  # fmt: skip
    return states


def _product(graph: Graph, states: str, matrix: Table) -> str:
    return graph.op("MatMul", states, graph.constant(matrix))[0]


def _eight_bit_product(graph: Graph, states: str, matrix: Table) -> str:
    k, n = matrix.shape
    blocks = matrix.T.reshape(n, k // _BLOCK, _BLOCK)
    scales = np.abs(blocks).max(axis=-1) / np.float32(127)
    whole = np.rint(blocks / scales[..., None]) + 128
    given = (graph.constant(whole.astype(np.uint8)), graph.constant(scales.astype(np.float32)))
    return graph.op("MatMulNBits", states, *given, domain=MICROSOFT, K=k, N=n, bits=8, block_size=_BLOCK,
                    accuracy_level=4)[0]  # fmt: skip
