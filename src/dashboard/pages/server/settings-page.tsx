/** The account, and the user's own password. */
import { targetsOf, targetsText } from '../../agent/agent-draft.ts';
import type { Account } from '../../api-types.ts';
import { client, formats, say, t } from '../../app-state.ts';
import { entriesOf } from '../../format.ts';
import { NewPasswordField, TextField } from '../../parts/field.tsx';
import { Form, useForm } from '../../parts/form.tsx';
import { Page, Section, Shown } from '../../parts/page.tsx';
import { useApi } from '../../parts/use-load.ts';

export function SettingsPage() {
  const loaded = useApi<Account>('api/account', {}, { isKept: false });
  return (
    <Page title={t('nav.settings')}>
      <Section title={t('field.account')}>
        <Shown loaded={loaded}>{(account) => <AccountForm account={account} />}</Shown>
      </Section>
      <Section title={t('settings.password')}>
        <PasswordForm />
      </Section>
    </Page>
  );
}

function AccountForm({ account }: { readonly account: Account }) {
  const begun = {
    name: account.name,
    allowedCountries: (account.allowedCountries ?? []).join(', '),
    transferTargets: targetsText(account.transferTargets),
  };
  const form = useForm(begun, async ({ name, allowedCountries, transferTargets }) => {
    const codes = entriesOf(allowedCountries.toUpperCase());
    const body = {
      name,
      allowedCountries: codes.length === 0 ? null : codes,
      transferTargets: targetsOf(transferTargets),
    };
    await client.api('api/account', { method: 'PATCH', body });
    say(t('settings.saved'));
  });
  const { decimal } = formats.value;
  return (
    <Form form={form} label={t('app.save')} needs="admin">
      <p class="muted">
        {t('settings.plan', {
          plan: account.plan,
          used: decimal(account.minutesUsed),
          included: decimal(account.minutesIncluded),
        })}
      </p>
      <TextField {...form.field('name', 'field.name')} />
      <TextField
        {...form.field('allowedCountries', 'settings.countries', 'settings.countriesHint')}
      />
      <TextField
        rows={3}
        {...form.field('transferTargets', 'settings.targets', 'agent.targetsHint')}
      />
    </Form>
  );
}

function PasswordForm() {
  const form = useForm({ current: '', next: '' }, async ({ current, next }) => {
    await client.operator('dashboard/password', { current, next });
    form.change({ current: '', next: '' });
    say(t('settings.passwordChanged'));
  });
  return (
    <Form form={form} label={t('settings.change')} class="" isChecked>
      <TextField
        type="password"
        autoComplete="current-password"
        {...form.field('current', 'settings.current')}
        isRequired
      />
      <NewPasswordField {...form.bound('next')} />
    </Form>
  );
}
