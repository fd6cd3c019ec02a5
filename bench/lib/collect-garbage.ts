/** Has all threads of this process collect their garbage, by Node's own inspector: nothing else asks another thread. */
import { Session } from 'node:inspector/promises';
import { setTimeout as wait } from 'node:timers/promises';

/** A second collection frees what the first has only finalised, and what threads shared. */
const ROUNDS = 2;

/** As thoroughly as V8 does when the system has no memory left: pages that it has ready for more go back as well. */
const COLLECT = 'HeapProfiler.collectGarbage';

/** Time limit of a thread's answer. A thread that never returns to its event loop, as the stubs' clock, makes hardly any garbage. */
const ANSWER_MS_MAX = 2000;

export async function collectAllGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    const threads: string[] = [];
    session.on('NodeWorker.attachedToWorker', ({ params }) => threads.push(params.sessionId));
    await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const sessionId of threads) await collectIn(session, sessionId);
      await session.post(COLLECT);
    }
    await session.post('NodeWorker.disable');
  } finally {
    session.disconnect();
  }
}

async function collectIn(session: Session, sessionId: string): Promise<void> {
  const done = new Promise<void>((resolve) => {
    session.once('NodeWorker.receivedMessageFromWorker', () => resolve());
  });
  const message = JSON.stringify({ id: 1, method: COLLECT });
  await session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
  await Promise.race([done, wait(ANSWER_MS_MAX)]);
}
