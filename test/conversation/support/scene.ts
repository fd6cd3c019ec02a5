/** Reads a scene: a text file that says what the caller and the model do, line by line. */

export type CallerAct =
  | {
      readonly kind: 'says';
      readonly text: string;
      readonly voiceMs: number;
      /** Of the voice; not measured when absent. */
      readonly levelDbfs?: number;
      /** Of the recogniser. */
      readonly confidence: number;
    }
  | { readonly kind: 'presses'; readonly digit: string }
  | { readonly kind: 'hangs-up' };

export interface ModelAct {
  readonly text: string;
  readonly calls: readonly string[];
  readonly failure: 'none' | 'fails' | 'hangs' | 'breaks off';
}

export interface Scene {
  readonly greeting: string;
  readonly language: string;
  readonly isInterruptible: boolean;
  readonly maySpeculate: boolean;
  readonly silenceTimeoutMs: number;
  readonly maxDurationMs: number;
  readonly lengthMs: number;
  readonly caller: readonly { readonly atMs: number; readonly act: CallerAct }[];
  readonly model: readonly ModelAct[];
  /** How long each tool takes. */
  readonly toolMs: number;
  /** The turn model's scores, one for each pause; none when there is no model. */
  readonly turnScores: readonly number[];
}

type Draft = { -readonly [Key in keyof Scene]: Scene[Key] };
type Reader = (draft: Draft, match: RegExpExecArray) => void;

const ms = (seconds: string | undefined) => Math.round(Number(seconds) * 1000);

const answer = (draft: Draft, act: Partial<ModelAct>) => {
  draft.model = [...draft.model, { text: '', calls: [], failure: 'none', ...act }];
};

const caller = (draft: Draft, seconds: string | undefined, act: CallerAct) => {
  draft.caller = [...draft.caller, { atMs: ms(seconds), act }];
};

/** How sure the recogniser is of what is said, and of what is mumbled. */
const SURE = 0.9;
const UNSURE = 0.4;

/** One pattern a kind of line. */
const LINES: readonly (readonly [RegExp, Reader])[] = [
  [
    /^agent greets with "(.+)"$/,
    (draft, [, text = '']) => {
      draft.greeting = text;
    },
  ],
  [
    /^agent speaks ([a-z]{2}-[A-Z]{2})$/,
    (draft, [, language = '']) => {
      draft.language = language;
    },
  ],
  [
    /^tools take ([\d.]+) s$/,
    (draft, [, seconds]) => {
      draft.toolMs = ms(seconds);
    },
  ],
  [
    /^turn model scores ([\d. ]+)$/,
    (draft, [, scores = '']) => {
      draft.turnScores = scores.split(' ').map(Number);
    },
  ],
  [
    /^agent may not be interrupted$/,
    (draft) => {
      draft.isInterruptible = false;
    },
  ],
  [
    /^agent does not think ahead$/,
    (draft) => {
      draft.maySpeculate = false;
    },
  ],
  [
    /^silence time-out ([\d.]+) s$/,
    (draft, [, seconds]) => {
      draft.silenceTimeoutMs = ms(seconds);
    },
  ],
  [
    /^maximum duration ([\d.]+) s$/,
    (draft, [, seconds]) => {
      draft.maxDurationMs = ms(seconds);
    },
  ],
  [
    /^at ([\d.]+) s caller (says|mumbles) "(.*)" for ([\d.]+) s(?: at (-\d+) dB)?$/,
    (draft, [, at, how, text = '', voice, level]) =>
      caller(draft, at, {
        kind: 'says',
        text,
        voiceMs: ms(voice),
        ...(level !== undefined && { levelDbfs: Number(level) }),
        confidence: how === 'mumbles' ? UNSURE : SURE,
      }),
  ],
  [
    /^at ([\d.]+) s caller coughs for ([\d.]+) s$/,
    (draft, [, at, voice]) =>
      caller(draft, at, { kind: 'says', text: '', voiceMs: ms(voice), confidence: SURE }),
  ],
  [
    /^at ([\d.]+) s caller presses ([0-9*#A-D])$/,
    (draft, [, at, digit = '']) => caller(draft, at, { kind: 'presses', digit }),
  ],
  [/^at ([\d.]+) s caller hangs up$/, (draft, [, at]) => caller(draft, at, { kind: 'hangs-up' })],
  [
    /^model answers "(.*)"(?: and calls (\w+))?$/,
    (draft, [, text = '', call]) => answer(draft, { text, calls: call ? [call] : [] }),
  ],
  [/^model calls (\w+)$/, (draft, [, call = '']) => answer(draft, { calls: [call] })],
  [/^model fails$/, (draft) => answer(draft, { failure: 'fails' })],
  [/^model hangs$/, (draft) => answer(draft, { failure: 'hangs' })],
  [
    /^model breaks off after "(.+)"$/,
    (draft, [, text = '']) => answer(draft, { text, failure: 'breaks off' }),
  ],
  [
    /^curtain after ([\d.]+) s$/,
    (draft, [, seconds]) => {
      draft.lengthMs = ms(seconds);
    },
  ],
];

/** @throws {SyntaxError} naming a line that is none of the kinds above. */
export function readScene(text: string): Scene {
  const draft: Draft = {
    greeting: 'Hello.',
    language: 'en-US',
    toolMs: 100,
    turnScores: [],
    isInterruptible: true,
    maySpeculate: true,
    silenceTimeoutMs: 10_000,
    maxDurationMs: 600_000,
    lengthMs: 30_000,
    caller: [],
    model: [],
  };
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const reader = LINES.find(([pattern]) => pattern.test(line));
    if (reader === undefined) throw new SyntaxError(`Cannot read scene line "${line}"`);
    const match = reader[0].exec(line);
    if (match !== null) reader[1](draft, match);
  }
  return draft;
}
