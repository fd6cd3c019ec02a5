/** Allowed transfer targets: those alone that the operator has named. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decideTransfer,
  type TransferRules,
  transferLabels,
} from '../../src/tool/transfer-call.ts';

const RULES: TransferRules = {
  targets: [
    { label: 'sales', number: '+390612345678' },
    { label: 'Night desk', number: '+393331234567' },
  ],
  systemPrompt: 'You work for a dentist.',
  agentNumber: '+390698765432',
  ownNumbers: ['+390698765432', '+390655555555'],
};

const withNumber = (number: string, more: Partial<TransferRules> = {}): TransferRules => ({
  ...RULES,
  targets: [{ label: 'x', number }],
  ...more,
});

test.each([
  ['sales', '+390612345678'],
  [' SALES ', '+390612345678'],
  ['night desk', '+393331234567'],
])('decideTransfer allows the label "%s"', (label, number) => {
  expect(decideTransfer(label, RULES)).toEqual({ isAllowed: true, number });
});

test.each([
  '',
  'unknown',
  '+390612345678',
  '06 12345678',
  'sales,marketing',
  '+12025550123',
  'tel:+390612345678',
  'sip:boss@example.com',
  '__proto__',
])('decideTransfer denies "%s", which is no label', (destination) => {
  expect(decideTransfer(destination, RULES).isAllowed).toBe(false);
});

test('decideTransfer denies everything when no target is named', () => {
  const rules = { ...RULES, targets: [] };

  expect(decideTransfer('sales', rules).isAllowed).toBe(false);
});

test.each([
  ['a premium number', '+39899123456'],
  ['a satellite network', '+870773111632'],
  ['an international network', '+88213300655'],
  ['a universal freephone service', '+80012345678'],
  ['international premium rate', '+979123456789'],
  ['another country under the same code', '+18765230123'],
  ['another country', '+4930123456'],
  ['our own number', '+390655555555'],
  ["the agent's own number", '+390698765432'],
  ['an emergency number', '112'],
  ['a number with a line break', '+390612345678\r\nINVITE sip:evil'],
  ['no number at all', 'hello'],
])('decideTransfer denies a target that is %s', (_what, number) => {
  expect(decideTransfer('x', withNumber(number)).isAllowed).toBe(false);
});

test.each([
  ['of the same country', '+390612345678', {}],
  ['of an allowed country', '+4930123456', { allowedCountries: ['IT', 'DE'] }],
  ['of any country where the agent has no number', '+4930123456', { agentNumber: null }],
  ['written in national form', '06 12345678', {}],
])('decideTransfer allows a target %s', (_what, number, more) => {
  const target = number.startsWith('+') ? number : `+39${number.replaceAll(' ', '')}`;

  expect(decideTransfer('x', withNumber(target, more)).isAllowed).toBe(true);
});

test('decideTransfer allows a number that the operator wrote into the system prompt', () => {
  const rules = { ...RULES, targets: [], systemPrompt: 'In doubt, transfer to +39 06 1234 5678.' };

  expect(decideTransfer('+390612345678', rules)).toEqual({
    isAllowed: true,
    number: '+390612345678',
  });
  expect(decideTransfer('06 12345678', rules).isAllowed).toBe(true);
  expect(decideTransfer('+390612345679', rules).isAllowed).toBe(false);
});

test('decideTransfer denies a number that stands in the prompt for another purpose', () => {
  const systemPrompt = 'Order number 4155550133. Our fax is +390612345678.';
  const rules = { ...RULES, targets: [], systemPrompt, agentNumber: '+14155550199' };

  expect(decideTransfer('+14155550133', rules).isAllowed).toBe(false);
  expect(decideTransfer('4155550133', rules).isAllowed).toBe(false);
  expect(decideTransfer('+390612345678', { ...rules, allowedCountries: ['IT'] }).isAllowed).toBe(
    false,
  );
});

test('decideTransfer denies a number of the prompt where no country is home, and none is allowed', () => {
  const prompt = { targets: [], systemPrompt: 'In doubt, transfer to +390612345678.' };
  const rules = { ...RULES, ...prompt, agentNumber: null };

  expect(decideTransfer('+390612345678', rules)).toEqual({
    isAllowed: false,
    reason: 'its country may not be called',
  });
  expect(decideTransfer('+390612345678', { ...rules, allowedCountries: ['IT'] }).isAllowed).toBe(
    true,
  );
});

test('decideTransfer denies premium and satellite numbers though the operator has listed them', () => {
  const rules = (number: string) => withNumber(number, { agentNumber: null });

  expect(decideTransfer('x', rules('+39899123456')).isAllowed).toBe(false);
  expect(decideTransfer('x', rules('+88213300655')).isAllowed).toBe(false);
});

test('transferLabels names every target once', () => {
  const rules = { ...RULES, targets: [...RULES.targets, ...RULES.targets] };

  expect(transferLabels(rules)).toEqual(['sales', 'Night desk']);
});

test('decideTransfer never leaves the list, whatever the model says', () => {
  const digits = fc.array(fc.constantFrom(...'0123456789+ -()٠١٢٣٤'), { maxLength: 18 });
  const anything = fc.oneof(
    fc.string(),
    digits.map((characters) => characters.join('')),
    fc.constantFrom('sales', 'SALES', 'sales ', 's\u0430les', 'tel:+390612345678'),
  );
  const allowed = RULES.targets.map(({ number }) => number);

  fc.assert(
    fc.property(anything, (destination) => {
      const decision = decideTransfer(destination, RULES);
      if (decision.isAllowed) expect(allowed).toContain(decision.number);
    }),
    { numRuns: 2000 },
  );
});
