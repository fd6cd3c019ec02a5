/** Whether the commands of a shell block are there: npm scripts, operator commands and their options, files, settings. */
import { existsSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { adminProgram } from '../../src/cli/admin-program.ts';
import { modelsProgram } from '../../src/cli/models-program.ts';
import { readCommandLine } from '../../src/cli/server-command-line.ts';
import { readConfig, SETTINGS } from '../../src/config/config.ts';

const UNUSED = { print: () => undefined, progress: () => undefined, config: () => readConfig({}) };

/** Variables of other programs, and of the pages themselves. */
const OTHER_NAMES = [
  ...['KEY', 'ADMIN_KEY', 'TEST_KEY', 'URL', 'AGENT', 'CALL', 'PYTHONPATH', 'CPPFLAGS'],
  ...[
    'OFFHOOK_KEY',
    'WEBHOOK_SECRET',
    'COMPOSE_PROFILES',
    'FREESWITCH_RTP_ADDRESS',
    'DRACHTIO_BIN',
    'FREESWITCH_BIN',
  ],
];

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** What is wrong with the commands of a block; empty when all are there. */
export function shellFaults(text: string): readonly string[] {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines.flatMap((line) => {
    const bare = line.replace(/(^|\s)#.*$/, '');
    return [...settingFaults(bare), ...bare.split(/&&|;|\|/).flatMap(commandFaults)];
  });
}

function settingFaults(line: string): readonly string[] {
  const names = [...line.matchAll(/(?:^|\s)([A-Z][A-Z0-9_]+)=/g)].map(([, name = '']) => name);
  return names
    .filter((name) => !(OTHER_NAMES.includes(name) || isSetting(name)))
    .map((name) => `there is no setting "${name}"`);
}

/** Values of secrets may come from files. */
function isSetting(name: string): boolean {
  return name in SETTINGS || name.replace(/_FILE$/, '') in SETTINGS;
}

function commandFaults(command: string): readonly string[] {
  const words = command
    .trim()
    .replace(/^((export|env|sudo -u \w+) +|[A-Z][A-Z0-9_]*=\S* +)*/, '')
    .split(/\s+/);
  const [program, ...rest] = words;
  if (program === 'npm') return npmFaults(rest);
  if (['node', 'sh', 'php', 'python3', 'ruby'].includes(program ?? '')) return fileFaults(rest);
  if (['cp', 'install'].includes(program ?? '')) return fileFaults(rest.slice(0, -1));
  return [];
}

/** Files of the checkout. */
function fileFaults(words: readonly string[]): readonly string[] {
  return words
    .filter((word) => /^(examples|sip-config|clients|docs|src)\//.test(word) && !existsSync(word))
    .map((word) => `there is no file "${word}"`);
}

function npmFaults([verb, ...rest]: readonly string[]): readonly string[] {
  const isRun = verb === 'run';
  if (!isRun && verb !== 'start' && verb !== 'test') return [];
  const name = isRun ? (rest[0] ?? '') : verb;
  if (!(name in scripts)) return [`there is no script "npm run ${name}"`];
  const words = rest.slice(isRun ? 1 : 0);
  if (words[0] !== '--') return [];
  return wordFaults(name, words.slice(1));
}

function wordFaults(name: string, words: readonly string[]): readonly string[] {
  switch (name) {
    case 'start':
      return readCommandLine(words).kind === 'wrong' ? [`npm start -- ${words.join(' ')}`] : [];
    case 'admin':
      return programFaults(adminProgram(UNUSED), words);
    case 'models':
      return programFaults(
        modelsProgram(async () => undefined),
        words,
      );
    case 'bench':
      return words[0] === 'NAME' || existsSync(`bench/${words[0]}.ts`)
        ? []
        : [`there is no bench "${words[0]}"`];
    default:
      return [];
  }
}

/** Follows the words down the tree of commands, and looks up the options of the last one. */
function programFaults(program: Command, words: readonly string[]): readonly string[] {
  const [word = '', ...rest] = words;
  const command = program.commands.find((each) => each.name() === word);
  if (command !== undefined) return programFaults(command, rest);
  if (program.commands.length > 0) return [`${program.name()} has no command "${word}"`];
  const known = program.options.flatMap(({ long, short }) => [long, short]);
  return words
    .filter((each) => /^--?\w/.test(each) && !known.includes(each.split('=')[0]))
    .map((each) => `${program.name()} has no option "${each}"`);
}
