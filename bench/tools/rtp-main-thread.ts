/** `rtp-main-thread N`: media on the main thread, done well, by absolute deadlines: a late packet makes no later one late. */
import { FRAME_MS, openMainThreadLines } from '../lib/main-thread-lines.ts';

const sendAll = await openMainThreadLines();
const startedMs = performance.now();
let sequence = 0;
sendDue();

/** Sends all frames that are due, and comes back for the next. */
function sendDue(): void {
  const due = Math.floor((performance.now() - startedMs) / FRAME_MS);
  for (; sequence <= due; sequence += 1) sendAll(sequence);
  setTimeout(sendDue, Math.max(0, startedMs + sequence * FRAME_MS - performance.now()));
}
