/** What long-winded callers say in three languages: sentences with pauses, hesitations, and lists read out. */
import { seededChance } from '../sip/sip-mutants.ts';
import { speakPhrase } from './espeak-phrase.ts';

/** One caller. A piece is what is said in one breath, with the marks that a recogniser puts. */
export interface Monologue {
  readonly name: 'story' | 'hesitations and a list';
  /** Of the agent. */
  readonly language: string;
  /** Of espeak-ng. */
  readonly voice: string;
  readonly pieces: readonly string[];
  /** Shortest and longest pause between two pieces. */
  readonly pauseMs: readonly [number, number];
}

/** Twenty sentences that the tiny recogniser knows. */
export const KNOWN_STORY: Monologue = {
  ...{ name: 'story', language: 'en-US', voice: 'en-us+f4', pauseMs: [300, 1200] },
  pieces: [
    ...['My name is Alice Smith.', 'I have a question about my bill.', 'I lost my password.'],
    ...['I want to pay my bill.', "I don't understand.", 'I need to change my appointment.'],
    ...['I would like to leave a message.', 'Please call me back tomorrow.', "That's right."],
    ...['I have a question about my order.', 'I want to cancel my appointment.', 'Thank you.'],
    ...['This is Maria Garcia.', 'I would like to book an appointment.', "That's wrong."],
    ...['I want to cancel my appointment.', 'I lost my password.', 'My name is Peter Taylor.'],
    ...['I have a question about my bill.', 'Thank you very much.'],
  ],
};

const STORY = { name: 'story', pauseMs: [300, 1200] } as const;
const HESITATION = { name: 'hesitations and a list', pauseMs: [300, 1000] } as const;

/** Sentences, and breaths that break off, that the tiny recogniser does not know. */
export const MONOLOGUES: readonly Monologue[] = [
  {
    ...{ ...STORY, language: 'en-US', voice: 'en-us+m6' },
    pieces: [
      ...['I came home late last night.', 'The lights were off in the whole street.'],
      ...['So I went down to the cellar.', 'There was water everywhere.', 'I called my neighbour.'],
      ...[
        'He has a pump in his garage.',
        'We worked until two in the morning.',
        'Then it stopped.',
      ],
      ...[
        'This morning the wall was wet again.',
        'My wife is quite worried.',
        'It smells as well.',
      ],
      ...['We have had this house for ten years.', 'Nothing like it has ever happened.'],
      ...[
        'The insurance said I should ring you.',
        'They gave me a number.',
        'It is in the letter.',
      ],
      ...[
        'I have the letter here.',
        'The kitchen is dry.',
        'The stairs are not.',
        'Please send a man.',
      ],
    ],
  },
  {
    ...{ ...STORY, language: 'de-DE', voice: 'de+f4' },
    pieces: [
      ...['Ich bin gestern spät nach Hause gekommen.', 'In der ganzen Straße war kein Licht.'],
      ...[
        'Also ging ich in den Keller.',
        'Dort stand überall Wasser.',
        'Ich rief den Nachbarn an.',
      ],
      ...[
        'Er hat eine Pumpe in der Garage.',
        'Wir haben bis zwei Uhr gearbeitet.',
        'Dann war Ruhe.',
      ],
      ...[
        'Heute früh war die Wand wieder nass.',
        'Meine Frau macht sich Sorgen.',
        'Es riecht auch.',
      ],
      ...['Wir wohnen hier seit zehn Jahren.', 'So etwas ist noch nie passiert.'],
      ...['Die Versicherung hat mich an Sie verwiesen.', 'Man gab mir eine Nummer.'],
      ...['Sie steht im Brief.', 'Den Brief habe ich hier.', 'Die Küche ist trocken.'],
      ...['Die Treppe leider nicht.', 'Bitte schicken Sie jemanden.'],
    ],
  },
  {
    ...{ ...STORY, language: 'es-ES', voice: 'es+Annie' },
    pieces: [
      ...['Anoche llegué tarde a casa.', 'No había luz en toda la calle.', 'Bajé al sótano.'],
      ...['Había agua por todas partes.', 'Llamé a mi vecino.', 'Tiene una bomba en el garaje.'],
      ...['Trabajamos hasta las dos.', 'Entonces paró.', 'Esta mañana la pared estaba mojada.'],
      ...['Mi mujer está preocupada.', 'También huele mal.', 'Vivimos aquí desde hace diez años.'],
      ...['Nunca había pasado nada parecido.', 'El seguro me dijo que llamara.'],
      ...['Me dieron un número.', 'Está en la carta.', 'Tengo la carta aquí.'],
      ...['La cocina está seca.', 'La escalera no.', 'Manden a alguien.'],
    ],
  },
  {
    ...{ ...HESITATION, language: 'en-US', voice: 'en-us+Annie' },
    pieces: [
      ...['I', 'would like to', 'erm', 'book a table.', 'For the', 'fourteenth, and', 'well, um'],
      ...['there are five of us.', 'We want', 'the big table,', 'a high chair,', 'two menus,'],
      ...[
        'and a cake.',
        'My number is',
        'two zero two,',
        'five five five,',
        'zero one',
        'four seven.',
      ],
      ...['The name is', 'Miller.'],
    ],
  },
  {
    ...{ ...HESITATION, language: 'de-DE', voice: 'de+m6' },
    pieces: [
      ...[
        'Ich',
        'möchte gern',
        'äh',
        'einen Tisch bestellen.',
        'Für den',
        'vierzehnten, und',
        'ähm',
      ],
      ...['wir sind zu fünft.', 'Wir brauchen', 'den großen Tisch,', 'einen Kinderstuhl,'],
      ...['zwei Karten,', 'und einen Kuchen.', 'Meine Nummer ist', 'null drei null,'],
      ...['fünf fünf fünf,', 'null eins', 'vier sieben acht.', 'Der Name ist', 'Müller.'],
    ],
  },
  {
    ...{ ...HESITATION, language: 'es-ES', voice: 'es+f4' },
    pieces: [
      ...['Yo', 'quiero', 'eh', 'reservar una mesa.', 'Para el', 'catorce, y', 'pues'],
      ...['somos cinco.', 'Queremos', 'la mesa grande,', 'una silla alta,', 'dos menús,'],
      ...[
        'y una tarta.',
        'Mi número es',
        'nueve uno uno,',
        'cinco cinco cinco,',
        'cero uno cuatro.',
      ],
      ...['Y el nombre', 'es', 'García.'],
    ],
  },
];

