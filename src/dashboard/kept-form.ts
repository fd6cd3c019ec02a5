/** Forms that were left unsaved, as this window keeps them; pure */
import { type Box, keep, kept } from './kept.ts';

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
    const names = Object.keys(fresh) as (keyof Values)[];
    const changed = names.filter(
      (name) => JSON.stringify(form.values[name]) !== JSON.stringify(form.begun[name]),
    );
    if (changed.length === 0) return undefined;
    return { ...fresh, ...Object.fromEntries(changed.map((name) => [name, form.values[name]])) };
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
