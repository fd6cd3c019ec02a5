/** The account, and the operator's password. */
import { useState } from 'preact/hooks';
import { targetsOf, targetsText } from '../agent-draft.ts';
import { messageUnder } from '../api-error.ts';
import type { Account } from '../api-types.ts';
import { client, formats, say, t } from '../app-state.ts';
import { TextField } from '../parts/field.tsx';
import { Page, Problem, Section, Shown } from '../parts/page.tsx';
import { useLoad, useSubmit } from '../parts/use-load.ts';

export function SettingsPage() {
  const loaded = useLoad((signal) => client.api<Account>('api/account', { signal }), []);
  return (
    <Page title={t('settings.title')}>
      <Section title={t('settings.account')}>
        <Shown loaded={loaded}>{(account) => <AccountForm account={account} />}</Shown>
      </Section>
      <Section title={t('settings.password')}>
        <PasswordForm />
      </Section>
    </Page>
  );
}

function AccountForm({ account }: { readonly account: Account }) {
  const [name, setName] = useState(account.name);
  const [countries, setCountries] = useState((account.allowedCountries ?? []).join(', '));
  const [targets, setTargets] = useState(targetsText(account.transferTargets));
  const { isBusy, error, wrong, submit } = useSubmit(async () => {
    const codes = countries.split(/[\s,]+/).filter((code) => code !== '');
    const body = {
      name,
      allowedCountries: codes.length === 0 ? null : codes.map((code) => code.toUpperCase()),
      transferTargets: targetsOf(targets),
    };
    await client.api('api/account', { method: 'PATCH', body });
    say(t('settings.saved'));
  });
  const { decimal } = formats.value;
  return (
    <form class="form" onSubmit={submit} noValidate>
      <p class="muted">
        {t('settings.plan', {
          plan: account.plan,
          used: decimal(account.minutesUsed),
          included: decimal(account.minutesIncluded),
        })}
      </p>
      <TextField label={t('settings.name')} value={name} onValue={setName} error={wrong.name} />
      <TextField
        label={t('settings.countries')}
        hint={t('settings.countriesHint')}
        value={countries}
        onValue={setCountries}
        error={messageUnder(wrong, 'allowedCountries')}
      />
      <TextField
        label={t('settings.targets')}
        hint={t('agent.targetsHint')}
        rows={3}
        value={targets}
        onValue={setTargets}
        error={messageUnder(wrong, 'transferTargets')}
      />
      {error === undefined ? null : <Problem error={error} />}
      <div class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          {t('app.save')}
        </button>
      </div>
    </form>
  );
}

function PasswordForm() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const { isBusy, error, wrong, submit } = useSubmit(async () => {
    await client.changePassword(current, next);
    setCurrent('');
    setNext('');
    say(t('settings.passwordChanged'));
  });
  return (
    <form class="form" onSubmit={submit}>
      <TextField
        label={t('settings.current')}
        type="password"
        autoComplete="current-password"
        value={current}
        onValue={setCurrent}
        isRequired
      />
      <TextField
        label={t('access.newPassword')}
        type="password"
        autoComplete="new-password"
        hint={t('access.rule', { least: 12 })}
        minLength={12}
        error={wrong.next}
        value={next}
        onValue={setNext}
        isRequired
      />
      {error === undefined ? null : <Problem error={error} />}
      <div class="actions">
        <button type="submit" disabled={isBusy}>
          {t('settings.change')}
        </button>
      </div>
    </form>
  );
}
