/** The child process of a neural voice: texts take turns, one sentence each, so that no caller waits for another's whole text. */

import { onnxProviders } from '../../../lib/onnx/onnx-providers.ts';
import { endProcess, obeyParent, tellParent } from '../../../lib/process/child-supervisor.ts';
import {
  ModelCache,
  type NeuralSentence,
  type NeuralVoice,
  type PhonemizerModule,
  type SynthesisJobSetup,
  type VoiceModelModule,
} from '../neural/voice-model.ts';
import type { ModelFailure, SpeakingReply, SpeakingRequest } from './synthesizer-pool.ts';
import { VoiceJob } from './voice-job.ts';

const order: SynthesisJobSetup = JSON.parse(process.argv[2] ?? 'null');
if (order.providers !== undefined) onnxProviders.use(order.providers);
const { openVoiceModel } = (await import(order.modelModule)) as VoiceModelModule;
const { openPhonemizer } = (await import(order.phonemizerModule)) as PhonemizerModule;
const phonemizer = openPhonemizer(order.phonemizer);
const cache = new ModelCache((path) => openVoiceModel(path, order.threads));

interface Turn {
  readonly job: VoiceJob;
  readonly steps: AsyncGenerator<void>;
}

/** Texts to speak, the next turn first. The server bounds the length. */
const waiting: Turn[] = [];
let isSpeaking = false;

obeyParent(take, release);
void begin();

async function begin(): Promise<void> {
  const failures: ModelFailure[] = [];
  const firsts = new Map(order.voices.map((voice) => [voice.model, voice]));
  for (const [model, voice] of firsts) {
    const reason = await proveSpeech(voice);
    if (reason !== null) failures.push({ model, reason });
  }
  const reasons = failures.map(({ reason }) => reason).join('; ');
  if (failures.length < firsts.size) reply({ kind: 'ready', failures });
  else reply({ kind: 'unready', reason: reasons || 'there is no voice' });
}

/** Synthesizes a word and drops it: finds damaged files and warms the code up. */
async function proveSpeech(voice: NeuralVoice): Promise<string | null> {
  let reason: string | null = 'it spoke a word without a sound';
  const hear = (message: SpeakingReply) => {
    if (message.kind === 'audio') reason = null;
    if (message.kind === 'failed') reason = message.reason;
  };
  const sentence = { text: 'Ready.', voice, pauseAfterMs: 0 };
  for await (const _ of turnOf(new VoiceJob({ id: 0, sentence, reply: hear })).steps);
  return reason;
}

function take(message: SpeakingRequest<NeuralSentence>): void {
  switch (message.kind) {
    case 'speak':
      waiting.push(turnOf(new VoiceJob({ id: message.id, sentence: message.sentence, reply })));
      void speakAll();
      break;
    case 'cancel':
      for (const { job } of waiting) if (job.id === message.id) job.cancel();
      break;
    case 'stop':
      void endProcess(release);
      break;
    default:
      message satisfies never;
  }
}

function turnOf(job: VoiceJob): Turn {
  return { job, steps: job.steps(phonemizer, cache) };
}

/** A sentence each, in turn. The one that speaks stays first in the list meanwhile, so that it can be cancelled. */
async function speakAll(): Promise<void> {
  if (isSpeaking) return;
  isSpeaking = true;
  for (let turn = waiting[0]; turn !== undefined; turn = waiting[0]) {
    const { done } = await turn.steps.next();
    waiting.shift();
    if (done !== true) waiting.push(turn);
    // Lets a cancel in.
    await new Promise(setImmediate);
  }
  isSpeaking = false;
}

async function release(): Promise<void> {
  for (const { job } of waiting) job.cancel();
  await Promise.allSettled([phonemizer.stop(), cache.close()]);
}

function reply(message: SpeakingReply): void {
  tellParent(message);
}
