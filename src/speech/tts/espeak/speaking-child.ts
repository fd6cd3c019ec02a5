/** The process in which espeak-ng is run or loaded; started by `SynthesizerPool`. */

import { systemClock } from '../../../lib/clock.ts';
import { endProcess, obeyParent, tellParent } from '../../../lib/process/child-supervisor.ts';
import type { SpeakingReply, SpeakingRequest } from '../pool/synthesizer-pool.ts';
import { EspeakProgram } from './espeak-program.ts';
import type { EspeakEngine, Sentence, SpeakingOrder } from './espeak-voice.ts';
import { EspeakWasm } from './espeak-wasm.ts';
import { type SentenceEngine, SentenceJob } from './sentence-job.ts';

// The WASM build makes an error object for each file it looks for in vain, with an unused stack trace.
Error.stackTraceLimit = 0;

const order: SpeakingOrder = JSON.parse(process.argv[2] ?? 'null');
const engine = openEngine(order.engine);
const cancels = new Map<number, () => void>();

obeyParent(take, () => engine.stop());
void begin();

function openEngine(choice: EspeakEngine): SentenceEngine {
  return choice.kind === 'program'
    ? new EspeakProgram({ ...choice, clock: systemClock })
    : new EspeakWasm({ moduleName: choice.moduleName });
}

async function begin(): Promise<void> {
  try {
    await engine.start();
    await proveSpeech();
    reply({ kind: 'ready' });
  } catch (error) {
    reply({ kind: 'unready', reason: error instanceof Error ? error.message : String(error) });
  }
}

/** Speaks a test word: finds missing voice files, and warms up the code. */
function proveSpeech(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let hasSound = false;
  const hear = (message: SpeakingReply) => {
    hasSound ||= message.kind === 'audio';
    if (message.kind === 'failed') {
      reject(new Error(message.reason));
    } else if (message.kind === 'ended') {
      hasSound ? resolve() : reject(new Error('it spoke a word without a sound'));
    }
  };
  const sentence = { text: 'Ready.', voice: order.firstVoice, pauseAfterMs: 0 };
  engine.speak(sentence, new SentenceJob({ id: 0, sentence, reply: hear, over: () => undefined }));
  return promise;
}

function take(message: SpeakingRequest<Sentence>): void {
  switch (message.kind) {
    case 'speak':
      speak(message.id, message.sentence);
      break;
    case 'cancel':
      cancels.get(message.id)?.();
      cancels.delete(message.id);
      break;
    case 'stop':
      void endProcess(() => engine.stop());
      break;
    default:
      message satisfies never;
  }
}

function speak(id: number, sentence: Sentence): void {
  const job = new SentenceJob({ id, sentence, reply, over: () => cancels.delete(id) });
  cancels.set(id, engine.speak(sentence, job));
}

function reply(message: SpeakingReply): void {
  tellParent(message);
}
