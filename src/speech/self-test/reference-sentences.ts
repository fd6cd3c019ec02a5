/** Sentences of the self-test, the voices that speak them, and a simulated telephone line; pure */
import { LINE_RATE_HZ } from '../../media/audio-stream.ts';
import { decodeG711, encodeG711 } from '../../media/dsp/g711.ts';

export interface ReferenceVoice {
  /** Name as agents have it. */
  readonly voice: string;
  /** BCP 47. */
  readonly language: string;
}

/** A woman and a man of each English locale and of Spanish, one voice of each other language. Engines speak with those they have. */
export const REFERENCE_VOICES: readonly ReferenceVoice[] = [
  { voice: 'en-US-JennyNeural', language: 'en-US' },
  { voice: 'en-US-GuyNeural', language: 'en-US' },
  { voice: 'en-GB-SoniaNeural', language: 'en-GB' },
  { voice: 'en-GB-RyanNeural', language: 'en-GB' },
  { voice: 'es-ES-ElviraNeural', language: 'es-ES' },
  { voice: 'es-ES-AlvaroNeural', language: 'es-ES' },
  { voice: 'de-DE-KatjaNeural', language: 'de-DE' },
  { voice: 'fr-FR-DeniseNeural', language: 'fr-FR' },
  { voice: 'it-IT-ElsaNeural', language: 'it-IT' },
  { voice: 'pt-BR-FranciscaNeural', language: 'pt-BR' },
];

/** Languages whose sentences the tiny model of the repository knows. @see models/train/phrases.py */
export const TINY_MODEL_LANGUAGES: readonly string[] = ['en', 'es'];

/** Words are spelt as recognisers spell them; numbers are left to the tiny model's own, spelt out. */
export const REFERENCE_SENTENCES: Readonly<Record<string, readonly string[]>> = {
  en: [
    'Hello, can you hear me?',
    'I would like to book an appointment.',
    'I want to cancel my appointment.',
    'I need to change my appointment.',
    'Transfer me to a person.',
    'Can I speak to a person?',
    'Let me talk to an agent.',
    'What are your opening hours?',
    'Where are you located?',
    'What is your address?',
    'How much does it cost?',
    'What time is it?',
    'I have a question about my bill.',
    'I have a question about my order.',
    'What is the status of my order?',
    'I want to pay my bill.',
    'I lost my password.',
    'Please call me back tomorrow.',
    'I would like to leave a message.',
    'What is the weather today?',
    'Can you repeat that?',
    "I don't understand.",
    'Speak more slowly, please.',
    'Thank you very much.',
    'Yes, please.',
    'No, thank you.',
    'Wait a moment.',
    'My name is Alice Smith.',
    'My name is Peter Taylor.',
    'This is Maria Garcia.',
    'This is David Miller.',
    'Can I come on Monday morning?',
    'Are you open on Saturday afternoon?',
    'I would like to book an appointment for Thursday.',
    "I would like to book an appointment for Friday at ten o'clock.",
    "No, at three o'clock.",
    "Yes, that's right.",
    'No, transfer me to a person.',
    'Okay, I want to cancel my appointment.',
    'Yes, I need to change my appointment.',
  ],
  es: [
    'Sí.',
    'Hola.',
    'Gracias.',
    'Adiós.',
    'Quiero hablar con una persona.',
    'Quiero una cita.',
    'No entiendo.',
    '¿Cuánto cuesta?',
    'Más despacio, por favor.',
  ],
  de: [
    'Guten Tag, ich möchte gern einen Termin vereinbaren.',
    'Ich muss meinen Termin leider absagen.',
    'Wann haben Sie geöffnet?',
    'Können Sie das bitte wiederholen?',
    'Ich habe eine Frage zu meiner Rechnung.',
    'Bitte rufen Sie mich morgen zurück.',
    'Verbinden Sie mich mit einem Menschen.',
    'Vielen Dank für Ihre Hilfe.',
  ],
  fr: [
    'Bonjour, je voudrais prendre un rendez-vous.',
    'Je dois annuler mon rendez-vous.',
    'Quels sont vos horaires ?',
    'Pouvez-vous répéter, s’il vous plaît ?',
    'J’ai une question sur ma facture.',
    'Rappelez-moi demain matin.',
    'Je voudrais parler à une personne.',
    'Merci beaucoup pour votre aide.',
  ],
  it: [
    'Buongiorno, vorrei prendere un appuntamento.',
    'Devo cancellare il mio appuntamento.',
    'Quali sono i vostri orari?',
    'Può ripetere, per favore?',
    'Ho una domanda sulla mia fattura.',
    'Richiamatemi domani mattina.',
    'Vorrei parlare con una persona.',
    'Grazie mille per il suo aiuto.',
  ],
  pt: [
    'Bom dia, eu gostaria de marcar uma consulta.',
    'Preciso cancelar a minha consulta.',
    'Qual é o horário de funcionamento?',
    'Pode repetir, por favor?',
    'Tenho uma pergunta sobre a minha conta.',
    'Ligue para mim amanhã de manhã.',
    'Quero falar com uma pessoa.',
    'Muito obrigado pela sua ajuda.',
  ],
};

