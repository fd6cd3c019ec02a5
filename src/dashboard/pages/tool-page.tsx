/** One HTTP tool: made, changed, tested, deleted. */
import type { HttpTool } from '../api-types.ts';
import { client, may, t } from '../app-state.ts';
import { ConfirmButton } from '../parts/dialog.tsx';
import { Missing, Page, Shown } from '../parts/page.tsx';
import { useLoad } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import { ToolForm, useToolForm } from '../tools/tool-form.tsx';
import { ToolTest } from '../tools/tool-test.tsx';

/** @param props.id the tool's name. */
export function ToolPage({ id }: { readonly id: string }) {
  const isNew = id === NEW_ID;
  const path = `api/tools/${encodeURIComponent(id)}`;
  const loaded = useLoad(
    ['tool', id],
    async (signal) => (isNew ? null : await client.api<HttpTool>(path, { signal })),
    { isKept: false },
  );
  return (
    <Page
      title={isNew ? t('tool.new') : id}
      actions={
        <>
          <a class="button" href="#/tools">
            {t('tool.back')}
          </a>
          {loaded.value && (
            <ConfirmButton
              needs="editor"
              label={t('tool.delete')}
              question={t('tool.deleteQuestion')}
              done={t('tool.deleted')}
              onConfirm={async () => {
                await client.api(path, { method: 'DELETE' });
                location.assign('#/tools');
              }}
            />
          )}
        </>
      }
    >
      <Shown loaded={loaded} missing={<Missing what="tool" path={path} />}>
        {(tool) => <Panes tool={tool ?? undefined} onSaved={loaded.reload} />}
      </Shown>
    </Page>
  );
}

function Panes(props: { readonly tool: HttpTool | undefined; readonly onSaved: () => void }) {
  const { tool } = props;
  const form = useToolForm({
    tool,
    onSaved: ({ name }) => {
      if (tool === undefined) location.assign(`#/tools/${name}`);
      else props.onSaved();
    },
  });
  const isTested = tool !== undefined && may('editor');
  return (
    <div class={isTested ? 'panes' : 'panes panes-one'}>
      <div class="pane-main">
        <ToolForm form={form} isNew={tool === undefined} />
      </div>
      {isTested && <ToolTest tool={tool} isChanged={form.isChanged} />}
    </div>
  );
}
