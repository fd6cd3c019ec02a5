/** Dates, numbers and durations as the chosen language writes them; pure */

export interface Formats {
  readonly instant: (iso: string) => string;
  readonly time: (iso: string) => string;
  readonly day: (date: string) => string;
  readonly count: (value: number) => string;
  readonly decimal: (value: number) => string;
  readonly percent: (fraction: number) => string;
  readonly language: (tag: string) => string;
}

/** Instants are in the reader's time zone, days (which the API counts in UTC) are not. */
export function formatsOf(language: string): Formats {
  const instant = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
  const day = new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
  const count = new Intl.NumberFormat(language);
  const decimal = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 });
  const languages = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });
  return {
    instant: (iso) => instant.format(new Date(iso)),
    time: (iso) => time.format(new Date(iso)),
    day: (date) => day.format(new Date(`${date}T00:00:00.000Z`)),
    count: (value) => count.format(value),
    decimal: (value) => decimal.format(value),
    percent: (fraction) => percent.format(fraction),
    language: (tag) => nameOf(languages, tag),
  };
}

function nameOf(names: Intl.DisplayNames, tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    // A tag that no rule allows is shown as it is.
    return tag;
  }
}

/** `1:02:03`, `2:03`. @param seconds whole or not. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = String(whole % 60).padStart(2, '0');
  return hours === 0
    ? `${minutes}:${rest}`
    : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`;
}
