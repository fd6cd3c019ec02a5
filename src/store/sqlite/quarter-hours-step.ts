/** Step 0032 of the schema: sums of calls by quarter hour, for analytics in any time zone. */

/** The longest period of analytics and as long before it, which it is compared with, are added up from the calls there are. */
const BACKFILL_DAYS = 740;

/**
 * Adds the calls that began at `sinceMs` or later up into the empty `quarter_hours`. Times to answer are left out: to
 * read them from old timelines would hold up the start of a large server.
 *
 * @param sinceMs milliseconds since the epoch, as an SQL expression.
 */
export function addUpCallsSince(sinceMs: string): string {
  const reason = (name: string) => `count(*) filter (where end_reason = '${name}')`;
  const mood = (name: string) => `count(*) filter (where sentiment = '${name}')`;
  return `
    insert into quarter_hours
    select agent_id, account_id, environment, sort_at / 900000, count(*),
      count(*) filter (where status = 'completed'),
      count(*) filter (where ended_at is not null and answered_at is null),
      count(*) filter (where status = 'failed' and answered_at is not null),
      count(*) filter (where direction = 'inbound'),
      count(*) filter (where answered_at is not null and ended_at is not null), sum(duration_seconds),
      count(*) filter (where json_extract(success, '$.met')), count(success),
      ${mood('positive')}, ${mood('neutral')}, ${mood('negative')},
      ${reason('user_hangup')}, ${reason('agent_hangup')}, ${reason('timeout')}, ${reason('transferred')},
      ${reason('error')}, ${reason('no_answer')}, ${reason('busy')}
    from calls where sort_at >= ${sinceMs} group by 1, 2, 3, 4;
    insert into quarter_hours
    select '', account_id, environment, quarter_hour, sum(calls), sum(completed), sum(missed), sum(failed),
      sum(inbound), sum(answered), sum(billed_seconds), sum(met), sum(judged), sum(positive), sum(neutral),
      sum(negative), sum(user_hangup), sum(agent_hangup), sum(timeout), sum(transferred), sum(error),
      sum(no_answer), sum(busy)
    from quarter_hours group by 2, 3, 4;`;
}

/** Read in ranges of their keys, as the sums by day are; agent '' stands for all agents of the account. */
export const QUARTER_HOURS = `
  create table quarter_hours (
    agent_id text not null, account_id text not null, environment text not null, quarter_hour integer not null,
    calls integer not null, completed integer not null, missed integer not null, failed integer not null,
    inbound integer not null, answered integer not null, billed_seconds integer not null,
    met integer not null, judged integer not null,
    positive integer not null, neutral integer not null, negative integer not null,
    user_hangup integer not null, agent_hangup integer not null, timeout integer not null,
    transferred integer not null, error integer not null, no_answer integer not null, busy integer not null,
    primary key (agent_id, account_id, environment, quarter_hour)) strict, without rowid;
  -- Turns by bucket of their time to answer: 32-bit numbers, as the machine has them.
  create table answer_times (
    agent_id text not null, account_id text not null, environment text not null, quarter_hour integer not null,
    turns blob not null,
    primary key (agent_id, account_id, environment, quarter_hour)) strict, without rowid;
  ${addUpCallsSince(`(unixepoch() - ${BACKFILL_DAYS} * 86400) * 1000`)}`;
