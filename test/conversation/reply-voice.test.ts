/** One reply's way to the line: kept back, let out, finished, dropped. */
import { expect, test } from 'vitest';
import { ReplyVoice } from '../../src/conversation/reply/reply-voice.ts';
import type { TurnEvent } from '../../src/conversation/turn/turn-event.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { AudioStream } from '../../src/media/audio-stream.ts';
import { ScriptedSynthesizer } from '../support/speech/scripted-synthesizer.ts';

/** 480 samples a letter are 60 ms at 8 kHz. */
function openVoice() {
  const line: string[] = [];
  const audio = {
    begin: (reply: number) => line.push(`begin ${reply}`),
    say: (reply: number, pcm: Int16Array) =>
      line.push(`say ${reply} ${String.fromCodePoint(pcm[0] ?? 0)}`),
    finish: (reply: number) => line.push(`finish ${reply}`),
    drop: (reply: number) => line.push(`drop ${reply}`),
  } as unknown as AudioStream;
  const told: TurnEvent[] = [];
  const warned: string[] = [];
  const synthesizer = new ScriptedSynthesizer(480);
  const voice = new ReplyVoice({
    ...{ reply: 7, audio, synthesizer, voice: 'de-DE-KatjaNeural', language: 'de-DE' },
    tell: (event) => told.push(event),
    log: { ...silentLogger, warn: (_fields: object, message: string) => warned.push(message) },
  });
  return { voice, line, told, warned, synthesizer };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('ReplyVoice speaks with the agent’s voice in its language', async () => {
  const { voice, synthesizer } = openVoice();

  voice.speak(0, 'ab');
  await settled();

  expect(synthesizer.asked[0]).toMatchObject({ voice: 'de-DE-KatjaNeural', language: 'de-DE' });
});

test('ReplyVoice keeps audio back until it may be heard, then says it once and in order', async () => {
  const { voice, line } = openVoice();
  voice.speak(0, 'ab');
  await settled();
  const before = [...line];

  voice.release();
  voice.release();
  voice.speak(1, 'c');
  await settled();

  expect([before, line]).toEqual([[], ['begin 7', 'say 7 a', 'say 7 b', 'say 7 c']]);
});

test('ReplyVoice keeps audio back again once it is held, and lets it out when it is released', async () => {
  const { voice, line } = openVoice();
  voice.release();
  voice.speak(0, 'a');
  await settled();

  voice.hold();
  voice.speak(1, 'b');
  await settled();
  const held = [...line];
  voice.release();

  expect([held, line.slice(held.length)]).toEqual([['begin 7', 'say 7 a'], ['say 7 b']]);
});

test('ReplyVoice finishes on the line once its last clause has been spoken', async () => {
  const { voice, line } = openVoice();
  voice.release();
  voice.speak(0, 'a');

  voice.finish();
  const early = [...line];
  await settled();
  voice.finish();

  expect([early, line]).toEqual([[], ['begin 7', 'say 7 a', 'finish 7']]);
});

test('ReplyVoice finishes what was kept back as soon as it is released', async () => {
  const { voice, line } = openVoice();
  voice.speak(0, 'a');
  voice.finish();
  await settled();

  voice.release();

  expect(line).toEqual(['begin 7', 'say 7 a', 'finish 7']);
});

test('ReplyVoice without a word tells by itself that it is over, once', () => {
  const { voice, told, line } = openVoice();
  voice.finish();
  const early = [...told];

  voice.release();
  voice.release();

  expect([early, line]).toEqual([[], []]);
  expect(told).toEqual([{ kind: 'playout-finished', reply: 7, playedMs: 0, isComplete: true }]);
});

test('ReplyVoice tells how much audio there is of each clause, and when that is all', async () => {
  const { voice, told } = openVoice();

  voice.speak(3, 'ab');
  await settled();

  const part = { kind: 'voiced', reply: 7, clause: 3, audioMs: 60, isWhole: false };
  expect(told).toEqual([part, part, { ...part, audioMs: 0, isWhole: true }]);
});

test('ReplyVoice warns of a clause that cannot be spoken, and goes on with the next', async () => {
  const { voice, told, warned, line } = openVoice();
  voice.release();

  voice.speak(0, 'fail');
  voice.speak(1, 'a');
  await settled();

  expect(warned).toEqual(['voice failed in a call']);
  expect(told[0]).toMatchObject({ clause: 0, audioMs: 0, isWhole: true });
  expect(line).toEqual(['begin 7', 'say 7 a']);
});

test('ReplyVoice that is dropped speaks no further clause, tells nothing more and warns of nothing', async () => {
  const { voice, line, told, warned, synthesizer } = openVoice();
  voice.speak(0, 'abc');
  voice.speak(1, 'd');

  voice.drop();
  await settled();
  voice.release();
  voice.finish();

  expect(synthesizer.asked.map(({ text }) => text)).toEqual(['abc']);
  expect([line, told, warned]).toEqual([[], [], []]);
});

test('ReplyVoice that is dropped forgets what it kept back', async () => {
  const { voice, line } = openVoice();
  voice.speak(0, 'a');
  await settled();

  voice.drop();
  voice.release();

  expect(line).toEqual([]);
});

test('ReplyVoice that is dropped stops the line where it had begun', async () => {
  const { voice, line } = openVoice();
  voice.release();
  voice.speak(0, 'a');
  await settled();

  voice.drop();

  expect(line).toEqual(['begin 7', 'say 7 a', 'drop 7']);
});
