/** The way in: the first password by the one-time link, and signing in. */
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api-error.ts';
import type { Session } from '../api-types.ts';
import { client, enter, language, route, t, wordsOf } from '../app-state.ts';
import { chooseLanguage, LANGUAGE_NAMES } from '../frame/appearance.ts';
import mark from '../icon.svg';
import { BareSelect, NewPasswordField, TextField } from '../parts/field.tsx';
import { useForm } from '../parts/form.tsx';
import { useLoad } from '../parts/use-load.ts';
import { LANGUAGES } from '../text/text.ts';

export function AccessPage() {
  const token = route.value.page === 'setup' ? (route.value.query.get('token') ?? '') : '';
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
        {value && <Way isNew={!value.isSetUp} token={token} />}
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

function Way({ isNew, token }: { readonly isNew: boolean; readonly token: string }) {
  if (!isNew) return <Login />;
  return token === '' ? <p>{t('access.needLink')}</p> : <SetUp token={token} />;
}

/** The token leaves the address, and with it the browser's history. */
function begin(begun: Session): void {
  enter(begun);
  if (['setup', 'login'].includes(route.value.page)) location.replace('#/overview');
}

function Login() {
  const form = useForm({ password: '' }, async ({ password }) =>
    begin(await client.login(password)),
  );
  return (
    <form onSubmit={form.submit}>
      <TextField
        label={t('access.password')}
        type="password"
        autoComplete="current-password"
        {...form.field('password')}
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
  const { password, again } = form.values;
  const differs = again !== '' && again !== password;
  return (
    <form onSubmit={form.submit}>
      <p>{t('access.choose')}</p>
      <NewPasswordField {...form.field('password')} />
      <TextField
        label={t('access.again')}
        type="password"
        autoComplete="new-password"
        {...form.field('again')}
        error={differs ? t('access.differs') : undefined}
        isRequired
      />
      <Refused error={form.error} />
      <button type="submit" class="main" disabled={form.isBusy || differs}>
        {t('access.setUp')}
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
