/** DTMF: collects digits and gives them to the model as a turn of the caller; pure */
import { addToHistory, dropReply } from '../reply/reply.ts';
import { runToolsAfterWords } from '../turn/answering.ts';
import { interrupt } from '../turn/barge-in.ts';
import { act, change, countSpeculation, type Draft, isAgentsFloor } from '../turn/turn-state.ts';

/** More keys than this at once are no number. */
const DIGITS_MAX = 32;

/** Longest entry that is shown where an agent has a tool for secret numbers: a longer one may be secret. */
const SHOWN_DIGITS_MAX = 6;

/** Takes a key. `#` ends the entry; any other key may be followed by more. */
export function onDtmfDigit(draft: Draft, digit: string, atMs: number): void {
  if (!/^[0-9*#A-D]$/.test(digit) || typeAhead(draft, digit, atMs)) return;
  const isEnd = digit === '#' && draft.state.digits !== '';
  const digits = isEnd ? draft.state.digits : draft.state.digits + digit;
  change(draft, { digits, lastKeyAtMs: atMs });
  giveWay(draft, atMs);
  if (digit === '#' || draft.state.digits.length >= DIGITS_MAX) {
    onDtmfTimer(draft, atMs);
  } else {
    const delayMs = draft.state.rules.timing.digitsMs;
    act(draft, { kind: 'set-timer', timer: 'digits', delayMs });
  }
}

/** Makes words of the keys pressed. */
export function onDtmfTimer(draft: Draft, atMs: number): void {
  const { digits, turns, lastKeyAtMs } = draft.state;
  if (digits === '') return;
  const text = textOf(digits, draft.state.rules.hasKeypad === true);
  const at = new Date(atMs);
  act(
    draft,
    { kind: 'cancel-timer', timer: 'digits' },
    { kind: 'emit', event: { kind: 'said', entry: { role: 'user', text, at, confidence: 1 } } },
  );
  addToHistory(draft, text);
  change(draft, {
    digits: '',
    turns: turns + 1,
    isOwedAnswer: true,
    hasCheckedIn: false,
    unclearTurns: 0,
    lastWords: { text, confidence: 1, isSnatch: false },
    lastTurnVoicedAtMs: null,
    endedTurn: {
      turn: turns + 1,
      lastVoicedAtMs: lastKeyAtMs,
      endOfTurnAtMs: atMs,
      textFinalAtMs: atMs,
      turnScoredAtMs: null,
      isSpeculated: false,
      bargeInMs: null,
      isKeyed: true,
    },
  });
}

/** A key for the tool that asks for keys: it runs now, not once the agent has asked. @returns false where no such tool is next. */
function typeAhead(draft: Draft, digit: string, atMs: number): boolean {
  const { reply, rules } = draft.state;
  const next = isAgentsFloor(reply) ? reply.calls[0] : undefined;
  if (reply === null || next === undefined || !rules.takesKeys?.(next)) return false;
  act(draft, { kind: 'type-ahead', key: digit });
  if (!reply.isToolRunning) {
    dropReply(draft, atMs);
    runToolsAfterWords(draft, reply);
  }
  return true;
}

function textOf(digits: string, hasKeypad: boolean): string {
  const isSecret = hasKeypad && digits.length > SHOWN_DIGITS_MAX;
  return isSecret
    ? `(pressed ${digits.length} keys, not shown: use collect_digits for such a number)`
    : `(pressed ${[...digits].join(' ')})`;
}

/** A key is always meant: the agent stops for it at once. */
function giveWay(draft: Draft, atMs: number): void {
  if (draft.state.reply?.stage === 'speculative') {
    countSpeculation(draft, 'miss');
    dropReply(draft, atMs);
  } else {
    interrupt(draft, atMs);
  }
}
