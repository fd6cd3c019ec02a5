/** The way in: the first password by the one-time link, and signing in. */
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api-error.ts';
import type { Session } from '../api-types.ts';
import { client, enter, route, t, wordsOf } from '../app-state.ts';
import { LanguageSelect, TextField } from '../parts/field.tsx';
import { useLoad, useSubmit } from '../parts/use-load.ts';

const PASSWORD_CHARS_MIN = 12;

export function AccessPage() {
  const token = route.value.page === 'setup' ? (route.value.query.get('token') ?? '') : '';
  const state = useLoad(() => client.state(), []);
  const isNew = state.value?.isSetUp === false;
  useEffect(() => {
    document.title = 'Offhook';
  }, []);
  return (
    <main class="access">
      <div class="access-card">
        <h1>Offhook</h1>
        {state.error === undefined ? null : (
          <p role="alert" class="wrong">
            {wordsOf(state.error)}
          </p>
        )}
        {state.value === undefined ? null : <Way isNew={isNew} token={token} />}
        <LanguageSelect />
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
  if (['setup', 'login'].includes(route.value.page)) location.replace('#/calls');
}

function Login() {
  const [password, setPassword] = useState('');
  const { isBusy, error, submit } = useSubmit(async () => begin(await client.login(password)));
  return (
    <form onSubmit={submit}>
      <TextField
        label={t('access.password')}
        type="password"
        autoComplete="current-password"
        value={password}
        onValue={setPassword}
        isRequired
      />
      <Refused error={error} />
      <button type="submit" class="main" disabled={isBusy}>
        {t('access.signIn')}
      </button>
    </form>
  );
}

function SetUp({ token }: { readonly token: string }) {
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const differs = again !== '' && again !== password;
  const { isBusy, error, wrong, submit } = useSubmit(async () => {
    if (again === password) begin(await client.setUp(token, password));
  });
  return (
    <form onSubmit={submit}>
      <p>{t('access.choose')}</p>
      <TextField
        label={t('access.newPassword')}
        type="password"
        autoComplete="new-password"
        hint={t('access.rule', { least: PASSWORD_CHARS_MIN })}
        error={wrong.password}
        minLength={PASSWORD_CHARS_MIN}
        value={password}
        onValue={setPassword}
        isRequired
      />
      <TextField
        label={t('access.again')}
        type="password"
        autoComplete="new-password"
        error={differs ? t('access.differs') : undefined}
        value={again}
        onValue={setAgain}
        isRequired
      />
      <Refused error={error} />
      <button type="submit" class="main" disabled={isBusy || differs}>
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
      {seconds === undefined ? '' : ` ${t('access.wait', { seconds })}`}
    </p>
  );
}
