/** Finds environment variables whose name is nearly that of a setting; pure */
import { editDistance } from '../lib/edit-distance.ts';

/** From this length on, two wrong characters still leave no doubt which setting is meant. */
const LONG_NAME_CHARS = 14;

/** With fewer characters too many variables of other programs are one character away, such as `LANG`. */
const SHORTEST_NAME_CHARS = 6;

/** Ollama's own, one character from `OLLAMA_MODEL`. */
const OTHER_PROGRAMS = ['OLLAMA_MODELS'];

/** A variable that has no effect, and the setting that was probably meant. */
export interface MistypedSetting {
  readonly variable: string;
  readonly nearest: string;
}

/**
 * Names of variables that are no setting but nearly one: another case, or one or two other characters.
 *
 * @param known names of all settings, with the `NAME_FILE` of secrets.
 */
export function mistypedSettings(
  variables: readonly string[],
  known: ReadonlySet<string>,
): readonly MistypedSetting[] {
  return variables.flatMap((variable) => {
    if (known.has(variable) || OTHER_PROGRAMS.includes(variable)) return [];
    const nearest = [...known].find((name) => isNearly(variable, name));
    return nearest === undefined ? [] : [{ variable, nearest }];
  });
}

function isNearly(variable: string, name: string): boolean {
  if (variable.toUpperCase() === name) return true;
  if (name.length < SHORTEST_NAME_CHARS) return false;
  const distanceMax = name.length < LONG_NAME_CHARS ? 1 : 2;
  return (
    Math.abs(variable.length - name.length) <= distanceMax &&
    editDistance(variable.toUpperCase(), name) <= distanceMax
  );
}
