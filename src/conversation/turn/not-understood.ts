/** Clear speech without recognised words: the agent asks for it again, twice in a row at most; pure */
import { sayPhrase } from '../reply/reply.ts';
import { noteForModel } from './model-note.ts';
import { change, type Draft, type TurnState, type Words } from './turn-state.ts';

/** Clear voice of the shortest sentences: "Goodbye." has 700 ms of it. Coughs and hums have less, and music nearly none. */
const SENTENCE_MS_MIN = 600;

/** Questions in a row. A third one would help no caller. */
const QUESTIONS_MAX = 2;

const NOT_UNDERSTOOD =
  '(The caller has spoken three times in a row, and no words could be made out: the line may be bad, or they speak another language. ' +
  'Say so in a sentence, and offer what else you can do: keys, a person, or a call at another time.)';

/** Whether the caller has said a sentence to the agent of which no words came. */
export function isUnclearSentence(state: TurnState, { clearVoiceMs = 0 }: Words): boolean {
  const { stage, reply, isOwedAnswer, hasThirdParty, isTransferPending, digits } = state;
  const isAgentsTurn = reply === null && !isOwedAnswer && !isTransferPending && digits === '';
  const isToAgent = stage === 'open' && !hasThirdParty && isAgentsTurn;
  return isToAgent && clearVoiceMs >= SENTENCE_MS_MIN;
}

/** Asks the caller to say it again; the third time in a row the model offers another way, and after that nothing is said. */
export function askAgain(draft: Draft, atMs: number): void {
  const unclearTurns = draft.state.unclearTurns + 1;
  change(draft, { unclearTurns });
  if (unclearTurns <= QUESTIONS_MAX) {
    change(draft, { hasCheckedIn: false });
    sayPhrase(draft, 'apology', draft.state.rules.phrases.notUnderstood);
  } else if (unclearTurns === QUESTIONS_MAX + 1) {
    noteForModel(draft, NOT_UNDERSTOOD, atMs);
  }
}
