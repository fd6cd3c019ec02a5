/**
 * The whole server with stubs for models: telephony, media, calls, conversations, database and recordings are real.
 *
 * `talk-server OPTIONS` (`TalkServerOptions` as JSON), settings by the environment as for the server itself. Prints `listening`, and
 * runs until its input ends. It tells its memory when it is asked: `memory-answers.ts`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { App } from '../../src/compose/app.ts';
import { Telephony } from '../../src/compose/telephony.ts';
import { readProcessConfig } from '../../src/config/config.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { DiskSpace } from '../../src/lib/disk-space.ts';
import { openLogger } from '../../src/lib/logger.ts';
import { Metrics } from '../../src/lib/metrics/metrics.ts';
import { ServerLog } from '../../src/lib/server-log.ts';
import { AgentModels } from '../../src/llm/agent-models.ts';
import { FallbackModel } from '../../src/llm/fallback-model.ts';
import { PhraseCache } from '../../src/speech/tts/voices/phrase-cache.ts';
import { openStore } from '../../src/store/store.ts';
import { silentVoices } from '../../test/support/api/silent-voices.ts';
import { answerMemoryQuestions } from '../lib/memory-answers.ts';
import { StubClock } from '../lib/stub-clock.ts';
import { StubHearing, StubModel, StubSynthesizer } from '../lib/stub-models.ts';
import { STUB_TIMES } from '../lib/stub-times.ts';
import { StubWithDetector } from '../lib/stub-with-detector.ts';
import type { TalkServerOptions } from '../lib/talk-server.ts';
import { UnrecordedTelephony } from '../lib/unrecorded-telephony.ts';

const options: TalkServerOptions = JSON.parse(process.argv[2] ?? '{}');
const { replyMs, spreadMs = 0, times = STUB_TIMES, maySpeculate = false } = options;
const { isRecorded = true, detectorFolder } = options;
const config = readProcessConfig();
const log = openLogger(config.LOG_LEVEL, process.stdout);
const stubs = new StubClock();
const stub = { clock: stubs, spreadMs, times };
const synthesizer = new StubSynthesizer({ ...stub, replyMs });
mkdirSync(join(config.DATA_DIR, 'recordings'), { recursive: true });
const version = 'bench';
const Calls = isRecorded ? Telephony : UnrecordedTelephony;
const hearing = new StubHearing(stub);
const model = new FallbackModel({ models: [new StubModel(stub)], clock, log });
const app = new App({
  ...{ config, log, version, show: () => undefined },
  serverLog: new ServerLog(clock),
  metrics: new Metrics({ version }),
  disk: new DiskSpace({ folder: config.DATA_DIR, freeMinMb: 0, clock, log }),
  store: await openStore({ file: join(config.DATA_DIR, 'offhook.db'), clock, log }),
  telephony: new Calls({ config, version, clock, log }),
  speech: {
    voices: silentVoices(),
    hearing:
      detectorFolder === undefined
        ? hearing
        : new StubWithDetector({ hearing, modelsDir: detectorFolder, clock, logger: log }),
    synthesizer: new PhraseCache({ synthesizer, sizeBytesMax: 2 ** 20 }),
    model,
    agentModels: new AgentModels({ own: model, clock, log }),
    warmModel: async () => undefined,
    turnTaking: {
      maySpeculate,
      timing: {
        silenceMsMin: times.silence,
        silenceMsMax: times.silence,
        questionMs: times.silence,
        statementMs: times.silence,
      },
    },
  },
});
answerMemoryQuestions({ onEnd: () => void app.stop().then(() => process.exit(0)) });
await app.start();
console.log('listening');
