/** The hearing thread's entry: callers' audio is read here and nowhere near the main thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../lib/clock.ts';
import { forkRecognizer } from '../stt/pool/recognizer-process.ts';
import { HearingLoop } from './hearing-loop.ts';
import type { FromThread, HearingOrder, ToThread } from './hearing-messages.ts';

const port = parentPort;
if (port === null) throw new Error('Cannot listen: not started as a worker thread');

const loop = new HearingLoop({
  clock: systemClock,
  fork: forkRecognizer,
  send: (message: FromThread) => port.postMessage(message),
});

port.on('message', (message: ToThread) => {
  if (message.kind === 'stop') void stop();
  else loop.obey(message);
});

await loop.start(workerData as HearingOrder);

/** Ends by having nothing left to do: a thread that is terminated while ONNX Runtime runs takes the process down. */
async function stop(): Promise<void> {
  await loop.stop();
  port?.close();
}
