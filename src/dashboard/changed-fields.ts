/** What a form sends to change a thing: only the fields that differ from what the form began with; pure */

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
