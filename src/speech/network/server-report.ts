/** Report on an engine whose work is done by servers, with a local engine behind it, and the log of their changes */
import type { Logger } from '../../lib/logger.ts';
import type { EngineReport } from '../hearing/hearing.ts';
import type { ServerState } from './speech-servers.ts';

/**
 * The servers' engine while one of them works, else the local one.
 *
 * @param local report on the engine that takes over.
 */
export function serverReport(facts: {
  readonly job: 'stt' | 'tts';
  /** As in the settings `STT` and `TTS`. */
  readonly engine: string;
  readonly states: readonly ServerState[];
  readonly local: EngineReport;
}): EngineReport {
  const { job, engine, states, local } = facts;
  const up = states.filter(({ isUp }) => isUp);
  const down = states
    .filter(({ isUp }) => !isUp)
    .map(({ address, fault }) => `"${address}" cannot be used: ${fault}`);
  if (up.length === 0) {
    const how = `Check the server: ${down.join('; ')}`;
    return {
      standIn: 'second_choice',
      ...local,
      reason: `${down.join('; ')}; ${local.reason}`,
      isFallback: true,
      replacement: { engine, how },
    };
  }
  const names = up.map(({ address }) => `"${address}"`).join(', ');
  const working = `${names} ${up.length === 1 ? 'answers' : 'answer'}`;
  const behind =
    local.standIn === 'no_model'
      ? 'nothing takes over when they fail ("npm run models" installs a local engine)'
      : `${local.engine} takes over when they fail`;
  return { job, engine, reason: [working, ...down, behind].join('; '), isFallback: false };
}

/** Logs a server that has failed, failed otherwise, or recovered. @param before undefined at the start. */
export function logServerChange(
  logger: Logger,
  job: 'stt' | 'tts',
  before: ServerState | undefined,
  { address, isUp, fault }: ServerState,
): void {
  if (before?.isUp === isUp && before.fault === fault) return;
  if (!isUp) logger.warn({ job, server: address, fault }, 'speech server failed');
  else if (before !== undefined) logger.info({ job, server: address }, 'speech server works');
}
