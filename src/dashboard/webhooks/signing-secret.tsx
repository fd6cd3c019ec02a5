/** The secrets that sign webhooks: a new one is prepared, given to the receivers, and activated. */
import type { SigningSecret } from '../api-types.ts';
import { client, complain, formats, t } from '../app-state.ts';
import { ConfirmButton } from '../parts/dialog.tsx';
import { Button, Section, Shown } from '../parts/page.tsx';
import { useApi } from '../parts/use-load.ts';

const SECRET = 'api/account/signing-secret';

export function SigningSecretCard() {
  const loaded = useApi<SigningSecret>(SECRET);
  const send = (path: string, method: 'POST' | 'DELETE') =>
    client.api(`${SECRET}${path}`, { method }).then(loaded.reload);
  return (
    <Section title={t('secret.title')}>
      <p>{t('secret.text')}</p>
      <Shown loaded={loaded}>
        {({ preparedSecret: prepared, previousValidUntil: until }) => (
          <>
            {prepared === null ? (
              <Button text={t('secret.prepare')} onClick={() => send('', 'POST').catch(complain)} />
            ) : (
              <>
                <p>{t('secret.prepared')}</p>
                <code class="secret">{prepared}</code>
                <div class="actions">
                  <ConfirmButton
                    label={t('agents.activate')}
                    question={t('secret.activateQuestion')}
                    onConfirm={() => send('/activate', 'POST')}
                    class="main"
                  />
                  <ConfirmButton
                    label={t('secret.dropPrepared')}
                    question={t('secret.dropPreparedQuestion')}
                    onConfirm={() => send('/prepared', 'DELETE')}
                  />
                </div>
              </>
            )}
            {until !== null && (
              <>
                <p>{t('secret.previous', { until: formats.value.instant(until) })}</p>
                <ConfirmButton
                  label={t('secret.dropPrevious')}
                  question={t('secret.dropPreviousQuestion')}
                  onConfirm={() => send('/previous', 'DELETE')}
                />
              </>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}
