/** Words of answering machines in each language; pure */

interface MachineWords {
  /** A machine says so, and hardly any person. */
  readonly sure: readonly string[];
  /** A secretary says so too: they count only in a talk that begins the call and does not wait for an answer. */
  readonly likely: readonly string[];
  /** The machine is going to beep. They count as sure. */
  readonly tone: readonly string[];
}

const ENGLISH: MachineWords = {
  sure: [
    'leave a message',
    'leave me a message',
    'leave us a message',
    'leave your message',
    'leave your name and',
    'record your message',
    'voicemail',
    'voice mail',
    'mailbox',
    'answering machine',
    'cannot take your call',
    "can't take your call",
    "can't come to the phone",
    'cannot come to the phone',
  ],
  likely: ['you have reached', "you've reached", 'is not available', 'is unavailable'],
  tone: ['after the tone', 'after the beep', 'at the tone', 'at the beep', 'after the signal'],
};

const BY_LANGUAGE: Readonly<Record<string, MachineWords>> = {
  en: ENGLISH,
  de: {
    sure: [
      'hinterlassen sie eine nachricht',
      'hinterlassen sie uns eine nachricht',
      'hinterlassen sie mir eine nachricht',
      'eine nachricht hinterlassen',
      'hinterlassen sie ihre nachricht',
      'hinterlasst eine nachricht',
      'eine nachricht nach dem',
      'mailbox',
      'anrufbeantworter',
      'sprachbox',
    ],
    likely: ['nicht erreichbar', 'nicht zu erreichen', 'leider nicht da'],
    tone: ['nach dem ton', 'nach dem signalton', 'nach dem piepton', 'nach dem pieps'],
  },
  es: {
    sure: [
      'deje un mensaje',
      'deje su mensaje',
      'deja un mensaje',
      'deja tu mensaje',
      'buzon de voz',
      'contestador automatico',
    ],
    likely: ['no esta disponible', 'no puedo atender', 'no podemos atender'],
    tone: ['despues de la senal', 'despues del tono', 'tras la senal', 'despues del pitido'],
  },
  fr: {
    sure: [
      'laissez un message',
      'laisser un message',
      'laissez moi un message',
      'laissez votre message',
      'boite vocale',
      'messagerie vocale',
      'repondeur',
    ],
    likely: ['pas disponible', 'vous etes bien chez', 'pas joignable'],
    tone: ['apres le bip', 'apres le signal', 'apres le signal sonore'],
  },
  it: {
    sure: [
      'lasciate un messaggio',
      'lasci un messaggio',
      'lascia un messaggio',
      'lasciare un messaggio',
      'segreteria telefonica',
      'casella vocale',
    ],
    likely: ['non e raggiungibile', 'non e disponibile', 'non posso rispondere'],
    tone: ['dopo il segnale', 'dopo il segnale acustico', 'dopo il bip', 'dopo il tono'],
  },
  pt: {
    sure: [
      'deixe uma mensagem',
      'deixe a sua mensagem',
      'deixe sua mensagem',
      'deixar uma mensagem',
      'caixa postal',
      'correio de voz',
      'caixa de correio',
    ],
    likely: ['nao esta disponivel', 'nao posso atender', 'nao podemos atender'],
    tone: ['apos o sinal', 'depois do sinal', 'apos o bip', 'depois do bip'],
  },
  nl: {
    sure: [
      'laat een bericht',
      'laat uw bericht',
      'spreek uw bericht',
      'spreek een bericht',
      'bericht in te spreken',
      'voicemail',
      'antwoordapparaat',
    ],
    likely: ['niet bereikbaar', 'niet beschikbaar', 'niet aanwezig'],
    tone: ['na de piep', 'na de toon', 'na de pieptoon', 'na het signaal'],
  },
};

/** What the words of a callee tell; each stronger sign includes the weaker ones. */
export type MachineSign = 'tone' | 'sure' | 'likely';

const ORDER: readonly MachineSign[] = ['tone', 'sure', 'likely'];

/** The strongest sign of a machine in the words; undefined without one. English ones count in every language: networks announce in it. */
export function machineSignIn(text: string, language: string): MachineSign | undefined {
  const [code = ''] = language.toLowerCase().split('-');
  const said = ` ${folded(text)} `;
  const tables = [BY_LANGUAGE[code] ?? ENGLISH, ENGLISH];
  return ORDER.find((sign) =>
    tables.some((words) => words[sign].some((phrase) => said.includes(` ${folded(phrase)} `))),
  );
}

/** Without case, accents and punctuation. */
function folded(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
