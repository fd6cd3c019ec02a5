/** A database full of calls that are over, filled by SQL in a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { addUpCallsSince } from '../../src/store/sqlite/schema-steps.ts';
import { openStore, type Store } from '../../src/store/store.ts';

const DAY_MS = 86_400_000;

export const ACCOUNT = 'acct_bench';

/** The agent that filters ask for; one of `AGENTS`. */
export const AGENT = 'agent_7';

const AGENTS = 20;

export interface CallHistory {
  readonly file: string;
  /** Midnight (UTC) that ends the last day. */
  readonly endsAt: Date;
  remove(): void;
}

/** Makes the file: so many calls of one account and 20 agents, evenly spread over so many days. */
export async function makeCallHistory(options: {
  readonly calls: number;
  readonly days: number;
}): Promise<CallHistory> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-calls-'));
  const file = join(folder, 'offhook.db');
  const endsAt = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS);
  await (await openHistory(file)).close();
  const sqlite = new Sqlite(file);
  try {
    sqlite.pragma('synchronous=OFF');
    sqlite.exec(fillingOf({ ...options, endsAt }));
    sqlite.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    sqlite.close();
  }
  return { file, endsAt, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Opens it as the server does. */
export function openHistory(file: string): Promise<Store> {
  return openStore({ file, clock: systemClock, log: silentLogger });
}

/** Remainders of primes stand for chance, so that every run has the same calls. */
function fillingOf(options: {
  readonly calls: number;
  readonly days: number;
  readonly endsAt: Date;
}): string {
  const { calls, days } = options;
  const stepMs = Math.floor((days * DAY_MS) / calls);
  const firstMs = options.endsAt.getTime() - days * DAY_MS;
  return `begin;
    insert into accounts (id, name, plan, minutes_included, created_at)
    values ('${ACCOUNT}', 'Bench', 'enterprise', 1000, 0);
    with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${calls - 1}),
    drafts as (select n, ${firstMs} + n * ${stepMs} as at, n * 7919 % 1000 as chance, n * 104729 % 300 + 5 as seconds
      from numbers)
    insert into calls (id, account_id, environment, agent_id, direction, status, from_number, to_number, created_at,
      started_at, answered_at, ended_at, end_reason, duration_seconds, carrier_call_sid, recording_file, summary,
      sentiment, sentiment_score, intent_detected, metadata, overrides, sort_at)
    select printf('call_%024d', n), '${ACCOUNT}', 'live', 'agent_' || (n * 31 / 7 % ${AGENTS}),
      iif(chance % 10 < 7, 'inbound', 'outbound'), iif(chance < 900, 'completed', 'failed'),
      '+12025550123', '+12025550187', at, at, iif(chance < 900, at + 2000, null), at + 2000 + seconds * 1000,
      iif(chance < 900, 'user_hangup', 'no_answer'), iif(chance < 900, seconds, 0), printf('%032x', n),
      printf('recordings/call_%024d.wav', n), 'Asked when the shop opens, and was told.', 'positive',
      iif(chance < 900, chance / 900.0, null),
      iif(chance < 800, 'intent_' || (chance % 8), null), '{}', '{}', at
    from drafts;
    ${SUMS}
    ${addUpCallsSince('0')}
    ${ANSWER_TIMES}
    commit; analyze`;
}

const SUMS = `
  insert into call_days
    select account_id, environment, agent_id, sort_at / ${DAY_MS}, direction, status, count(*),
      sum(answered_at is not null), sum(answered_at is null), sum(duration_seconds),
      coalesce(sum(sentiment_score), 0), count(sentiment_score), 0
    from calls group by 1, 2, 3, 4, 5, 6;
  insert into call_days
    select account_id, environment, '', day, direction, status, sum(calls), sum(answered),
      sum(missed), sum(billed_seconds), sum(sentiment_sum), sum(sentiment_count), sum(erased)
    from call_days group by account_id, environment, day, direction, status;
  insert into intent_days
    select account_id, environment, agent_id, sort_at / ${DAY_MS}, intent_detected, count(*)
    from calls where intent_detected is not null group by 1, 2, 3, 4, 5;
  insert into intent_days
    select account_id, environment, '', day, intent, sum(calls)
    from intent_days group by account_id, environment, day, intent;`;

/** As many bytes as the buckets of an engine have. */
const ENGINE_TIMES = "unhex(replace(hex(zeroblob(114)), '00', '08000000'))";

/** Eight turns in each bucket of every quarter hour that has calls. */
const ANSWER_TIMES = `
  insert into answer_times (agent_id, account_id, environment, quarter_hour, turns, recognition, model, voice)
    select agent_id, account_id, environment, quarter_hour, unhex(replace(hex(zeroblob(93)), '00', '08000000')),
      ${ENGINE_TIMES}, ${ENGINE_TIMES}, ${ENGINE_TIMES}
    from quarter_hours;`;
