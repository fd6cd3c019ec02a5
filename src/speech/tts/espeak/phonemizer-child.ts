/** Child process that makes phonemes by espeak-ng's WASM build; `espeak-phonemizer` starts it, and it ends with its parent. */

import { ignoreSignals } from '../../../lib/process/child-supervisor.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import { phonemeArguments } from './espeak-voice.ts';
import { EspeakInstance, loadModule } from './wasm-instance.ts';

/** One text at a time. */
export interface PhonemeRequest {
  readonly id: number;
  readonly text: string;
  readonly voice: string;
}

export type PhonemeAnswer = { readonly id: number } & (
  | { readonly phonemes: string }
  | { readonly reason: string }
);

// The WASM build makes an error object for each file it looks for in vain, with an unused stack trace.
Error.stackTraceLimit = 0;

const module = loadModule(process.argv[2] ?? '');
// Reported to the next request.
module.catch(() => undefined);
let instance: Promise<EspeakInstance> | undefined;
let last: Promise<void> = Promise.resolve();

process.on('disconnect', () => process.exit(0));
ignoreSignals();
process.on('message', (request: PhonemeRequest) => {
  last = last.then(() => answer(request));
});

async function answer({ id, text, voice }: PhonemeRequest): Promise<void> {
  try {
    instance ??= EspeakInstance.make(await module);
    const program = await instance;
    const pieces: Uint8Array[] = [];
    program.write(phonemeArguments(voice), { text, voice }, (bytes) => pieces.push(bytes.slice()));
    reply({ id, phonemes: Buffer.concat(pieces).toString('utf8') });
    if (!program.isUsable) instance = undefined;
  } catch (error) {
    instance = undefined;
    reply({ id, reason: messageOf(error) });
  }
}

function reply(message: PhonemeAnswer): void {
  process.send?.(message, undefined, undefined, () => undefined);
}
