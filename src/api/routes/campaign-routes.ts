/** `/api/campaigns`: calls to a list of numbers. The routes keep lists; `CampaignRunner` makes the calls. */
import type { z } from '@hono/zod-openapi';
import type { Agent } from '../../domain/agent/agent.ts';
import { requireKnownSpeech } from '../../domain/agent/agent-rules.ts';
import {
  CAMPAIGN_LIMITS,
  type Campaign,
  type CampaignMove,
  type Contact,
  type ContactCounts,
  moveCampaign,
  refuseRunning,
  requireActive,
} from '../../domain/campaign/campaign.ts';
import { withdrawQueued } from '../../domain/campaign/contact-outcome.ts';
import { newCampaign } from '../../domain/campaign/new-campaign.ts';
import { callingNumber, requireOutbound } from '../../domain/dialing/outbound-rules.ts';
import type { Stores } from '../../domain/stores.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { jsonBody, jsonResponse, pageResponse, routesOf } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import {
  campaignContactQuerySchema,
  campaignContactSchema,
  campaignPathSchema,
  campaignQuerySchema,
  campaignSchema,
  createCampaignSchema,
} from '../schemas/campaign-schemas.ts';
import { viewOf } from '../serializers.ts';

const PATH = '/api/campaigns/{campaignId}';

const writeRoute = routesOf({ tag: 'Campaigns', scope: 'calls:write' });

const readRoute = routesOf({ tag: 'Campaigns', scope: 'calls:read' });

const createCampaignRoute = writeRoute('post', '/api/campaigns', {
  operationId: 'createCampaign',
  summary: 'Makes a campaign: calls to a list of numbers, at a pace',
  description: `It runs at once, or from \`notBefore\`. Each call is as of \`POST /api/calls/outbound\`: the same rules for numbers, calling hours and queue; a number that the rules refuse makes its contact \`refused\` and stops nothing. Wrong rows are all named, and nothing is kept then. At most ${CAMPAIGN_LIMITS.contactsMax} contacts, in a body of 1 MiB; at most ${CAMPAIGN_LIMITS.unfinishedMax} campaigns that are not over (409).`,
  request: { body: jsonBody(createCampaignSchema) },
  responses: { 201: jsonResponse('The campaign runs.', campaignSchema) },
  errors: [404],
});

const listCampaignsRoute = readRoute('get', '/api/campaigns', {
  operationId: 'listCampaigns',
  summary: 'Lists campaigns, newest first',
  request: { query: campaignQuerySchema },
  responses: { 200: pageResponse('A page of campaigns.', 'CampaignPage', campaignSchema) },
});

const getCampaignRoute = readRoute('get', PATH, {
  operationId: 'getCampaign',
  summary: 'Shows a campaign, and how many contacts are in which state',
  request: { params: campaignPathSchema },
  responses: { 200: jsonResponse('The campaign.', campaignSchema) },
});

const listContactsRoute = readRoute('get', `${PATH}/contacts`, {
  operationId: 'listCampaignContacts',
  summary: 'Lists the contacts of a campaign, in the order of its list',
  request: { params: campaignPathSchema, query: campaignContactQuerySchema },
  responses: {
    200: pageResponse('A page of contacts.', 'CampaignContactPage', campaignContactSchema),
  },
});

const deleteCampaignRoute = writeRoute('delete', PATH, {
  operationId: 'deleteCampaign',
  summary: 'Deletes a campaign with its contacts',
  description: 'Its calls stay. 409 while it runs.',
  request: { params: campaignPathSchema },
  responses: { 204: { description: 'The campaign is gone.' } },
  errors: [409],
});

const pauseRoute = moveRoute('pause', {
  summary: 'Pauses a campaign',
  description:
    'Calls that still wait to be dialled are taken back: they end as `failed`, `no_answer`, and their contacts are `pending` again. Calls that ring or talk go on. 409 unless it runs.',
});

const resumeRoute = moveRoute('resume', {
  summary: 'Resumes a paused campaign',
  description: '409 unless it is paused, and while its agent is paused.',
});

const cancelRoute = moveRoute('cancel', {
  summary: 'Ends a campaign for good',
  description:
    'Calls that still wait to be dialled are taken back; calls that ring or talk go on. 409 where it is over.',
});

function moveRoute<const Move extends CampaignMove>(
  move: Move,
  { summary, description }: { readonly summary: string; readonly description: string },
) {
  return writeRoute('post', `${PATH}/${move}`, {
    operationId: `${move}Campaign`,
    ...{ summary, description },
    request: { params: campaignPathSchema },
    responses: { 200: jsonResponse('The campaign as it is now.', campaignSchema) },
  });
}

/** Adds `/api/campaigns` and their contacts. */
export function addCampaignRoutes(api: ApiApp, deps: ApiDeps): void {
  addReads(api, deps);
  addWrites(api, deps);
}

