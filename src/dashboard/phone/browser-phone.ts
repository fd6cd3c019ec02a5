/** The phone as the browser has it: its microphones, the server's tickets, SIP and WebRTC. */
import type {
  BodyAndContentType,
  SessionDescriptionHandler,
} from 'sip.js/lib/api/session-description-handler.js';
import { ApiError } from '../api-error.ts';
import { client } from '../app-state.ts';
import { GAP_MS, TONE_MS } from './keys.ts';
import { type BrowserMicrophone, openMicrophone } from './microphone.ts';
import { Phone, type PhoneTicket } from './phone.ts';
import { PhoneError, type PhoneState, problemOfTicket } from './phone-state.ts';
import { type LineMedia, openSipLine } from './sip-line.ts';
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

const SDP = 'application/sdp';

/** Addresses of this machine are there at once; one that takes longer than this is done without. */
const GATHER_MS_MAX = 2000;

/** By then sound goes both ways, or never will. */
const CONNECT_MS_MAX = 12_000;

/** The sound of one call: ICE, DTLS and SRTP are the browser's; SIP carries the descriptions. */
class Peer implements SessionDescriptionHandler, LineMedia {
  // The server has an address of its own that the browser can reach, or there was no page: no STUN is needed.
  readonly #connection = new RTCPeerConnection({ iceServers: [] });
  readonly #sender: RTCRtpSender;
  readonly #player: HTMLAudioElement;
  #onBroken: () => void = () => undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param player where the agent is heard. */
  constructor(microphone: BrowserMicrophone, player: HTMLAudioElement) {
    this.#player = player;
    this.#sender = this.#connection.addTrack(microphone.track);
    microphone.onTrack((track) => this.#sender.replaceTrack(track));
    this.#connection.ontrack = ({ track }) => {
      player.srcObject = new MediaStream([track]);
      // The reader has pressed a button to call, so browsers let it be heard.
      player.play().catch(() => undefined);
    };
    this.#connection.onconnectionstatechange = () => this.#onConnection();
  }

  readonly factory = (): SessionDescriptionHandler => this;

  onBroken(listener: () => void): void {
    this.#onBroken = listener;
  }

  sendTone(digit: string): boolean {
    const { dtmf } = this.#sender;
    if (dtmf === null || !dtmf.canInsertDTMF) return false;
    // What is inserted takes the place of what still waits.
    dtmf.insertDTMF(`${dtmf.toneBuffer}${digit}`, TONE_MS, GAP_MS);
    return true;
  }

  sendDtmf(tones: string): boolean {
    return this.sendTone(tones);
  }

  hasDescription(contentType: string): boolean {
    return contentType === SDP;
  }

  async getDescription(): Promise<BodyAndContentType> {
    await this.#connection.setLocalDescription();
    await this.#gathered();
    return { body: this.#connection.localDescription?.sdp ?? '', contentType: SDP };
  }

  async setDescription(sdp: string): Promise<void> {
    const isAnswer = this.#connection.signalingState === 'have-local-offer';
    await this.#connection.setRemoteDescription({ type: isAnswer ? 'answer' : 'offer', sdp });
    if (!isAnswer) return;
    this.#timer = setTimeout(() => {
      if (this.#connection.connectionState !== 'connected') this.#onBroken();
    }, CONNECT_MS_MAX);
  }

  /** The microphone is not stopped: it is the phone's. */
  close(): void {
    clearTimeout(this.#timer);
    this.#connection.onconnectionstatechange = null;
    this.#connection.close();
    this.#player.srcObject = null;
  }

  #onConnection(): void {
    if (this.#connection.connectionState === 'failed') this.#onBroken();
  }

  #gathered(): Promise<void> {
    const connection = this.#connection;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS_MAX);
      const look = () => {
        if (connection.iceGatheringState !== 'complete') return;
        clearTimeout(timer);
        connection.onicegatheringstatechange = null;
        resolve();
      };
      connection.onicegatheringstatechange = look;
      look();
    });
  }
}
