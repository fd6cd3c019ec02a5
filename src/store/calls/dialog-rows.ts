/** Rows of the table of open SIP dialogs, and the way from and to them; pure */
import type { OpenDialog } from '../../domain/call/open-dialog.ts';

export interface OpenDialogRow {
  readonly id: string;
  readonly sip_call_id: string;
  readonly local_party: string;
  readonly remote_party: string;
  readonly remote_target: string;
  /** JSON: a list of text. */
  readonly routes: string;
  readonly sequence: number;
  /** JSON: a list of text. */
  readonly channels: string;
  readonly opened_at: number;
  /** JSON: an `OpenInvite`; null once it is answered. */
  readonly invite: string | null;
}

export function rowOfDialog(dialog: OpenDialog): OpenDialogRow {
  return {
    id: dialog.id,
    sip_call_id: dialog.sipCallId,
    local_party: dialog.localParty,
    remote_party: dialog.remoteParty,
    remote_target: dialog.remoteTarget,
    routes: JSON.stringify(dialog.routes),
    sequence: dialog.sequence,
    channels: JSON.stringify(dialog.channels),
    opened_at: dialog.openedAt.getTime(),
    invite: dialog.invite === null ? null : JSON.stringify(dialog.invite),
  };
}

export function dialogOfRow(row: OpenDialogRow): OpenDialog {
  return {
    id: row.id,
    sipCallId: row.sip_call_id,
    localParty: row.local_party,
    remoteParty: row.remote_party,
    remoteTarget: row.remote_target,
    routes: JSON.parse(row.routes),
    sequence: row.sequence,
    channels: JSON.parse(row.channels),
    openedAt: new Date(row.opened_at),
    invite: row.invite === null ? null : JSON.parse(row.invite),
  };
}
