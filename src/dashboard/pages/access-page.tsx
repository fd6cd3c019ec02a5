/** The way in: the first password by the one-time link, an invite, and signing in. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AccessState } from '../api-client.ts';
import { ApiError } from '../api-error.ts';
import type { Session } from '../api-types.ts';
import {
  chooseLanguage,
  client,
  enter,
  LANGUAGE_NAMES,
  language,
  route,
  t,
  wordsOf,
} from '../app-state.ts';
import mark from '../icon.svg';
import { BareSelect, NewPasswordField, TextField } from '../parts/field.tsx';
import { type FormState, useForm } from '../parts/form.tsx';
import { useLoad } from '../parts/use-load.ts';
import { LANGUAGES } from '../text/text.ts';

export function AccessPage() {
  const { value, error } = useLoad(['state'], () => client.state(), { isKept: false });
  useEffect(() => {
    document.title = 'Offhook';
  }, []);
  return (
    <main class="access">
      <div class="access-card">
        <h1 class="brand">
          <img src={mark} alt="" width="32" height="32" />
          Offhook
        </h1>
        <Refused error={error} />
        {value && <Way state={value} />}
        <BareSelect
          label={t('field.language')}
          value={language.value}
          options={LANGUAGES.map((name) => [name, LANGUAGE_NAMES[name], name])}
          onValue={chooseLanguage}
        />
      </div>
    </main>
  );
}

function Way({ state }: { readonly state: AccessState }) {
  const { page, query } = route.value;
  const token = query.get('token') ?? '';
  if (!state.isSetUp) {
    const isLink = page === 'setup' && token !== '';
    return isLink ? <SetUp token={token} /> : <p>{t('access.needLink')}</p>;
  }
  return page === 'join' && token !== '' ? <Join token={token} /> : <Login {...state} />;
}

/** The token leaves the address, and with it the browser's history. */
function begin(begun: Session): void {
  enter(begun);
  if (['setup', 'login', 'join'].includes(route.value.page)) location.replace('#/overview');
}

export function Login({ asksName }: Pick<AccessState, 'asksName'>) {
  const form = useForm({ name: '', password: '' }, async ({ name, password }) =>
    begin(await client.login(password, asksName ? name : undefined)),
  );
  return (
    <form onSubmit={form.submit}>
      {asksName && (
        <TextField autoComplete="username" {...form.field('name', 'access.name')} isRequired />
      )}
      <TextField
        type="password"
        autoComplete="current-password"
        {...form.field('password', 'access.password')}
        isRequired
      />
      <Refused error={form.error} />
      <button type="submit" class="main" disabled={form.isBusy}>
        {t('access.signIn')}
      </button>
    </form>
  );
}

function SetUp({ token }: { readonly token: string }) {
  const form = useForm({ password: '', again: '' }, async ({ password, again }) => {
    if (again === password) begin(await client.setUp(token, password));
  });
  return (
    <ChoosePassword form={form} label={t('access.setUp')}>
      <p>{t('access.choose')}</p>
    </ChoosePassword>
  );
}

function Join({ token }: { readonly token: string }) {
  const begun = { name: '', password: '', again: '' };
  const form = useForm(begun, async ({ name, password, again }) => {
    if (again === password) begin(await client.join(token, name, password));
  });
  return (
    <ChoosePassword form={form} label={t('access.join')}>
      <p>{t('access.invited')}</p>
      <TextField
        autoComplete="username"
        {...form.field('name', 'access.name', 'access.nameHint')}
        isRequired
      />
    </ChoosePassword>
  );
}

/** A password that is typed twice. */
function ChoosePassword<
  Values extends { readonly password: string; readonly again: string },
>(props: {
  readonly form: FormState<Values>;
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  const { form, label, children } = props;
  const { password, again } = form.values;
  const differs = again !== '' && again !== password;
  return (
    <form onSubmit={form.submit}>
      {children}
      <NewPasswordField {...form.bound('password')} />
      <TextField
        type="password"
        autoComplete="new-password"
        {...form.field('again', 'access.again')}
        error={differs ? t('access.differs') : undefined}
        isRequired
      />
      <Refused error={form.error} />
      <button type="submit" class="main" disabled={form.isBusy || differs}>
        {label}
      </button>
    </form>
  );
}

function Refused({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  const seconds = error instanceof ApiError ? error.retryAfterSeconds : undefined;
  return (
    <p class="wrong" role="alert">
      {wordsOf(error)}
      {seconds !== undefined && ` ${t('access.wait', { seconds })}`}
    </p>
  );
}
