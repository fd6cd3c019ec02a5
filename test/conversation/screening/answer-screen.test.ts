/** Who has answered an outgoing call, by beep, words and the form of the first talk. */
import { expect, test } from 'vitest';
import {
  hearCallee,
  isGreetingOver,
  judgeCallee,
  machineSignIn,
  mayGreet,
  openScreen,
  type ScreenEvent,
  type ScreenState,
} from '../../../src/conversation/screening/answer-screen.ts';

/** A voice from one instant after the answer to another, in milliseconds. */
const voice = (fromMs: number, toMs: number): readonly ScreenEvent[] => [
  { kind: 'voice-started', atMs: fromMs },
  { kind: 'voice-stopped', lastVoicedAtMs: toMs },
];
const words = (text: string, atMs: number): ScreenEvent => ({ kind: 'words', text, atMs });
const atOf = (event: ScreenEvent) => ('atMs' in event ? event.atMs : event.lastVoicedAtMs);

/** Every state of the first `untilMs`, judged each 100 ms. */
function screened(events: readonly ScreenEvent[], untilMs: number) {
  let state = openScreen('en-US', 0);
  let greetedAtMs: number | undefined;
  let decidedAtMs: number | undefined;
  for (let nowMs = 100; nowMs <= untilMs; nowMs += 100) {
    for (const event of events) {
      if (atOf(event) > nowMs - 100 && atOf(event) <= nowMs) state = hearCallee(state, event);
    }
    const before = state.answeredBy;
    state = judgeCallee(state, nowMs);
    if (state.answeredBy !== null && (before === null || before !== state.answeredBy))
      decidedAtMs ??= nowMs;
    if (mayGreet(state)) greetedAtMs ??= nowMs;
  }
  return { state, greetedAtMs, decidedAtMs };
}

test.each([
  ['a hello', voice(400, 900), 1600],
  ['a name', voice(700, 2400), 3500],
  ['a business greeting', [...voice(300, 2200), ...voice(2500, 4200)], 5300],
] as const)('%s followed by silence is a person, who is greeted', (_, events, byMs) => {
  const { state, greetedAtMs } = screened(events, 8000);

  expect(state).toMatchObject({ answeredBy: 'human', sign: 'short_talk' });
  expect(greetedAtMs).toBe(byMs);
});

test('silence is greeted after 2 s, and undecided', () => {
  const { state, greetedAtMs } = screened([], 8000);

  expect(greetedAtMs).toBe(2000);
  expect(state.answeredBy).toBeNull();
});

test.each([
  ['a talk without a pause', voice(300, 7000), 'long_talk'],
  [
    'one with breaths',
    [...voice(300, 2000), ...voice(2500, 4000), ...voice(4500, 6000)],
    'long_talk',
  ],
  ['words', [...voice(300, 4000), words('please leave a message', 2900)], 'words'],
  ['a beep', [...voice(300, 2300), { kind: 'beep-began', atMs: 2500 }], 'beep'],
] as const)('%s is a machine, by %s', (_, events, sign) => {
  expect(screened(events, 9000).state).toMatchObject({ answeredBy: 'machine', sign });
});

test('a machine that says hello first is found after the greeting of the agent has begun', () => {
  const events = [
    ...voice(300, 700),
    ...voice(2300, 6000),
    words('you have reached my voicemail', 4000),
  ];

  const { state, greetedAtMs } = screened(events, 9000);

  expect(greetedAtMs).toBe(1400);
  expect(state.answeredBy).toBe('machine');
});

test.each([
  ['a long answer to the greeting', [...voice(300, 700), ...voice(5000, 14_000)]],
  [
    'a secretary who offers to take a message',
    [...voice(300, 1400), ...voice(6000, 8000), words('would you like to leave a message', 7500)],
  ],
  ['someone who is not available', [...voice(300, 1400), words('he is not available', 1400)]],
  ['a beep before any word', [{ kind: 'beep-began', atMs: 200 }, ...voice(900, 1400)]],
] as const)('%s is a person', (_, events) => {
  expect(screened(events, 15_000).state.answeredBy).toBe('human');
});

test('a machine is never taken for a person again', () => {
  const events = [...voice(300, 7000), ...voice(9000, 9500)];

  expect(screened(events, 15_000).state.answeredBy).toBe('machine');
});

const machine: ScreenState = {
  ...openScreen('en-US', 0),
  answeredBy: 'machine',
  talk: { fromMs: 300, lastVoicedAtMs: 6000, isVoiced: false },
};

test.each([
  ['silence of 1.4 s', machine, 7400, false],
  ['silence of 1.5 s', machine, 7500, true],
  ['silence where a tone was promised', { ...machine, isTonePromised: true }, 8000, false],
  ['a tone that never comes', { ...machine, isTonePromised: true }, 10_000, true],
  ['a beep that sounds', { ...machine, isBeeping: true }, 9000, false],
  ['the end of the beep', { ...machine, beepEndedAtMs: 6500 }, 6800, true],
  ['words after a beep', { ...machine, beepEndedAtMs: 3000 }, 6500, false],
  ['30 s without an end', { ...machine, isBeeping: true }, 30_000, true],
] as const)('after %s, whether the greeting is over', (_, state, nowMs, isOver) => {
  expect(isGreetingOver(state, nowMs)).toBe(isOver);
});

test.each([
  ['Please leave a message after the tone.', 'en-US', 'tone'],
  ['Bitte hinterlassen Sie eine Nachricht.', 'de-DE', 'sure'],
  ['Deje su mensaje después de la señal.', 'es-ES', 'tone'],
  ['Laissez-moi un message après le bip', 'fr-FR', 'tone'],
  ['Lasciate un messaggio dopo il segnale acustico', 'it-IT', 'tone'],
  ['Deixe a sua mensagem após o sinal', 'pt-PT', 'tone'],
  ['Spreek een bericht in na de piep', 'nl-NL', 'tone'],
  ['You have reached the voicemail of', 'de-DE', 'sure'],
  ['The person is not available', 'xx', 'likely'],
  ['Hello, Miller and sons, how may I help you?', 'en-US', undefined],
  ['Ich habe Ihre Nachricht bekommen', 'de-DE', undefined],
])('machineSignIn %j', (text, language, sign) => {
  expect(machineSignIn(text, language)).toBe(sign);
});
