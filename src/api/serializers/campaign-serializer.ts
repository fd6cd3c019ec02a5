/** Writes campaigns and their contacts as JSON; pure */
import type { Campaign, Contact, ContactCounts } from '../../domain/campaign/campaign.ts';
import { campaignContactSchema, campaignSchema } from '../schemas/campaign-schemas.ts';
import { viewOf } from './view-of.ts';

export function serializeCampaign(campaign: Campaign, counts: ContactCounts) {
  const { notBeforeAt, notAfterAt, retriesMax: max, retryDelaySeconds: delaySeconds } = campaign;
  return viewOf(campaignSchema, {
    ...campaign,
    notBefore: notBeforeAt,
    notAfter: notAfterAt,
    retries: { max, delaySeconds },
    counts,
  });
}

export function serializeContact(contact: Contact) {
  const { position: row, state, dueAt } = contact;
  const nextCallAt = state === 'pending' ? dueAt : null;
  return viewOf(campaignContactSchema, { ...contact, row, nextCallAt });
}
