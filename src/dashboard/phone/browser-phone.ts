/** The phone as the browser has it: its microphones, the server's tickets, SIP and WebRTC. */
import { ApiError } from '../api-error.ts';
import { client } from '../app-state.ts';
import { type BrowserMicrophone, openMicrophone } from './microphone.ts';
import { Peer } from './peer.ts';
import { Phone, type PhoneTicket } from './phone.ts';
import { PhoneError, problemOfTicket } from './phone-problem.ts';
import type { PhoneState } from './phone-state.ts';
import { openSipLine } from './sip-line.ts';
import { socketAddress } from './socket-address.ts';

export type BrowserPhone = Phone<BrowserMicrophone>;

/** @param player where the agent is heard. */
export function browserPhone(
  agentId: string,
  player: HTMLAudioElement,
  onState: (state: PhoneState) => void,
): BrowserPhone {
  return new Phone({
    openMicrophone,
    askTicket: () => askTicket(agentId),
    openLine: (ticket, microphone, listener) =>
      openSipLine(ticket, new Peer(microphone, player), listener),
    nowMs: () => Date.now(),
    onState,
  });
}

async function askTicket(agentId: string): Promise<PhoneTicket> {
  try {
    const ticket = await client.phoneTicket(agentId);
    return { ...ticket, url: socketAddress(ticket.url, location.href) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new PhoneError(problemOfTicket(error.status, error.message), { cause: error });
  }
}
