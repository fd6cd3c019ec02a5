/**
 * Rings a number over and over, as a process of its own, and counts who is turned away how.
 *
 * `overload-ringer URI CALLS_PER_SECOND SECONDS`, where 0 calls are a process that does nothing; prints one line of JSON: `{"offered":30,"shed":30}`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Phone } from '../../examples/phone/phone.ts';

const RETRY_AFTER_SECONDS = '30';

const [uri = '', callsPerSecond = '0', seconds = '1'] = process.argv.slice(2);
const pauseMs = Math.min(1000 / Number(callsPerSecond), Number(seconds) * 1000);
const phone = new Phone();
await phone.start();
const untilMs = performance.now() + Number(seconds) * 1000;
const answers: Promise<boolean>[] = [];
while (performance.now() < untilMs) {
  if (Number(callsPerSecond) > 0) answers.push(isShed());
  await wait(pauseMs);
}
const shed = (await Promise.all(answers)).filter(Boolean).length;
console.log(JSON.stringify({ offered: answers.length, shed }));
await phone.stop();

/** Whether it was refused with 503 and Retry-After; a call that was taken is hung up. */
async function isShed(): Promise<boolean> {
  const { invite, answered } = await phone.dial(uri);
  answered.catch(() => undefined);
  const { response, dialog } = await invite.outcome;
  if (dialog !== null) await dialog.bye();
  return response.status === 503 && response.get('retry-after') === RETRY_AFTER_SECONDS;
}
