/** `admin self-test`: proves the installed models on this machine, without a running server. */
import { type Command, InvalidArgumentError } from 'commander';
import {
  ANSWER_MS_MAX,
  callsByProcessorTime,
  errorPercent,
  estimateText,
  type HeardResult,
  medianOf,
  type SelfTestReport,
  type SpeedEstimates,
  type Verdict,
  verdictsOf,
} from '../speech/self-test/self-test-report.ts';
import { type Console, type Result, showing, table } from './admin-command.ts';

const EXIT_FAILED = 1;

/** Two minutes hold a recogniser, a voice and a language model of ordinary size. */
export const SELF_TEST_ENGINE_S_MAX = 45;
const FULL_ENGINE_S_MAX = 3600;

interface SelfTestWords {
  readonly full?: true;
  readonly seconds?: number;
}

/** The process exits with 1 where an engine fails; one that is too slow is only reported. */
export function addSelfTestCommand(root: Command, console: Console): void {
  const command = root
    .command('self-test')
    .description(
      'says 40 reference sentences with the installed voices and hears them with the installed recognisers: about two minutes',
    )
    .option(
      '--full',
      'every voice says every sentence of its language, and an engine has an hour unless --seconds says less',
    )
    .option(
      '--seconds <n>',
      `time for each engine, ${SELF_TEST_ENGINE_S_MAX} unless given`,
      secondsOption,
    );
  showing<SelfTestWords>(command, console, async ({ full = false, seconds }) => {
    const { runSelfTest } = await import('../compose/self-test.ts');
    const config = console.config();
    const engineMsMax = 1000 * (seconds ?? (full ? FULL_ENGINE_S_MAX : SELF_TEST_ENGINE_S_MAX));
    const onProgress = (text: string) => console.progress(text);
    const report = await runSelfTest({ config, isFull: full, engineMsMax, onProgress });
    console.progress('');
    const result = selfTestResult(report);
    if (!result.isPassed) process.exitCode = EXIT_FAILED;
    return result;
  });
}

function secondsOption(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds >= 1) return seconds;
  throw new InvalidArgumentError('Expected a number of seconds, at least 1.');
}

/** The report for people and as JSON. */
export function selfTestResult(report: SelfTestReport): Result & {
  /** No engine failed. */
  readonly isPassed: boolean;
  /** A language model answers, not the rule book. */
  readonly hasAgent: boolean;
} {
  const verdicts = verdictsOf(report);
  const calls = callsByProcessorTime(report);
  const isPassed = verdicts.every(({ kind }) => kind !== 'failed');
  const { languageModel } = report;
  const hasAgent = languageModel?.failure === null && !languageModel.isRuleBook;
  const text = textOf(report, verdicts, calls);
  return { text, json: jsonOf(report, verdicts, calls), isPassed, hasAgent };
}

function textOf(report: SelfTestReport, verdicts: readonly Verdict[], calls: number): string {
  const { machine, tookSeconds } = report;
  const { offhook, node, platform, cores, memoryGb } = machine;
  return [
    `Offhook ${offhook} self-test, ${tookSeconds.toFixed(0)} s: ${platform}, ${cores} cores, ${memoryGb} GB, Node ${node}`,
    table(
      [['VOICE', 'SENTENCES', 'FIRST SOUND MS', 'REAL-TIME FACTOR'], ...voiceRows(report)],
      'No voice is installed.',
    ),
    table(
      [
        ['RECOGNISER', 'VOICE', 'LANGUAGE', 'LINE', 'WORDS', 'WORD ERRORS %', 'REAL-TIME FACTOR'],
        ...recognizerRows(report),
      ],
      'No recogniser heard anything.',
    ),
    verdicts
      .map(({ subject, kind, reason }) => `${kind.toUpperCase()}  ${subject}: ${reason}`)
      .join('\n'),
    `Calls at once by processor time, without the language model: about ${calls}.`,
    estimatesText(report.estimates),
  ].join('\n\n');
}

function voiceRows({ voices }: SelfTestReport): readonly (readonly string[])[] {
  return voices.map(({ engine, sentences, planned, firstSoundMs, realTimeFactor }) => [
    engine,
    countText(sentences, planned),
    figure(medianOf(firstSoundMs), 0),
    figure(realTimeFactor, 3),
  ]);
}

function recognizerRows({ recognizers }: SelfTestReport): readonly (readonly string[])[] {
  return recognizers.flatMap(({ model, heard, realTimeFactor }) =>
    heard.map((row) => [
      model,
      row.voices,
      row.language,
      lineText(row),
      String(row.words),
      figure(errorPercent(row), 1),
      figure(realTimeFactor, 3),
    ]),
  );
}

/** Estimated speed of recognisers that are not installed; the last part of the report, since it is a guess. */
export function estimatesText({ list, failure }: SpeedEstimates): string {
  if (failure !== null) return `Models that are not installed cannot be estimated: ${failure}`;
  const rows = list.map((estimate) => [
    estimate.model,
    estimate.profiles.join(' ') || '-',
    estimateText(estimate, ANSWER_MS_MAX),
  ]);
  const head = ['RECOGNISER, NOT INSTALLED', 'PROFILE', 'ON ONE CORE'];
  return table([head, ...rows], 'Every recogniser that can be estimated is installed.');
}

function countText(done: number, planned: number): string {
  return done === planned ? String(done) : `${done} of ${planned}`;
}

function lineText({ line }: HeardResult): string {
  return line === 'clean' ? 'G.711' : 'G.711, babble at 10 dB';
}

function figure(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-';
}

function jsonOf(report: SelfTestReport, verdicts: readonly Verdict[], calls: number): unknown {
  const { machine, voices, recognizers, languageModel, tookSeconds } = report;
  const known = (value: number) => (Number.isFinite(value) ? Number(value.toFixed(4)) : null);
  return {
    ...{ machine, tookSeconds: known(tookSeconds), callsByProcessorTime: calls },
    voices: voices.map(({ firstSoundMs, realTimeFactor, audioSeconds, ...voice }) => ({
      ...voice,
      firstSoundMs: known(medianOf(firstSoundMs)),
      audioSeconds: known(audioSeconds),
      realTimeFactor: known(realTimeFactor),
    })),
    recognizers: recognizers.map(({ answerMs, realTimeFactor, heard, ...recognizer }) => ({
      ...recognizer,
      answerMs: known(medianOf(answerMs)),
      realTimeFactor: known(realTimeFactor),
      heard: heard.map((row) => ({ ...row, wordErrorPercent: known(errorPercent(row)) })),
    })),
    languageModel:
      languageModel === null
        ? null
        : { ...languageModel, firstTextMs: known(medianOf(languageModel.firstTextMs)) },
    estimates: {
      ...report.estimates,
      list: report.estimates.list.map((one) => ({ ...one, answerMs: known(one.answerMs) })),
    },
    verdicts,
  };
}
