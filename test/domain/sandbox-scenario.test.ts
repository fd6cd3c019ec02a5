import { expect, test } from 'vitest';
import {
  SANDBOX_SCENARIOS,
  scenarioNamed,
  scenarioOfNumber,
  scenarioRingingIn,
} from '../../src/domain/sandbox/sandbox-scenario.ts';

test.each([
  ['+12025550100', 'no_answer'],
  ['+12025550101', 'busy'],
  ['+12025550102', 'hangup'],
  ['+12025550103', 'silent'],
  ['+12025550104', 'transfer'],
  ['+12025550105', 'appointment'],
  ['+12025550106', 'error'],
  ['+12025550107', 'voicemail'],
  ['+12025550108', 'friendly'],
  ['+12025550110', 'friendly'],
  ['+390612345600', 'no_answer'],
  ['', 'friendly'],
])('scenarioOfNumber finds for "%s" the party "%s"', (number, scenario) => {
  expect(scenarioOfNumber(number)).toBe(scenario);
});

test('scenarioNamed knows every name', () => {
  expect(SANDBOX_SCENARIOS.map(scenarioNamed)).toEqual([...SANDBOX_SCENARIOS]);
});

test.each([
  ['04', 'transfer'],
  ['77', 'friendly'],
  ['4', undefined],
  ['104', undefined],
  ['Transfer', undefined],
  ['__proto__', undefined],
  ['', undefined],
])('scenarioNamed finds for "%s": %s', (text, scenario) => {
  expect(scenarioNamed(text)).toBe(scenario);
});

test.each([
  [{ from: undefined, scenario: undefined }, 'friendly'],
  [{ from: '+12025550105', scenario: undefined }, 'appointment'],
  [{ from: '+12025550105', scenario: 'silent' }, 'silent'],
  [{ from: '+12025550105', scenario: '99' }, 'friendly'],
])('scenarioRingingIn chooses for %o: %s', (facts, scenario) => {
  expect(scenarioRingingIn(facts)).toBe(scenario);
});

test.each([
  { from: undefined, scenario: 'busy' },
  { from: '+12025550101', scenario: undefined },
  { from: undefined, scenario: '07' },
])('scenarioRingingIn refuses %o: no inbound scenario has it', (facts) => {
  expect(() => scenarioRingingIn(facts)).toThrow(
    expect.objectContaining({ code: 'UNPROCESSABLE' }),
  );
});
