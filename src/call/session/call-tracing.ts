/** OpenTelemetry traces of calls: one trace for each ended call. */
import type { Call, CallStore, TimelineEntry } from '../../domain/call/call.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { TURN_STAGES } from '../../lib/metrics/metrics.ts';
import type { OtlpSpans, SpanTree } from '../../lib/span-exporter.ts';

interface Parts {
  readonly calls: Pick<CallStore, 'findById' | 'timeline'>;
  readonly spans: OtlpSpans;
  readonly log: Logger;
}

/** Makes one trace of each ended call. */
export class CallTracing {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Traces an ended call from its record. Never throws: tracing must not end calls. */
  async callOver(callId: string): Promise<void> {
    try {
      const call = await this.#parts.calls.findById(callId);
      if (call === undefined) return;
      const tree = spansOfCall(call, await this.#parts.calls.timeline(callId));
      if (tree !== null) this.#parts.spans.add(tree);
    } catch (error) {
      this.#parts.log.warn({ callId, err: error }, 'the trace of a call could not be made');
    }
  }

  /** Safe to call twice. */
  stop(): Promise<void> {
    return this.#parts.spans.stop();
  }
}

/** Timeline kinds that become span events. */
const INSTANTS: ReadonlySet<string> = new Set(
  (
    'barge_in transfer transfer_failed far_end_transfer far_end_transfer_failed bridge_ended three_way ' +
    'three_way_ended recording_failed'
  ).split(' '),
);

/** The stages of an answer in their order: each begins where the one before it was over. */
const STAGES = [
  { name: 'stt', until: 'textFinalMs' },
  { name: 'llm', until: 'firstClauseMs' },
  { name: 'tts', until: 'firstAudioMs' },
  { name: 'playout', until: 'firstPacketMs' },
] as const;

/** The call as a tree of spans: its turns, and in them their waits. Null when the call is not over. */
export function spansOfCall(call: Call, timeline: readonly TimelineEntry[]): SpanTree | null {
  if (call.endedAt === null) return null;
  const startMs = (call.startedAt ?? call.createdAt).getTime();
  const turns = timeline.flatMap((entry) => (entry.kind === 'turn' ? [turnSpan(entry)] : []));
  const tools = timeline.flatMap((entry) => (entry.kind === 'tool' ? [toolSpan(entry)] : []));
  return {
    name: 'call',
    startMs,
    endMs: Math.max(startMs, call.endedAt.getTime()),
    attributes: attributesOf(call),
    children: [...ringingSpans(call, startMs), ...turns, ...tools],
    instants: timeline
      .filter(({ kind }) => INSTANTS.has(kind))
      .map(({ kind, at }) => ({ name: kind, atMs: at.getTime() })),
  };
}

function attributesOf(call: Call): SpanTree['attributes'] {
  return {
    'call.id': call.id,
    'agent.id': call.agentId,
    'call.direction': call.direction,
    'call.environment': call.environment,
    'call.status': call.status,
    'call.end_reason': call.endReason ?? 'none',
  };
}

function ringingSpans({ answeredAt }: Call, startMs: number): readonly SpanTree[] {
  if (answeredAt === null) return [];
  return [spanOf('ringing', { startMs, endMs: answeredAt.getTime() })];
}

/**
 * A turn is added to the timeline when the first packet of its answer leaves, or when it is given up. So its beginning is
 * that instant less the longest of its times; against each other its spans are exact.
 */
function turnSpan({ at, details }: TimelineEntry): SpanTree {
  const times = Object.keys(TURN_STAGES).map((name) => msOf(details, name) ?? 0);
  const longestMs = Math.max(...times);
  const startMs = at.getTime() - longestMs;
  const children: SpanTree[] = [];
  const endOfTurnMs = msOf(details, 'endOfTurnMs');
  if (endOfTurnMs !== undefined) {
    children.push(spanOf('endpointing', { startMs, endMs: startMs + endOfTurnMs }));
  }
  let beforeMs = 0;
  for (const { name, until } of STAGES) {
    const untilMs = msOf(details, until);
    if (untilMs === undefined) continue;
    // In a speculative answer a stage may end before the caller's text is final.
    const fromMs = Math.min(beforeMs, untilMs);
    children.push(spanOf(name, { startMs: startMs + fromMs, endMs: startMs + untilMs }));
    beforeMs = untilMs;
  }
  const attributes = Object.entries(details).flatMap(([name, value]) =>
    typeof value === 'number' || typeof value === 'boolean' ? [[`turn.${snake(name)}`, value]] : [],
  );
  return {
    ...spanOf('turn', { startMs, endMs: startMs + longestMs }),
    attributes: Object.fromEntries(attributes),
    children,
  };
}

/** A tool is added to the timeline when it has run. */
function toolSpan({ at, details }: TimelineEntry): SpanTree {
  const endMs = at.getTime();
  return {
    ...spanOf('tool', { startMs: endMs - (msOf(details, 'tookMs') ?? 0), endMs }),
    attributes: { 'tool.name': textOf(details.name), 'tool.outcome': textOf(details.outcome) },
  };
}

function spanOf(name: string, times: { readonly startMs: number; readonly endMs: number }) {
  const { startMs, endMs } = times;
  const span = { name, startMs, endMs: Math.max(startMs, endMs) };
  return { ...span, attributes: {}, children: [], instants: [] };
}

function msOf(details: TimelineEntry['details'], name: string): number | undefined {
  const value = details[name];
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : 'unknown';
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Instants of a call that keep order and distance when the machine's clock is set
 * meanwhile: a clock that is set back an hour would make a call of a minute end before it began.
 */
export class CallClock implements Clock {
  readonly #clock: Clock;
  /** From an instant of `nowMs` to the calendar, in milliseconds. */
  readonly #offsetMs: number;

  /** @param notBefore the earliest date that `now` may give: the beginning of the call. */
  constructor(clock: Clock, notBefore: Date) {
    this.#clock = clock;
    const dateMs = Math.max(clock.now().getTime(), notBefore.getTime());
    // Whole milliseconds, as dates have them.
    this.#offsetMs = dateMs - Math.floor(clock.nowMs());
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  now(): Date {
    return this.dateOf(this.nowMs());
  }

  /** The date of an instant that `nowMs` has given, here or on the clock below. */
  dateOf(atMs: number): Date {
    return new Date(atMs + this.#offsetMs);
  }

  after(delayMs: number, ring: () => void): () => void {
    return this.#clock.after(delayMs, ring);
  }
}
