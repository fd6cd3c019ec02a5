/** Drafts of agents in SQLite. */
import type { ChangedBy, Scope } from '../../domain/agent/agent.ts';
import type { AgentPatch } from '../../domain/agent/agent-rules.ts';
import type { SavedDraft, SavedDraftStore } from '../../domain/agent/saved-draft.ts';
import type { Queries } from '../queries.ts';
import { build } from '../sqlite/schema.ts';

/** Keeps drafts in SQLite. */
export class SqliteSavedDraftStore implements SavedDraftStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async find({ accountId, environment }: Scope, agentId: string): Promise<SavedDraft | undefined> {
    const query = build
      .selectFrom('agent_drafts')
      .innerJoin('agents', 'agents.id', 'agent_drafts.agent_id')
      .selectAll('agent_drafts')
      .where('agent_drafts.agent_id', '=', agentId)
      .where('agents.account_id', '=', accountId)
      .where('agents.environment', '=', environment);
    const row = await this.#database.get(query);
    if (row === undefined) return undefined;
    return {
      changes: JSON.parse(row.changes) as AgentPatch,
      basedOnAt: new Date(row.based_on_at),
      by: row.changed_by as ChangedBy,
      updatedAt: new Date(row.updated_at),
    };
  }

  async save(agentId: string, draft: SavedDraft): Promise<void> {
    await this.#database.run(
      build.replaceInto('agent_drafts').values({
        agent_id: agentId,
        changes: JSON.stringify(draft.changes),
        based_on_at: draft.basedOnAt.getTime(),
        changed_by: draft.by,
        updated_at: draft.updatedAt.getTime(),
      }),
    );
  }

  async delete(agentId: string): Promise<void> {
    await this.#database.run(build.deleteFrom('agent_drafts').where('agent_id', '=', agentId));
  }
}
