/** Plays a scene on the turn machine and a fake clock, and writes down every event and every effect. */
import {
  type TurnEffect,
  type TurnEvent,
  turnEventOfAudio,
} from '../../../src/conversation/turn/turn-event.ts';
import { takeTurnEvent } from '../../../src/conversation/turn/turn-machine.ts';
import { TurnTimers } from '../../../src/conversation/turn/turn-rules.ts';
import { openState, type TurnState } from '../../../src/conversation/turn/turn-state.ts';
import { LINE_RATE_HZ } from '../../../src/media/audio-stream.ts';
import type { ToolOutcome } from '../../../src/tool/tool.ts';
import { FakeClock } from '../../support/time/fake-clock.ts';
import { FakeLine } from './fake-line.ts';
import type { ModelAct, Scene } from './scene.ts';
import { modelEvents } from './scene-model.ts';
import { rulesOf } from './scene-rules.ts';
import { traceEffect, traceTurnEvent } from './scene-trace.ts';

/** How long the parts take. */
const STT_MS = 80;
const TTS_MS = 60;
/** Quiet before the turn model is asked, and its answer. */
const TURN_MODEL_MS = 160 + 20;
const VOICE_MS_PER_CHARACTER = 60;

interface Spoken {
  readonly text: string;
  readonly fromMs: number;
  readonly voiceMs: number;
  readonly levelDbfs?: number;
  readonly confidence: number;
}

interface LiveReply {
  readonly clauses: { readonly clause: number; readonly text: string }[];
  kept: Int16Array[];
  isReleased: boolean;
  isLast: boolean;
  isDropped: boolean;
  isBusy: boolean;
  hasBegun: boolean;
}

