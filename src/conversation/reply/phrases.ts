/** Set phrases of the agent in each language; pure */
import { languageOf } from '../../lib/language-tag.ts';
import type { Synthesizer } from '../../speech/tts/pool/synthesizer.ts';
import type { ConversationBrief } from '../conversation-port.ts';

/** Set phrases in one language. */
export interface Phrases {
  /** In the place of a greeting of which nothing can be said, such as one that is a variable without a value. */
  readonly hello: string;
  /** Said after a long silence. */
  readonly checkIn: string;
  /** The recogniser failed, or there was a voice without words. */
  readonly notUnderstood: string;
  /** The language model failed. */
  readonly apology: string;
  /** The model ended the call without a word. */
  readonly farewell: string;
  /** The model transferred the caller without a word. */
  readonly transfer: string;
  /** The model asks for keys without a word. */
  readonly keypad: string;
  /** To a transfer target, before the summary. */
  readonly announcement: string;
  /** To a transfer target, after the summary: whether it takes the call. */
  readonly acceptance: string;
  /** A tool or the model takes its time. */
  readonly filler: string;
  /** The model still has not answered. */
  readonly patience: string;
  /** The caller asks whether the agent is still there, while a tool or the model takes its time. */
  readonly stillHere: string;
  /** The longest allowed duration is over. */
  readonly timeIsUp: string;
  /** Said before the agent gives the call up. */
  readonly giveUp: string;
  /** Questions before a tool, by its name, where the caller's words are unsure. */
  readonly confirmations: Readonly<Record<string, string>>;
}

const ENGLISH: Phrases = {
  hello: 'Hello.',
  checkIn: 'Are you still there?',
  notUnderstood: "Sorry, I didn't get that. Could you say it again?",
  apology: "I'm sorry, something went wrong on my side. Could you say that again?",
  farewell: 'Goodbye.',
  transfer: 'One moment, please. I am connecting you.',
  keypad: 'Please type it on your keypad, and press the hash key at the end.',
  announcement: 'Hello, I have a caller for you.',
  acceptance: 'Would you like to take the call? Say yes or press 1. To decline, press 2.',
  filler: 'One moment, please.',
  patience: 'This takes a little longer than usual. Please stay on the line.',
  stillHere: "I'm still here. One moment, please.",
  timeIsUp: 'I am sorry, our time is up. Thank you for calling. Goodbye.',
  giveUp: 'I am sorry, I cannot go on with this call. Please try again later. Goodbye.',
  confirmations: {
    end_call: 'Sorry, the line was not clear. Would you like to end the call?',
    transfer_call: 'Sorry, the line was not clear. Shall I connect you?',
    book_appointment: 'Sorry, the line was not clear. Shall I book the appointment?',
    change_appointment: 'Sorry, the line was not clear. Shall I move the appointment?',
    cancel_appointment: 'Sorry, the line was not clear. Shall I cancel the appointment?',
  },
};

