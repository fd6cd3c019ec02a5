/** The server's process: settings in, signals in, exit status out. */
import { helpText, readCommandLine } from './cli/server-command-line.ts';
import type { App } from './compose/app.ts';
import { openOutput } from './compose/output.ts';
import { beginHearing } from './compose/speech.ts';
import {
  type Config,
  doubtfulSettings,
  mistypedVariables,
  printConfig,
  readProcessConfig,
} from './config/config.ts';
import { ConfigError } from './config/secret-files.ts';
import { systemClock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';
import { packageVersion } from './lib/package-version.ts';
import { ThreadUse } from './lib/process/thread-use.ts';
import { startWatchdog } from './lib/process/watchdog.ts';
import { messageOf } from './lib/unknown-value.ts';
import { TrunkSettingsError } from './telephony/trunks/trunks.ts';

/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;

/** EX_CONFIG of sysexits.h: the settings are wrong, starting again will not help. */
const EXIT_CONFIG = 78;

function settings(): Config | undefined {
  try {
    return readProcessConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exitCode = EXIT_CONFIG;
    return undefined;
  }
}

/** Prints one line with the reason, and ends the process. */
function giveUp(error: unknown): never {
  const isSetting = error instanceof ConfigError || error instanceof TrunkSettingsError;
  console.error(`${isSetting ? '' : 'Cannot start: '}${messageOf(error)}`);
  process.exit(isSetting ? EXIT_CONFIG : 1);
}

async function serve(config: Config): Promise<void> {
  const output = openOutput(config);
  const { log } = output;
  for (const fields of mistypedVariables()) {
    log.warn(fields, 'variable has no effect: no setting has this name');
  }
  for (const { problem, ...fields } of doubtfulSettings(config)) {
    log.warn(fields, problem);
  }
  // Loading modules is most of a start: threads and child processes begin first, and load their models meanwhile.
  // `ThreadUse` sees only threads that start after it.
  const threads = new ThreadUse(systemClock);
  threads.start();
  const hearing = beginHearing({ config, log });
  const { openParts } = await import('./compose/app-parts.ts');
  const parts = await openParts({ config, ...output, hearing, threads }).catch(
    async (error: unknown) => {
      await hearing.stop();
      return giveUp(error);
    },
  );
  const { App } = await import('./compose/app.ts');
  const app = new App(parts);
  // A fault of one call must not end hundreds of others. An uncaught exception still ends the process, because its
  // state is unknown then; the next start ends the calls on record.
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'unhandled rejection; calls go on');
  });
  obeySignals(app, config, log);
  try {
    await app.start();
  } catch (error) {
    await app.stop();
    giveUp(error);
  }
  startWatchdog();
}

/** The first signal drains, the second ends the calls too. */
function obeySignals(app: App, config: Config, log: Logger): void {
  let signals = 0;
  const leaveBy = async (signal: string) => {
    signals += 1;
    log.info({ signal }, signals === 1 ? 'draining: no new calls are taken' : 'stopping now');
    if (signals === 1) await app.drain(config.DRAIN_TIMEOUT_SECONDS * 1000);
    await app.stop();
    process.exit(0);
  };
  const leave = (signal: string) => {
    leaveBy(signal).catch((error: unknown) => {
      log.error({ err: error }, 'shutdown failed');
      process.exit(1);
    });
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => leave(signal));
  // A terminal that closes stops its server; one without a terminal goes on. Without a handler a hangup ends the process at
  // once and cuts its calls, even under `nohup`, whose setting Node takes back at its start.
  process.on('SIGHUP', () => {
    if (!process.stdout.isTTY) log.info({ signal: 'SIGHUP' }, 'a hangup does not stop the server');
    else if (signals === 0) leave('SIGHUP');
  });
}

/** Runs another program, which reads its arguments from `process.argv` as if started directly. */
async function runProgram(command: {
  readonly program: 'admin' | 'models';
  readonly words: readonly string[];
}): Promise<void> {
  process.argv.splice(2, process.argv.length, ...command.words);
  await (command.program === 'admin' ? import('./cli/admin.ts') : import('./cli/models.ts'));
}

async function run(): Promise<void> {
  const command = readCommandLine(process.argv.slice(2));
  if (command.kind === 'wrong') {
    console.error(command.problem);
    process.exitCode = EXIT_USAGE;
    return;
  }
  if (command.kind === 'program') return runProgram(command);
  if (command.kind === 'help') return console.log(helpText());
  if (command.kind === 'version') return console.log(packageVersion());
  const config = settings();
  if (config === undefined) return;
  if (command.kind === 'print-config') return console.log(printConfig(config));
  await serve(config);
}

await run();
