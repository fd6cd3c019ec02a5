/** `rest-ours FILE`: our interface behind our HTTP port. Prints `listening PORT`, runs until its input ends. */
import { randomBytes } from 'node:crypto';
import { createApi } from '../../src/api/api.ts';
import { HttpServer } from '../../src/api/http-server.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/lib/logger.ts';
import { Metrics } from '../../src/lib/metrics.ts';
import { LINK_SECRET, openRestWorld } from '../lib/rest-world.ts';

const [file = ''] = process.argv.slice(2);
const { store, rates, newId, queue } = await openRestWorld(file);
const api = createApi({
  ...{ ...store, rates, log, newId, clock },
  random: randomBytes,
  metrics: new Metrics({ version: 'bench' }),
  readiness: () => ({ status: 'ready', engines: [], carriers: [], checks: [] }),
  liveCalls: { hangUp: () => false },
  dialQueues: { live: queue, test: queue },
  plansWithoutOutbound: [],
  voices: { list: () => [], find: () => undefined, preview: async () => null },
  webhookUrlRules: { allowLocal: false, allowPrivate: false },
  publicUrl: 'http://127.0.0.1',
  dataFolder: '.',
  recordingSecret: LINK_SECRET,
  version: 'bench',
});
const server = new HttpServer({ host: '127.0.0.1', port: 0, fetch: api.fetch, newId, clock, log });
console.log(`listening ${await server.start()}`);
process.stdin.resume();
process.stdin.once('close', () => void server.stop().then(() => process.exit(0)));
