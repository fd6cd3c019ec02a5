/** What is different between two texts, word by word; pure */
import { targetsText } from './agent-draft.ts';
import type { AgentContent, Responsiveness } from './api-types.ts';

export interface TextPiece {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Comparing every word with every other takes their product: beyond this, the middle is one piece each. */
const CELLS_MAX = 1_000_000;

/** The pieces, in order: those that are the same or gone make up `before`, those that are the same or new make up `after`. */
export function textDiff(before: string, after: string): readonly TextPiece[] {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const head = sharedHead(old, now);
  const tail = sharedHead(old.slice(head).reverse(), now.slice(head).reverse());
  const middle = middleOf(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  return joined([
    ...old.slice(0, head).map((text) => ({ kind: 'same', text }) as const),
    ...middle,
    ...old.slice(old.length - tail).map((text) => ({ kind: 'same', text }) as const),
  ]);
}

/** Words and what is between them. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

function sharedHead(one: readonly string[], other: readonly string[]): number {
  const length = Math.min(one.length, other.length);
  let shared = 0;
  while (shared < length && one[shared] === other[shared]) shared += 1;
  return shared;
}

function middleOf(old: readonly string[], now: readonly string[]): readonly TextPiece[] {
  if (old.length * now.length > CELLS_MAX) {
    return [
      { kind: 'gone', text: old.join('') },
      { kind: 'new', text: now.join('') },
    ];
  }
  return walked(old, now, commonLengths(old, now));
}

/** For each pair of ends, the length of the longest sequence that both have in common from there on. */
function commonLengths(old: readonly string[], now: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    const [row, below] = [rows[i] ?? new Uint32Array(), rows[i + 1] ?? new Uint32Array()];
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const [across, down] = [row[j + 1] ?? 0, below[j] ?? 0];
      row[j] = old[i] === now[j] ? (below[j + 1] ?? 0) + 1 : Math.max(across, down);
    }
  }
  return rows;
}

function walked(
  old: readonly string[],
  now: readonly string[],
  lengths: readonly Uint32Array[],
): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [gone, fresh] = [old[i], now[j]];
    const isSame = gone !== undefined && gone === fresh;
    const losesFirst = (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0);
    if (isSame) pieces.push({ kind: 'same', text: gone });
    else if (gone !== undefined && (fresh === undefined || losesFirst))
      pieces.push({ kind: 'gone', text: gone });
    else pieces.push({ kind: 'new', text: fresh ?? '' });
    if (pieces.at(-1)?.kind !== 'new') i += 1;
    if (pieces.at(-1)?.kind !== 'gone') j += 1;
  }
  return pieces;
}

/** Neighbours of one kind as one piece. */
function joined(pieces: readonly TextPiece[]): readonly TextPiece[] {
  const whole: TextPiece[] = [];
  for (const piece of pieces) {
    const last = whole.at(-1);
    if (last?.kind === piece.kind) {
      whole[whole.length - 1] = { kind: piece.kind, text: last.text + piece.text };
    } else if (piece.text !== '') whole.push(piece);
  }
  return whole;
}

/** A field as the texts name it: `agent.<field>`. */
type AgentField = (typeof FIELDS)[number];

interface FieldDifference {
  readonly field: AgentField;
  readonly before: string;
  readonly after: string;
}

/** Words of the chosen language for values that are none. */
interface ValueWords {
  readonly yes: string;
  readonly no: string;
  readonly none: string;
  readonly toolOf: (tool: string) => string;
  readonly responsivenessOf: (responsiveness: Responsiveness) => string;
}

const FIELDS = [
  'name',
  'greeting',
  'systemPrompt',
  'voice',
  'language',
  'phoneNumber',
  'tools',
  'transferTargets',
  'pronunciations',
  'maxDurationSeconds',
  'silenceTimeoutSeconds',
  'interruptible',
  'responsiveness',
] as const;

/** Only what differs; `status` is left out, because going back leaves it as it is. */
export function differencesOf(
  before: AgentContent,
  after: AgentContent,
  words: ValueWords,
): readonly FieldDifference[] {
  const texts = (agent: AgentContent) => textsOf(agent, words);
  const [old, now] = [texts(before), texts(after)];
  return FIELDS.map((field) => ({ field, before: old[field], after: now[field] })).filter(
    (one) => one.before !== one.after,
  );
}

/** The name of a field, as a version tells it, such as `settings.interruptible`. */
export function fieldOf(changed: string): string {
  return changed.replace(/^settings\./, '');
}

function textsOf(agent: AgentContent, words: ValueWords): Readonly<Record<AgentField, string>> {
  const { settings } = agent;
  return {
    name: agent.name,
    greeting: agent.greeting,
    systemPrompt: agent.systemPrompt,
    voice: agent.voice,
    language: agent.language,
    phoneNumber: agent.phoneNumber ?? words.none,
    tools: agent.tools.map(words.toolOf).join('\n') || words.none,
    transferTargets: targetsText(settings.transferTargets) || words.none,
    pronunciations:
      settings.pronunciations.map(({ written, spoken }) => `${written} → ${spoken}`).join('\n') ||
      words.none,
    maxDurationSeconds: String(settings.maxDurationSeconds),
    silenceTimeoutSeconds: String(settings.silenceTimeoutSeconds),
    interruptible: settings.interruptible ? words.yes : words.no,
    responsiveness: words.responsivenessOf(agent.responsiveness),
  };
}
