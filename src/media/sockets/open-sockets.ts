/** Chooses a media thread's sockets: the system's own where they can be had, Node's elsewhere. */
import type { Alarm } from '../worker/alarm.ts';
import type { LineSockets } from './line-sockets.ts';
import { NodeSockets } from './node-sockets.ts';
import { trySockets } from './socket-trial.ts';

/**
 * Opens the best sockets that carry a packet there and back; which, and why, is in their report.
 *
 * @param options.alarm wakes the thread where it sleeps on Node's sockets.
 * @param options.isPortable keeps to Node's own.
 * @param options.loadBest rejects where there are none but Node's.
 */
export async function openSockets(options: {
  readonly alarm: Alarm;
  readonly isPortable: boolean;
  readonly loadBest?: () => Promise<LineSockets>;
}): Promise<LineSockets> {
  const { alarm, isPortable, loadBest = loadLinuxSockets } = options;
  if (isPortable) return new NodeSockets({ alarm, reason: 'asked for' });
  try {
    return await tried(await loadBest());
  } catch (error) {
    const state = error instanceof Error ? error.message : String(error);
    return new NodeSockets({ alarm, reason: `no system calls: ${state}` });
  }
}

/** @throws {Error} when no packet goes there and back; the sockets are then stopped. */
async function tried(sockets: LineSockets): Promise<LineSockets> {
  try {
    await trySockets(sockets);
    return sockets;
  } catch (error) {
    sockets.stop();
    throw error;
  }
}

/** Loaded where it is wanted: koffi's program exists for some systems only. */
async function loadLinuxSockets(): Promise<LineSockets> {
  const { LinuxSockets } = await import('./linux/linux-sockets.ts');
  return LinuxSockets.load();
}
