/** Sizes and times as people read them; pure */

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Decimal units, as disks and model pages have them: `79.7 MB`. */
export function bytesText(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 999.95 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${Math.ceil(value)} bytes` : `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** `45 s`, `3 min 20 s`, `2 h 5 min`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Text of others on its way to the terminal: it must not move the cursor or colour anything. */
export function plainText(text: string): string {
  return text.replace(/\p{Cc}/gu, '');
}
