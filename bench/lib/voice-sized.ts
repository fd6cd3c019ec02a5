/**
 * Graphs with the layers and sizes of Piper (medium) and Kokoro-82M, as far as their papers and code tell, and weights
 * that mean nothing: for time and memory. Left out are what costs little (norms, gates, noise), Kokoro's recurrent layers
 * and the attention itself; the convolutions, which take nearly all the time, are there.
 */
import {
  float32,
  int64,
  type OnnxGraph,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
  randomWeights,
  seededChance,
} from '../../test/support/speech/onnx-file.ts';
import { SYMBOLS } from '../../test/support/speech/voice-graphs.ts';

/** Collects nodes and weights; each step takes a value's name and gives the next one's. */
class Layers {
  readonly nodes: OnnxNode[] = [];
  readonly tensors: OnnxTensor[] = [];
  readonly #chance = seededChance(11);
  #next = 0;

  node(op: string, inputs: readonly string[], attributes: OnnxNode['attributes'] = {}): string {
    const output = `v${this.#next++}`;
    this.nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  constant(...values: readonly number[]): string {
    const name = `c${this.#next++}`;
    this.tensors.push(int64(name, [values.length], values));
    return name;
  }

  weights(dims: readonly number[], fanIn: number): string {
    const name = `w${this.#next++}`;
    // Keeps a layer's loudness.
    this.tensors.push(randomWeights(name, dims, this.#chance, Math.sqrt(3 / fanIn)));
    return name;
  }

  conv(x: string, from: number, to: number, width: number): string {
    const weights = this.weights([to, from, width], from * width);
    const pad = (width - 1) / 2;
    return this.node('Conv', [x, weights], { kernel_shape: [width], pads: [pad, pad] });
  }

  up(x: string, from: number, to: number, times: number): string {
    const width = 2 * times;
    const weights = this.weights([from, to, width], 2 * from);
    const pad = times / 2;
    const pads = [Math.floor(pad), Math.ceil(pad)];
    return this.node('ConvTranspose', [x, weights], {
      kernel_shape: [width],
      strides: [times],
      pads,
    });
  }

  /** Parallel residual blocks of several kernel widths, as in HiFi-GAN. */
  residuals(x: string, channels: number, widths: readonly number[], convs: number): string {
    const branches = widths.map((width) => {
      let branch = x;
      for (let n = 0; n < convs; n++) {
        const inner = this.conv(this.node('LeakyRelu', [branch]), channels, channels, width);
        branch = this.node('Add', [branch, this.node('Tanh', [inner])]);
      }
      return branch;
    });
    return this.node('Tanh', [this.node('Sum', branches)]);
  }

  /** Embeds symbols and gives [1, width, T]. */
  embed(ids: string, width: number): string {
    const rows = this.node('Gather', [this.weights([SYMBOLS.length, width], 3), ids]);
    return this.node('Transpose', [rows], { perm: [0, 2, 1] });
  }

  /** Repeats every symbol's column. */
  repeat(x: string, width: number, times: number): string {
    const single = this.node('Unsqueeze', [x, this.constant(3)]);
    const whole = this.node('Expand', [single, this.constant(1, 1, 1, times)]);
    return this.node('Reshape', [whole, this.constant(1, width, -1)]);
  }

  graph(
    inputs: readonly OnnxValue[],
    last: string,
    output: OnnxValue,
    flat: readonly number[],
  ): OnnxGraph {
    const nodes = [
      ...this.nodes,
      { op: 'Reshape', inputs: [last, this.constant(...flat)], outputs: [output.name] },
    ];
    return { nodes, tensors: this.tensors, inputs, outputs: [output] };
  }
}

/** 192 wide, 6 layers; 4 flows; HiFi-GAN from 256 channels by 8, 8 and 4. */
export function piperSizedGraph(): OnnxGraph {
  const net = new Layers();
  let x = net.embed('input', 192);
  for (let layer = 0; layer < 6; layer++) {
    x = net.node('Tanh', [net.conv(net.node('Relu', [net.conv(x, 192, 768, 3)]), 768, 192, 3)]);
  }
  // 86 frames and about 28 symbols, pads included, make a second.
  x = net.repeat(x, 192, 3);
  for (let layer = 0; layer < 16; layer++) x = net.node('Tanh', [net.conv(x, 192, 192, 5)]);
  x = net.conv(x, 192, 256, 7);
  for (const [from, times] of [
    [256, 8],
    [128, 8],
    [64, 4],
  ] as const) {
    x = net.residuals(net.up(x, from, from / 2, times), from / 2, [3, 5, 7], 2);
  }
  x = net.node('Tanh', [net.conv(x, 32, 1, 7)]);
  const inputs: OnnxValue[] = [
    { name: 'input', type: 'int64', dims: [1, 'phonemes'] },
    { name: 'input_lengths', type: 'int64', dims: [1] },
    { name: 'scales', type: 'float32', dims: [3] },
  ];
  const output: OnnxValue = { name: 'output', type: 'float32', dims: [1, 1, 1, 'time'] };
  return net.graph(inputs, x, output, [1, 1, 1, -1]);
}

/** 512 wide; a decoder of 1024; a generator from 512 channels by 10 and 6, and 5 samples of each of its frames. */
export function kokoroSizedGraph(): OnnxGraph {
  const net = new Layers();
  let x = net.embed('input_ids', 768);
  const [up, down] = [net.weights([2048, 768, 1], 768), net.weights([768, 2048, 1], 2048)];
  const mixes = Array.from({ length: 4 }, () => net.weights([768, 768, 1], 768));
  // Twelve times the same layer, as in ALBERT.
  for (let layer = 0; layer < 12; layer++) {
    for (const mix of mixes) x = net.node('Tanh', [net.node('Conv', [x, mix])]);
    x = net.node('Tanh', [net.node('Conv', [net.node('Relu', [net.node('Conv', [x, up])]), down])]);
  }
  x = net.conv(x, 768, 512, 5);
  for (let layer = 0; layer < 3; layer++) x = net.node('Tanh', [net.conv(x, 512, 512, 5)]);
  // 40 frames and about 14 symbols make a second.
  x = net.repeat(x, 512, 3);
  for (let layer = 0; layer < 4; layer++) {
    x = net.node('Tanh', [net.conv(net.conv(x, layer === 0 ? 512 : 1024, 1024, 3), 1024, 1024, 3)]);
  }
  x = net.up(net.conv(x, 1024, 512, 3), 512, 512, 2);
  for (const [from, times] of [
    [512, 10],
    [256, 6],
  ] as const) {
    x = net.residuals(net.up(x, from, from / 2, times), from / 2, [3, 7, 11], 6);
  }
  // In place of the inverse Fourier transform of 22 numbers with a hop of 5.
  x = net.node('Tanh', [net.conv(net.conv(x, 128, 22, 7), 22, 5, 1)]);
  x = net.node('Transpose', [x], { perm: [0, 2, 1] });
  const flat = net.node('Reshape', [x, net.constant(1, -1)]);
  net.tensors.push(float32('quiet', [1], [0.01]));
  const style = net.node('ReduceMean', ['style'], { keepdims: 1 });
  const touched = net.node('Mul', [net.node('Add', [style, 'speed']), 'quiet']);
  const inputs: OnnxValue[] = [
    { name: 'input_ids', type: 'int64', dims: [1, 'tokens'] },
    { name: 'style', type: 'float32', dims: [1, 256] },
    { name: 'speed', type: 'float32', dims: [1] },
  ];
  const output: OnnxValue = { name: 'waveform', type: 'float32', dims: [1, 'samples'] };
  return net.graph(inputs, net.node('Add', [flat, touched]), output, [1, -1]);
}
