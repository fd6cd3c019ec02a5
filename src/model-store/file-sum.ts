/** Checksums of a file while its bytes pass by, and what they are compared with. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** What a file's bytes should add up to, and who says so. */
export interface ExpectedSum {
  readonly algorithm: 'sha256' | 'git-sha1';
  /** Lower-case hexadecimal. */
  readonly hex: string;
  /** Null when it is not known; always known for `git-sha1`, which begins with it. */
  readonly bytes: number | null;
}

/** Adds up bytes as they come. */
export class FileSum {
  readonly #sha256 = createHash('sha256');
  readonly #git: Hash | null;
  #bytes = 0;

  constructor(expected: ExpectedSum | null) {
    const isGit = expected?.algorithm === 'git-sha1' && expected.bytes !== null;
    this.#git = isGit ? createHash('sha1').update(`blob ${expected.bytes}\0`) : null;
  }

  get bytes(): number {
    return this.#bytes;
  }

  update(chunk: Uint8Array): void {
    this.#sha256.update(chunk);
    this.#git?.update(chunk);
    this.#bytes += chunk.length;
  }

  /** Ends the sum. @returns the SHA-256, and whether the bytes are the expected ones. */
  finish(expected: ExpectedSum | null): { readonly sha256: string; readonly isRight: boolean } {
    const sha256 = this.#sha256.digest('hex');
    if (expected === null) return { sha256, isRight: true };
    const isLong = expected.bytes === null || expected.bytes === this.#bytes;
    const hex = expected.algorithm === 'sha256' ? sha256 : this.#git?.digest('hex');
    return { sha256, isRight: isLong && hex === expected.hex };
  }
}

/** Adds up what lies in a file. @param onBytes told how many bytes have passed since it was told last. */
export async function sumOfFile(
  file: string,
  expected: ExpectedSum | null,
  options: { readonly signal?: AbortSignal; readonly onBytes?: (bytes: number) => void } = {},
): Promise<FileSum> {
  const sum = new FileSum(expected);
  const stream = createReadStream(file, { highWaterMark: 1024 * 1024, signal: options.signal });
  for await (const chunk of stream) {
    sum.update(chunk);
    options.onBytes?.(chunk.length);
  }
  return sum;
}
