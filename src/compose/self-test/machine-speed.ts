/** Measures how fast one core multiplies, and estimates by it the recognisers of the list of models that are not installed. */
import { writeModel } from '../../../models/prepare/onnx/onnx-writer.ts';
import type { Config } from '../../config/config.ts';
import { type InferenceSession, loadOnnxRuntime, Tensor } from '../../lib/onnx/onnx-session.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import { catalogueOf, readShelf } from '../../model-store/server-downloads/model-catalogue.ts';
import {
  answerMsOf,
  isEstimable,
  type MachineSpeed,
  type SpeedEstimate,
  type SpeedEstimates,
} from '../../speech/self-test/self-test-report.ts';

type Settings = Pick<Config, 'MODELS_DIR' | 'MODELS_PROFILE' | 'OLLAMA_HOST'>;

/** Shape of a product, and how often it is run; the fastest run counts, since others share the core. */
interface Product {
  readonly rows: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly runs: number;
}

/** As in an encoder of 512, for three seconds: 1 MB of weights. */
const MATRIX: Product = { rows: 150, inputs: 512, outputs: 2048, runs: 60 };

/** 64 MB of weights, which a cache of 32 MB does not hold. */
const VECTOR: Product = { rows: 1, inputs: 1024, outputs: 65_536, runs: 15 };

/** `TensorProto.DataType` of ONNX. */
const FLOAT = 1;
const INT8 = 3;

/**
 * Estimates the recognisers that are not installed. Takes half a second of one core, and holds up its process: not for a server.
 * Never rejects.
 *
 * @param manifestFile the list of the repository unless given.
 */
export async function estimateMissing(
  config: Settings,
  manifestFile?: string,
): Promise<SpeedEstimates> {
  try {
    return { list: await estimatesOf(config, manifestFile), failure: null };
  } catch (error) {
    return { list: [], failure: messageOf(error) };
  }
}

async function estimatesOf(
  config: Settings,
  manifestFile: string | undefined,
): Promise<readonly SpeedEstimate[]> {
  // Language models are not estimated, so no Ollama is asked.
  const shelf = await readShelf({ ...config, LLM: 'scripted' }, manifestFile);
  const { models, profiles } = await catalogueOf(shelf);
  const missing = models.filter(({ id, state }) => state !== 'there' && isEstimable(id));
  if (missing.length === 0) return [];
  const speed = await measureMachine();
  return missing.map(({ id, name: model }) => ({
    model,
    profiles: profiles.filter(({ modelIds }) => modelIds.includes(id)).map(({ name }) => name),
    answerMs: answerMsOf(id, speed),
  }));
}

/** @throws {Error} where ONNX Runtime does not load. */
export async function measureMachine(): Promise<MachineSpeed> {
  return {
    matrixPerSecond: await productsPerSecond(MATRIX),
    vectorPerSecond: await productsPerSecond(VECTOR),
  };
}

async function productsPerSecond(product: Product): Promise<number> {
  const { rows, inputs, outputs, runs } = product;
  const { InferenceSession } = await loadOnnxRuntime();
  const settings = { intraOpNumThreads: 1, interOpNumThreads: 1, executionProviders: ['cpu'] };
  const session = await InferenceSession.create(productGraph(product), settings);
  try {
    const values = Float32Array.from({ length: rows * inputs }, (_, index) => Math.sin(index));
    const x = new Tensor('float32', values, [rows, inputs]);
    // The first run makes room.
    await session.run({ x });
    let leastSeconds = Number.POSITIVE_INFINITY;
    for (let run = 0; run < runs; run += 1) {
      leastSeconds = Math.min(leastSeconds, await coreSeconds(session, x));
    }
    return (rows * inputs * outputs) / leastSeconds;
  } finally {
    await session.release();
  }
}

/** Time of the processor, not of the clock: a busy machine runs others meanwhile. */
async function coreSeconds(session: InferenceSession, x: Tensor): Promise<number> {
  const before = process.cpuUsage();
  await session.run({ x });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** A dynamically quantised product, as `quantize_dynamic` writes those of Whisper. The weights are zeros, which takes as long. */
function productGraph({ inputs, outputs }: Product): Uint8Array<ArrayBuffer> {
  const dims = new BigInt64Array([BigInt(inputs), BigInt(outputs)]);
  return writeModel({
    name: 'product',
    nodes: [
      { type: 'ConstantOfShape', inputs: ['dims'], outputs: ['zeros'] },
      { type: 'Cast', inputs: ['zeros'], outputs: ['weights'], attributes: { to: INT8 } },
      { type: 'DynamicQuantizeLinear', inputs: ['x'], outputs: ['small', 'scale', 'zero'] },
      { type: 'MatMulInteger', inputs: ['small', 'weights', 'zero'], outputs: ['sum'] },
      { type: 'Cast', inputs: ['sum'], outputs: ['float'], attributes: { to: FLOAT } },
      { type: 'Mul', inputs: ['float', 'scale'], outputs: ['y'] },
    ],
    tensors: [{ name: 'dims', dims: [2], values: dims }],
    inputs: [{ name: 'x', element: 'float32', dims: ['rows', inputs] }],
    outputs: [{ name: 'y', element: 'float32', dims: ['rows', outputs] }],
  });
}
