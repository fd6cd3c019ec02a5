/** Changes of a form: fields that differ from its beginning, merged with newer values, and kept in the window; pure */
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
  /** What it began with. */
  readonly begun: Values;
}

/** The fields that were changed, on top of what the server has now; undefined where nothing is kept. */
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
    // A form of another version of the page: it begins as if nothing was kept.
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
