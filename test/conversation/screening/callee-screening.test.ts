/** A conversation on an outgoing call, from the answer to the end, by who has answered. */
import { expect, test } from 'vitest';
import type { Voicemail } from '../../../src/domain/agent/agent.ts';
import { tone } from '../../support/speech/tone.ts';
import { layTable } from '../support/table.ts';

const HANG_UP: Voicemail = { action: 'hang_up', message: null };
const LEAVE: Voicemail = { action: 'leave_message', message: 'Please call us back.' };
const CONTINUE: Voicemail = { action: 'continue', message: null };

function answered(voicemail: Voicemail) {
  const table = layTable({ voicemail });
  table.conversation.start();
  const verdicts = () =>
    table.events.flatMap((event) =>
      event.kind === 'answered-by' ? [`${event.answeredBy}: ${event.sign}`] : [],
    );
  /** The callee's end sounds a beep, in packets. */
  const beep = async (durationMs: number) => {
    const sound = tone(1000, durationMs, 6000);
    for (let at = 0; at < sound.length; at += 160) {
      table.line.heard.write(sound.subarray(at, at + 160), table.clock.nowMs());
      await table.pass(20);
    }
    table.line.heard.write(new Int16Array(800), table.clock.nowMs());
  };
  return { ...table, verdicts, beep };
}

test.each([
  HANG_UP,
  LEAVE,
])('a person is greeted once they have said hello: $action', async (voicemail) => {
  const { pass, hear, transcript, verdicts, end } = answered(voicemail);

  await pass(500);
  await hear('Hello?', 500);
  await pass(5000);

  expect(transcript()).toEqual(['user: Hello?', 'agent: Hello.']);
  expect(verdicts()).toEqual(['human: short_talk']);
  expect(end()).toBeUndefined();
});

test.each([
  ['Hello?', 500, 80],
  ['Hello?', 500, 1500],
  ['Good morning, Miller and sons, how may I help you?', 2800, 1300],
  ['Good morning, Miller and sons, how may I help you?', 2800, 2500],
])('the greeting, heard whole, is the answer to %j of %i ms whose words take %i ms', async (text, voiceMs, tookMs) => {
  const { line, listener, model, pass, hear, transcript } = answered(HANG_UP);
  listener.tookMs = tookMs;

  await hear(text, voiceMs);
  await pass(9000);

  expect(model.requests).toEqual([]);
  expect(transcript().toSorted()).toEqual(['agent: Hello.', `user: ${text}`]);
  expect(line.played.map(({ isComplete }) => isComplete)).toEqual([true]);
});

test('a person who goes on after their hello is answered, however late the words come', async () => {
  const { listener, model, pass, hear } = answered(HANG_UP);
  listener.tookMs = 1500;

  await hear('Hello?', 500);
  await pass(900);
  await hear('Hello? Is my car ready?', 900);
  await pass(8000);

  expect(model.requests.length).toBeGreaterThan(0);
});

test('a silent callee is greeted after 2 s, and is unknown at the end', async () => {
  const { conversation, line, pass, verdicts } = answered(HANG_UP);

  await pass(1900);
  expect(line.isPlaying).toBe(false);
  await pass(300);
  expect(line.isPlaying).toBe(true);
  conversation.stop();
  conversation.stop();

  expect(verdicts()).toEqual(['unknown: undecided']);
});

test('hang_up ends the call without a word as soon as a machine is known', async () => {
  const { hear, transcript, verdicts, end } = answered(HANG_UP);

  await hear('Hi I am away for the rest of the week and cannot', 6000);

  expect(verdicts()).toEqual(['machine: long_talk']);
  expect(end()).toEqual({ kind: 'agent-hangup' });
  expect(transcript().filter((line) => line.startsWith('agent'))).toEqual([]);
});

test('leave_message waits for the beep, says the message whole, and hangs up', async () => {
  const { beep, hear, line, pass, transcript, verdicts, end } = answered(LEAVE);

  await hear('Please leave a message after the tone.', 4000);
  await pass(500);
  expect(line.isPlaying).toBe(false);
  await beep(400);
  await pass(200);
  expect(line.isPlaying).toBe(false);
  line.voice(300);
  await pass(6000);

  expect(verdicts()).toEqual(['machine: words']);
  expect(transcript().at(-1)).toBe('agent: Please call us back.');
  expect(line.played.map(({ isComplete }) => isComplete)).toEqual([true]);
  expect(end()).toEqual({ kind: 'agent-hangup' });
});

test('leave_message takes 1.5 s of silence for the end of a greeting without a beep', async () => {
  const { hear, line, pass, transcript } = answered(LEAVE);

  await hear('We are closed today. Goodbye.', 5000);
  await pass(1300);
  expect(line.played).toEqual([]);
  await pass(3000);

  expect(transcript().at(-1)).toBe('agent: Please call us back.');
});

test('the greeting of the agent stops when a machine is found after it began', async () => {
  const { hear, line, pass, verdicts, transcript } = answered(LEAVE);

  await hear('Hello.', 400);
  await pass(900);
  await hear('This is the mailbox of Alex.', 3000);
  await pass(4000);

  expect(verdicts()).toEqual(['human: short_talk', 'machine: words']);
  expect(line.played.at(-1)?.isComplete).toBe(true);
  expect(transcript().at(-1)).toBe('agent: Please call us back.');
});

test('continue greets at once, and only records who answered', async () => {
  const { hear, line, pass, verdicts, end } = answered(CONTINUE);

  await pass(100);
  expect(line.isPlaying).toBe(true);
  await hear('Please leave a message after the tone.', 4000);

  expect(verdicts()).toEqual(['machine: words']);
  expect(end()).toBeUndefined();
});

test('a fault while the sound is searched for beeps ends this conversation, and nothing else', async () => {
  const { clock, line, pass, end } = answered(LEAVE);
  line.heard.read = () => {
    throw new RangeError('no such position');
  };

  await pass(200);
  const { waiting } = clock;
  await pass(1000);

  expect(end()).toEqual({ kind: 'failed', reason: 'internal error' });
  expect(clock.waiting).toBe(waiting);
});

test('a call that is screened lasts no longer than its maximum', async () => {
  const table = layTable({ voicemail: LEAVE, maxDurationMs: 10_000 });
  table.conversation.start();

  await table.hear('This greeting does not come to its end', 12_000);

  expect(table.end()).toEqual({ kind: 'timeout', cause: 'max-duration' });
});
