/**
 * Many telephones in a process of their own, each of which sends a packet every 20 ms until it is hung up on.
 *
 * `callers URI COUNT`: dials ten a second, and ends when every call is over.
 */
import { Phone } from '../../examples/phone/phone.ts';
import type { PhoneCall } from '../../examples/phone/phone-call.ts';
import { raiseThreadPriority } from '../../src/media/worker/thread-priority.ts';

const DIAL_EVERY_MS = 100;

const [uri = '', count = '1'] = process.argv.slice(2);
// Packets that leave late here would be missing at the end, and are not what is counted.
await raiseThreadPriority();
const phone = new Phone();
await phone.start();
const calls: Promise<PhoneCall>[] = [];
for (let dialled = 0; dialled < Number(count); dialled += 1) {
  calls.push(phone.call(uri));
  await new Promise((resolve) => setTimeout(resolve, DIAL_EVERY_MS));
}
const answered = await Promise.all(calls);
// What was heard is of no use here, and would fill the memory in minutes.
const forget = setInterval(() => {
  for (const { line } of answered) line.heard.length = 0;
}, 1_000);
await Promise.all(answered.map(({ ended }) => ended));
clearInterval(forget);
await phone.stop();
