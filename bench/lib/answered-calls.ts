/** Scripts of answering machines' greetings and of people's answers, for the bench of answering machine detection; pure */

/** A stretch of what the callee's end sounds. */
export type CallPart =
  | { readonly kind: 'say'; readonly text: string; readonly voice: string; readonly speed: number }
  | { readonly kind: 'beep'; readonly hertz: number; readonly durationMs: number }
  | { readonly kind: 'music' | 'wait'; readonly durationMs: number };

/** One answered call, from the answer on. */
export interface AnsweredCall {
  readonly name: string;
  readonly isMachine: boolean;
  readonly parts: readonly CallPart[];
  /** BCP 47, of the callee's words. */
  readonly language: string;
  /** Around the callee; null for none. */
  readonly noise: 'babble' | 'traffic' | null;
}

const VOICES = ['en-US+m3', 'en-US+f2', 'en-GB+m6', 'en-GB+f4', 'en-US+klatt3'] as const;
const SPEEDS = [150, 175, 195] as const;

/** One a language; the others are English. */
const FOREIGN: readonly (readonly [voice: string, text: string])[] = [
  [
    'de+f2',
    'Guten Tag, hier ist der Anschluss der Familie Müller. Leider sind wir gerade nicht zu Hause. Bitte hinterlassen Sie eine Nachricht nach dem Ton.',
  ],
  [
    'es+m3',
    'Hola, ha llamado a la casa de la familia García. En este momento no podemos atender su llamada. Deje su mensaje después de la señal.',
  ],
  [
    'fr-FR+f2',
    'Bonjour, vous êtes bien chez Dupont. Nous ne sommes pas là pour le moment. Laissez un message après le bip.',
  ],
  [
    'it+m3',
    'Salve, avete chiamato la famiglia Rossi. In questo momento non siamo in casa. Lasciate un messaggio dopo il segnale.',
  ],
  [
    'pt+f2',
    'Olá, ligou para a casa da família Silva. Neste momento não podemos atender. Deixe a sua mensagem após o sinal.',
  ],
  [
    'nl+m3',
    'Hallo, u bent verbonden met de familie De Vries. Wij zijn er op dit moment niet. Spreek een bericht in na de piep.',
  ],
];

const GREETINGS = [
  'Hi, you have reached Alex Morgan. I cannot come to the phone right now. Please leave a message after the beep.',
  'The person you are calling is not available. Please leave your message after the tone.',
  'Welcome to the voicemail of Sam Miller. Please record your message and I will call you back.',
  'Thank you for calling Miller and sons. Our office is closed. We are open from Monday to Friday, from nine to five.',
  'Hey, it is Chris. You know what to do, leave a message.',
  'This mailbox belongs to the number four one five, five five five, one two three four. At the tone, please record.',
] as const;

const ANSWERS = [
  'Hello?',
  'Yes?',
  'Miller.',
  'Yes, Miller speaking.',
  'Good morning, Miller and sons, how may I help you?',
  'Hello, this is Alex Morgan.',
  'Hi there, who is this?',
  'Dental practice Doctor Weber, my name is Anna, what can I do for you?',
  'Hello? Hello?',
  'Yeah, go ahead.',
] as const;

const BEEPS = [
  { kind: 'beep', hertz: 1000, durationMs: 500 },
  { kind: 'beep', hertz: 440, durationMs: 250 },
  { kind: 'beep', hertz: 1400, durationMs: 1000 },
  { kind: 'beep', hertz: 853, durationMs: 180 },
] as const;

/** 42 greetings of machines and 42 answers of people, always the same. */
export function answeredCalls(): readonly AnsweredCall[] {
  return [...machines(), ...people()];
}

function say(
  text: string,
  index: number,
  voice = VOICES[index % VOICES.length] ?? 'en-US',
): CallPart {
  return { kind: 'say', text, voice, speed: SPEEDS[index % SPEEDS.length] ?? 175 };
}

const wait = (durationMs: number): CallPart => ({ kind: 'wait', durationMs });

function machines(): readonly AnsweredCall[] {
  const foreign = FOREIGN.map(([voice, text], index) => [wait(400), say(text, index, voice)]);
  const languages = FOREIGN.map(([voice]) => voice.split(/[-+]/)[0]);
  const english = Array.from({ length: 30 }, (_, index) => [
    ...(index % 6 === 5 ? [{ kind: 'music', durationMs: 1500 } as const] : []),
    wait(300 + 100 * (index % 5)),
    say(GREETINGS[index % GREETINGS.length] ?? '', index),
  ]);
  const inTwoParts = GREETINGS.map((text, index) => [
    wait(400),
    say('Hello.', index),
    wait(700 + 150 * index),
    say(text, index),
  ]);
  return [...foreign, ...english, ...inTwoParts].map((parts, index) => {
    const beep = BEEPS[index % 5];
    const ending = beep === undefined ? [] : [wait(400 + 100 * (index % 4)), beep];
    const name = `machine ${index + 1}`;
    const language = languages[index] ?? 'en';
    return { name, isMachine: true, parts: [...parts, ...ending], language, noise: null };
  });
}

function people(): readonly AnsweredCall[] {
  const spoken = Array.from({ length: 40 }, (_, index) => ({
    name: `person ${index + 1}`,
    isMachine: false,
    language: 'en',
    // Every fourth takes their time.
    parts: [
      wait(index % 4 === 3 ? 2500 : 300 + 150 * (index % 4)),
      say(ANSWERS[index % ANSWERS.length] ?? '', index),
    ],
    noise: index < 20 ? null : index % 2 === 0 ? ('babble' as const) : ('traffic' as const),
  }));
  const silent = [null, 'traffic' as const].map((noise) => ({
    ...{ name: `silence, ${noise ?? 'no noise'}`, isMachine: false },
    parts: [wait(1000)],
    language: 'en',
    noise,
  }));
  return [...spoken, ...silent];
}
