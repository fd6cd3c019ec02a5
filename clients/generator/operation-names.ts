/** Names of the clients' methods, `resource.verb`, from the ids of operations; pure */

/** What the rule would not name, or not well. These names are public: changing one breaks programs. */
const NAMES: Readonly<Record<string, string>> = {
  freePhoneNumber: 'agents.freePhoneNumber',
  listAgentVersions: 'agents.listVersions',
  restoreAgentVersion: 'agents.restoreVersion',
  getAgentDraft: 'agents.getDraft',
  saveAgentDraft: 'agents.saveDraft',
  deleteAgentDraft: 'agents.deleteDraft',
  publishAgentDraft: 'agents.publishDraft',
  chatWithAgent: 'agents.chat',
  putSmsOptOut: 'smsOptOuts.add',
  addKnowledge: 'knowledge.add',
  getKnowledge: 'knowledge.get',
  deleteKnowledge: 'knowledge.delete',
  listAppointments: 'calendars.listAppointments',
  renewCalendarFeed: 'calendars.renewFeed',
  getLanguageModels: 'languageModels.get',
  previewVoice: 'voices.preview',
  getAnalytics: 'analytics.get',
  getAnalyticsDetails: 'analytics.details',
  startOutboundCall: 'calls.start',
  hangUpCall: 'calls.hangUp',
  transferCall: 'calls.transfer',
  listCampaignContacts: 'campaigns.listContacts',
  pauseCampaign: 'campaigns.pause',
  resumeCampaign: 'campaigns.resume',
  cancelCampaign: 'campaigns.cancel',
  listCallEvents: 'calls.listEvents',
  getCallQuality: 'calls.getQuality',
  getCallSip: 'calls.getSipLadder',
  getCallRecording: 'calls.downloadRecording',
  getRecordingPeaks: 'calls.getRecordingPeaks',
  watchCalls: 'calls.watch',
  listenToCall: 'calls.listen',
  erasePhoneNumber: 'privacy.erase',
  resendWebhookDelivery: 'webhookDeliveries.resend',
  resendWebhooks: 'webhookDeliveries.resendRange',
  getAccount: 'account.get',
  updateAccount: 'account.update',
  getSigningSecret: 'signingSecret.get',
  prepareSigningSecret: 'signingSecret.prepare',
  activateSigningSecret: 'signingSecret.activate',
  dropPreviousSigningSecret: 'signingSecret.dropPrevious',
  dropPreparedSigningSecret: 'signingSecret.dropPrepared',
  revokeKey: 'keys.revoke',
  createSandboxInboundCall: 'sandbox.startInboundCall',
  checkTrunk: 'trunks.check',
  assignPhoneNumber: 'phoneNumbers.assign',
  unassignPhoneNumber: 'phoneNumbers.unassign',
  listAuditLog: 'auditLog.list',
  listRequestLog: 'logs.listRequests',
  listServerLog: 'logs.listServer',
  getModels: 'models.get',
  startModelDownload: 'models.startDownload',
  getModelDownload: 'models.getDownload',
  cancelModelDownload: 'models.cancelDownload',
};

const REGULAR = /^(list|create|get|update|delete|test)([A-Z]\w*)$/;

/**
 * Names an operation: `createAgent` is `agents.create`.
 *
 * @throws {Error} when neither the table nor the rule has a name.
 */
export function operationName(id: string): { readonly resource: string; readonly verb: string } {
  const [resource, verb] = NAMES[id]?.split('.') ?? regularName(id);
  if (resource === undefined || verb === undefined) {
    throw new Error(
      `Cannot name the operation "${id}": it begins with no known verb; add it to clients/generator/operation-names.ts`,
    );
  }
  return { resource, verb };
}

function regularName(id: string): readonly string[] {
  const [, verb = '', noun = ''] = REGULAR.exec(id) ?? [];
  if (verb === '') return [];
  return [lowerFirst(verb === 'list' ? noun : pluralOf(noun)), verb];
}

function pluralOf(noun: string): string {
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
