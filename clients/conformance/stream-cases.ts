/** Event streams: their format, and interrupted connections. */
import type { Command } from './driver.ts';
import type { FaultCase } from './fault-case.ts';
import { errorStep, type Step } from './fault-server.ts';

function watch(count: number): Command {
  return { do: 'stream', operation: 'calls.watch', query: { levels: true }, count };
}

/** Long enough that pieces do not come together. */
const PAUSE_MS = 3;

/** Sends pieces with a pause between, then ends the stream, or leaves it open. */
function events(pieces: readonly (string | Buffer)[], isLeftOpen = false): Step {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const rest = [...pieces];
    const next = () => {
      const piece = rest.shift();
      if (piece !== undefined) response.write(piece, () => setTimeout(next, PAUSE_MS));
      else if (!isLeftOpen) response.end();
    };
    next();
  };
}

const SNAPSHOT = 'event: snapshot\ndata: {"calls":[],"queuedCalls":1}\n\n';
const snapshot = { event: 'snapshot', data: { calls: [], queuedCalls: 1 } };

const SAID = Buffer.from(
  'event: hearing\r\ndata: {"callId":"call_1",\r\ndata: "text":"ü"}\r\n\r\n',
);
const said = { event: 'hearing', data: { callId: 'call_1', text: 'ü' } };
/** A stream that goes on. */
export const snapshotThenNothing: Step = events([SNAPSHOT], true);

/** Inside the letter, which is two bytes. */
const MIDDLE = SAID.indexOf('ü') + 1;

export const STREAM_CASES: readonly FaultCase[] = [
  {
    name: 'events with comments, other line ends and letters cut in two',
    steps: [
      events(
        ['retry: 1\n\n: ping\n\n', SNAPSHOT, SAID.subarray(0, MIDDLE), SAID.subarray(MIDDLE)],
        true,
      ),
    ],
    command: watch(2),
    expected: { value: [snapshot, said] },
    requests: 1,
    faultsOf: ([first]) => {
      const isAsked = first?.url === '/api/live/calls?levels=true';
      const accept = String(first?.headers.accept);
      return isAsked && accept.includes('text/event-stream') ? [] : [`${first?.url} ${accept}`];
    },
  },
  {
    name: 'events that come byte by byte',
    steps: [
      events(
        [...SAID].map((byte) => Buffer.from([byte])),
        true,
      ),
    ],
    command: watch(1),
    expected: { value: [said] },
    requests: 1,
  },
  {
    name: 'a stream that ends begins again',
    steps: [events(['retry: 20\n\n', SNAPSHOT])],
    command: watch(3),
    expected: { value: [snapshot, snapshot, snapshot] },
    requests: 3,
  },
  {
    name: 'a stream that is cut within an event, which counts as none',
    steps: [events(['retry: 20\n\n', SNAPSHOT, 'event: call\ndata: {}\n'])],
    command: watch(2),
    expected: { value: [snapshot, snapshot] },
    requests: 2,
  },
  {
    name: 'a stream that ends each time without an event',
    steps: [events(['retry: 20\n\n'])],
    command: watch(1),
    expected: { kind: 'ConnectionFailed' },
    requests: 3,
  },
  {
    name: 'a stream whose server falls silent',
    steps: [events([SNAPSHOT], true)],
    open: { timeoutSeconds: 1, maxRetries: 0 },
    command: watch(2),
    expected: { kind: 'RequestTimeout' },
    requests: 1,
  },
  {
    name: 'a stream of a revoked key',
    steps: [errorStep(401, 'UNAUTHORIZED')],
    command: watch(1),
    expected: { kind: 'Unauthorized' },
    requests: 1,
  },
  {
    name: 'an event that is no JSON',
    steps: [events(['event: call\ndata: {\n\n'])],
    command: watch(1),
    expected: { kind: 'InvalidResponse' },
    requests: 1,
  },
];
