/** Words of answering machines in each language; pure */

/** Patterns for `folded` text with a space at both ends. */
interface MachineWords {
  /** A machine says so, and hardly any person. */
  readonly sure: RegExp;
  /** A secretary says so too: they count only in a talk that begins the call and does not wait for an answer. */
  readonly likely: RegExp;
  /** The machine is going to beep. They count as sure. */
  readonly tone: RegExp;
}

const ENGLISH: MachineWords = {
  sure: anyOf(
    'leave (a|me a|us a|your) message',
    'leave your name and',
    'record your message',
    'voice ?mail',
    'mailbox',
    'answering machine',
    'can(not| t) (take your call|come to the phone)',
  ),
  likely: anyOf('you (have|ve) reached', 'is (not available|unavailable)'),
  tone: anyOf('(after|at) the (tone|beep)', 'after the signal'),
};

const BY_LANGUAGE: Readonly<Record<string, MachineWords>> = {
  en: ENGLISH,
  de: {
    sure: anyOf(
      'hinterlassen sie (eine|uns eine|mir eine|ihre) nachricht',
      'hinterlasst eine nachricht',
      'eine nachricht (hinterlassen|nach dem)',
      'mailbox',
      'anrufbeantworter',
      'sprachbox',
    ),
    likely: anyOf('nicht (zu erreichen|erreichbar)', 'leider nicht da'),
    tone: anyOf('nach dem (ton|signalton|piepton|pieps)'),
  },
  es: {
    sure: anyOf('dej(a|e) (un|su|tu) mensaje', 'buzon de voz', 'contestador automatico'),
    likely: anyOf('no (esta disponible|puedo atender|podemos atender)'),
    tone: anyOf('(despues de|tras) la senal', 'despues del (tono|pitido)'),
  },
  fr: {
    sure: anyOf('laisse(z|r|z moi) (un|votre) message', '(boite|messagerie) vocale', 'repondeur'),
    likely: anyOf('pas (disponible|joignable)', 'vous etes bien chez'),
    tone: anyOf('apres le (bip|signal)'),
  },
  it: {
    sure: anyOf(
      '(lasci|lascia|lasciate|lasciare) un messaggio',
      'segreteria telefonica',
      'casella vocale',
    ),
    likely: anyOf('non (e raggiungibile|e disponibile|posso rispondere)'),
    tone: anyOf('dopo il (segnale|bip|tono)'),
  },
  pt: {
    sure: anyOf(
      '(deixe|deixar) (uma|a sua|sua) mensagem',
      'caixa (postal|de correio)',
      'correio de voz',
    ),
    likely: anyOf('nao (esta disponivel|posso atender|podemos atender)'),
    tone: anyOf('(apos o|depois do) (sinal|bip)'),
  },
  nl: {
    sure: anyOf(
      '(laat|spreek) (een|uw) bericht',
      'bericht in te spreken',
      'voicemail',
      'antwoordapparaat',
    ),
    likely: anyOf('niet (bereikbaar|beschikbaar|aanwezig)'),
    tone: anyOf('na de (piep|toon|pieptoon)', 'na het signaal'),
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
  return ORDER.find((sign) => tables.some((words) => words[sign].test(said)));
}

/** Whole words, in these forms. */
function anyOf(...forms: readonly string[]): RegExp {
  return new RegExp(` (${forms.join('|')}) `);
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
