/** Findings of the doctor, and their text for a terminal; pure */

/** Result of one check, with advice. */
export interface Finding {
  /** Subject of the check, such as `SIP port`. */
  readonly check: string;
  /** `limited`: it works, with less than one would want. */
  readonly state: 'ok' | 'limited' | 'wrong';
  /** In a sentence. */
  readonly found: string;
  /** Advice to the operator; undefined where nothing is to be done. */
  readonly advice?: string | undefined;
}

const MARKS = {
  ok: ['green', 'ok     '],
  limited: ['yellow', 'limited'],
  wrong: ['red', 'WRONG  '],
} as const;

/** @param paint colours a text, or leaves it as it is. */
export function findingsText(
  findings: readonly Finding[],
  paint: (colour: 'green' | 'yellow' | 'red', text: string) => string,
): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, state, found, advice }) => {
    const [colour, mark] = MARKS[state];
    const line = `${paint(colour, mark)}  ${check.padEnd(width)}  ${found}`;
    return advice === undefined
      ? [line]
      : [line, `${' '.repeat(9)}${' '.repeat(width)}  -> ${advice}`];
  });
  const count = (wanted: Finding['state']) =>
    findings.filter(({ state }) => state === wanted).length;
  const [wrong, limited] = [count('wrong'), count('limited')];
  const sum = wrong + limited === 0 ? 'All is well.' : `${wrong} wrong, ${limited} limited.`;
  return [...lines, '', sum].join('\n');
}
