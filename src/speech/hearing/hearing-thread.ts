/** Entry of the hearing thread, which reads the callers' audio; the main thread never does. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../lib/clock.ts';
import { forkRecognizer } from '../stt/pool/recognizer-lane.ts';
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

/** Ends the thread by closing its port: terminating it while ONNX Runtime runs would crash the process. */
async function stop(): Promise<void> {
  await loop.stop();
  port?.close();
}
