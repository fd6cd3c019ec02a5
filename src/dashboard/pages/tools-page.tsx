/** What agents can do besides talking: HTTP tools of the account, and MCP servers. */
import type { HttpTool } from '../api-types.ts';
import { t } from '../app-state.ts';
import { Ago, Empty, LinkButton, Page, Section, ShownPage, Table } from '../parts/page.tsx';
import { usePages } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import { McpServers } from '../tools/mcp-servers.tsx';

export function ToolsPage() {
  const loaded = usePages<HttpTool>('api/tools', 50);
  return (
    <Page
      title={t('nav.tools')}
      actions={<LinkButton needs="editor" isMain href={`#/tools/${NEW_ID}`} text={t('tool.new')} />}
    >
      <Section title={t('tool.list')}>
        <ShownPage loaded={loaded}>{(tools) => <ToolTable tools={tools} />}</ShownPage>
      </Section>
      <McpServers />
    </Page>
  );
}

function ToolTable({ tools }: { readonly tools: readonly HttpTool[] }) {
  return (
    <Table
      label={t('tool.list')}
      empty={
        <Empty text={t('tool.none')}>
          <LinkButton needs="editor" href={`#/tools/${NEW_ID}`} text={t('tool.first')} />
        </Empty>
      }
      rows={tools}
      keyOf={({ name }) => name}
      hrefOf={({ name }) => `#/tools/${name}`}
      columns={{
        name: ({ name }) => name,
        description: ['cut', ({ description }) => description],
        url: ['url', ({ method, url }) => `${method} ${url}`],
        changedAt: ({ updatedAt }) => <Ago at={updatedAt} />,
      }}
    />
  );
}
