/** The figures of a period, each with its change against the period before. */
import type { AnalyticsDetails } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { FactList } from '../parts/page.tsx';
import { type Better, changeOf, differenceOf, shareOf } from './report-sums.ts';

type Summary = AnalyticsDetails['summary'];

export function Figures({ details }: { readonly details: AnalyticsDetails }) {
  const { count, percent, seconds } = formats.value;
  const figure = (label: string, facts: Omit<FigureProps, 'details'>) =>
    [label, <Figure details={details} {...facts} />] as const;
  return (
    <FactList
      class="figures"
      facts={[
        figure(t('field.calls'), { of: ({ totalCalls }) => totalCalls, text: count }),
        figure(t('analytics.completedShare'), {
          ...{ of: completed, text: percent, better: 'more', isShare: true },
        }),
        figure(t('field.averageDuration'), {
          ...{ of: ({ averageDurationSeconds: mean }) => mean, text: clockText },
        }),
        figure(t('analytics.medianAnswer'), {
          ...{ of: ({ answerTime }) => answerTime?.p50Ms ?? null, text: seconds, better: 'less' },
        }),
        ...details.summary.costs.map(({ currency }) =>
          figure(t('analytics.cost', { currency }), costIn(currency)),
        ),
      ]}
    />
  );
}

/** Charges of carriers in a currency; none where no call has a cost. */
function costIn(currency: string) {
  return {
    of: ({ costs }: Summary) => {
      const cost = costs.find((one) => one.currency === currency);
      return cost === undefined ? null : Number(cost.amount);
    },
    text: (value: number) => formats.value.roundMoney({ amount: String(value), currency }),
  };
}

/** Share of completed calls among the calls that are over. */
function completed({ completedCalls, missedCalls, failedCalls }: Summary): number | null {
  return shareOf(completedCalls, completedCalls + missedCalls + failedCalls);
}

interface FigureProps {
  readonly details: AnalyticsDetails;
  /** Null where it is not known. */
  readonly of: (summary: Summary) => number | null;
  readonly text: (value: number) => string;
  readonly better?: Better;
  /** Whether it is a share, whose change is told in points. */
  readonly isShare?: boolean;
}

function Figure({ details, of, text, better = 'neither', isShare = false }: FigureProps) {
  const [now, before] = [of(details.summary), of(details.previous)];
  const change = (isShare ? differenceOf : changeOf)(now, before, better);
  const { points, change: relative } = formats.value;
  const changeText = (by: number) =>
    isShare ? t('analytics.points', { points: points(by) }) : relative(by);
  return (
    <>
      {now === null ? '–' : text(now)}
      {change !== undefined && (
        <span class="figure-change">
          <span class={`change-${change.tone}`}>{changeText(change.by)}</span>{' '}
          {t('analytics.before', { before: before === null ? '–' : text(before) })}
        </span>
      )}
    </>
  );
}
