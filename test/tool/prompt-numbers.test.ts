import { expect, test } from 'vitest';
import { transferNumbersInPrompt } from '../../src/tool/transfer-call.ts';

const SALES = '+390612345678';
const OTHER = '+4930123456';

test.each([
  ['an order number', 'Order number 4155550133 is the example on our page.'],
  [
    'a number with a plus in another sentence',
    'Our fax is +39 06 1234 5678. Transfer angry callers.',
  ],
  ['a national number', 'In doubt, transfer to 06 1234 5678.'],
  [
    'a date and an amount',
    'Transfer on 2026-11-23 the sum of 1,234,567.89 to the account 12345678.',
  ],
  ['a number below another heading', '# Transfers\nNone.\n# ThirdParty\nPhone +390612345678'],
  ['a number after the list', 'Transfer to:\n- none\n\nOur fax is +390612345678.'],
  ['a number in a list of something else', 'Shops:\n- Rome +390612345678\n- Berlin +4930123456'],
  ['an impossible number', 'Transfer to +99912345.'],
  ['nothing', ''],
])('transferNumbersInPrompt finds no target in %s', (_what, prompt) => {
  expect(transferNumbersInPrompt(prompt)).toEqual([]);
});

test.each([
  ['a sentence', 'In doubt, transfer the caller to +390612345678. Be brief.', [SALES]],
  ['a sentence with a number in groups', 'Transfer to +39 06 1234 5678!', [SALES]],
  [
    'a Markdown section',
    '## Transfers\n\nSales: +390612345678\n\nBerlin: +49 30 123456\n',
    [SALES, OTHER],
  ],
  ['a list', 'You can transfer to:\n- sales +390612345678\n- Berlin +4930123456\n', [SALES, OTHER]],
  ['German', 'Bei Fragen zur Rechnung an +4930123456 weiterleiten.', [OTHER]],
  ['Italian', 'Per le vendite trasferisci a +390612345678.', [SALES]],
  ['Windows lines', 'Transfer to:\r\nSales +390612345678\r\n\r\nFax +4930123456', [SALES]],
])('transferNumbersInPrompt finds the targets of %s', (_what, prompt, expected) => {
  expect(transferNumbersInPrompt(prompt)).toEqual(expected);
});
