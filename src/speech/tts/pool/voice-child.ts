/** The process in which a neural voice speaks: one sentence of phonemes at a time, so that nobody waits for a whole text of another's. */
import { ModelCache } from '../neural/model-cache.ts';
import type { PhonemizerModule, VoiceModelModule } from '../neural/voice-model.ts';
import type {
  ModelFailure,
  NeuralSentence,
  NeuralVoice,
  SpeakingReply,
  SpeakingRequest,
  SynthesisJobSetup,
} from './synthesizer.ts';
import { VoiceJob } from './voice-job.ts';

const order: SynthesisJobSetup = JSON.parse(process.argv[2] ?? 'null');
const { openVoiceModel } = (await import(order.modelModule)) as VoiceModelModule;
const { openPhonemizer } = (await import(order.phonemizerModule)) as PhonemizerModule;
const phonemizer = openPhonemizer(order.phonemizer);
const shelf = new ModelCache((path) => openVoiceModel(path, order.threads));

interface Turn {
  readonly job: VoiceJob;
  readonly steps: AsyncGenerator<void>;
}

/** What is asked for, whose turn it is first. Its length is bounded by the server. */
const waiting: Turn[] = [];
let isSpeaking = false;

process.on('disconnect', () => void stop());
// A terminal's Ctrl-C and a service manager's stop reach the whole group; the server decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

const begun = begin();
process.on('message', (message: SpeakingRequest<NeuralSentence>) =>
  begun.then(() => take(message)),
);

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

/** Says a word to nobody: finds what is damaged now, and has all code run once before it matters. */
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
    case 'warm':
      // A model that cannot be opened is told of when it is to speak.
      void shelf.open(message.voice.model).catch(() => undefined);
      break;
    default:
      message satisfies never;
  }
}

function turnOf(job: VoiceJob): Turn {
  return { job, steps: job.steps(phonemizer, shelf) };
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

async function stop(): Promise<void> {
  for (const { job } of waiting) job.cancel();
  await Promise.allSettled([phonemizer.stop(), shelf.close()]);
  process.exit(0);
}

function reply(message: SpeakingReply): void {
  // The server may let go at any moment; then nobody waits for what could not be sent.
  process.send?.(message, undefined, undefined, () => undefined);
}
