"""Makes one decoder of two: `If(use_cache_branch) { with past } else { first step }`, as optimum does.

Equal weights are stored once, in the outer graph, where both branches see them.
"""

import hashlib

import onnx
from onnx import TensorProto, helper, numpy_helper


class Branch:
    """One exported graph, renamed so that it can stand inside another: its nodes and its outputs."""

    def __init__(self, graph, prefix, pool):
        self.inputs = {value.name for value in graph.input}
        self.renamed, self.prefix = {}, prefix
        for weights in graph.initializer:
            self.renamed[weights.name] = pooled(weights, pool)
        self.nodes = [self.node(node) for node in graph.node]
        self.outputs = {value.name: (self.renamed[value.name], value.type) for value in graph.output}

    def node(self, node):
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.name = self.prefix + node.name
        copy.input[:] = [self.name(name) for name in node.input]
        copy.output[:] = [self.name(name) for name in node.output]
        return copy

    def name(self, name):
        if name in self.inputs or name == "":
            return name
        return self.renamed.setdefault(name, self.prefix + name)


def pooled(weights, pool):
    """The name under which the weights lie in the pool; equal ones share it."""
    shape = bytes(str((weights.data_type, list(weights.dims))), "ascii")
    key = hashlib.sha1(shape + numpy_helper.to_array(weights).tobytes()).hexdigest()
    if key not in pool:
        copy = onnx.TensorProto()
        copy.CopyFrom(weights)
        copy.name = "w_%d" % len(pool)
        pool[key] = copy
    return pool[key].name


def value_info(name, value_type):
    value = onnx.ValueInfoProto(name=name)
    value.type.CopyFrom(value_type)
    return value


def merge(first, with_past, heads, head_width):
    """The merged model; `first` takes the encoder's states, `with_past` the keys and values so far."""
    pool = {}
    no_past = Branch(first.graph, "f_", pool)
    past = Branch(with_past.graph, "p_", pool)
    first_outputs, past_outputs = [], []
    for name, (inner, value_type) in no_past.outputs.items():
        first_outputs.append(value_info(inner, value_type))
        if name in past.outputs:
            past_outputs.append(value_info(past.outputs[name][0], value_type))
        else:
            # The encoder's keys and values: the caller keeps those of the first step.
            past.nodes.append(nothing("p_" + name, "z" + name, [0, heads, 1, head_width]))
            past_outputs.append(value_info("p_" + name, value_type))
    choice = helper.make_node(
        "If",
        ["use_cache_branch"],
        list(no_past.outputs),
        name="optimum::if",
        then_branch=helper.make_graph(past.nodes, "with_past", [], past_outputs),
        else_branch=helper.make_graph(no_past.nodes, "no_past", [], first_outputs),
    )
    inputs = [
        *first.graph.input,
        *(value for value in with_past.graph.input if value.name != "input_ids"),
        helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1]),
    ]
    outputs = [value_info(name, kind) for name, (_, kind) in no_past.outputs.items()]
    graph = helper.make_graph([choice], "merged", inputs, outputs, list(pool.values()))
    merged = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 14)],
        ir_version=8,
        producer_name="tiny-whisper",
    )
    onnx.checker.check_model(merged)
    return merged


def nothing(output, name, shape):
    """A node that gives an empty tensor."""
    empty = helper.make_tensor(name, TensorProto.FLOAT, shape, [])
    return helper.make_node("Constant", [], [output], value=empty)
