/** Where a text stops being JSON; pure. Browsers do not say: their messages name a place only sometimes, each in its own words. */

const STRING = String.raw`"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const TOKEN = new RegExp(
  String.raw`\s*(?:(${STRING})|(?:${NUMBER})|true|false|null|([{}[\],:]))`,
  'uy',
);

/** Both counted from 1; undefined where the text is JSON. */
export function jsonFault(
  text: string,
): { readonly line: number; readonly column: number } | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    const before = text.slice(0, faultAt(text)).split('\n');
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
}

/** What may come next: `k` is a key, `v` a value, a sign itself; several where there is a choice. */
type Wanted = string;

/** Index of the first token that has no place; the end where a token is missing. */
function faultAt(text: string): number {
  const open: string[] = [];
  let wanted: Wanted = 'v';
  let index = 0;
  for (;;) {
    TOKEN.lastIndex = index;
    const [whole, string, sign] = TOKEN.exec(text) ?? [];
    const kind = sign ?? (string !== undefined && wanted.includes('k') ? 'k' : 'v');
    const isValueSign = kind === '{' || kind === '[';
    const isTaken = wanted.includes(kind) || (isValueSign && wanted.includes('v'));
    if (whole === undefined || !isTaken)
      return index + (/^\s*/.exec(text.slice(index))?.[0] ?? '').length;
    index += whole.length;
    wanted = wantedAfter(kind, open);
  }
}

function wantedAfter(kind: string, open: string[]): Wanted {
  if (kind === '{' || kind === '[') {
    open.push(kind);
    return kind === '{' ? 'k}' : 'v]';
  }
  if (kind === 'k') return ':';
  if (kind === ':') return 'v';
  if (kind === ',') return open.at(-1) === '{' ? 'k' : 'v';
  if (kind === '}' || kind === ']') open.pop();
  const around = open.at(-1);
  if (around === undefined) return '';
  return around === '{' ? ',}' : ',]';
}
