/** Analyses what waits in a database, as the server would, until killed; prints how many wait after each. */
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { Analyst } from '../../../src/call/analysis/analyst.ts';
import { idMaker } from '../../../src/domain/ids.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { defaultRuleBook } from '../../../src/llm/scripted/default-rules.ts';
import { ScriptedModel } from '../../../src/llm/scripted/scripted-model.ts';
import { openStore } from '../../../src/store/store.ts';

// It is killed: what it has compiled would not be kept at its end.
flushCompileCache();

const [file = ''] = process.argv.slice(2);
const store = await openStore({ file, clock: systemClock, log: silentLogger });
const model = new ScriptedModel({ book: defaultRuleBook(), firstWordMs: 5 });
const analyst = new Analyst({
  environment: 'live',
  modelOf: () => model,
  analyses: store.analyses,
  calls: store.calls,
  events: store.events,
  agents: store.agents,
  recordingLink: () => 'https://voice.example',
  metrics: { analysed: async () => void writeSync(1, `${await store.analyses.count()}\n`) },
  newId: idMaker({ nowMs: Date.now, random: randomBytes }),
  clock: systemClock,
  log: silentLogger,
});
analyst.start();
setInterval(async () => {
  if ((await store.analyses.count()) === 0) process.exit(0);
}, 20);
