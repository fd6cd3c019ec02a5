/** The operator's commands: `npm run admin -- …`. Works on the server's database, whether the server runs or not. */
import { CommanderError } from 'commander';
import { readProcessConfig } from '../config/config.ts';
import { ConfigError } from '../config/secret-files.ts';
import { messageOf } from '../lib/unknown-value.ts';
import { type Console, UsageError } from './admin-command.ts';
import { adminProgram } from './admin-program.ts';

const EXIT_FAILED = 1;

const EXIT_USAGE = 2;

/** EX_CONFIG of sysexits.h: the settings are wrong. */
const EXIT_CONFIG = 78;

const terminal: Console = {
  print: (text) => console.log(text),
  progress: (text) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001b[K`);
  },
  config: readProcessConfig,
};

/** Prints the error, and returns the exit status. Commander has already printed its own errors. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  console.error(messageOf(error));
  if (error instanceof UsageError) return EXIT_USAGE;
  return error instanceof ConfigError ? EXIT_CONFIG : EXIT_FAILED;
}

try {
  await adminProgram(terminal).parseAsync();
} catch (error) {
  process.exitCode = statusOf(error);
}
