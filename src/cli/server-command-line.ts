/** Arguments of the server's own command, and its help text; pure */
import { SETTING_MEANINGS } from '../config/setting-meanings.ts';

/** `help`, `version` and `print-config` print and end. */
type Command =
  | { readonly kind: 'serve' | 'help' | 'version' | 'print-config' }
  /** Another program of the package, with its own arguments. */
  | {
      readonly kind: 'program';
      readonly program: 'admin' | 'models';
      readonly words: readonly string[];
    }
  /** `problem` says which word is wrong, and what helps. */
  | { readonly kind: 'wrong'; readonly problem: string };

const COMMANDS: Readonly<Record<string, Command>> = {
  '--help': { kind: 'help' },
  '-h': { kind: 'help' },
  '--version': { kind: 'version' },
  '-v': { kind: 'version' },
  '--print-config': { kind: 'print-config' },
};

/** Commands of `admin` that also work without that word. */
const SHORT_ADMIN: ReadonlySet<string> = new Set(['doctor', 'trunk', 'completion']);

/** Reads the arguments; of several good ones the first counts. */
export function readCommandLine(words: readonly string[]): Command {
  const [first = '', ...rest] = words;
  if (first === 'start') return readServerWords(rest);
  if (first === 'admin' || first === 'models') {
    return { kind: 'program', program: first, words: rest };
  }
  if (SHORT_ADMIN.has(first)) return { kind: 'program', program: 'admin', words };
  return readServerWords(words);
}

function readServerWords(words: readonly string[]): Command {
  const unknown = words.find((word) => !Object.hasOwn(COMMANDS, word));
  if (unknown !== undefined) {
    const problem = `Cannot start: unknown argument "${unknown}"; settings come from the environment and .env, and npm start -- --help lists them`;
    return { kind: 'wrong', problem };
  }
  return COMMANDS[words[0] ?? ''] ?? { kind: 'serve' };
}

/** Text of `--help`. */
export function helpText(): string {
  return [
    'Offhook: a phone server for voice agents.',
    '',
    'Usage: npm start [-- option]     or, where the package is installed: offhook [command] [option]',
    '',
    '  start                    starts the server; so does no command at all',
    '  doctor                   looks at ports, disk, models, trunks, and says what is wrong and what to do',
    '  trunk check <name>       asks a carrier step by step',
    '  models [options]         downloads speech and language models',
    '  admin <command>          accounts, keys, numbers, webhooks, backups',
    '  completion <shell>       prints completions for bash, zsh or fish',
    '',
    'Examples: offhook doctor     offhook models --profile standard     PORT=8080 offhook start',
    '',
    '  --help          shows this',
    '  --version       shows the version',
    '  --print-config  shows all settings that are in effect, secrets masked',
    '',
    'Settings come from the environment, and from .env in this folder. A secret can come from a file: NAME_FILE.',
    '',
    ...Object.entries(SETTING_MEANINGS).flatMap(([group, meanings]) => [
      `${group}:`,
      ...Object.entries(meanings).map(([name, meaning]) => `  ${name}\n      ${meaning}`),
      '',
    ]),
    'Other commands: npm run demo, npm run models, npm run admin. Manual: /manual of the server, README.md and docs/.',
  ].join('\n');
}
