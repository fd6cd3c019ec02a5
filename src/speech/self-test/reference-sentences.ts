/** Sentences of the self-test, by language, and the voices that say them; pure */

export interface ReferenceVoice {
  /** As agents name it. */
  readonly voice: string;
  /** BCP 47. */
  readonly language: string;
}

/** A woman and a man of each English locale and of Spanish, one voice of each other language. An engine says those that it has. */
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
