/** `admin doctor`: looks at everything a call needs on this machine, and says what is wrong and what to do. */

import { existsSync } from 'node:fs';
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { readTrunksFile } from '../compose/trunk-control.ts';
import {
  type Config,
  databaseFileOf,
  doubtfulSettings,
  mistypedVariables,
} from '../config/config.ts';
import { systemClock as clock, TimeLimit, unlessAborted } from '../lib/clock.ts';
import { silentLogger as log } from '../lib/logger.ts';
import { UNCOUNTED } from '../lib/metrics/model-metrics.ts';
import { messageOf } from '../lib/unknown-value.ts';
import type { LanguageModel } from '../llm/language-model.ts';
import { PROBE } from '../llm/probed-model.ts';
import { TrunkRegistry } from '../telephony/trunks/trunk-registry.ts';
import { type Console, type Result, showing, withDesk } from './admin-command.ts';
import { checkTrunk, type KnownTrunks, readTrunks } from './admin-trunks.ts';
import {
  addressFinding,
  answerFinding,
  askServer,
  machineFindings,
  portFindings,
  serverFindings,
  settingFindings,
} from './doctor-checks.ts';
import { type Finding, findingsText } from './doctor-finding.ts';

const EXIT_FAILED = 1;

/** More are for "trunk check". */
const TRUNKS_MAX = 10;

/** Ollama may have to load the model first. */
const MODEL_MS_MAX = 60_000;

/** Exits with 1 if a finding is `wrong`; a `limited` one is only reported. */
export function addDoctorCommand(root: Command, console: Console): void {
  const command = root
    .command('doctor')
    .description(
      'looks at ports, addresses, models, disk, clock, database, trunks and the language model, and says what is wrong and what to do',
    );
  showing(command, console, async () => {
    const findings = await diagnose(console);
    if (findings.some(({ state }) => state === 'wrong')) process.exitCode = EXIT_FAILED;
    const paint: Parameters<typeof findingsText>[1] = (colour, text) =>
      styleText(colour, text, { stream: process.stdout });
    return { text: findingsText(findings, paint), json: { findings } } satisfies Result;
  });
}

async function diagnose(console: Console): Promise<readonly Finding[]> {
  const config = console.config();
  console.progress('Looking at this machine …');
  const machine = await machineFindings(config);
  const server = await askServer(config);
  console.progress('Looking at ports and models …');
  const running =
    server === undefined
      ? [NOT_RUNNING, ...(await portFindings(config)), await modelFinding(config)]
      : serverFindings(server);
  const trunks = await trunkFindings(console);
  console.progress('');
  const settings = settingFindings(mistypedVariables(), doubtfulSettings(config));
  return [...machine, ...settings, ...running, addressFinding(config), ...trunks];
}

const NOT_RUNNING: Finding = {
  check: 'server',
  state: 'limited',
  found: 'does not run, so speech models were not looked at',
  advice: 'start it ("npm start") and ask again, or try the models: npm run admin -- self-test',
};

/** Asks the language models of the settings one question: a server lists models that do not fit into its memory. */
async function modelFinding(config: Config): Promise<Finding> {
  const check = 'language model';
  const { composeModel } = await import('../compose/llm.ts');
  const times = { answered: () => undefined, failed: () => undefined };
  const { model, warmModel } = await composeModel({ config, clock, log, times, counts: UNCOUNTED });
  using limit = new TimeLimit(clock, MODEL_MS_MAX, { reason: 'it did not answer in time' });
  try {
    await unlessAborted(model.check(), limit.signal);
    // What fails here fails at the question too, which tells why.
    await warmModel(limit.signal).catch(() => undefined);
    const tookMs = await firstWordMs(model, limit.signal);
    return answerFinding(model.report(), tookMs);
  } catch (error) {
    return { check, state: 'wrong', found: messageOf(error), advice: 'docs/language-models.md' };
  } finally {
    await model.stop();
  }
}

async function firstWordMs(model: LanguageModel, signal: AbortSignal): Promise<number> {
  const askedMs = clock.nowMs();
  for await (const _ of model.stream({ messages: PROBE, signal })) break;
  return clock.nowMs() - askedMs;
}

/** Asks each carrier step by step. */
async function trunkFindings(console: Console): Promise<readonly Finding[]> {
  const check = 'trunks';
  try {
    const known = await knownTrunks(console);
    const names = known.registry.all.map(({ name }) => name);
    const findings: Finding[] = known.problems.map((found) => ({ check, state: 'wrong', found }));
    if (names.length === 0) {
      const advice = 'POST /api/trunks, or sip-config/trunks.json: docs/carriers.md';
      return [...findings, { check, state: 'limited', found: 'there are none', advice }];
    }
    for (const name of names.slice(0, TRUNKS_MAX)) {
      console.progress(`Asking trunk ${name} …`);
      findings.push(await trunkFinding(known, name, console));
    }
    const rest = names.length - TRUNKS_MAX;
    if (rest <= 0) return findings;
    const found = `${rest} more were not asked: npm run admin -- trunk check <name>`;
    return [...findings, { check, state: 'limited', found }];
  } catch (error) {
    return [{ check, state: 'wrong', found: messageOf(error), advice: 'docs/carriers.md' }];
  }
}

async function trunkFinding(known: KnownTrunks, name: string, console: Console): Promise<Finding> {
  const check = `trunk ${name}`;
  const { ok, steps } = (await checkTrunk(known, name, console)).json;
  if (ok) return { check, state: 'ok', found: steps.at(-1)?.message ?? 'answers' };
  const failed = steps.find((step) => !step.ok);
  return {
    check,
    state: 'wrong',
    found: failed === undefined ? 'fails' : `${failed.step}: ${failed.message}`,
  };
}

/** Trunks of file and database; before the first start, those of the file alone. */
async function knownTrunks(console: Console): Promise<KnownTrunks> {
  const config = console.config();
  if (existsSync(databaseFileOf(config)))
    return withDesk(console, (desk) => readTrunks(desk, console));
  return { registry: new TrunkRegistry(readTrunksFile(config)), problems: [] };
}
