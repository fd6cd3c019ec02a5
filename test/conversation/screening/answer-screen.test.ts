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
import { beginVoice, endVoice } from '../../../src/conversation/screening/callee-talk.ts';

/** A voice from one instant after the answer to another, in milliseconds. */
const voice = (fromMs: number, toMs: number): readonly ScreenEvent[] => [
  { kind: 'voice-started', atMs: fromMs },
  { kind: 'voice-stopped', lastVoicedAtMs: toMs },
];
const words = (text: string, atMs: number): ScreenEvent => ({ kind: 'words', text, atMs });
/** Sound of a level from one instant to another, measured each 100 ms. */
const sound = (fromMs: number, toMs: number, power: number): readonly ScreenEvent[] =>
  Array.from({ length: (toMs - fromMs) / 100 }, (_, index) => {
    const startMs = fromMs + 100 * index;
    return { kind: 'sound', fromMs: startMs, atMs: startMs + 100, power };
  });

/** A beep that is known for one 300 ms after its end. */
const beep = (fromMs: number, toMs: number): readonly ScreenEvent[] => [
  { kind: 'beep-began', atMs: fromMs },
  { kind: 'beep-ended', atMs: toMs + 300 },
];
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
  ['a beep', [...voice(300, 2300), ...beep(2500, 3000)], 'beep'],
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
  ['a beep before any word', [...beep(200, 500), ...voice(900, 1400)]],
  [
    'a hello, and people in the background who are found later',
    [...voice(300, 900), { kind: 'voice-stopped', lastVoicedAtMs: 7200 }],
  ],
  [
    'a hello and a note of music',
    [
      ...voice(300, 1400),
      { kind: 'beep-began', atMs: 1600 },
      { kind: 'beep-ruled-out', atMs: 2100 },
    ],
  ],
] as const)('%s is a person', (_, events) => {
  expect(screened(events, 15_000).state.answeredBy).toBe('human');
});

test('a television that goes on under and after a hello does not make a machine of the person', () => {
  const [loud, faint] = [2000 ** 2, 300 ** 2];
  const events = [
    ...voice(100, 12_000),
    ...sound(0, 700, faint),
    ...sound(700, 1400, loud),
    ...sound(1400, 12_000, faint),
  ];

  const { state, greetedAtMs } = screened(events, 11_900);

  expect(state).toMatchObject({ answeredBy: 'human', sign: 'short_talk' });
  expect(greetedAtMs).toBe(2100);
});

test('a voice that begins faintly after a hello is not the answer that the agent waits for', () => {
  const events = [
    ...voice(300, 1000),
    ...sound(300, 1000, 2000 ** 2),
    ...sound(1000, 1300, 300 ** 2),
    ...voice(1300, 9000),
    ...sound(1300, 9000, 300 ** 2),
  ];

  expect(screened(events, 8000).greetedAtMs).toBe(1700);
});

test('a machine whose words differ by 10 dB is found by the form of its talk', () => {
  const events = [
    ...voice(300, 7000),
    ...sound(300, 1500, 2000 ** 2),
    ...sound(1500, 4000, 640 ** 2),
    ...sound(4000, 7000, 1000 ** 2),
  ];

  expect(screened(events, 9000).state).toMatchObject({ answeredBy: 'machine', sign: 'long_talk' });
});

test('no person is decided while a tone may be the beep of a short greeting', () => {
  const events = [...voice(300, 1000), ...beep(1500, 2500)];

  const { state, greetedAtMs } = screened(events, 9000);

  expect(state).toMatchObject({ answeredBy: 'machine', sign: 'beep' });
  expect(greetedAtMs).toBeUndefined();
});

test('a machine is never taken for a person again', () => {
  const events = [...voice(300, 7000), ...voice(9000, 9500)];

  expect(screened(events, 15_000).state.answeredBy).toBe('machine');
});

const machine: ScreenState = {
  ...openScreen('en-US', 0),
  answeredBy: 'machine',
  talk: endVoice(beginVoice(null, 300), 6000),
};

test.each([
  ['silence of 1.4 s', machine, 7400, false],
  ['silence of 1.5 s', machine, 7500, true],
  ['silence where a tone was promised', { ...machine, isTonePromised: true }, 8000, false],
  ['a tone that never comes', { ...machine, isTonePromised: true }, 10_000, true],
  ['a beep that sounds', { ...machine, toneFromMs: 8800 }, 9000, false],
  ['the end of the beep', { ...machine, beepEndedAtMs: 6500 }, 6800, true],
  ['words after a beep', { ...machine, beepEndedAtMs: 3000 }, 6500, false],
  ['30 s without an end', { ...machine, toneFromMs: 29_000 }, 30_000, true],
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
  ['Sorry I missed you, please leave me a brief message', 'en-US', 'sure'],
  ['Your call has been forwarded to an automated voice messaging system', 'en-US', 'sure'],
  ['The number you have dialed is not in service', 'en-US', 'sure'],
  ['No hay nadie disponible para atender su llamada', 'es-MX', 'likely'],
  ['Grabe su mensaje al oír la señal', 'es-ES', 'tone'],
  ['Merci de parler après la tonalité', 'fr-CA', 'tone'],
  ["L'utente non è al momento raggiungibile", 'it-IT', 'likely'],
  ['Lasciate il vostro messaggio', 'it-IT', 'sure'],
  ['Оставьте сообщение после звукового сигнала', 'ru-RU', 'tone'],
  ['Абонент вне зоны действия сети', 'ru-RU', 'likely'],
  ['Hello, Miller and sons, how may I help you?', 'en-US', undefined],
  ['Hola, ¿en qué puedo ayudarle? No, el señor García no está', 'es-ES', undefined],
  ['Здравствуйте, чем я могу помочь?', 'ru-RU', undefined],
  ['Ich habe Ihre Nachricht bekommen', 'de-DE', undefined],
])('machineSignIn %j', (text, language, sign) => {
  expect(machineSignIn(text, language)).toBe(sign);
});
