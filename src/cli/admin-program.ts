/** The tree of the operator's commands; `admin.ts` runs it, and the reference is written from it. */
import { Argument, Command } from 'commander';
import { addAccountCommands, addKeyCommands } from './admin-accounts.ts';
import { addBackupCommands } from './admin-backup.ts';
import type { Console } from './admin-command.ts';
import { addDoctorCommand } from './admin-doctor.ts';
import { addEraseCommands } from './admin-erase.ts';
import { addSelfTestCommand } from './admin-self-test.ts';
import { addNumberCommands, addTrunkCommands } from './admin-trunks.ts';
import { addOperatorCommands, addUserCommands } from './admin-users.ts';
import { addForgetCommand, addSecretCommands, addWebhookCommands } from './admin-webhooks.ts';

const HELP = `
Every command takes --json. Settings come from the environment and .env, as for the server.
Exit status: 0 done, 1 could not be done, 2 wrong usage, 78 wrong settings.`;

/** Makes the commands; nothing runs until the result parses arguments. */
export function adminProgram(console: Console): Command {
  const root = new Command('admin')
    .description(
      'Manages an Offhook installation: accounts, users, keys, trunks, webhooks, backups; tests its models.',
    )
    .usage('<command>  (npm run admin -- <command>)')
    .addHelpText('after', HELP)
    .exitOverride();
  addAccountCommands(root, console);
  addKeyCommands(root, console);
  addNumberCommands(root, console);
  addTrunkCommands(root, console);
  addForgetCommand(root, console);
  addWebhookCommands(root, console);
  addSecretCommands(root, console);
  addUserCommands(root, console);
  addOperatorCommands(root, console);
  addEraseCommands(root, console);
  addBackupCommands(root, console);
  addSelfTestCommand(root, console);
  addDoctorCommand(root, console);
  addCompletionCommand(root, console.print);
  return root;
}

const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof SHELLS)[number];

/** Commands of `offhook` that are programs of their own. */
const PROGRAMS = ['start', 'doctor', 'trunk', 'models', 'admin', 'completion'] as const;

/** The next words after each word that has some. */
type NextWords = Readonly<Record<string, readonly string[]>>;

function addCompletionCommand(root: Command, print: (text: string) => void): void {
  root
    .command('completion')
    .description('prints a script for a shell: source <(offhook completion bash)')
    .addArgument(new Argument('<shell>', 'which').choices(SHELLS))
    .action((shell: Shell) => print(completionScript(shell, nextWordsOf(root))));
}

function nextWordsOf(root: Command): NextWords {
  const namesOf = (command: Command) => command.commands.map((each) => each.name());
  const groups = root.commands.filter(({ commands }) => commands.length > 0);
  return {
    offhook: PROGRAMS,
    admin: namesOf(root),
    completion: SHELLS,
    ...Object.fromEntries(groups.map((group) => [group.name(), namesOf(group)])),
  };
}

/** The script for a shell; pure. */
export function completionScript(shell: Shell, next: NextWords): string {
  const entries = Object.entries(next);
  if (shell === 'fish') {
    const lines = entries.map(([word, words]) => {
      const after =
        word === 'offhook' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${word}`;
      return `complete -c offhook -f -n '${after}' -a '${words.join(' ')}'`;
    });
    return lines.join('\n');
  }
  const cases = entries.map(([word, words]) => `    ${word}) words="${words.join(' ')}" ;;`);
  const bash = [
    '_offhook() {',
    '  local words=""',
    `  case "$(basename -- "\${COMP_WORDS[COMP_CWORD-1]}")" in`,
    ...cases,
    '  esac',
    `  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
    '}',
    'complete -F _offhook offhook',
  ];
  return (shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit', ...bash] : bash).join(
    '\n',
  );
}
