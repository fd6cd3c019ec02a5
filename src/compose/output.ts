/** Composition root: the log and the startup banner on standard output. */
import { styleText } from 'node:util';
import type { Config } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import {
  type Logger,
  openLogger,
  openStandardOutput,
  type Paint,
  prettyLine,
} from '../lib/logger.ts';
import { ServerLog } from '../lib/server-log.ts';
import { jsonLine, type Notice } from './startup-banner.ts';

interface Output {
  readonly log: Logger;
  /** What `log` has warned of. */
  readonly serverLog: ServerLog;
  /** Shows a notice to the operator, at any log level. */
  readonly show: (notice: Notice) => void;
  /** Log lines lost since the start. */
  readonly linesLost: () => number;
}

/** Opens standard output: text for people on a terminal, one JSON object a line elsewhere, unless LOG_FORMAT says which. */
export function openOutput({ LOG_LEVEL, LOG_FORMAT }: Config): Output {
  const destination = openStandardOutput(systemClock);
  const isPretty = LOG_FORMAT === 'pretty' || (LOG_FORMAT === 'auto' && process.stdout.isTTY);
  // `styleText` obeys NO_COLOR, and colours only a terminal.
  const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout });
  const pretty = { write: (line: string) => destination.write(prettyLine(line, paint)) };
  const serverLog = new ServerLog(systemClock);
  const log = serverLog.watching(openLogger(LOG_LEVEL, isPretty ? pretty : destination));
  destination.onLoss((lost) =>
    log.error(lost, 'lines of the log were lost: it could not be written'),
  );
  const show = (notice: Notice) => {
    if (isPretty) destination.write(`${notice.text(paint)}\n`);
    else for (const line of notice.lines) destination.write(jsonLine(line, systemClock.now()));
  };
  return { log, serverLog, show, linesLost: () => destination.linesLost };
}
