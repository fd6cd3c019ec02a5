/** Leg of a simulated call, and its audio: the agent and a scripted party, frame by frame in simulated time. */
import type { PartyScript } from '../../domain/sandbox-scenario.ts';
import type { Clock, ScaledClock } from '../../lib/clock.ts';
import {
  type AudioEvent,
  type AudioStats,
  type AudioStream,
  FRAME_MS,
  FRAME_SAMPLES,
} from '../../media/audio-stream.ts';
import { QUIET_FRAMES, VOICE_FRAMES } from '../../media/dsp/energy-detector.ts';
import { LevelMeter, levelDbfs } from '../../media/dsp/level-meter.ts';
import { WavRecorder } from '../../media/recording/wav-recorder.ts';
import { type FinishedReply, Playout } from '../../media/rtp-session/playout.ts';
import { ReceiveRing } from '../../media/sound-rings.ts';
import {
  type Leg,
  type ReleaseCause,
  type ThreeWayCall,
  type TransferOutcome,
  transferFailure,
} from '../carrier.ts';
import { Party, type PartyFrame } from './party.ts';

/** Time until the third party of a transfer answers. */
const TRANSFER_MS = 1500;

/** Leg of a simulated call. */
export class SandboxLeg implements Leg {
  readonly audio: SandboxLine;
  readonly #script: PartyScript;
  readonly #onOver: () => void;
  readonly #closed = Promise.withResolvers<void>();
  #clock: ScaledClock | undefined;
  #cause: ReleaseCause | undefined;
  #isTransferring = false;
  #onReleased: (cause: ReleaseCause) => void = () => {};

  constructor(options: {
    readonly script: PartyScript;
    readonly pcmOf: (text: string) => Int16Array | undefined;
    /** E.164, of the scripted party. */
    readonly partyNumber: string;
    /** Called once, when the leg is released. */
    readonly onOver: () => void;
  }) {
    this.#script = options.script;
    this.#onOver = options.onOver;
    this.audio = new SandboxLine({
      script: options.script,
      pcmOf: options.pcmOf,
      partyNumber: options.partyNumber,
      farEnd: {
        hangUp: () => this.#release({ kind: 'far-end' }),
        breakOff: () =>
          this.#release({ kind: 'broken', reason: 'the simulated network has failed' }),
      },
    });
  }

