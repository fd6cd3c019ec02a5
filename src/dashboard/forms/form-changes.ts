/** Changes of a form: fields that differ from its beginning, merged with newer values, kept in the window, and shown word by word; pure */

import { diffArrays } from 'diff';
import { type Box, keep, kept } from '../kept.ts';

/** Values by their names. */
export type Fields = Readonly<Record<string, unknown>>;

/** Fields of `now` whose value is another one than before. */
export function changedFields(now: Fields, before: Fields): Fields {
  return Object.fromEntries(
    Object.entries(now).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
    ),
  );
}

/** Fields that are left out now and were there before, as null, which takes them away. */
export function clearedFields(now: Fields, before: Fields): Fields {
  const cleared = Object.keys(before).filter((name) => !(name in now));
  return Object.fromEntries(cleared.map((name) => [name, null]));
}

/** Brings two people's changes together: a field that this form changed keeps the form's value, all others get the newer one. */
export function mergedFields<Values extends object>(parts: {
  readonly begun: Values;
  readonly mine: Values;
  readonly theirs: Values;
}): Values {
  return {
    ...parts.theirs,
    ...changedFields({ ...parts.mine } as Fields, { ...parts.begun } as Fields),
  };
}

/** A form as it was left. */
interface KeptForm<Values> {
  readonly values: Values;
  /** Initial values of the form. */
  readonly begun: Values;
}

/** The server's values with the kept changes on top; undefined without kept changes. */
export function broughtBack<Values extends object>(
  box: Box,
  path: string,
  fresh: Values,
): Values | undefined {
  try {
    const form: KeptForm<Values> | null = JSON.parse(kept(box, nameOf(path)) ?? 'null');
    if (form === null) return undefined;
    const changed = changedFields({ ...form.values } as Fields, { ...form.begun } as Fields);
    const known = Object.entries(changed).filter(([name]) => name in fresh);
    return known.length === 0 ? undefined : { ...fresh, ...Object.fromEntries(known) };
  } catch {
    // A form of another version of the page is ignored.
    return undefined;
  }
}

/** @param form undefined forgets it. */
export function keepForm<Values>(box: Box, path: string, form: KeptForm<Values> | undefined): void {
  keep(box, nameOf(path), form === undefined ? undefined : JSON.stringify(form));
}

function nameOf(path: string): string {
  return `form.${path}`;
}

export interface TextPiece {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Words that went or came: with more of them, comparing takes long, and each text is one piece. */
const CHANGED_WORDS_MAX = 1000;

/** The pieces, in order: same and gone pieces make up `before`, same and new ones make up `after`. */
export function textDiff(before: string, after: string): readonly TextPiece[] {
  const pieces = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: CHANGED_WORDS_MAX });
  if (pieces === undefined) {
    return [
      { kind: 'gone', text: before },
      { kind: 'new', text: after },
    ];
  }
  return pieces.map(({ added, removed, value }) => ({
    kind: added ? 'new' : removed ? 'gone' : 'same',
    text: value.join(''),
  }));
}

/** Words, and the characters between them. */
function wordsOf(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}
