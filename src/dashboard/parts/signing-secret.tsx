/** The secret that signs webhooks: made anew, and shown once. */
import { useState } from 'preact/hooks';
import type { SigningSecret } from '../api-types.ts';
import { client, t } from '../app-state.ts';
import { ConfirmButton, SecretDialog } from './dialog.tsx';
import { Section } from './page.tsx';

export function SigningSecretCard() {
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const rotate = async () => {
    const made = await client.api<SigningSecret>('api/account/signing-secret/rotate', {
      method: 'POST',
    });
    setSecret(made.signingSecret ?? undefined);
  };
  return (
    <Section title={t('secret.title')}>
      <p>{t('secret.text')}</p>
      <ConfirmButton
        label={t('secret.rotate')}
        question={t('secret.question')}
        onConfirm={rotate}
      />
      {secret === undefined ? null : (
        <SecretDialog
          title={t('secret.title')}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </Section>
  );
}
