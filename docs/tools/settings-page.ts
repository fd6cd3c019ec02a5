/** The reference of settings: what each is for, what it allows, its default. */
import { printValue, SETTINGS } from '../../src/config/config.ts';
import { SECRETS } from '../../src/config/secret-files.ts';
import { SETTING_MEANINGS } from '../../src/config/setting-meanings.ts';
import { Expected, type Setting } from '../../src/config/setting-readers.ts';
import { page, table } from './markdown.ts';

export function settingsPage(): string {
  const groups = Object.entries(SETTING_MEANINGS).flatMap(([group, meanings]) => [
    `## ${group}`,
    table(['Setting', 'Default', 'Allowed', 'Meaning'], Object.entries(meanings).map(rowOf)),
  ]);
  return page('Settings', [
    'Settings come from the environment, and from `.env` in the folder of the server. An empty variable counts as not given. A wrong value is named at the start with what is allowed, nothing is opened, and the exit status is 78.',
    '`npm start -- --print-config` prints all settings that are in effect. Those marked *secret* are masked there, and can come from a file: `NAME_FILE` has its path.',
    ...groups,
  ]);
}

function rowOf([name, meaning]: readonly [string, string]): readonly string[] {
  const setting: Setting<unknown> | undefined = Object.entries(SETTINGS).find(
    ([each]) => each === name,
  )?.[1];
  if (setting === undefined) throw new Error(`Cannot describe "${name}": there is no such setting`);
  const isSecret = SECRETS.has(name);
  return [
    `\`${name}\`${isSecret ? ' *secret*' : ''}`,
    defaultOf(setting),
    expectedBy(setting),
    meaning,
  ];
}

function defaultOf({ otherwise }: Setting<unknown>): string {
  if (otherwise === undefined) return '';
  const text = printValue(otherwise);
  return text === '' ? '' : `\`${text}\``;
}

/** What the reader itself says of a value that cannot be right. */
function expectedBy({ read }: Setting<unknown>): string {
  try {
    read('\0');
    return 'any text';
  } catch (error) {
    if (error instanceof Expected) return error.message;
    throw error;
  }
}
