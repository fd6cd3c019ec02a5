/** State that every page shares: session, account, environment, formats, theme and language. */
import { computed, signal } from '@preact/signals';
import { QueryClient } from '@tanstack/preact-query';
import { ApiClient } from './api-client.ts';
import { ApiError } from './api-error.ts';
import { type Environment, ROLES, type Role, type Session } from './api-types.ts';
import { formatsOf } from './format.ts';
import { BROWSER, keep, kept } from './kept.ts';
import { routeOf } from './router.ts';
import {
  errorText,
  fieldTexts,
  LANGUAGES,
  type Language,
  sentenceText,
  type TextKey,
  textOf,
  wordOf,
} from './text/text.ts';

type Theme = 'auto' | 'light' | 'dark';

export const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

const TOLD_MS = 6000;

/** Undefined: signed out; null: not known yet. */
export const session = signal<Session | undefined | null>(null);
/** Whether the session has ended under an open page, which stays behind the question for the password. */
export const isSessionOver = signal(false);
export const accountId = signal('');
export const environment = signal<Environment>('live');
export const theme = signal<Theme>(chosen('theme', THEMES, 'auto'));
export const language = signal<Language>(chosen('language', LANGUAGES, browserLanguage()));
export const route = signal(routeOf(location.hash));
/** The list of calls as it was filtered last, to go back to. */
export const callsAddress = signal('#/calls');
/** Whether the window to place a call is open. */
export const isPlacingCall = signal(false);
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(systemDark.matches);
systemDark.addEventListener('change', () => {
  isSystemDark.value = systemDark.matches;
});
/** The theme as it is shown. */
export const shownTheme = computed(() => {
  if (theme.value !== 'auto') return theme.value;
  return isSystemDark.value ? 'dark' : 'light';
});

/** The newest message to the reader; screen readers read it out too. */
export const message = signal<{ readonly text: string; readonly isError: boolean } | undefined>(
  undefined,
);

export const formats = computed(() => formatsOf(localeOf(language.value)));

/** Time for which values are kept, in milliseconds: a page that comes back shows them until the new ones are loaded. */
const KEPT_MS = 60_000;

/** Cache of the server's answers. An error is shown at once, without retries; requests go out without internet access too. */
export const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, gcTime: KEPT_MS, networkMode: 'always' } },
});

/** Loads what is on the page again, as after a change of it. */
export function refresh(): void {
  void queries.invalidateQueries();
}

export const client = new ApiClient({
  fetch: (input, init) => fetch(input, init),
  nowMs: () => Date.now(),
  onSignedOut: (why) => {
    if (why === 'expired' && session.value) {
      isSessionOver.value = true;
      return;
    }
    session.value = undefined;
    queries.clear();
  },
});

/** The text of the chosen language, with `{name}` replaced. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return textOf(language.value, key, values);
}

/** The text of a value that the server names, such as a status; the server's own word where there is none. */
export function word(group: string, value: string): string {
  return wordOf(language.value, group, value);
}

/** Shows a message for a while; an error stays until it is closed or the page changes. */
export function say(text: string): void {
  const told = { text, isError: false };
  message.value = told;
  setTimeout(() => {
    if (message.value === told) message.value = undefined;
  }, TOLD_MS);
}

export function complain(error: unknown): void {
  message.value = { text: wordsOf(error), isError: true };
}

/** Text of an error for the reader, in the language of the page. */
export function wordsOf(error: unknown): string {
  if (error instanceof ApiError) return errorText(language.value, error);
  return error instanceof Error ? error.message : String(error);
}

/** Error messages by field path, in the language of the page. */
export function wrongFields(error: unknown): Readonly<Record<string, string>> {
  return fieldTexts(language.value, error);
}

/** A sentence of the server outside of errors, in the language of the page; its own words where it is not known. */
export function sentence(text: string): string {
  return sentenceText(language.value, text);
}

/** Whether the user's role includes another one; controls that it may not use are hidden. The server checks by itself. */
export function may(needed: Role): boolean {
  const role = session.value?.user.role ?? 'viewer';
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** Sets the session. A new session of the same user keeps the pages as they are. */
export function enter(begun: Session): void {
  if (isSessionOver.value && session.value?.user.id !== begun.user.id) queries.clear();
  const account = begun.accounts.find(({ id }) => id === accountId.value) ?? begun.accounts[0];
  accountId.value = account?.id ?? '';
  look(environment.value);
  session.value = begun;
  if (!isSessionOver.value) return;
  isSessionOver.value = false;
  void queries.invalidateQueries();
}

/** Looks at an environment, or another account, from now on. */
export function look(at: Environment, account = accountId.value): void {
  environment.value = at;
  accountId.value = account;
  client.use({ accountId: account, environment: at });
  keep(BROWSER, 'environment', at);
}

function chosen<Value extends string>(
  name: string,
  known: readonly Value[],
  otherwise: Value,
): Value {
  const text = kept(BROWSER, name);
  return known.find((value) => value === text) ?? otherwise;
}

/** English is written in many ways: the browser's own where it is of the chosen language. */
function localeOf(chosen: Language): string {
  return navigator.languages.find((tag) => tag.slice(0, 2) === chosen) ?? chosen;
}

function browserLanguage(): Language {
  const tags = navigator.languages.map((tag) => tag.slice(0, 2));
  return LANGUAGES.find((known) => tags.includes(known)) ?? 'en';
}

environment.value = route.value.environment ?? chosen('environment', ['live', 'test'], 'live');

/** Each in its own language. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

export function chooseTheme(name: Theme): void {
  theme.value = name;
  keep(BROWSER, 'theme', name);
}

export function chooseLanguage(name: Language): void {
  language.value = name;
  keep(BROWSER, 'language', name);
}
