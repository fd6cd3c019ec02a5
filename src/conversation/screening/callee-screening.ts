/** Answering machine detection of one outgoing call: listens for voice, words and beeps, and has the agent greet, be silent, leave its message or hang up. */
import type { Voicemail } from '../../domain/agent/agent.ts';
import type { Clock } from '../../lib/clock.ts';
import { type AudioStream, LINE_RATE_HZ } from '../../media/audio-stream.ts';
import { BeepDetector } from '../../media/dsp/beep-detector.ts';
import { meanPower } from '../../media/dsp/level-meter.ts';
import type { ConversationEvent } from '../conversation-port.ts';
import type { TurnEvent } from '../turn/turn-event.ts';
import {
  hearCallee,
  isGreetingOver,
  isSettled,
  judgeCallee,
  mayGreet,
  openScreen,
  type ScreenState,
} from './answer-screen.ts';

/** How often the sound is measured and searched for a beep, and time is taken into account. */
const TICK_MS = 100;

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

const SILENT_TICK = new Int16Array(TICK_MS * SAMPLES_PER_MS);

interface ScreeningOptions {
  readonly voicemail: Voicemail;
  /** BCP 47, of the callee's words. */
  readonly language: string;
  readonly audio: Pick<AudioStream, 'heard'>;
  readonly clock: Clock;
  readonly tell: (event: TurnEvent) => void;
  readonly onEvent: (event: ConversationEvent) => void;
  /** Takes a fault of the screening, which then is over. */
  readonly onFault: (error: unknown) => void;
}

/** One per call. `start` it with the answer; it ends by itself, or with `stop`. */
export class CalleeScreening {
  readonly #options: ScreeningOptions;
  readonly #beeps = new BeepDetector();
  #state: ScreenState | undefined;
  #hasGreeted = false;
  #position = 0;
  #cancelTick: () => void = () => undefined;
  #isOver = false;

  constructor(options: ScreeningOptions) {
    this.#options = options;
  }

  /** Begins to listen. Where the agent is to talk to machines too, it greets at once. */
  start(): void {
    const { audio, clock, language, tell, voicemail } = this.#options;
    this.#state = openScreen(language, clock.nowMs());
    this.#position = audio.heard.end;
    this.#hasGreeted = voicemail.action === 'continue';
    tell({ kind: this.#hasGreeted ? 'started' : 'screening-began' });
    this.#tickLater();
  }

  /** Takes voices and words of the conversation; it has no use for other events. */
  hear(event: TurnEvent): void {
    if (this.#state === undefined || this.#isOver) return;
    switch (event.kind) {
      case 'voice-started':
        this.#update(hearCallee(this.#state, { kind: event.kind, atMs: event.voicedAtMs }));
        break;
      case 'voice-stopped':
        this.#update(hearCallee(this.#state, event));
        break;
      case 'background-talk':
        this.#update(
          hearCallee(this.#state, { kind: 'voice-stopped', lastVoicedAtMs: event.sinceMs }),
        );
        break;
      case 'transcribed': {
        const atMs = this.#options.clock.nowMs();
        this.#update(hearCallee(this.#state, { kind: 'words', text: event.text, atMs }));
        break;
      }
    }
  }

  /** The call is over: an undecided callee is reported as unknown. Safe to call twice. */
  stop(): void {
    if (this.#state === undefined || this.#isOver) return;
    this.#giveUp(this.#state);
  }

  #tickLater(): void {
    this.#cancelTick = this.#options.clock.after(TICK_MS, () => {
      try {
        this.#tick();
      } catch (error) {
        this.#end();
        this.#options.onFault(error);
      }
    });
  }

  #tick(): void {
    if (this.#state === undefined || this.#isOver) return;
    const nowMs = this.#options.clock.nowMs();
    this.#update(judgeCallee(this.#hearSound(this.#state, nowMs), nowMs));
    this.#act(nowMs);
    if (!this.#isOver) this.#tickLater();
  }

  #hearSound(before: ScreenState, atMs: number): ScreenState {
    const { heard } = this.#options.audio;
    const pcm = heard.read(this.#position);
    this.#position = heard.end;
    // Far ends that suppress silence send nothing behind a beep.
    const sound = pcm.length > 0 ? pcm : SILENT_TICK;
    const fromMs = atMs - sound.length / SAMPLES_PER_MS;
    let state = hearCallee(before, { kind: 'sound', fromMs, atMs, power: meanPower(sound) });
    for (const edge of this.#beeps.hear(sound)) {
      state = hearCallee(state, { kind: `beep-${edge}`, atMs });
    }
    return state;
  }

  #update(state: ScreenState): void {
    const before = this.#state?.answeredBy;
    this.#state = state;
    const { answeredBy, sign } = state;
    if (answeredBy === null || sign === null || answeredBy === before) return;
    this.#report(answeredBy, sign);
    if (answeredBy === 'machine') this.#machineAnswered();
  }

  #machineAnswered(): void {
    const { tell, voicemail } = this.#options;
    switch (voicemail.action) {
      case 'continue':
        this.#end();
        break;
      case 'hang_up':
        this.#end();
        tell({ kind: 'hang-up-due' });
        break;
      case 'leave_message':
        tell({ kind: 'machine-answered' });
        break;
      default:
        voicemail.action satisfies never;
    }
  }

  #act(nowMs: number): void {
    const { tell, voicemail } = this.#options;
    const state = this.#state;
    if (state === undefined || this.#isOver) return;
    if (state.answeredBy === 'machine') {
      if (!isGreetingOver(state, nowMs)) return;
      this.#end();
      tell({ kind: 'message-due', text: voicemail.message ?? '' });
      return;
    }
    if (!this.#hasGreeted && mayGreet(state)) {
      this.#hasGreeted = true;
      tell({ kind: 'started' });
    }
    if (isSettled(state, nowMs)) this.#giveUp(state);
  }

  #giveUp({ answeredBy }: ScreenState): void {
    this.#end();
    if (answeredBy === null) this.#report('unknown', 'undecided');
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelTick();
  }

  #report(
    answeredBy: 'human' | 'machine' | 'unknown',
    sign: NonNullable<ScreenState['sign']>,
  ): void {
    const { clock, onEvent } = this.#options;
    const afterMs = clock.nowMs() - (this.#state?.answeredAtMs ?? clock.nowMs());
    onEvent({ kind: 'answered-by', answeredBy, sign, afterMs });
  }
}
