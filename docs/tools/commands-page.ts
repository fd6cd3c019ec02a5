/** The reference of commands: the server's own, and those of the operator with their arguments and options. */
import type { Command } from 'commander';
import { adminProgram } from '../../src/cli/admin-program.ts';
import { modelsProgram } from '../../src/cli/models-program.ts';
import { readConfig } from '../../src/config/config.ts';
import { codeBlock, page, table } from './markdown.ts';

const UNUSED = { print: () => undefined, progress: () => undefined, config: () => readConfig({}) };

export function commandsPage(): string {
  const admin = adminProgram(UNUSED);
  const models = modelsProgram(async () => undefined);
  return page('Commands', [
    'In a checkout commands are npm scripts; where the package is installed, the program `offhook` has them.',
    table(['In a checkout', 'Installed', 'Does'], SERVER_COMMANDS),
    '`doctor`, `trunk` and `completion` of the program `offhook` are those of `admin`, and need no `admin` before them.',
    '## npm run models',
    `${models.description()} More: [Models](../models.md).`,
    detailsOf(models),
    '## npm run admin',
    `${admin.description()} Works on the server's database, whether the server runs or not. More: [Operator commands](../admin.md).`,
    'Every command takes `--json`. Exit status: 0 done, 1 could not be done, 2 wrong usage, 78 wrong settings.',
    ...leavesOf(admin).flatMap(({ command, path }) => [
      `### admin ${path}`,
      sentence(command.description()),
      codeBlock('text', `npm run admin -- ${[path, ...placesOf(command)].join(' ')}`),
      detailsOf(command),
    ]),
  ]);
}

const SERVER_COMMANDS = [
  ['`npm start`', '`offhook start`', 'starts the server'],
  ['`npm start -- --help`', '`offhook --help`', 'lists commands and settings'],
  ['`npm start -- --version`', '`offhook --version`', 'prints the version'],
  ['`npm start -- --print-config`', '`offhook --print-config`', 'prints settings, secrets masked'],
  ['`npm run doctor`', '`offhook doctor`', 'says what is wrong and what to do'],
  ['`npm run models -- …`', '`offhook models …`', 'downloads models'],
  ['`npm run admin -- …`', '`offhook admin …`', 'operator commands'],
  ['`npm run demo`', '', 'a conversation over real SIP and RTP, with a server of its own'],
  ['`npm run self-test`', '`offhook admin self-test`', 'tries the installed models'],
] as const;

interface Leaf {
  readonly command: Command;
  /** Words after `admin`. */
  readonly path: string;
}

function leavesOf(parent: Command, before = ''): readonly Leaf[] {
  return parent.commands.flatMap((command) => {
    const path = `${before}${command.name()}`;
    return command.commands.length > 0 ? leavesOf(command, `${path} `) : [{ command, path }];
  });
}

/** Arguments and options that cannot be left out. */
function placesOf({ registeredArguments, options }: Command): readonly string[] {
  return [
    ...registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`)),
    ...options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags),
  ];
}

/** Arguments and options as a table; a line where there are none. */
function detailsOf({ registeredArguments, options }: Command): string {
  const rows = [
    ...registeredArguments.map((each) => [`\`${each.name()}\``, each.description, each.argChoices]),
    ...options.map((each) => [`\`${each.flags}\``, each.description, each.argChoices]),
  ].map(([name, description, choices]) => [
    String(name),
    `${description ?? ''}${Array.isArray(choices) ? `: ${choices.join(', ')}` : ''}`,
  ]);
  return rows.length === 0 ? 'It has no options.' : table(['Word', 'Meaning'], rows);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
