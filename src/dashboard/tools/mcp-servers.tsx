/** The MCP servers whose tools agents may use: made known, looked at, and which of their tools are allowed. */
import { useEffect, useState } from 'preact/hooks';
import type { McpServer, McpTrial } from '../api-types.ts';
import { client, refresh, t } from '../app-state.ts';
import { entriesOf } from '../format.ts';
import { changedFields } from '../forms/form-changes.ts';
import { FormConflict, useResourceForm } from '../forms/resource-form.tsx';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { ChecksField, type Option, TextField } from '../parts/field.tsx';
import { Form, useSubmit } from '../parts/form.tsx';
import { Button, PagedTable, Problem, Section } from '../parts/page.tsx';
import { usePages } from '../parts/use-load.ts';
import { AddressHelp, HeaderRows, TrialResult } from './http-request.tsx';
import { type HeaderRow, headerRows, headersOf, headersText } from './tool-draft.ts';

const SERVERS = 'api/mcp-servers';

export function McpServers() {
  const loaded = usePages<McpServer>(SERVERS, 100);
  return (
    <Section
      title={t('mcp.title')}
      actions={
        <DialogButton needs="editor" label={t('mcp.add')}>
          {(close) => <ServerForm server={undefined} onClose={close} />}
        </DialogButton>
      }
    >
      <PagedTable
        label={t('mcp.title')}
        empty={t('mcp.none')}
        loaded={loaded}
        columns={{
          name: ({ name }) => <code>{name}</code>,
          url: ['url', ({ url }) => url],
          allowedTools: ['small', ({ allowedTools }) => allowedTools.join(', ') || '–'],
          actions: (server) => <Actions server={server} />,
        }}
      />
    </Section>
  );
}

function Actions({ server }: { readonly server: McpServer }) {
  const path = `${SERVERS}/${server.name}`;
  return (
    <div class="actions">
      <DialogButton
        needs="editor"
        label={t('nav.tools')}
        title={t('mcp.offersTitle', { name: server.name })}
      >
        {(close) => <Offered server={server} onClose={close} />}
      </DialogButton>
      <DialogButton needs="editor" label={t('webhooks.edit')}>
        {(close) => <ServerForm server={server} onClose={close} />}
      </DialogButton>
      <ConfirmButton
        needs="editor"
        label={t('knowledge.delete')}
        question={t('mcp.deleteQuestion', { name: server.name })}
        onConfirm={() => client.api(path, { method: 'DELETE' }).then(refresh)}
      />
    </div>
  );
}

/** @param props.server undefined where one is made known. */
function ServerForm(props: {
  readonly server: McpServer | undefined;
  readonly onClose: () => void;
}) {
  const { server, onClose } = props;
  const form = useResourceForm<Draft, McpServer>({
    list: SERVERS,
    resource: server,
    blank: () => NEW_SERVER,
    ...{ draftOf, bodyOf },
    changesOf: (draft, begun) => changedFields(bodyOf(draft), bodyOf(begun)),
    saved: 'mcp.saved',
    onSaved: onClose,
  });
  return (
    <Form form={form} label={t(server === undefined ? 'mcp.add' : 'app.save')} onCancel={onClose}>
      <FormConflict form={form} textsOf={textsOf} />
      {server === undefined && <TextField {...form.field('name', 'field.name', 'tool.nameHint')} />}
      <TextField {...form.field('url', 'field.url', 'mcp.urlHint')} />
      <HeaderRows
        rows={form.values.headers}
        wrong={form.wrong}
        onRows={(headers) => form.change({ headers })}
      />
      <TextField {...form.field('allowedTools', 'field.allowedTools', 'mcp.allowedHint')} />
      <AddressHelp error={form.error} />
    </Form>
  );
}

/** Names of tools are separated by commas. */
const NEW_SERVER = { name: '', url: '', headers: [] as readonly HeaderRow[], allowedTools: '' };

type Draft = Readonly<typeof NEW_SERVER>;

function draftOf({ name, url, headers, allowedTools }: McpServer): Draft {
  return { name, url, headers: headerRows(headers), allowedTools: allowedTools.join(', ') };
}

/** A server by the labels of its fields. */
function textsOf({ url, headers, allowedTools }: Draft) {
  return {
    [t('field.url')]: url,
    [t('tool.headers')]: headersText(headers),
    [t('field.allowedTools')]: allowedTools,
  };
}

function bodyOf({ name, url, headers, allowedTools }: Draft) {
  return {
    ...{ name, url: url.trim() },
    ...{ headers: headersOf(headers), allowedTools: entriesOf(allowedTools) },
  };
}

/** Tools that the server offers, asked when the window opens, and which of them agents get. */
function Offered(props: { readonly server: McpServer; readonly onClose: () => void }) {
  const { server, onClose } = props;
  const [trial, setTrial] = useState<McpTrial | undefined>(undefined);
  const look = useSubmit(async () => {
    setTrial(await client.api(`${SERVERS}/${server.name}/test`, { method: 'POST' }));
  });
  useEffect(look.submit, []);
  const form = useResourceForm<Pick<McpServer, 'allowedTools'>, McpServer>({
    list: SERVERS,
    resource: server,
    blank: () => server,
    draftOf: ({ allowedTools }) => ({ allowedTools }),
    bodyOf: (draft) => ({ ...draft }),
    changesOf: (draft, begun) => changedFields({ ...draft }, { ...begun }),
    saved: 'mcp.saved',
    onSaved: onClose,
  });
  const { allowedTools } = form.values;
  return (
    <Form form={form} label={t('app.save')} onCancel={onClose}>
      <FormConflict
        form={form}
        textsOf={(draft) => ({ [t('field.allowedTools')]: draft.allowedTools.join(', ') })}
      />
      {look.isBusy && <p role="status">{t('tool.running')}</p>}
      <Problem error={look.error}>
        <Button text={t('app.again')} onClick={look.submit} />
      </Problem>
      {trial !== undefined && (
        <div role="status">
          <TrialResult isGood={trial.ok} {...trial} />
        </div>
      )}
      <ChecksField
        label={t('field.allowedTools')}
        value={allowedTools}
        options={offeredBy([...server.allowedTools, ...allowedTools], trial)}
        onValue={(chosen) => form.change({ allowedTools: [...chosen] })}
      />
    </Form>
  );
}

/** Tools that are allowed and tools of the server, with the server's descriptions. */
function offeredBy(allowed: readonly string[], trial: McpTrial | undefined): readonly Option[] {
  const told = new Map(trial?.tools.map(({ name, description }) => [name, description]));
  return [...new Set([...allowed, ...told.keys()])].map((name) => {
    const description = told.get(name) ?? '';
    return [name, description === '' ? name : `${name}: ${description}`];
  });
}
