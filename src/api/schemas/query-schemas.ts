/** Common fields of queries: whole numbers, pagination by `limit` and `offset`, calendar days and periods as UTC. */
import { z } from '@hono/zod-openapi';
import type { ZodType } from 'zod';
import {
  dayCount,
  NAMED_PERIODS,
  PERIOD_DAYS_MAX,
  type Period,
  periodOf,
} from '../../domain/analytics/period.ts';
import { DAY_MS } from '../../lib/clock.ts';

/** A whole number as a query writes it; `1e2`, `+5` and ` 5` are refused. */
export function wholeNumber(limits: { readonly min: number; readonly max: number }) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.int().min(limits.min).max(limits.max));
}

/** Entries of a page: as a rule, and at most. */
export const PAGE_LIMIT = { default: 20, max: 100 } as const;

/** The query parameters of a list. */
export function pagingFields(limit: { readonly default: number; readonly max: number }) {
  return {
    limit: wholeNumber({ min: 1, max: limit.max })
      .default(limit.default)
      .openapi({
        param: { description: `How many items to return, ${limit.max} at most.` },
        type: 'integer',
        minimum: 1,
        maximum: limit.max,
        default: limit.default,
      }),
    offset: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })
      .default(0)
      .openapi({
        param: { description: 'How many items to skip.' },
        type: 'integer',
        minimum: 0,
        default: 0,
      }),
  };
}

/** The query of a list that has pagination only. */
export const pageQuerySchema = z.strictObject(pagingFields(PAGE_LIMIT));

/** A list's envelope around its items. */
export function pageOf<Item extends ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    total: z.int().openapi({ description: 'All matching items.' }),
    limit: z.int(),
    offset: z.int(),
  });
}

/** The query of routes that have no parameters: a misspelt or imagined one must not pass for understood. */
export const noQuery = z.strictObject({});

/** A day that exists, as it was written. */
const day = z.iso.date('expected a date that exists, as YYYY-MM-DD');

/** Becomes the first instant of the day. */
export const dayStart = day.transform((text) => new Date(`${text}T00:00:00.000Z`));

/** Becomes the first instant of the day after it, so that the day itself is inside. */
export const dayEnd = day.transform(
  (text) => new Date(new Date(`${text}T00:00:00.000Z`).getTime() + DAY_MS),
);

/** OpenAPI form of a day field. */
export const dayDocs = { type: 'string', format: 'date', example: '2026-11-21' } as const;

interface Asked {
  readonly period: 'custom' | (typeof NAMED_PERIODS)[number];
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

/** Fields of the query; `checkDates` has their rules. @param days how the documentation calls the days. */
export function periodFields(days: string) {
  return {
    period: z
      .enum([...NAMED_PERIODS, 'custom'])
      .default('last_30_days')
      .openapi({
        param: {
          description: `${days}; those that are not over, such as today, are part of it.`,
        },
      }),
    agentId: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .openapi({
        param: { description: 'An agent that had no calls, or never was, has zeros.' },
      }),
    startDate: day
      .optional()
      .openapi({ ...dayDocs, param: { description: 'First day of `custom`.' } }),
    endDate: day.optional().openapi({
      ...dayDocs,
      param: { description: `Last day of \`custom\`, of ${PERIOD_DAYS_MAX} days at most.` },
    }),
  };
}

/** Refuses dates that `period` does not take, or that make no period. */
export function checkDates(query: Asked, context: z.core.$RefinementCtx): void {
  for (const [path, message] of wrongDates(query)) {
    context.addIssue({ code: 'custom', path: [path], message });
  }
}

function wrongDates(query: Asked): readonly (readonly [path: string, message: string])[] {
  const { period, startDate, endDate } = query;
  if (period !== 'custom') {
    return (['startDate', 'endDate'] as const)
      .filter((path) => query[path] !== undefined)
      .map((path) => [path, 'expected only with period=custom']);
  }
  if (startDate === undefined || endDate === undefined) {
    return (['startDate', 'endDate'] as const)
      .filter((path) => query[path] === undefined)
      .map((path) => [path, 'expected with period=custom']);
  }
  const days = dayCount({ firstDay: startDate, lastDay: endDate });
  if (days < 1) return [['endDate', 'expected a day that is not before startDate']];
  if (days <= PERIOD_DAYS_MAX) return [];
  return [['endDate', `expected ${PERIOD_DAYS_MAX} days at most, both dates included`]];
}

/** @param now is in the period that `today` means, as UTC. */
export function askedPeriod(query: Asked, now: Date): Period {
  const { period, startDate, endDate } = query;
  if (period !== 'custom') return periodOf(period, now);
  // The schema has seen to it that both are there.
  return { firstDay: String(startDate), lastDay: String(endDate) };
}

/** An ISO instant of a request. */
export const instantSchema = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
