/** Calls in progress, real and simulated ones as one: look-up, hang-up, transfer, level meters, listening in, quality, waveforms. */
import { isSameScope, type Scope } from '../domain/agent/agent.ts';
import type { CallQuality } from '../domain/call/call-life.ts';
import {
  type CallLevels,
  LEVELS_MS,
  LIVE_SOUND_SHAPE,
  type Listening,
  type LiveCalls,
  type LiveSound,
  PIECE_MS,
  type SoundListener,
} from '../domain/call/live-sound.ts';
import type { ReadPeaks } from '../domain/call/recording-link.ts';
import { type Clock, systemClock, waitAtMost } from '../lib/clock.ts';
import type { SoundTap } from '../media/audio-stream.ts';
import type { LevelMeter } from '../media/dsp/level-meter.ts';
import { endlessWavHeader, readWavPeaks } from '../media/recording/wav-file.ts';
import { StereoTrack, type TrackSide } from '../media/recording/wav-recorder.ts';
import type { ReceiveRing } from '../media/sound-rings.ts';
import type { Leg } from '../telephony/carrier.ts';
import type { CallInProgress } from './call-registry.ts';
import { qualityOf } from './session/call-quality.ts';

/** Recordings read at a time: each read is a task of the thread pool that also writes recordings. */
const READ_AT_ONCE_MAX = 2;

/** A registry of calls in progress. */
interface Holder extends LiveCalls {
  readonly inProgress: readonly CallInProgress[];
}

/** Joins two registries; a call is in one of them at most. */
export function openLive(
  real: Holder,
  sandbox: Holder,
): {
  readonly liveCalls: LiveCalls;
  readonly liveSound: LiveSound;
  readonly readPeaks: ReadPeaks;
} {
  return {
    liveCalls: {
      holds: (id) => real.holds(id) || sandbox.holds(id),
      hangUp: (id) => real.hangUp(id) || sandbox.hangUp(id),
      transfer: (id, number, manner) => {
        const start = real.transfer(id, number, manner);
        return start === 'not-in-progress' ? sandbox.transfer(id, number, manner) : start;
      },
    },
    liveSound: new CallSound({
      clock: systemClock,
      inProgress: () => [...real.inProgress, ...sandbox.inProgress],
    }),
    readPeaks: peakReader(),
  };
}

/** Reads the waveforms of recordings, two at a time; answers `busy` beyond that. */
export function peakReader(): ReadPeaks {
  let reading = 0;
  return async (file, points, signal) => {
    if (reading >= READ_AT_ONCE_MAX) return 'busy';
    reading += 1;
    try {
      const peaks = await readWavPeaks(file, points, signal);
      if (peaks === undefined) return 'none';
      return { durationMs: peaks.durationMs, caller: peaks.left, agent: peaks.right };
    } finally {
      reading -= 1;
    }
  };
}

/** Finds a call's audio for listening in, level meters and quality figures. */
export class CallSound implements LiveSound {
  readonly #levels: LevelRounds;
  readonly #listeners: ListenerRounds;
  readonly #inProgress: RoundOptions['inProgress'];

  constructor(options: RoundOptions) {
    this.#inProgress = options.inProgress;
    this.#levels = new LevelRounds(options);
    this.#listeners = new ListenerRounds(options);
  }

  watchLevels(scope: Scope, onLevels: (levels: readonly CallLevels[]) => void): () => void {
    return this.#levels.watch(scope, onLevels);
  }

  listen(callId: string, listener: SoundListener): Listening {
    return this.#listeners.add(callId, listener);
  }

  async quality(callId: string): Promise<CallQuality | undefined> {
    const call = this.#inProgress().find((one) => one.callId === callId);
    return call && qualityOf(await call.audio.stats());
  }

  close(): void {
    this.#levels.close();
    this.#listeners.close();
  }
}

/** Closing a line writes the last second of its recording. */
const LINE_CLOSE_MS_MAX = 5000;

/** Resolves when the recording is whole; a disk that hangs must not keep the record from its end. */
export async function lineClosed(leg: Leg, clock: Clock): Promise<void> {
  // The leg is over already: `hangUp` sends nothing, and only waits for parts of the leg that end with it.
  const ended = leg.hangUp().catch(() => undefined);
  await waitAtMost(clock, LINE_CLOSE_MS_MAX, ended);
}

