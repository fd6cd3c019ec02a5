/** Loads an agent with its draft, saves drafts, and publishes; each from the state that the form began with. */
import { isMissing } from '../api-error.ts';
import type { Agent, SavedDraft } from '../api-types.ts';
import { client } from '../app-state.ts';
import { isNumberFreed, type KeptDraft } from './agent-draft.ts';
import {
  changesToPublish,
  isUnsaved,
  publishedAs,
  type SeenAgent,
  savedAs,
  tagOf,
} from './saved-draft.ts';

/** @throws {ApiError} 404 when there is no such agent. */
export async function loadSeen(path: string, signal?: AbortSignal): Promise<SeenAgent> {
  const ask = signal === undefined ? {} : { signal };
  const agent = await client.api<Agent>(path, ask);
  if (agent.draftAt === null) return { agent, draft: undefined };
  try {
    return { agent, draft: await client.api<SavedDraft>(`${path}/draft`, ask) };
  } catch (error) {
    // It was discarded or published between the two requests; saving will meet what came of it.
    if (isMissing(error)) return { agent, draft: undefined };
    throw error;
  }
}

/** Keeps the form's changes as the draft; a form like the live agent needs none. @throws {ApiError} 412 where another person saved. */
export async function saveDraft(path: string, form: KeptDraft): Promise<KeptDraft> {
  const body = changesToPublish(form);
  const ifUpdatedAt = tagOf(form);
  if (Object.keys(body).length > 0) {
    const ask = { method: 'PUT', body, ifUpdatedAt } as const;
    return savedAs(form, (await client.api<SavedDraft>(`${path}/draft`, ask)).updatedAt);
  }
  if (form.savedAt !== undefined)
    await client.api(`${path}/draft`, { method: 'DELETE', ifUpdatedAt });
  return savedAs(form, undefined);
}

/** Deletes the draft. @returns the form of the live agent. @throws {ApiError} 412 where another person saved. */
export async function discardSaved(path: string, form: KeptDraft): Promise<KeptDraft> {
  await client.api(`${path}/draft`, { method: 'DELETE', ifUpdatedAt: tagOf(form) });
  return publishedAs({ ...form, draft: form.live }, form.updatedAt);
}

/**
 * Makes the form live, with what is unsaved.
 *
 * @param onSaved told of the form once its changes are the draft: publishing may fail after that.
 * @throws {ApiError} 412 where another person saved.
 */
export async function publish(
  path: string,
  form: KeptDraft,
  onSaved: (form: KeptDraft) => void,
): Promise<KeptDraft> {
  const version = await (form.savedAt === undefined
    ? publishAtOnce(path, form)
    : publishDraft(path, form, onSaved));
  if (!isNumberFreed(form.draft, form.live)) return publishedAs(form, version);
  await client.api(`${path}/phone-number`, { method: 'DELETE', ifUpdatedAt: version });
  return publishedAs(form, (await client.api<Agent>(path)).updatedAt);
}

/** @returns the agent's version. */
async function publishAtOnce(path: string, form: KeptDraft): Promise<string> {
  const { updatedAt } = form;
  const body = changesToPublish(form);
  if (Object.keys(body).length === 0) return updatedAt;
  const ask = { method: 'PATCH', body, ifUpdatedAt: updatedAt } as const;
  return (await client.api<Agent>(path, ask)).updatedAt;
}

/** @returns the agent's version. */
async function publishDraft(
  path: string,
  form: KeptDraft,
  onSaved: (form: KeptDraft) => void,
): Promise<string> {
  const saved = isUnsaved(form) ? await saveDraft(path, form) : form;
  onSaved(saved);
  if (saved.savedAt === undefined) return saved.updatedAt;
  const ask = { method: 'POST', ifUpdatedAt: tagOf(saved) } as const;
  return (await client.api<Agent>(`${path}/draft/publish`, ask)).updatedAt;
}