/** Ratio between the power of the voice and that of the talk behind it. */
const BABBLE_SNR_DB = 10;

/** Talkers in the babble: enough to make single words unintelligible. */
const TALKERS = 6;

const BABBLE_S = 8;

/** Silence before and after an utterance, as a call's listener keeps it. */
const EDGE_SAMPLES = (LINE_RATE_HZ * 300) / 1000;

/** Share of the loudest sample below which an utterance is silent. */
const SILENCE_SHARE = 0.02;

/** Adds silence at both ends, the babble that is given, and G.711. PCM is 8 kHz, mono, signed 16-bit. */
export function onTheLine(pcm: Int16Array, babble?: Float32Array): Int16Array {
  const sound = new Int16Array(pcm.length + 2 * EDGE_SAMPLES);
  sound.set(pcm, EDGE_SAMPLES);
  return decodeG711(
    'PCMU',
    encodeG711('PCMU', babble === undefined ? sound : mixed(sound, babble)),
  );
}

/** Several utterances at once, over and over, at a level of 1 (RMS); undefined where there are too few. */
export function babbleOf(utterances: readonly Int16Array[]): Float32Array | undefined {
  const talk = utterances.filter((pcm) => pcm.length > LINE_RATE_HZ / 2);
  if (talk.length < TALKERS) return undefined;
  const sum = new Float32Array(BABBLE_S * LINE_RATE_HZ);
  for (let talker = 0; talker < TALKERS; talker += 1) addTalker(sum, talk, talker);
  const level = rms(sum);
  return sum.map((sample) => sample / level);
}

/** Each talker says every sixth utterance, as loud as the others, and begins in the middle of the first. */
function addTalker(sum: Float32Array, talk: readonly Int16Array[], talker: number): void {
  let at = -Math.round(((talk[talker]?.length ?? 0) * (talker + 1)) / (TALKERS + 1));
  for (let turn = talker; at < sum.length; turn += TALKERS) {
    const pcm = talk[turn % talk.length];
    if (pcm === undefined) return;
    const level = voicedRms(pcm);
    for (const [index, sample] of pcm.entries()) {
      const place = at + index;
      if (place >= 0 && place < sum.length) sum[place] = (sum[place] ?? 0) + sample / level;
    }
    at += pcm.length;
  }
}

function mixed(sound: Int16Array, babble: Float32Array): Int16Array {
  const level = voicedRms(sound) * 10 ** (-BABBLE_SNR_DB / 20);
  return sound.map((sample, at) => {
    const noisy = sample + level * (babble[at % babble.length] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(noisy)));
  });
}

/** Pauses do not count. */
function voicedRms(pcm: Int16Array): number {
  const peak = pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1);
  return rms(pcm.filter((sample) => Math.abs(sample) > peak * SILENCE_SHARE));
}

function rms(samples: Int16Array | Float32Array): number {
  let power = 0;
  for (const sample of samples) power += sample * sample;
  return Math.sqrt(power / Math.max(1, samples.length)) || 1;
}
