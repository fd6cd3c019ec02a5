/** Ends a call that goes on. */
import { client, t } from '../app-state.ts';
import { ConfirmButton } from './dialog.tsx';

export function HangUp({ callId }: { readonly callId: string }) {
  return (
    <ConfirmButton
      label={t('live.hangUp')}
      question={t('live.hangUpQuestion')}
      done={t('live.hungUp')}
      onConfirm={() => client.api(`api/calls/${callId}/hangup`, { method: 'POST' })}
    />
  );
}
