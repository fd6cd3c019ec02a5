/** Presence check: a caller who asks "are you still there?" while the agent works is answered, and the work goes on; pure */
import { bridge, isUnsaid } from '../reply/reply.ts';
import { act, changeReply, type Draft, type Reply } from './turn-state.ts';
import { spokenWords } from './unsure-words.ts';

/** Words at least one of which is in such a question. Listed by language; all of them count in every call. */
const ASKING = setOf({
  en: 'hello hey hi there here hear listening line',
  es: 'hola aló oiga ahí aquí alguien oye oyes escucha escuchas línea',
  de: 'hallo da dran jemand hören hörst hört leitung',
  fr: "allô allo là quelqu'un quelqu entendez m'entendez m'entends entends ligne",
  it: 'pronto lì qui sente senti qualcuno linea',
  pt: 'alô olá aí aqui ouve ouves ouvir ouvindo alguém linha',
  hi: 'हैलो हेलो सुन',
  ja: 'もしもし 聞こえますか いますか',
  zh: '喂 你还在吗 您还在吗 在吗 听得到吗 听得见吗',
});

/** The other words of such questions. */
const OTHERS = setOf({
  en: 'is are you still anyone anybody somebody someone can do did could me on the',
  es: 'sigue sigues usted está estás todavía aún hay me en la',
  de: 'sind sie bist du noch ist mich können kannst in der',
  fr: 'êtes vous es tu toujours encore est ce que il y a t un m me en',
  it: "è c'è c ancora in mi",
  pt: 'está estás ainda na me tem a',
  hi: 'आप रहे रही हैं हो क्या',
});

/** A question asked again this soon has its answer already. */
const ANSWERED_MS = 3000;

/** Whether the text is such a question, the beginning of one, or other words. */
export function isPresenceCheck(text: string): 'whole' | 'begun' | 'none' {
  const words = spokenWords(text);
  if (words.length === 0 || !words.every((word) => ASKING.has(word) || OTHERS.has(word)))
    return 'none';
  return words.some((word) => ASKING.has(word)) ? 'whole' : 'begun';
}

/** Whether the caller waits for a reply that is being worked on: a tool runs, or the model has not said anything yet. */
export function isWorking(reply: Reply): boolean {
  if (reply.kind !== 'answer') return false;
  return reply.isToolRunning || (!reply.isModelDone && isUnsaid(reply));
}

/** Says that the agent is still there. */
export function answerPresence(draft: Draft, atMs: number): void {
  const { reply, rules } = draft.state;
  if (reply === null) return;
  const { stillHere } = rules.phrases;
  const last = reply.pieces.at(-1);
  const isAnswered = last?.text === stillHere && atMs - (reply.bridgedAtMs ?? 0) < ANSWERED_MS;
  if (isAnswered) return;
  bridge(draft, stillHere, atMs);
  if (!reply.isToolRunning) return;
  changeReply(draft, { isToolBridged: true });
  act(draft, { kind: 'set-timer', timer: 'filler', delayMs: rules.timing.patienceMs });
}

function setOf(lists: Readonly<Record<string, string>>): ReadonlySet<string> {
  return new Set(Object.values(lists).join(' ').split(' '));
}
