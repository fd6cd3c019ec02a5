/**
 * The whole server with stubs for models: telephony, media, calls, conversations, database and recordings are real.
 *
 * `talk-server REPLY_MS SPREAD_MS`, settings by the environment as for the server itself. Prints `listening`, and
 * runs until its input ends.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { App } from '../../src/app.ts';
import { EmbeddedTelephony } from '../../src/app-telephony.ts';
import { readProcessConfig } from '../../src/config.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { openLogger } from '../../src/lib/logger.ts';
import { Metrics } from '../../src/lib/metrics.ts';
import { FallbackModel } from '../../src/llm/fallback-model.ts';
import { PhraseCache } from '../../src/speech/phrase-cache.ts';
import { openStore } from '../../src/store/store.ts';
import { StubClock } from '../lib/stub-clock.ts';
import { StubHearing, StubModel, StubSynthesizer } from '../lib/stub-models.ts';
import { STUB_TIMES } from '../lib/stub-times.ts';

const [replyMs = 400, spreadMs = 0] = process.argv.slice(2).map(Number);
const config = readProcessConfig();
const log = openLogger(config.LOG_LEVEL);
const stubs = new StubClock();
const synthesizer = new StubSynthesizer({ clock: stubs, spreadMs, replyMs });
mkdirSync(join(config.DATA_DIR, 'recordings'), { recursive: true });
const version = 'bench';
const app = new App({
  ...{ config, log, version, print: () => undefined },
  metrics: new Metrics({ version }),
  store: await openStore({ file: join(config.DATA_DIR, 'offhook.db'), clock, log }),
  telephony: new EmbeddedTelephony({ config, version, clock, log }),
  speech: {
    voices: { list: () => [], find: () => undefined, preview: async () => null },
    hearing: new StubHearing({ clock: stubs, spreadMs }),
    synthesizer: new PhraseCache({ synthesizer, sizeBytesMax: 2 ** 20 }),
    model: new FallbackModel({ models: [new StubModel(stubs)], clock, log }),
    warmModel: async () => undefined,
    turnTaking: {
      mayThinkAhead: false,
      timing: { silenceMsMin: STUB_TIMES.silence, silenceMsMax: STUB_TIMES.silence },
    },
  },
});
await app.start();
console.log('listening');
process.stdin.resume();
process.stdin.once('close', () => void app.stop().then(() => process.exit(0)));
