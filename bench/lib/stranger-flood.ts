/** A SIP scanner during calls: its process, and the messages it sent and received. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { nodeTool } from './rtp-run.ts';
import type { SideLoad } from './turn-run.ts';

const STRANGER = '127.0.0.2';

/** Trunks of a server to which 127.0.0.1 is a carrier and every other address a stranger. */
export const STRANGER_TRUNKS = [
  { name: 'here', proxy: '127.0.0.1', allowedSources: ['127.0.0.1'], optionsIntervalSeconds: 0 },
];

/** What a scanner sent, and how many packets of any kind came back to it. */
export interface FloodReport {
  readonly sent: number;
  readonly received: number;
}

/** A flood that begins with the measured time; at a rate of 0 there is none. `report` resolves when it is over. */
export function startFlood(
  sipPort: number,
  invitesPerSecond: number,
  seconds: number,
): { readonly load: SideLoad; report(): Promise<FloodReport> } {
  let flood: Promise<FloodReport> = Promise.resolve({ sent: 0, received: 0 });
  const onBegin = () => {
    if (invitesPerSecond > 0) flood = runFlood(sipPort, invitesPerSecond, seconds);
  };
  return { load: { onBegin }, report: () => flood };
}

async function runFlood(sipPort: number, rate: number, seconds: number): Promise<FloodReport> {
  const [program, ...args] = nodeTool('stranger-flood');
  const given = [STRANGER, sipPort, rate, seconds].map(String);
  const { stdout } = await promisify(execFile)(program, [...args, ...given]);
  return JSON.parse(stdout);
}