/** What a caller says, from beginning to end. */
export interface SpokenTrack {
  readonly language: string;
  /** 8 kHz, mono. */
  readonly pcm: Int16Array;
  readonly words: readonly {
    /** With the marks that follow it. */
    readonly text: string;
    /** From the beginning of the track. */
    readonly startMs: number;
    readonly endMs: number;
  }[];
}

const RATE_PER_MS = 8;
const USUAL_DBFS = -22;

/** Speaks it, with pauses of chance lengths that are the same each time. */
export async function speakMonologue(
  { language, voice, pieces, pauseMs: [leastMs, mostMs] }: Monologue,
  seed: number,
): Promise<SpokenTrack> {
  const chance = seededChance(seed);
  const parts: Int16Array[] = [];
  const words: SpokenTrack['words'][number][] = [];
  let atMs = 0;
  const add = (pcm: Int16Array) => {
    parts.push(pcm);
    atMs += pcm.length / RATE_PER_MS;
  };
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) {
      const pauseMs = Math.round(leastMs + chance() * (mostMs - leastMs));
      add(new Int16Array(pauseMs * RATE_PER_MS));
    }
    const pcm = await speakPhrase(piece, { voice, speed: 165, pitch: 45, levelDbfs: USUAL_DBFS });
    words.push(...timedWords(piece, atMs, pcm.length / RATE_PER_MS));
    add(pcm);
  }
  const pcm = Int16Array.from(parts.flatMap((part) => [...part]));
  return { language, pcm, words };
}

/** Each word's time by its share of the letters. */
function timedWords(piece: string, fromMs: number, durationMs: number) {
  const texts = piece.split(' ');
  const letters = texts.reduce((sum, { length }) => sum + length, 0);
  let startMs = fromMs;
  return texts.map((text) => {
    const word = { text, startMs, endMs: startMs + (durationMs * text.length) / letters };
    startMs = word.endMs;
    return word;
  });
}
