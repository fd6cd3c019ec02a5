/** ONNX Runtime's execution providers of a process: which are wanted, which works, and how to get one that does not */
import { firstLineOf } from '../unknown-value.ts';

/** Values of `ONNX_PROVIDERS`: execution providers that ONNX Runtime has on at least one system. */
export const PROVIDERS = ['cpu', 'cuda', 'tensorrt', 'webgpu', 'coreml', 'dml'] as const;

/** An execution provider of ONNX Runtime. */
export type Provider = (typeof PROVIDERS)[number];

/** Providers unless others are set. */
export const DEFAULT_PROVIDERS: readonly Provider[] = ['cpu'];

/** Advice for providers whose libraries are not in ONNX Runtime's npm package. */
const REMEDIES: Partial<Record<Provider, string>> = {
  cuda:
    'it needs an NVIDIA driver, CUDA 12, cuDNN 9 and ONNX Runtime’s library for them: ' +
    '"node node_modules/onnxruntime-node/script/install --onnxruntime-node-install=cuda12"',
};

/** Opens models on the first provider that works. One instance a process. */
export class OnnxProviders {
  #wanted: readonly Provider[] = DEFAULT_PROVIDERS;
  #used: Provider | undefined;
  readonly #faults = new Map<Provider, string>();

  /** Sets the order, best first; call it before the first model is opened. */
  use(wanted: readonly Provider[]): void {
    this.#wanted = wanted;
  }

  /**
   * Opens a model.
   *
   * @throws the last provider's error, where none of them opens it.
   */
  async open<Model>(create: (provider: Provider) => Promise<Model>): Promise<Model> {
    const failed: (readonly [Provider, unknown])[] = [];
    for (const provider of this.#wanted) {
      try {
        const model = await create(provider);
        this.#used = provider;
        // A file that opens elsewhere is sound: the fault is the provider's.
        for (const [other, error] of failed) this.#faults.set(other, firstLineOf(error));
        return model;
      } catch (error) {
        failed.push([provider, error]);
      }
    }
    throw failed.at(-1)?.[1] ?? new Error('no ONNX provider is named');
  }

  /** Note for the operator: where models run, and the faults of better providers; undefined with the default order. */
  get note(): string | undefined {
    const isDefault = this.#wanted.length === 1 && this.#wanted[0] === DEFAULT_PROVIDERS[0];
    if (isDefault || this.#used === undefined) return undefined;
    const faults = [...this.#faults].map(([provider, fault]) => {
      const remedy = REMEDIES[provider];
      return `${provider} cannot be used (${fault})${remedy === undefined ? '' : `: ${remedy}`}`;
    });
    return [`it runs on ${this.#used}`, ...faults].join('; ');
  }
}

/** This process's. */
export const onnxProviders = new OnnxProviders();
