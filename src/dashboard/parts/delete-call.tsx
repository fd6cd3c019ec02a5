/** Erases a call that is over, and goes back to the list. */
import { client, t } from '../app-state.ts';
import { ConfirmButton } from './dialog.tsx';

export function DeleteCall({ callId }: { readonly callId: string }) {
  const remove = async () => {
    await client.api(`api/calls/${encodeURIComponent(callId)}`, { method: 'DELETE' });
    location.hash = '#/calls';
  };
  return (
    <ConfirmButton
      label={t('call.delete')}
      question={t('call.deleteQuestion')}
      done={t('call.deleted')}
      onConfirm={remove}
    />
  );
}
