/** Words that the recogniser is unsure of: the agent asks before it hangs up, transfers or books for them; pure */
import type { ToolCall } from '../../llm/language-model.ts';
import { addClause, isUnsaid } from '../reply/reply.ts';
import { isBrief } from './backchannel.ts';
import {
  type CallerUtterance,
  change,
  changeReply,
  type Draft,
  type TurnState,
} from './turn-state.ts';

/** Words below this confidence are unsure. A noise that is misheard as "No" usually has less. */
export const SURE_CONFIDENCE = 0.65;

/** Clauses of an answer to unsure words that are held back: a goodbye is not said before the caller has confirmed it. */
const HELD_CLAUSES_MAX = 2;

/** Words of agreement: a caller who says no others agrees. Listed by language; all of them count in every call. */
const AGREEMENTS = new Set(
  Object.values({
    en: 'yes yeah yep yup sure please ok okay correct right do it that is thanks thank you',
    es: 'sí si claro vale por favor de acuerdo gracias bueno',
    de: 'ja jawohl genau bitte gerne gern klar richtig okay danke',
    fr: "oui ouais d'accord s'il vous plaît ok merci bien sûr volontiers",
    it: 'sì certo va bene grazie per favore ok',
    pt: 'sim claro por favor certo pode obrigado obrigada',
  })
    .join(' ')
    .split(' '),
);

/** At least one of these must be among them: "thank you" alone is no agreement. */
const YES = new Set(
  "yes yeah yep yup sure ok okay correct right sí si claro vale ja jawohl genau gerne gern klar oui ouais d'accord sì certo sim".split(
    ' ',
  ),
);

/** Whether the words that the present reply answers are unsure. */
export function isUnsure({ reply, utterance, lastWords }: TurnState): boolean {
  const words = reply?.stage === 'speculative' ? utterance?.words : lastWords;
  return (words?.confidence ?? 1) < SURE_CONFIDENCE;
}

/**
 * Whether an utterance is a short one that cut the agent off in mid-answer: it may be a "mm-hm" that the recogniser is sure is
 * a "No". Over a greeting it is not: who says goodbye there has dialled wrong.
 */
export function isSnatched(utterance: CallerUtterance | null): boolean {
  return utterance?.cutOff?.kind === 'answer' && isBrief(utterance.speechMs);
}

/** Whether the caller has to be asked before this call is carried out. An answered question is not asked again. */
export function mustConfirm(state: TurnState, call: ToolCall): boolean {
  const { reply, utterance, lastWords, unconfirmed, turns, rules } = state;
  const isSnatch = reply?.stage === 'speculative' ? isSnatched(utterance) : lastWords?.isSnatch;
  const wasAsked = unconfirmed?.turn === turns - 1 && unconfirmed.calls[0]?.name === call.name;
  return (isSnatch === true || isUnsure(state)) && !wasAsked && rules.needsSureWords(call);
}

/** Asks the caller instead of carrying out the reply's calls, and drops the clauses that came with them. */
export function askToConfirm(draft: Draft): void {
  const { reply, turns, rules } = draft.state;
  const [call] = reply?.calls ?? [];
  if (reply === null || call === undefined) return;
  const { confirmations, notUnderstood } = rules.phrases;
  change(draft, { unconfirmed: { calls: reply.calls, turn: turns } });
  changeReply(draft, { calls: [], held: [] });
  addClause(draft, confirmations[call.name] ?? notUnderstood);
}

/** Keeps a clause of an answer to unsure words back. @returns false where it is to be said. */
export function holdClause(draft: Draft, text: string): boolean {
  const { reply } = draft.state;
  if (reply === null || !isUnsure(draft.state)) return false;
  if (!isUnsaid(reply) || reply.held.length >= HELD_CLAUSES_MAX) return false;
  changeReply(draft, { held: [...reply.held, text] });
  return true;
}

/** Says the clauses that were held back. */
export function sayHeld(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null || reply.held.length === 0) return;
  changeReply(draft, { held: [] });
  for (const text of reply.held) addClause(draft, text);
}

/** The calls that the caller was asked about in the turn before, and agrees to with these words; else none. */
export function confirmedCalls(
  { unconfirmed }: TurnState,
  answer: { readonly text: string; readonly turn: number },
): readonly ToolCall[] {
  if (unconfirmed?.turn !== answer.turn - 1 || !isAgreement(answer.text)) return [];
  return unconfirmed.calls;
}

/** Whether the text is nothing but a "yes" and politeness. */
export function isAgreement(text: string): boolean {
  const words = spokenWords(text);
  return words.some((word) => YES.has(word)) && words.every((word) => AGREEMENTS.has(word));
}

/** The words of a text in lower case, without punctuation. */
export function spokenWords(text: string): readonly string[] {
  return text
    .toLowerCase()
    .normalize('NFC')
    .split(/[^\p{L}\p{M}']+/u)
    .filter((word) => word !== '');
}