/** Who listens to a call is somebody's supervisor, not an audience. */
const OF_A_CALL_MAX = 5;

/** Each costs 32 KB a second on the thread that also holds the conversations. */
const IN_ALL_MAX = 20;

const HEADER = endlessWavHeader(LIVE_SOUND_SHAPE);

/** Dependencies of both kinds of rounds: sound for listeners, and levels. */
interface RoundOptions {
  readonly clock: Clock;
  /** The calls that were answered and go on, of every account. */
  readonly inProgress: () => readonly CallInProgress[];
}

interface Listened {
  readonly call: CallInProgress;
  readonly sound: ListenedSound;
  readonly listeners: Set<SoundListener>;
}

/** Sends live audio of calls in progress to supervisors; WAV, 8 kHz, stereo. */
class ListenerRounds {
  readonly #options: RoundOptions;
  readonly #listened = new Map<string, Listened>();
  #cancel: () => void = () => undefined;

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  add(callId: string, listener: SoundListener): Listening {
    const call = this.#options.inProgress().find((one) => one.callId === callId);
    if (call === undefined) return { kind: 'not-in-progress' };
    const { heard, tap } = call.audio;
    if (tap === undefined) return { kind: 'simulated' };
    const why = this.#whyFull(callId);
    if (why !== undefined) return { kind: 'full', why };
    const wasIdle = this.#listened.size === 0;
    const listened = this.#listened.get(callId) ?? {
      ...{ call, sound: new ListenedSound({ heard, tap }, this.#options.clock.nowMs()) },
      listeners: new Set(),
    };
    listened.listeners.add(listener);
    this.#listened.set(callId, listened);
    if (wasIdle) this.#later();
    return { kind: 'begun', header: HEADER, stop: () => this.#remove(listened, listener) };
  }

  /** Safe to call twice. */
  close(): void {
    for (const listened of [...this.#listened.values()]) this.#end(listened);
  }

  #whyFull(callId: string): string | undefined {
    const sizes = [...this.#listened.values()].map(({ listeners }) => listeners.size);
    const inAll = sizes.reduce((sum, size) => sum + size, 0);
    if (inAll >= IN_ALL_MAX) return `${IN_ALL_MAX} listen to calls of this server already`;
    const ofCall = this.#listened.get(callId)?.listeners.size ?? 0;
    return ofCall >= OF_A_CALL_MAX ? `${OF_A_CALL_MAX} listen to it already` : undefined;
  }

  #later(): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(PIECE_MS, () => {
      this.#pass();
      if (this.#listened.size > 0) this.#later();
    });
  }

  #pass(): void {
    const inProgress = new Set(this.#options.inProgress());
    const nowMs = this.#options.clock.nowMs();
    for (const listened of [...this.#listened.values()]) {
      if (!inProgress.has(listened.call)) {
        this.#end(listened);
        continue;
      }
      const pcm = listened.sound.take(nowMs);
      for (const listener of [...listened.listeners]) if (pcm.length > 0) listener.onSound(pcm);
    }
  }

  #remove(listened: Listened, listener: SoundListener): void {
    if (listened.listeners.delete(listener) && listened.listeners.size === 0) this.#drop(listened);
  }

  #end(listened: Listened): void {
    this.#drop(listened);
    const listeners = [...listened.listeners];
    listened.listeners.clear();
    for (const listener of listeners) listener.onOver();
  }

  #drop({ call, sound }: Listened): void {
    sound.close();
    this.#listened.delete(call.callId);
    if (this.#listened.size === 0) this.#cancel();
  }
}

/** Delay of the sound for listeners, in which late packets, or silence in their place, arrive. */
const LAG_MS = 120;

/** After a longer stall the missed sound is skipped, in milliseconds. */
const STALL_MS_MAX = 2000;

const FRAMES_PER_MS = LIVE_SOUND_SHAPE.rateHz / 1000;

interface Side {
  readonly side: TrackSide;
  readonly ring: ReceiveRing;
  /** Position up to which it was read. */
  position: number;
}

/** Sound of one call, shared by all its listeners. The media worker only copies what it plays; all else is done here. */
export class ListenedSound {
  readonly #tap: SoundTap;
  readonly #sides: readonly Side[];
  #track: StereoTrack;
  #startedAtMs: number;
  #takenFrames = 0;