  /** Starts the call's time; the party is idle before. Call it once, before any other method. */
  open(clock: ScaledClock): void {
    this.#clock = clock;
    if (this.#cause !== undefined) return;
    if (this.#script.steps[0]?.kind === 'wait') this.#beginSlowly(clock);
    this.audio.open(clock);
  }

  /** A party that acts within the greeting's first second does so in real time: faster, a busy process would miss it. */
  #beginSlowly(clock: ScaledClock): void {
    const speedUp = clock.slowDown();
    this.audio.onEvent(({ kind }) => {
      if (kind === 'voice-started') speedUp();
    });
  }

  onReleased(listener: (cause: ReleaseCause) => void): void {
    this.#onReleased = listener;
    if (this.#cause !== undefined) listener(this.#cause);
  }

  /** The party's keys arrive in the audio stream. */
  onDigit(): void {}

  record(path: string): void {
    this.audio.record(path);
  }

  hangUp(): Promise<void> {
    this.#release({ kind: 'near-end' });
    return this.#closed.promise;
  }

  /** Simulates no third party: the leg is released. */
  async transfer(_number: string): Promise<TransferOutcome> {
    await this.#pickedUp();
    this.#release({ kind: 'transferred' });
    return 'referred';
  }

  /** The third party says nothing, and stays. */
  async bringIn(_number: string): Promise<ThreeWayCall> {
    await this.#pickedUp();
    return {
      onAlone: () => undefined,
      leave: async () => {
        if (this.#cause === undefined) this.#release({ kind: 'transferred' });
        else if (this.#cause.kind !== 'transferred')
          throw transferFailure('the caller is gone', 480);
      },
    };
  }

  /** Resolves when the third party of a transfer has answered. @throws {CarrierError} when it cannot. */
  #pickedUp(): Promise<void> {
    const clock = this.#clock;
    if (this.#cause !== undefined || clock === undefined) {
      return Promise.reject(transferFailure('it is over', 481));
    }
    if (this.#isTransferring) {
      return Promise.reject(transferFailure('another transfer is in progress', 491));
    }
    this.#isTransferring = true;
    return new Promise((resolve, reject) => {
      clock.after(TRANSFER_MS, () => {
        if (this.#cause === undefined) resolve();
        else reject(transferFailure('the caller is gone', 487));
      });
    });
  }

  /** Ends the leg; the first cause counts. */
  #release(cause: ReleaseCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    // The recording and the record are finished in real time.
    this.#clock?.slowDown();
    this.#onReleased(cause);
    this.#onOver();
    this.#closed.resolve(this.audio.close());
  }
}

/** How often the frames that are due are made: seldom enough to be cheap, often enough for turn-taking. */
const TICK_MS = 60;

/** Silence for the recording, which is as long as the call. */
const QUIET_FRAME = new Int16Array(FRAME_SAMPLES);

/** Stays empty: a scripted party needs no recogniser, and only a mailbox beeps. Shared, because it has 64 KB. */
const EMPTY_RING = new ReceiveRing();

/** Actions of the far end on its leg. */
interface FarEnd {
  hangUp(): void;
  breakOff(): void;
}

interface SandboxLineOptions {
  readonly script: PartyScript;
  /** PCM of a party's sentence, 8 kHz; undefined without a voice. */
  readonly pcmOf: (text: string) => Int16Array | undefined;
  /** E.164, of the scripted party. */
  readonly partyNumber: string;
  readonly farEnd: FarEnd;
}

/**
 * Audio line to a scripted party; nothing moves before `open`, which brings the call's clock. Overdue frames are made up for
 * in order, so that a busy process does not change the audio.
 */
export class SandboxLine implements AudioStream {
  readonly heard: ReceiveRing;
  readonly meter = new LevelMeter();
  readonly partyNumber: string;
  readonly #listeners: ((event: AudioEvent) => void)[] = [];
  readonly #playout = new Playout();
  readonly #party: Party;
  #clock: Clock | undefined;
  #recorder: WavRecorder | undefined;
  /** End of the last frame. */
  #doneMs = 0;
  #isMaking = false;
  #isClosed = false;
  #isInterruptible = false;
  #isVoice = false;
  /** Frames in a row that differ from `#isVoice`. */
  #run = 0;
  #runFromMs = 0;
  #lastVoicedAtMs = 0;
  #cancelTick: () => void = () => {};

  constructor(options: SandboxLineOptions) {
    const { farEnd, pcmOf, script } = options;
    this.partyNumber = options.partyNumber;
    const isMailbox = script.steps.some((step) => step.kind === 'say' && step.toneMs !== undefined);
    this.heard = isMailbox ? new ReceiveRing() : EMPTY_RING;
    this.#party = new Party({
      script,
      actions: {
        pcmOf,
        press: (digit) => this.#emit({ kind: 'digit', digit, durationMs: 100 }),
        hangUp: () => farEnd.hangUp(),
        breakOff: () => farEnd.breakOff(),
      },
    });
  }

  /** Starts the line's time. Call it once, before any other method. */
  open(clock: Clock): void {
    if (this.#clock !== undefined) throw new TypeError('Cannot open the line: it is open');
    this.#clock = clock;
    this.#doneMs = clock.nowMs();
    this.#tick(clock);
  }

  /** Starts a stereo WAV file: caller left, agent right. */
  record(path: string): void {
    this.#recorder ??= new WavRecorder({
      path,
      startedAtMs: this.#doneMs,
      onFailed: (failure) => this.#emit({ kind: 'recording-failed', ...failure }),
    });
  }

  /** Stops time. Resolves when the recording is whole. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTick();
    await this.#recorder?.close();
  }

  /** Words that the party said in a time span. */
  wordsBetween(fromMs: number, untilMs: number): string {
    return this.#party.wordsBetween(fromMs, untilMs);
  }

  onEvent(listener: (event: AudioEvent) => void): void {
    this.#listeners.push(listener);
  }

