"""Networks and images in the manner of the Sparse DNN Graph Challenge, from seeds: nothing of its data is needed.

A RadiX-Net (Kepner and Robinett, 2019) of mixed radix 2: N/16 nodes, node i of layer k reads nodes i and i + 2^k mod N/16,
and each node stands for 16 neurons that read all 16 of the nodes they read: 32 inputs a neuron, 1/16 each. After the
first period the inputs are renamed by a seeded permutation. Images are blobs, about 14 % of their pixels set.
"""
import numpy as np

BIAS = {1024: -0.30, 4096: -0.35, 16384: -0.40, 65536: -0.45}
GROUP = 16


def inputs_of(neurons, layer, seed=1):
    """The 32 inputs of each group of 16 outputs, ascending: neurons/16 × 32."""
    nodes = neurons // GROUP
    period = int(np.log2(nodes))
    node = np.arange(nodes)
    sources = np.stack([node, (node + (1 << layer % period)) % nodes], axis=1)
    places = (sources[:, :, None] * GROUP + np.arange(GROUP)).reshape(nodes, 2 * GROUP)
    if layer >= period:
        places = np.random.default_rng([seed, layer]).permutation(neurons)[places]
    return np.sort(places, axis=1).astype(np.int32)


def weights(neurons, layers, seed=1, varied=False):
    """Components of #sparse.bsr<block = [16, 1]> for all layers: positions, coordinates, values.
    `varied`: weights of 1/64 to 8/64 that add up to 2 for each output, as 32 of 1/16 do."""
    groups = neurons // GROUP
    positions = np.tile(np.arange(groups + 1, dtype=np.int32) * 2 * GROUP, (layers, 1))
    coordinates = np.stack([inputs_of(neurons, layer, seed).ravel() for layer in range(layers)])
    values = np.full((layers, groups * 2 * GROUP, GROUP, 1), 1 / 16, np.float32)
    if varied:
        drawn = np.random.default_rng([seed, layers]).integers(1, 9, values.shape) / 64
        sums = drawn.reshape(layers, groups, 2 * GROUP, GROUP).sum(axis=2, keepdims=True)
        values = (drawn.reshape(layers, groups, 2 * GROUP, GROUP) * 2 / sums).astype(np.float32).reshape(values.shape)
    return positions, coordinates, values


def matrix(components, layer):
    """One layer as scipy's csr matrix, outputs × inputs."""
    import scipy.sparse
    positions, coordinates, values = (part[layer] for part in components)
    neurons = (len(positions) - 1) * GROUP
    return scipy.sparse.bsr_matrix((values, coordinates, positions), shape=(neurons, neurons)).tocsr()


def images(neurons, count, seed=2):
    """neurons × count, zeros and ones."""
    rng, side = np.random.default_rng(seed), int(np.sqrt(neurons))
    y, x = np.mgrid[0:side, 0:side] / side
    out = np.zeros((neurons, count), np.float32)
    for i in range(count):
        blobs = rng.uniform(0.2, 0.8, (3, 2))
        height = sum(np.exp(-((x - a) ** 2 + (y - b) ** 2) / rng.uniform(0.005, 0.03)) for a, b in blobs)
        out[:, i] = (height > np.quantile(height, 1 - rng.uniform(0.05, 0.23))).ravel()
    return out


def reference(components, bias, first, layers, dtype=np.float64):
    """The same network in scipy: y after that many layers, neurons × images."""
    y = first.astype(dtype)
    for layer in range(layers):
        y = np.clip(matrix(components, layer).astype(dtype) @ y + dtype(bias), 0, 32)
    return y