export class SceneWorld {
  readonly trace: string[] = [];
  readonly #clock = new FakeClock();
  readonly #line = new FakeLine(this.#clock);
  readonly #scene: Scene;
  readonly #model: ModelAct[];
  readonly #turnScores: number[];
  readonly #timers: TurnTimers;
  readonly #spoken: Spoken[] = [];
  readonly #replies = new Map<number, LiveReply>();
  readonly #queue: TurnEvent[] = [];
  #isTurning = false;
  #state: TurnState;
  #listenFromMs = 0;
  #attempt = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#model = [...scene.model];
    this.#turnScores = [...scene.turnScores];
    const onRing = (timer: Parameters<TurnTimers['set']>[0]) =>
      this.#tell({ kind: 'timer', timer });
    this.#timers = new TurnTimers({ clock: this.#clock, onRing });
    this.#state = openState(rulesOf(scene));
    this.#line.onEvent((audioEvent) => {
      const event = turnEventOfAudio(audioEvent);
      if (event !== undefined) this.#tell(this.#measured(event));
      if (event?.kind === 'voice-stopped') this.#score(event.lastVoicedAtMs);
    });
  }

  /** Plays the scene to its curtain. @returns the trace, one line an event or effect. */
  play(): string[] {
    for (const { atMs, act } of this.#scene.caller) {
      this.#clock.after(atMs, () => {
        if (act.kind === 'hangs-up') this.#tell({ kind: 'stopped' });
        if (act.kind === 'presses') this.#tell({ kind: 'digit', digit: act.digit });
        if (act.kind !== 'says') return;
        this.#spoken.push({ ...act, fromMs: this.#clock.nowMs() });
        this.#line.voice(act.voiceMs);
      });
    }
    this.#tell({ kind: 'started' });
    this.#clock.advance(this.#scene.lengthMs);
    return this.trace;
  }

  /** The level of a voice is that of what was said last. */
  #measured(event: TurnEvent): TurnEvent {
    const levelDbfs = this.#spoken.at(-1)?.levelDbfs;
    const isKnown = event.kind === 'voice-stopped' && levelDbfs !== undefined;
    return isKnown ? { ...event, levelDbfs } : event;
  }

  #score(lastVoicedAtMs: number): void {
    const probability = this.#turnScores.shift();
    if (probability === undefined) return;
    this.#clock.after(lastVoicedAtMs + TURN_MODEL_MS - this.#clock.nowMs(), () =>
      this.#tell({ kind: 'turn-scored', lastVoicedAtMs, probability }),
    );
  }

  #tell(event: TurnEvent): void {
    this.#queue.push(event);
    if (this.#isTurning) return;
    this.#isTurning = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) this.#take(next);
    this.#isTurning = false;
  }

  #take(event: TurnEvent): void {
    const atMs = this.#clock.nowMs();
    const step = takeTurnEvent(this.#state, { ...event, atMs });
    this.#state = step.state;
    this.trace.push(`${(atMs / 1000).toFixed(3).padStart(7)}  ${traceTurnEvent(event)}`);
    for (const effect of step.effects) {
      this.trace.push(`           > ${traceEffect(effect)}`);
      this.#do(effect);
    }
  }

  #do(effect: TurnEffect): void {
    if (effect.kind === 'listen') this.#listenFromMs = effect.fromMs;
    if (effect.kind === 'transcribe') this.#transcribe(effect.attempt);
    if (effect.kind === 'cancel-transcription') this.#attempt = 0;
    if (effect.kind === 'set-pause-after') this.#line.setPauseAfter(effect.voiceMs);
    if (effect.kind === 'set-timer') this.#timers.set(effect.timer, effect.delayMs);
    if (effect.kind === 'cancel-timer') this.#timers.cancel(effect.timer);
    if (effect.kind === 'close') this.#timers.cancelAll();
    if ('reply' in effect) this.#doWithReply(effect, this.#replyOf(effect.reply));
  }

  #doWithReply(effect: Extract<TurnEffect, { readonly reply: number }>, live: LiveReply): void {
    const { reply } = effect;
    if (effect.kind === 'ask') this.#ask(reply, live);
    if (effect.kind === 'resume') this.#line.resume(reply);
    if (effect.kind === 'hold') live.isReleased = false;
    if (effect.kind === 'finish') live.isLast = true;
    if (effect.kind === 'drop') {
      live.isDropped = true;
      this.#line.drop(reply);
    }
    if (effect.kind === 'release') {
      live.isReleased = true;
      for (const pcm of live.kept.splice(0)) this.#say(reply, live, pcm);
    }
    if (effect.kind === 'voice') {
      live.clauses.push(effect);
      if (!live.isBusy) this.#speak(reply, live);
    }
    if (effect.kind === 'run-tool') this.#runTool(effect, live);
    this.#finishWhenDone(reply, live);
  }

  #transcribe(attempt: number): void {
    this.#attempt = attempt;
    const text = this.#heardWords();
    const confidence = this.#spoken.at(-1)?.confidence ?? 0;
    this.#clock.after(STT_MS, () => {
      if (this.#attempt === attempt) this.#tell({ kind: 'transcribed', attempt, text, confidence });
    });
  }

  /** What a recogniser would hear now: whole sentences with their marks, unfinished ones without. */
  #heardWords(): string {
    const nowMs = this.#clock.nowMs();
    const texts = this.#spoken.map(({ text, fromMs, voiceMs }) => {
      const words = text.split(' ');
      const wordAt = (atMs: number) =>
        Math.max(0, Math.floor((words.length * (atMs - fromMs)) / voiceMs));
      return words.slice(wordAt(this.#listenFromMs), wordAt(nowMs)).join(' ');
    });
    return texts.filter((text) => text !== '').join(' ');
  }

  #ask(reply: number, live: LiveReply): void {
    const act = this.#model.shift() ?? { text: 'Yes.', calls: [], failure: 'none' };
    for (const { afterMs, event } of modelEvents(act, reply)) {
      this.#clock.after(afterMs, () => {
        if (!live.isDropped) this.#tell(event);
      });
    }
  }

  #speak(reply: number, live: LiveReply): void {
    const next = live.clauses.shift();
    live.isBusy = next !== undefined;
    if (next === undefined) return;
    this.#clock.after(TTS_MS, () => {
      if (live.isDropped) return;
      const audioMs = next.text.length * VOICE_MS_PER_CHARACTER;
      this.#say(reply, live, new Int16Array((audioMs * LINE_RATE_HZ) / 1000));
      this.#tell({ kind: 'voiced', reply, clause: next.clause, audioMs, isWhole: true });
      this.#speak(reply, live);
      this.#finishWhenDone(reply, live);
    });
  }

  #say(reply: number, live: LiveReply, pcm: Int16Array): void {
    if (!live.isReleased) {
      live.kept.push(pcm);
      return;
    }
    if (!live.hasBegun) this.#line.begin(reply);
    live.hasBegun = true;
    this.#line.say(reply, pcm);
  }

  #finishWhenDone(reply: number, live: LiveReply): void {
    if (!live.isLast || live.isBusy || !live.isReleased || live.isDropped) return;
    live.isLast = false;
    if (live.hasBegun) this.#line.finish(reply);
    else this.#tell({ kind: 'playout-finished', reply, playedMs: 0, isComplete: true });
  }

  #runTool(
    { reply, call }: Extract<TurnEffect, { readonly kind: 'run-tool' }>,
    live: LiveReply,
  ): void {
    const outcomes: Readonly<Record<string, ToolOutcome>> = {
      end_call: { text: 'The call is ending.', next: 'hang-up' },
      transfer_call: { text: 'The caller has been transferred.', next: 'transferred' },
      book_appointment: { text: 'The appointment is made.' },
    };
    const outcome = outcomes[call.name] ?? { text: 'Not done: it is not available here.' };
    this.#clock.after(this.#scene.toolMs, () => {
      if (!live.isDropped) this.#tell({ kind: 'tool-finished', reply, call, outcome });
    });
  }

  #replyOf(reply: number): LiveReply {
    const states = { isReleased: false, isLast: false, isDropped: false };
    const live = this.#replies.get(reply) ?? {
      clauses: [],
      kept: [],
      ...states,
      isBusy: false,
      hasBegun: false,
    };
    this.#replies.set(reply, live);
    return live;
  }
}