const BY_LANGUAGE: Readonly<Record<string, Phrases>> = {
  en: ENGLISH,
  es: {
    hello: 'Hola.',
    checkIn: '¿Sigue usted ahí?',
    notUnderstood: 'Perdone, no le he entendido. ¿Puede repetirlo?',
    apology: 'Lo siento, ha habido un problema. ¿Puede repetirlo?',
    farewell: 'Adiós.',
    transfer: 'Un momento, por favor. Le paso.',
    keypad: 'Márquelo en el teclado, por favor, y pulse almohadilla al final.',
    announcement: 'Hola, le paso una llamada.',
    acceptance: '¿Quiere atender la llamada? Diga sí o pulse 1. Para rechazarla, pulse 2.',
    filler: 'Un momento, por favor.',
    patience: 'Tarda un poco más de lo normal. No cuelgue, por favor.',
    stillHere: 'Sigo aquí. Un momento, por favor.',
    timeIsUp: 'Lo siento, se ha acabado el tiempo. Gracias por llamar. Adiós.',
    giveUp: 'Lo siento, no puedo seguir con esta llamada. Inténtelo más tarde. Adiós.',
    confirmations: {
      end_call: 'Perdone, no le he oído bien. ¿Quiere terminar la llamada?',
      transfer_call: 'Perdone, no le he oído bien. ¿Quiere que le pase?',
      book_appointment: 'Perdone, no le he oído bien. ¿Reservo la cita?',
      change_appointment: 'Perdone, no le he oído bien. ¿Cambio la cita?',
      cancel_appointment: 'Perdone, no le he oído bien. ¿Anulo la cita?',
    },
  },
  it: {
    hello: 'Pronto.',
    checkIn: 'È ancora in linea?',
    notUnderstood: 'Mi scusi, non ho capito. Può ripetere?',
    apology: 'Mi dispiace, qualcosa è andato storto. Può ripetere?',
    farewell: 'Arrivederci.',
    transfer: 'Un momento, per favore. La metto in contatto.',
    keypad: 'Lo digiti sulla tastiera, per favore, e alla fine prema cancelletto.',
    announcement: 'Buongiorno, le passo una chiamata.',
    acceptance: 'Vuole prendere la chiamata? Dica sì o prema 1. Per rifiutare, prema 2.',
    filler: 'Un momento, per favore.',
    patience: 'Ci vuole un po’ più del solito. Resti in linea, per favore.',
    stillHere: 'Sono ancora qui. Un momento, per favore.',
    timeIsUp: 'Mi dispiace, il tempo è scaduto. Grazie per la chiamata. Arrivederci.',
    giveUp: 'Mi dispiace, non posso continuare la chiamata. Riprovi più tardi. Arrivederci.',
    confirmations: {
      end_call: 'Mi scusi, non ho sentito bene. Vuole terminare la chiamata?',
      transfer_call: 'Mi scusi, non ho sentito bene. Vuole che la metta in contatto?',
      book_appointment: 'Mi scusi, non ho sentito bene. Prenoto l’appuntamento?',
      change_appointment: 'Mi scusi, non ho sentito bene. Sposto l’appuntamento?',
      cancel_appointment: 'Mi scusi, non ho sentito bene. Annullo l’appuntamento?',
    },
  },
  de: {
    hello: 'Hallo.',
    checkIn: 'Sind Sie noch da?',
    notUnderstood: 'Entschuldigung, das habe ich nicht verstanden. Bitte sagen Sie es noch einmal.',
    apology: 'Entschuldigung, da ist etwas schiefgegangen. Bitte sagen Sie es noch einmal.',
    farewell: 'Auf Wiederhören.',
    transfer: 'Einen Moment bitte. Ich verbinde Sie.',
    keypad: 'Bitte tippen Sie die Nummer auf der Tastatur und drücken Sie am Ende die Rautetaste.',
    announcement: 'Guten Tag, ich habe einen Anruf für Sie.',
    acceptance:
      'Möchten Sie den Anruf annehmen? Sagen Sie ja oder drücken Sie 1. Zum Ablehnen drücken Sie 2.',
    filler: 'Einen Moment bitte.',
    patience: 'Es dauert etwas länger als sonst. Bitte bleiben Sie dran.',
    stillHere: 'Ich bin noch da. Einen Moment bitte.',
    timeIsUp: 'Leider ist unsere Zeit um. Danke für Ihren Anruf. Auf Wiederhören.',
    giveUp: 'Leider kann ich das Gespräch nicht fortsetzen. Bitte rufen Sie später wieder an.',
    confirmations: {
      end_call: 'Entschuldigung, das war schlecht zu hören. Möchten Sie das Gespräch beenden?',
      transfer_call: 'Entschuldigung, das war schlecht zu hören. Soll ich Sie verbinden?',
      book_appointment: 'Entschuldigung, das war schlecht zu hören. Soll ich den Termin buchen?',
      change_appointment:
        'Entschuldigung, das war schlecht zu hören. Soll ich den Termin verlegen?',
      cancel_appointment: 'Entschuldigung, das war schlecht zu hören. Soll ich den Termin absagen?',
    },
  },
  fr: {
    hello: 'Bonjour.',
    checkIn: 'Êtes-vous toujours là ?',
    notUnderstood: "Pardon, je n'ai pas compris. Pouvez-vous répéter ?",
    apology: 'Je suis désolé, il y a eu un problème. Pouvez-vous répéter ?',
    farewell: 'Au revoir.',
    transfer: 'Un instant, je vous mets en relation.',
    keypad: 'Tapez-le sur votre clavier, je vous prie, puis appuyez sur la touche dièse.',
    announcement: 'Bonjour, je vous passe un appel.',
    acceptance:
      'Voulez-vous prendre l’appel ? Dites oui ou appuyez sur 1. Pour refuser, appuyez sur 2.',
    filler: 'Un instant, je vous prie.',
    patience: 'Cela prend un peu plus de temps que d’habitude. Restez en ligne, je vous prie.',
    stillHere: 'Je suis toujours là. Un instant, je vous prie.',
    timeIsUp: 'Je suis désolé, le temps est écoulé. Merci de votre appel. Au revoir.',
    giveUp: 'Je suis désolé, je ne peux pas continuer. Veuillez rappeler plus tard. Au revoir.',
    confirmations: {
      end_call: 'Pardon, je vous ai mal entendu. Voulez-vous terminer l’appel ?',
      transfer_call: 'Pardon, je vous ai mal entendu. Dois-je vous mettre en relation ?',
      book_appointment: 'Pardon, je vous ai mal entendu. Dois-je prendre le rendez-vous ?',
      change_appointment: 'Pardon, je vous ai mal entendu. Dois-je déplacer le rendez-vous ?',
      cancel_appointment: 'Pardon, je vous ai mal entendu. Dois-je annuler le rendez-vous ?',
    },
  },
  pt: {
    hello: 'Olá.',
    checkIn: 'Ainda está aí?',
    notUnderstood: 'Desculpe, não percebi. Pode repetir?',
    apology: 'Desculpe, algo correu mal. Pode repetir?',
    farewell: 'Adeus.',
    transfer: 'Um momento, por favor. Vou passar a chamada.',
    keypad: 'Digite no teclado, por favor, e no fim prima a tecla cardinal.',
    announcement: 'Olá, tenho uma chamada para si.',
    acceptance: 'Quer atender a chamada? Diga sim ou prima 1. Para recusar, prima 2.',
    filler: 'Um momento, por favor.',
    patience: 'Está a demorar um pouco mais do que o normal. Por favor, não desligue.',
    stillHere: 'Ainda estou aqui. Um momento, por favor.',
    timeIsUp: 'Lamento, o tempo acabou. Obrigado por ligar. Adeus.',
    giveUp: 'Lamento, não posso continuar a chamada. Tente mais tarde. Adeus.',
    confirmations: {
      end_call: 'Desculpe, não ouvi bem. Quer terminar a chamada?',
      transfer_call: 'Desculpe, não ouvi bem. Quer que passe a chamada?',
      book_appointment: 'Desculpe, não ouvi bem. Faço a marcação?',
      change_appointment: 'Desculpe, não ouvi bem. Mudo a marcação?',
      cancel_appointment: 'Desculpe, não ouvi bem. Cancelo a marcação?',
    },
  },
};

/** The phrases of a language, English where there are none. */
export function phrasesFor(language: string): Phrases {
  return BY_LANGUAGE[languageOf(language)] ?? ENGLISH;
}

interface VoiceOptions {
  readonly brief: ConversationBrief;
  readonly synthesizer: Synthesizer;
}

/**
 * Speaks the announcement of a transfer with the agent's voice: 8 kHz, mono, in chunks of any length.
 *
 * @param summary what the caller wants; without one, only that there is a caller.
 */
export function announcementOf(
  summary: string,
  options: VoiceOptions,
): () => AsyncIterable<Int16Array> {
  return spoken(`${phrasesFor(options.brief.language).announcement} ${summary}`.trim(), options);
}

/** Asks a transfer target with the agent's voice whether it takes the call: as `announcementOf`. */
export function acceptanceOf(options: VoiceOptions): () => AsyncIterable<Int16Array> {
  return spoken(phrasesFor(options.brief.language).acceptance, options);
}

function spoken(
  text: string,
  { brief, synthesizer }: VoiceOptions,
): () => AsyncIterable<Int16Array> {
  const { voice, language, pronunciations = [] } = brief;
  return () => synthesizer.speak({ text, voice, language, pronunciations });
}
