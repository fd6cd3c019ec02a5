/** A program: one call's sound through the media engine while the kernel refuses the calls named on the command line. */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { MediaEngine } from '../../../src/media/engine/media-engine.ts';
import { TestPhone } from '../../media/test-phone.ts';
import { VOICE } from '../../media/test-session.ts';
import { type RefusableCall, refuseCalls } from '../../support/server/refused-calls.ts';

const [port = '', packets = '', ...refused] = process.argv.slice(2);
refuseCalls(refused as RefusableCall[]);
const phone = await TestPhone.open();
const first = Number(port);
const warnings: object[] = [];
const engine = new MediaEngine({
  ...{ clock: systemClock, ports: { first, last: first + 1 } },
  log: { ...silentLogger, warn: (fields) => warnings.push(fields) },
  ...{ workers: 1, isRealTime: false },
});
await engine.start();
const session = await engine.open({ signallingAddress: '127.0.0.1' });
session.setRemote(phone.agreed);
const startedAtMs = performance.now();
for (let sent = 1; sent <= Number(packets); sent += 1) {
  phone.send(VOICE, session.localPort);
  await sleep(Math.max(0, startedAtMs + sent * 20 - performance.now()));
}
const stats = await session.stats();
const report = { sockets: engine.sockets, warnings, stats, heard: phone.received.length };
process.stdout.write(JSON.stringify(report), () => process.exit(0));
