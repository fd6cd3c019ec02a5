/** An embedding model behind Ollama (`/api/embed`) or a server that speaks OpenAI's interface (`/embeddings`). */
import { jsonOf } from '../../lib/unknown-value.ts';
import { LanguageModelError } from '../language-model.ts';
import { fetchFromServer } from '../model-server.ts';
import { type Embedder, rolePrefix, type TextRole } from './embedder.ts';
import type { EmbeddingProtocol } from './embedding-answer.ts';

const PATHS: Readonly<Record<EmbeddingProtocol, string>> = {
  ollama: '/api/embed',
  openai: '/embeddings',
};

/** Asks the server over HTTP. */
export class EmbeddingServer implements Embedder {
  readonly name: string;
  readonly #options: {
    readonly protocol: EmbeddingProtocol;
    readonly url: string;
    readonly model: string;
    readonly apiKey?: string | undefined;
  };

  /** @param options.url of Ollama, or of the other server with its version, such as `http://127.0.0.1:8080/v1`. */
  constructor(options: {
    readonly protocol: EmbeddingProtocol;
    readonly url: string;
    readonly model: string;
    readonly apiKey?: string | undefined;
  }) {
    this.name = `${options.protocol}/${options.model}`;
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  async embed(
    texts: readonly string[],
    { role, signal }: { readonly role: TextRole; readonly signal: AbortSignal },
  ): Promise<readonly Float32Array[]> {
    const { protocol, url, model, apiKey } = this.#options;
    const path = PATHS[protocol];
    const prefix = rolePrefix(model, role);
    const response = await fetchFromServer(`embeddings at "${url}"`, `${url}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, input: texts.map((text) => `${prefix}${text}`) }),
      redirect: 'error',
      signal,
    });
    // No message quotes the answer, which may repeat the caller's words.
    const { readVectors } = await import('./embedding-answer.ts');
    const found = readVectors[protocol](jsonOf(await response.text()));
    if (found === undefined) throw this.#unusable('of another form');
    const sizes = new Set(found.map(({ length }) => length));
    if (found.length !== texts.length || sizes.size > 1) throw this.#unusable('of another number');
    return found.map((vector) => this.#scaled(vector));
  }

  #scaled(vector: readonly number[]): Float32Array {
    const length = Math.hypot(...vector);
    if (!(length > 0 && Number.isFinite(length))) throw this.#unusable('without a direction');
    return Float32Array.from(vector, (value) => value / length);
  }

  #unusable(what: string): LanguageModelError {
    return new LanguageModelError(`Cannot use "${this.name}": it answers with vectors ${what}`);
  }
}
