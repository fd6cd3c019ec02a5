/** Calls as the interface shows them, written as JSON by SQLite: to make objects of them first takes longer than to read them; pure */
import { type RawBuilder, sql } from 'kysely';

/** As `Date.toISOString` writes it. */
function instant(
  column: 'started_at' | 'answered_at' | 'ended_at' | 'at',
): RawBuilder<string | null> {
  return sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${sql.ref(column)} / 1000.0, 'unixepoch')`;
}

function truth(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`json(iif(${condition}, 'true', 'false'))`;
}

/** What lists and single calls show alike, as names and values of an object. */
function common(): RawBuilder<unknown> {
  return sql`'id', id, 'agentId', agent_id, 'direction', direction, 'status', status,
    'from', from_number, 'to', to_number, 'durationSeconds', duration_seconds,
    'startedAt', ${instant('started_at')}, 'answeredAt', ${instant('answered_at')},
    'endedAt', ${instant('ended_at')}, 'endReason', end_reason,
    'failureReason', failure_reason, 'sipStatus', sip_status,
    'sentiment', sentiment, 'intentDetected', intent_detected`;
}

/**
 * One row of the calls table as the text of an object.
 *
 * @see the interface specification, "List calls": names and order are those of its items.
 */
export function callItemText(): RawBuilder<string> {
  const hasTranscript = sql`exists (select 1 from transcript_entries where call_id = calls.id)`;
  return sql<string>`json_object(${common()},
    'hasTranscript', ${truth(hasTranscript)},
    'hasRecording', ${truth(sql`recording_file is not null`)})`;
}

/** The columns of a `CallText`. @see the interface specification, "Get a call". */
export function callTextColumns() {
  const entry = sql`'role', role, 'text', text, 'timestamp', ${instant('at')}`;
  return [
    sql<string>`json_object(${common()},
      'recordingTruncated', ${truth(sql`recording_truncated`)})`.as('facts'),
    sql<string | null>`(select group_concat(iif(confidence is null,
        json_object(${entry}), json_object(${entry}, 'confidence', confidence)))
      from (select * from transcript_entries where call_id = calls.id order by at, position))`.as(
      'transcript',
    ),
    sql<string>`json_quote(summary)`.as('summary'),
    'metadata',
    sql<number>`recording_file is not null`.as('has_recording'),
  ] as const;
}
