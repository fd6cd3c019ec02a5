/** The secrets that sign webhooks: a new one is prepared, given to the receivers, and activated. */
import type { SigningSecret } from '../api-types.ts';
import { client, complain, formats, t } from '../app-state.ts';
import { ConfirmButton } from './dialog.tsx';
import { Section, Shown } from './page.tsx';
import { useLoad } from './use-load.ts';

const PATH = 'api/account/signing-secret';

export function SigningSecretCard() {
  const loaded = useLoad((signal) => client.api<SigningSecret>(PATH, { signal }), []);
  return (
    <Section title={t('secret.title')}>
      <p>{t('secret.text')}</p>
      <Shown loaded={loaded}>
        {(secrets) => (
          <>
            <Prepared secret={secrets.preparedSecret} onChanged={loaded.reload} />
            <Previous until={secrets.previousValidUntil} onChanged={loaded.reload} />
          </>
        )}
      </Shown>
    </Section>
  );
}

function Prepared(props: { readonly secret: string | null; readonly onChanged: () => void }) {
  const { secret, onChanged } = props;
  const post = (path: string) => client.api(path, { method: 'POST' }).then(onChanged);
  if (secret === null) {
    return (
      <button type="button" onClick={() => void post(PATH).catch(complain)}>
        {t('secret.prepare')}
      </button>
    );
  }
  return (
    <>
      <p>{t('secret.prepared')}</p>
      <code class="secret">{secret}</code>
      <div class="actions">
        <ConfirmButton
          label={t('secret.activate')}
          question={t('secret.activateQuestion')}
          onConfirm={() => post(`${PATH}/activate`)}
          class="main"
        />
        <ConfirmButton
          label={t('secret.dropPrepared')}
          question={t('secret.dropPreparedQuestion')}
          onConfirm={() => client.api(`${PATH}/prepared`, { method: 'DELETE' }).then(onChanged)}
        />
      </div>
    </>
  );
}

function Previous(props: { readonly until: string | null; readonly onChanged: () => void }) {
  const { until, onChanged } = props;
  if (until === null) return null;
  return (
    <>
      <p>{t('secret.previous', { until: formats.value.instant(until) })}</p>
      <ConfirmButton
        label={t('secret.dropPrevious')}
        question={t('secret.dropPreviousQuestion')}
        onConfirm={() => client.api(`${PATH}/previous`, { method: 'DELETE' }).then(onChanged)}
      />
    </>
  );
}
