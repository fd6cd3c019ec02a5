/** Calls as lists show them, written as JSON by SQLite: to make objects of them first takes longer than all the rest of a list; pure */
import { type RawBuilder, sql } from 'kysely';

/** As `Date.toISOString` writes it. */
function instant(column: 'started_at' | 'ended_at'): RawBuilder<string | null> {
  return sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${sql.ref(column)} / 1000.0, 'unixepoch')`;
}

function truth(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`json(iif(${condition}, 'true', 'false'))`;
}

/**
 * One row of the calls table as the text of an object.
 *
 * @see the interface specification, "List calls": names and order are those of its items.
 */
export function callItemText(): RawBuilder<string> {
  const hasTranscript = sql`exists (select 1 from transcript_entries where call_id = calls.id)`;
  return sql<string>`json_object(
    'id', id, 'agentId', agent_id, 'direction', direction, 'status', status,
    'from', from_number, 'to', to_number, 'durationSeconds', duration_seconds,
    'startedAt', ${instant('started_at')}, 'endedAt', ${instant('ended_at')},
    'endReason', end_reason, 'sentiment', sentiment, 'intentDetected', intent_detected,
    'hasTranscript', ${truth(hasTranscript)},
    'hasRecording', ${truth(sql`recording_file is not null`)})`;
}
