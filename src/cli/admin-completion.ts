/** `offhook completion <shell>`: a script that completes the commands in a shell. */
import { Argument, type Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof SHELLS)[number];

/** Commands of `offhook` that are programs of their own. */
const PROGRAMS = ['start', 'doctor', 'trunk', 'models', 'admin', 'completion'] as const;

/** The next words after each word that has some. */
type NextWords = Readonly<Record<string, readonly string[]>>;

export function addCompletionCommand(root: Command, print: (text: string) => void): void {
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
