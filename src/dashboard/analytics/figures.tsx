/** The figures of a period, each with its change against the period before. */
import type { ComponentChildren } from 'preact';
import type { AnalyticsDetails } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { FactList } from '../parts/page.tsx';
import { type Change, changeOf, differenceOf, shareOf } from './report-sums.ts';

type Summary = AnalyticsDetails['summary'];

export function Figures({ details }: { readonly details: AnalyticsDetails }) {
  const { summary: now, previous: before } = details;
  const { count, percent, seconds, change, points } = formats.value;
  const inPoints = (by: number) => t('analytics.points', { points: points(by) });
  const duration = (value: number | null) => (value === null ? '–' : clockText(value));
  const answer = (ms: number | null) => (ms === null ? '–' : seconds(ms));
  const share = (value: number | null) => (value === null ? '–' : percent(value));
  return (
    <FactList
      class="figures"
      facts={[
        [
          t('field.calls'),
          <Figure
            now={count(now.totalCalls)}
            before={count(before.totalCalls)}
            change={changeOf(now.totalCalls, before.totalCalls, 'neither')}
            text={change}
          />,
        ],
        [
          t('analytics.completedShare'),
          <Figure
            now={share(completed(now))}
            before={share(completed(before))}
            change={differenceOf(completed(now), completed(before), 'more')}
            text={inPoints}
          />,
        ],
        [
          t('field.averageDuration'),
          <Figure
            now={duration(now.averageDurationSeconds)}
            before={duration(before.averageDurationSeconds)}
            change={changeOf(now.averageDurationSeconds, before.averageDurationSeconds, 'neither')}
            text={change}
          />,
        ],
        [
          t('analytics.medianAnswer'),
          <Figure
            now={answer(median(now))}
            before={answer(median(before))}
            change={changeOf(median(now), median(before), 'less')}
            text={change}
          />,
        ],
        ...costsOf(details),
      ]}
    />
  );
}

/** Charges of carriers, a figure a currency; none where no call has a cost. */
function costsOf({ summary, previous }: AnalyticsDetails) {
  const { change, roundMoney } = formats.value;
  return summary.costs.map((cost) => {
    const earlier = previous.costs.find(({ currency }) => currency === cost.currency);
    const before = earlier === undefined ? null : Number(earlier.amount);
    return [
      t('analytics.cost', { currency: cost.currency }),
      <Figure
        now={roundMoney(cost)}
        before={earlier === undefined ? '–' : roundMoney(earlier)}
        change={changeOf(Number(cost.amount), before, 'neither')}
        text={change}
      />,
    ] as const;
  });
}

function median({ answerTime }: Summary): number | null {
  return answerTime?.p50Ms ?? null;
}

/** Share of completed calls among the calls that are over. */
function completed({ completedCalls, missedCalls, failedCalls }: Summary): number | null {
  return shareOf(completedCalls, completedCalls + missedCalls + failedCalls);
}

function Figure(props: {
  readonly now: string;
  readonly before: string;
  readonly change: Change | undefined;
  readonly text: (by: number) => string;
}): ComponentChildren {
  const { now, before, change, text } = props;
  return (
    <>
      {now}
      {change !== undefined && (
        <span class="figure-change">
          <span class={`change-${change.tone}`}>{text(change.by)}</span>{' '}
          {t('analytics.before', { before })}
        </span>
      )}
    </>
  );
}
