/** What a form sends to change a thing: only the fields that differ from what the form began with; pure */

type Fields = Readonly<Record<string, unknown>>;

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