  constructor(line: { readonly heard: ReceiveRing; readonly tap: SoundTap }, nowMs: number) {
    this.#tap = line.tap;
    const [caller, agent] = [line.heard, line.tap.open()];
    this.#sides = [
      { side: 'caller', ring: caller, position: caller.end },
      { side: 'agent', ring: agent, position: agent.end },
    ];
    this.#track = new StereoTrack({ startedAtMs: nowMs });
    this.#startedAtMs = nowMs;
  }

  /** Sound that has become due since the last `take`, in the shape of `LIVE_SOUND_SHAPE`; silence where a side has none. */
  take(nowMs: number): Buffer {
    if (this.#framesDue(nowMs) > STALL_MS_MAX * FRAMES_PER_MS) this.#restart(nowMs);
    for (const side of this.#sides) this.#read(side);
    const frames = Math.max(0, this.#framesDue(nowMs));
    this.#takenFrames += frames;
    return this.#track.take(frames);
  }

  /** Safe to call twice. */
  close(): void {
    this.#tap.close();
  }

  #framesDue(nowMs: number): number {
    const dueMs = Math.floor(nowMs - LAG_MS - this.#startedAtMs);
    return dueMs * FRAMES_PER_MS - this.#takenFrames;
  }

  #read(from: Side): void {
    from.position = Math.max(from.position, from.ring.oldest);
    const pcm = from.ring.read(from.position);
    from.position += pcm.length;
    if (pcm.length > 0) this.#track.add(from.side, pcm, from.ring.endAtMs);
  }

  #restart(nowMs: number): void {
    for (const side of this.#sides) side.position = side.ring.end;
    this.#startedAtMs = nowMs - LAG_MS;
    this.#takenFrames = 0;
    this.#track = new StereoTrack({ startedAtMs: this.#startedAtMs });
  }
}

interface Watch {
  readonly scope: Scope;
  readonly onLevels: (levels: readonly CallLevels[]) => void;
}

/** Sends audio levels of calls in progress, in dBFS, to their watchers. */
export class LevelRounds {
  readonly #options: RoundOptions;
  readonly #watches = new Set<Watch>();
  /** The meters that are on, by call. */
  readonly #meters = new Map<string, LevelMeter>();
  #cancel: () => void = () => undefined;

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  /** @returns stops it; safe to call twice. */
  watch(scope: Scope, onLevels: Watch['onLevels']): () => void {
    const watch = { scope, onLevels };
    const wasIdle = this.#watches.size === 0;
    this.#watches.add(watch);
    this.#measure();
    if (wasIdle) this.#later();
    return () => {
      if (this.#watches.delete(watch) && this.#watches.size === 0) this.#rest();
    };
  }

  /** Safe to call twice. */
  close(): void {
    this.#watches.clear();
    this.#rest();
  }

  #later(): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(LEVELS_MS, () => {
      this.#tell();
      this.#measure();
      if (this.#watches.size > 0) this.#later();
    });
  }

  #tell(): void {
    const measured = this.#options.inProgress().flatMap((call) => {
      const taken = this.#meters.get(call.callId)?.take();
      if (taken === undefined) return [];
      const { callId } = call;
      return [{ call, levels: { callId, callerDbfs: taken.caller, agentDbfs: taken.agent } }];
    });
    for (const { scope, onLevels } of [...this.#watches]) {
      const own = measured.filter(({ call }) => isSameScope(scope, call.scope));
      if (own.length > 0) onLevels(own.map(({ levels }) => levels));
    }
  }

  /** Turns on the meters of watched calls, and turns off all others. */
  #measure(): void {
    const watched = this.#options
      .inProgress()
      .filter(({ scope }) => [...this.#watches].some((watch) => isSameScope(watch.scope, scope)));
    const ids = new Set(watched.map(({ callId }) => callId));
    for (const [callId, meter] of this.#meters) if (!ids.has(callId)) this.#turnOff(callId, meter);
    for (const { callId, audio } of watched) {
      if (audio.meter === undefined || this.#meters.has(callId)) continue;
      audio.meter.start();
      this.#meters.set(callId, audio.meter);
    }
  }

  #turnOff(callId: string, meter: LevelMeter): void {
    meter.stop();
    this.#meters.delete(callId);
  }

  #rest(): void {
    this.#cancel();
    for (const [callId, meter] of this.#meters) this.#turnOff(callId, meter);
  }
}
