/** What callers dictate, and whether it is all there. */
import { expect, test } from 'vitest';
import {
  countryOfNumber,
  dictationOf,
  trailingDigits,
} from '../../src/conversation/endpointing/dictation.ts';

const US = { language: 'en-US', country: 'US' };
const DE = { language: 'de-DE', country: 'DE' };
const ES = { language: 'es-ES', country: 'ES' };
const FR = { language: 'fr-FR', country: 'FR' };

test.each([
  ['en', 'my number is two oh two, five five five', '202555'],
  ['en', 'double five triple nine', '55999'],
  ['en', 'twenty one forty five', '2145'],
  ['en', 'it is 202 555-0123', '2025550123'],
  ['en', 'plus one two', '+12'],
  ['en', 'I called once', ''],
  ['en', 'five people', ''],
  ['en', 'five, um, six', '56'],
  ['es', 'seis cero cero, treinta y dos, once', '6003211'],
  ['de', 'null eins sieben sechs, einundzwanzig', '017621'],
  ['de', 'drei null und vier', '304'],
  ['fr', 'zéro six, soixante-dix-sept, quatre-vingt-dix-huit, vingt et un', '06779821'],
  ['fr', 'quatre-vingts, soixante-cinq', '8065'],
  ['it', 'zero sei, trentatré', ''],
  ['xx', 'one two', '12'],
  ['en', 'sixty eleven', '6011'],
  ['en', 'twenty oh', '200'],
  ['en', 'twenty nine', '29'],
])('trailingDigits in %s of "%s" is "%s"', (language, text, expected) => {
  expect(trailingDigits(text, language)).toBe(expected);
});

const PHONE = 'What is your phone number?';
const CODE = 'What is your order number?';
const EMAIL = 'What is your e-mail address?';

test.each([
  ['My number is five five.', '', US, 'digits begun'],
  ['Five.', CODE, US, 'digits begun'],
  ['Five five one two.', CODE, US, 'digits perhaps'],
  ['5551', '', US, 'digits perhaps'],
  ['four two one', 'Please tell me your six-digit code.', US, 'digits begun'],
  ['four two one, nine nine one', 'Please tell me your six-digit code.', US, 'digits whole'],
  ['vier zwei eins', 'Wie ist Ihr vierstelliger Code?', DE, 'digits begun'],
  ['zero six, one two three four five six seven eight.', '', US, 'digits whole'],
  ['four one one one, one one one one', 'What is your card number?', US, 'digits begun'],
  ['4111 1111 1111 1111', 'What is your card number?', US, 'digits whole'],
  ['It is K as in kilo,', '', US, 'spelling begun'],
  ['K as in kilo, O as in oscar, W for whisky', 'Can you spell it?', US, 'spelling perhaps'],
  ['Müller, M wie Martha', '', DE, 'spelling begun'],
  ['I come in', '', US, null],
  ["At nine o'clock.", '', US, null],
  ['Five.', 'How many people?', US, null],
  ['What are your opening hours?', '', US, null],
  ['two oh two', PHONE, US, 'phone begun'],
  ['two oh two, five five five', PHONE, US, 'phone begun'],
  ['two oh two, five five five, oh one two three', PHONE, US, 'phone whole'],
  ['No, I would rather not.', PHONE, US, null],
  ['seis uno dos', '¿Cuál es su número de teléfono?', ES, 'phone begun'],
  [
    'seis uno dos, tres cuatro cinco, seis siete ocho',
    '¿Cuál es su número de teléfono?',
    ES,
    'phone whole',
  ],
  ['null drei null', 'Wie ist Ihre Telefonnummer?', DE, 'phone begun'],
  ['null drei null, zwei drei eins zwei fünf', 'Wie ist Ihre Telefonnummer?', DE, 'phone perhaps'],
  ['zéro six, douze', 'Quel est votre numéro de téléphone ?', FR, 'phone begun'],
  [
    'zéro six, douze, trente-quatre, cinquante-six, soixante-dix-huit',
    'Quel est votre numéro de téléphone ?',
    FR,
    'phone whole',
  ],
  ['five five', PHONE, { language: 'en', country: null }, 'phone begun'],
  ['S M', 'Could you spell that?', US, 'spelling begun'],
  ['S-M-I-T-H', 'Could you spell that?', US, 'spelling perhaps'],
  ['S M I', 'Could you spell that?', US, 'spelling perhaps'],
  ['S M', '', US, 'spelling begun'],
  ['Is it I', '', US, null],
  ['It is Smith.', 'Could you spell that?', US, null],
  ['No, john at example', EMAIL, US, 'email begun'],
  [
    'two oh two, five five five, oh one two three',
    PHONE,
    { language: 'en', country: 'XX' },
    'phone whole',
  ],
  [
    'two oh two, five five five, oh one two',
    PHONE,
    { language: 'en', country: null },
    'phone begun',
  ],
  ['john at example', EMAIL, US, 'email begun'],
  ['john at example dot com.', EMAIL, US, 'email whole'],
  ['john@example.com', EMAIL, US, 'email whole'],
  ['ana arroba ejemplo punto es', '¿Cuál es su correo?', ES, 'email whole'],
  ['No.', 'Shall I send you an e-mail?', US, null],
  ['What for?', EMAIL, US, null],
  ['Main Street', 'What is your postal address?', US, 'address begun'],
  ['12 Main Street', 'What is your postal address?', US, 'address perhaps'],
])('dictationOf "%s" after "%s"', (text, question, place, expected) => {
  const dictation = dictationOf(text, question, place);

  expect(dictation && `${dictation.kind} ${dictation.progress}`).toBe(expected);
});

test.each([
  ['+390612345678', 'IT'],
  ['+12025550123', 'US'],
  [null, undefined],
])('countryOfNumber of %s is %s', (number, expected) => {
  expect(countryOfNumber(number)).toBe(expected);
});
