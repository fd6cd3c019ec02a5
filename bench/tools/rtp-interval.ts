/** `rtp-interval N`: how it is usually done, every call's packet from one `setInterval` of 20 ms on the main thread. */
import { FRAME_MS, openMainThreadLines } from '../lib/main-thread-lines.ts';

const sendAll = await openMainThreadLines();
let sequence = 0;
setInterval(() => {
  sequence += 1;
  sendAll(sequence);
}, FRAME_MS);