function addReads(api: ApiApp, { campaigns }: ApiDeps): void {
  const found = async (context: ApiContext, id: string) =>
    existing(await campaigns.find(scopeOf(context), id), 'campaign');

  api.openapi(listCampaignsRoute, async (context) => {
    const query = context.req.valid('query');
    const { items: page, total } = await campaigns.list(scopeOf(context), query);
    const data: z.infer<typeof campaignSchema>[] = [];
    for (const each of page) data.push(serializeCampaign(each, await campaigns.counts(each.id)));
    return context.json({ data, total, limit: query.limit, offset: query.offset }, 200);
  });

  api.openapi(getCampaignRoute, async (context) => {
    const campaign = await found(context, context.req.valid('param').campaignId);
    return context.json(serializeCampaign(campaign, await campaigns.counts(campaign.id)), 200);
  });

  api.openapi(listContactsRoute, async (context) => {
    const { id } = await found(context, context.req.valid('param').campaignId);
    const query = context.req.valid('query');
    const { items: contacts, total } = await campaigns.contacts(id, query);
    const data = contacts.map(serializeContact);
    return context.json({ data, total, limit: query.limit, offset: query.offset }, 200);
  });
}

function addWrites(api: ApiApp, deps: ApiDeps): void {
  api.openapi(createCampaignRoute, (context) => {
    const { agentId, ...draft } = context.req.valid('json');
    return answerOnce(context, deps, {
      work: async (commit) => {
        const agent = existing(await deps.agents.find(scopeOf(context), agentId), 'agent');
        const facts = { id: deps.newId('camp'), agent, now: deps.clock.now() };
        const { campaign, contacts } = newCampaign(draft, facts);
        for (const [index, { overrides }] of contacts.entries()) {
          requireKnownSpeech(overrides, deps.voices, `contacts.${index}.overrides.`);
        }
        await requireAble(context, deps, campaign, agent);
        return commit(async ({ campaigns }) => {
          await campaigns.insert(campaign, contacts);
          const body = serializeCampaign(campaign, await campaigns.counts(campaign.id));
          return { status: 201, body };
        });
      },
    });
  });

  api.openapi(pauseRoute, (context) =>
    moved(context, deps, { move: 'pause', id: context.req.valid('param').campaignId }),
  );
  api.openapi(resumeRoute, (context) =>
    moved(context, deps, { move: 'resume', id: context.req.valid('param').campaignId }),
  );
  api.openapi(cancelRoute, (context) =>
    moved(context, deps, { move: 'cancel', id: context.req.valid('param').campaignId }),
  );

  api.openapi(deleteCampaignRoute, async (context) => {
    const { campaignId } = context.req.valid('param');
    await deps.transaction(async ({ campaigns }) => {
      const found = await campaigns.find(scopeOf(context), campaignId);
      refuseRunning(existing(found, 'campaign'));
      await campaigns.delete(campaignId);
    });
    return context.body(null, 204);
  });
}

/** @throws {ServiceError} FORBIDDEN, CONFLICT or UNPROCESSABLE where no call of the campaign could be made. */
async function requireAble(
  context: ApiContext,
  deps: ApiDeps,
  { from }: Pick<Campaign, 'from'>,
  agent: Agent,
): Promise<void> {
  requireOutbound(callerOf(context).account, deps.plansWithoutOutbound);
  requireActive(agent);
  await callingNumber(
    { from: from ?? undefined },
    {
      agent,
      hasTrunkFor: (number) => deps.dialQueues[agent.environment].hasTrunkFor(number),
      ownerOf: deps.numberOwners.ownerOf,
      holderOf: (number) => deps.agents.findByPhoneNumber(number),
    },
  );
}

function moved(
  context: ApiContext,
  deps: ApiDeps,
  { move, id }: { readonly move: CampaignMove; readonly id: string },
) {
  const scope = scopeOf(context);
  return answerOnce(context, deps, {
    work: async (commit) => {
      const before = existing(await deps.campaigns.find(scope, id), 'campaign');
      if (move === 'resume' && before.status === 'paused') {
        const agent = existing(await deps.agents.find(scope, before.agentId), 'agent');
        await requireAble(context, deps, before, agent);
      }
      return commit(async (stores) => {
        const campaign = existing(await stores.campaigns.find(scope, id), 'campaign');
        const after = moveCampaign(campaign, move, deps.clock.now());
        await saveMoved(stores, after, deps);
        const body = serializeCampaign(after, await stores.campaigns.counts(id));
        return { status: 200, body };
      });
    },
  });
}

/** Saves the moved campaign; its calls that wait are taken back unless it runs. */
async function saveMoved(
  stores: Pick<Stores, 'calls' | 'campaigns'>,
  campaign: Campaign,
  { clock, newId }: Pick<ApiDeps, 'clock' | 'newId'>,
): Promise<void> {
  await stores.campaigns.update(campaign);
  if (campaign.status === 'running') return;
  await withdrawQueued(stores, campaign.id, { now: clock.now(), newId });
  if (campaign.status === 'cancelled') {
    const reason = 'The campaign was cancelled before the call.';
    await stores.campaigns.closePending(campaign.id, { state: 'cancelled', reason });
  }
}

function serializeCampaign(campaign: Campaign, counts: ContactCounts) {
  const { notBeforeAt, notAfterAt, retriesMax: max, retryDelaySeconds: delaySeconds } = campaign;
  return viewOf(campaignSchema, {
    ...campaign,
    notBefore: notBeforeAt,
    notAfter: notAfterAt,
    retries: { max, delaySeconds },
    counts,
  });
}

function serializeContact(contact: Contact) {
  const { position: row, state, dueAt } = contact;
  const nextCallAt = state === 'pending' ? dueAt : null;
  return viewOf(campaignContactSchema, { ...contact, row, nextCallAt });
}
