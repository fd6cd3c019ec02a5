/** Users of the dashboard: their roles, invites for others, disabling and removal. */
import { useState } from 'preact/hooks';
import { ROLES, type Role, type User, type UserList } from '../../api-types.ts';
import { client, complain, refresh, say, session, t, word } from '../../app-state.ts';
import { ConfirmButton, DialogButton, SecretDialog } from '../../parts/dialog.tsx';
import { BareSelect, SelectField, TextField, wordOptions } from '../../parts/field.tsx';
import { Form, useForm } from '../../parts/form.tsx';
import { Button, Instant, Page, Section, Shown, State, Table } from '../../parts/page.tsx';
import { useLoad } from '../../parts/use-load.ts';

export function UsersPage() {
  const loaded = useLoad(['users'], () => client.read<UserList>('dashboard/users'));
  return (
    <Page title={t('nav.users')}>
      <Section title={t('users.list')}>
        <Shown loaded={loaded}>{({ users }) => <UserTable users={users} />}</Shown>
      </Section>
      <Section title={t('users.invite')}>
        <InviteForm />
      </Section>
      <Section title={t('users.invites')}>
        <Shown loaded={loaded}>{(list) => <InviteTable {...list} />}</Shown>
      </Section>
    </Page>
  );
}

function UserTable({ users }: Pick<UserList, 'users'>) {
  return (
    <Table
      label={t('users.list')}
      rows={users}
      columns={{
        name: ({ id, name }) => (isOwn(id) ? t('users.you', { name }) : name),
        role: (user) => <RoleChoice user={user} />,
        status: ({ disabledAt }) => <State of={disabledAt === null ? 'active' : 'disabled'} />,
        created: ({ createdAt }) => <Instant at={createdAt} />,
        lastSignIn: ({ lastSignInAt }) => <Instant at={lastSignInAt} />,
        actions: (user) => !isOwn(user.id) && <UserActions user={user} />,
      }}
    />
  );
}

function userPath(id: string): string {
  return `dashboard/users/${encodeURIComponent(id)}`;
}

function changeUser(
  id: string,
  change: { readonly name?: string; readonly role?: Role; readonly isDisabled?: boolean },
): Promise<User> {
  return client.operator(userPath(id), change, 'PATCH');
}

function isOwn(userId: string): boolean {
  return session.value?.user.id === userId;
}

/** Takes effect at once and signs the user out. */
function RoleChoice({ user }: { readonly user: User }) {
  if (isOwn(user.id)) return <>{word('role', user.role)}</>;
  const change = (role: Role) => {
    changeUser(user.id, { role })
      .then(() => say(t('users.roleChanged', { name: user.name })), complain)
      .finally(refresh);
  };
  return (
    <BareSelect
      label={t('users.roleOf', { name: user.name })}
      value={user.role}
      options={wordOptions('role', ROLES)}
      onValue={change}
    />
  );
}

function UserActions({ user }: { readonly user: User }) {
  const { id, name, disabledAt } = user;
  const enable = () => {
    changeUser(id, { isDisabled: false }).then(refresh, complain);
  };
  return (
    <div class="actions">
      <DialogButton label={t('users.rename')} title={t('users.renameTitle', { name })}>
        {(close) => <RenameForm user={user} onClose={close} />}
      </DialogButton>
      {disabledAt === null ? (
        <ConfirmButton
          class=""
          label={t('webhooks.disable')}
          question={t('users.disableQuestion', { name })}
          onConfirm={() => changeUser(id, { isDisabled: true }).then(refresh)}
        />
      ) : (
        <Button text={t('webhooks.enable')} onClick={enable} />
      )}
      <ConfirmButton
        label={t('users.remove')}
        question={t('users.removeQuestion', { name })}
        done={t('users.removed', { name })}
        onConfirm={() => client.operator(userPath(id), undefined, 'DELETE').then(refresh)}
      />
    </div>
  );
}

function RenameForm({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const form = useForm({ name: user.name }, async ({ name }) => {
    await changeUser(user.id, { name });
    say(t('users.renamed', { name }));
    refresh();
    onClose();
  });
  return (
    <Form form={form} label={t('users.rename')} onCancel={onClose}>
      <TextField {...form.field('name', 'access.name')} />
    </Form>
  );
}

function InviteForm() {
  const [url, setUrl] = useState<string | undefined>(undefined);
  const form = useForm<{ readonly role: Role }>({ role: 'viewer' }, async ({ role }) => {
    const { url: made } = await client.operator<{ readonly url: string }>('dashboard/invites', {
      role,
    });
    setUrl(made);
    refresh();
  });
  return (
    <Form form={form} label={t('users.makeInvite')}>
      <p class="muted">{t('users.inviteText')}</p>
      <SelectField
        label={t('field.role')}
        hint={t(`users.${form.values.role}Hint`)}
        value={form.values.role}
        onValue={(value) =>
          form.change({ role: ROLES.find((known) => known === value) ?? 'viewer' })
        }
        options={wordOptions('role', ROLES)}
      />
      {url !== undefined && (
        <SecretDialog
          title={t('users.inviteMade')}
          secret={url}
          onClose={() => setUrl(undefined)}
        />
      )}
    </Form>
  );
}

function InviteTable({ users, invites }: UserList) {
  const nameOf = (id: string) => users.find((user) => user.id === id)?.name ?? id;
  return (
    <Table
      label={t('users.invites')}
      empty={t('users.noInvites')}
      rows={invites}
      columns={{
        role: ({ role }) => word('role', role),
        by: ({ createdBy }) => nameOf(createdBy),
        created: ({ createdAt }) => <Instant at={createdAt} />,
        expires: ({ expiresAt }) => <Instant at={expiresAt} />,
        actions: ({ id }) => (
          <ConfirmButton
            label={t('keys.revoke')}
            question={t('users.revokeQuestion')}
            done={t('users.revoked')}
            onConfirm={() =>
              client
                .operator(`dashboard/invites/${encodeURIComponent(id)}`, undefined, 'DELETE')
                .then(refresh)
            }
          />
        ),
      }}
    />
  );
}
