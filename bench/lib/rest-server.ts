/** Our side of `bench/rest.ts`: the interface behind the HTTP port, as the server runs it. */
import { randomBytes } from 'node:crypto';
import { createApi } from '../../src/api/api.ts';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { RequestLog } from '../../src/domain/account/request-log.ts';
import { NumberOwners } from '../../src/domain/dialing/number-owner.ts';
import type { Trunks } from '../../src/domain/dialing/trunk.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/lib/logger.ts';
import { Metrics } from '../../src/lib/metrics/metrics.ts';
import { ServerLog } from '../../src/lib/server-log.ts';
import { readTrunkSettings } from '../../src/telephony/trunks/trunk-registry.ts';
import { idleDownloads } from '../../test/support/api/idle-downloads.ts';
import { OWN_MODEL_ONLY } from '../../test/support/api/own-model-only.ts';
import { silentVoices } from '../../test/support/api/silent-voices.ts';
import { LINK_SECRET, openRestWorld } from './rest-world.ts';

const TRUNKS: Trunks = {
  list: () => [],
  numbers: [],
  trunksOf: () => [],
  accountOf: () => undefined,
};

/** @param file of the records. @param port 0 takes a free one. @returns the server, and its port. */
export async function startRestServer(
  file: string,
  port = 0,
): Promise<{ readonly server: HttpServer; readonly port: number }> {
  const { store, rates, newId, queue } = await openRestWorld(file);
  const { numberAssignments: assignments } = store;
  const api = createApi({
    ...{ ...store, rates, log, newId, clock },
    requestLog: new RequestLog(clock),
    serverLog: new ServerLog(clock),
    random: randomBytes,
    metrics: new Metrics({ version: 'bench' }),
    readiness: async () => ({ status: 'ready', engines: [], carriers: [], checks: [] }),
    eraser: { finish: () => Promise.resolve() },
    liveCalls: { holds: () => false, hangUp: () => false, transfer: () => 'not-in-progress' },
    liveSound: {
      watchLevels: () => () => undefined,
      listen: () => ({ kind: 'not-in-progress' }),
      quality: async () => undefined,
      close: () => undefined,
    },
    readPeaks: async () => 'none',
    dialQueues: { live: queue, test: queue },
    plansWithoutOutbound: [],
    chat: { reply: async () => null },
    toolTrial: { run: async () => null },
    modelDownloads: idleDownloads(clock),
    languageModels: OWN_MODEL_ONLY,
    documentReader: { read: async () => '' },
    mcpTrial: { prepare: () => undefined, run: async () => null },
    callTraces: {
      of: async () => ({ messages: [], isTruncated: false, source: 'none', note: 'None' }),
    },
    trunks: TRUNKS,
    trunkControl: {
      read: readTrunkSettings,
      reload: async () => undefined,
      check: async () => undefined,
    },
    numberOwners: new NumberOwners({ ...store, assignments, trunks: TRUNKS }),
    voices: silentVoices(),
    webhookUrlRules: { allowLocal: false, allowPrivate: false },
    publicUrl: 'http://127.0.0.1',
    dataFolder: '.',
    recordingSecret: LINK_SECRET,
    version: 'bench',
  });
  const { fetch } = api;
  const server = new HttpServer({ host: '127.0.0.1', port, fetch, newId, clock, log });
  return { server, port: await server.start() };
}