  begin(generation: number): void {
    this.#catchUp();
    this.#report(this.#playout.begin(generation));
    // Ticks from the first frame of the reply on, so that the party reacts equally late in every call.
    if (this.#clock !== undefined) this.#tickLater(this.#clock);
  }

  say(generation: number, pcm: Int16Array): void {
    this.#catchUp();
    this.#playout.say(generation, pcm);
  }

  finish(generation: number): void {
    this.#catchUp();
    this.#report(this.#playout.finish(generation));
  }

  drop(generation: number): void {
    this.#catchUp();
    this.#report(this.#playout.drop(generation));
  }

  resume(generation: number): void {
    this.#catchUp();
    this.#playout.resume(generation);
  }

  /** A scripted party makes no noise: any length pauses at the detector's own. */
  setPauseAfter(voiceMs: number | null): void {
    this.#isInterruptible = voiceMs !== null;
  }

  /** There is no sound of a person to keep. */
  setPrivate(): void {}

  /** The scripted party does not listen for keys. */
  sendDigits(): void {}

  /** There are no packets. */
  stats(): Promise<AudioStats> {
    const packets = { packetsReceived: 0, packetsSent: 0, packetsLost: 0, packetsRejected: 0 };
    return Promise.resolve({ ...packets, jitterMs: 0 });
  }

  #tick(clock: Clock): void {
    this.#catchUp();
    this.#tickLater(clock);
  }

  #tickLater(clock: Clock): void {
    this.#cancelTick();
    if (!this.#isClosed) this.#cancelTick = clock.after(TICK_MS, () => this.#tick(clock));
  }

  /** Makes every frame that is due. Frames that they trigger are made by the same loop. */
  #catchUp(): void {
    if (this.#clock === undefined || this.#isMaking) return;
    this.#isMaking = true;
    try {
      while (!this.#isClosed && this.#doneMs + FRAME_MS <= this.#clock.nowMs()) this.#makeFrame();
    } finally {
      this.#isMaking = false;
    }
  }

  #makeFrame(): void {
    const fromMs = this.#doneMs;
    this.#doneMs += FRAME_MS;
    this.#playAgent();
    const frame = this.#party.next(fromMs, this.#playout.playedMs > 0);
    if (this.heard !== EMPTY_RING) this.heard.write(frame.pcm ?? QUIET_FRAME, this.#doneMs);
    this.#recorder?.add('caller', frame.pcm ?? QUIET_FRAME, this.#doneMs);
    if (this.meter.isOn && frame.pcm !== undefined) this.meter.note('caller', levelDbfs(frame.pcm));
    this.#detectVoice(frame, fromMs);
  }

  #playAgent(): void {
    const { generation, playedMs } = this.#playout;
    const frame = new Int16Array(FRAME_SAMPLES);
    if (generation === undefined || !this.#playout.takeInto(frame)) return;
    this.#recorder?.add('agent', frame, this.#doneMs);
    if (this.meter.isOn) this.meter.note('agent', levelDbfs(frame));
    if (playedMs === 0) this.#emit({ kind: 'playout-started', generation, atMs: this.#doneMs });
    this.#report(this.#playout.endIfPlayed());
  }

  /** Voice activity, by the rule of the media worker's detector: a number of consecutive frames. */
  #detectVoice({ isVoice }: PartyFrame, fromMs: number): void {
    if (isVoice) this.#lastVoicedAtMs = this.#doneMs;
    if (isVoice === this.#isVoice) {
      this.#run = 0;
      return;
    }
    if (this.#run === 0) this.#runFromMs = fromMs;
    this.#run += 1;
    if (this.#run < (isVoice ? VOICE_FRAMES : QUIET_FRAMES)) return;
    this.#isVoice = isVoice;
    this.#run = 0;
    if (isVoice) {
      this.#emit({ kind: 'voice-started', atMs: this.#runFromMs });
      this.#pauseForParty();
    } else {
      this.#emit({ kind: 'voice-stopped', lastVoicedAtMs: this.#lastVoicedAtMs });
    }
  }

  #pauseForParty(): void {
    const { generation, playedMs, isPaused } = this.#playout;
    const isTalking = generation !== undefined && playedMs > 0 && !isPaused;
    if (!isTalking || !this.#isInterruptible) return;
    this.#playout.pause();
    this.#emit({ kind: 'playout-paused', generation, playedMs });
  }

  #report(reply: FinishedReply | undefined): void {
    if (reply !== undefined) this.#emit({ kind: 'playout-finished', ...reply });
  }

  #emit(event: AudioEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
