/** The trunks: whether each has its line to the carrier, and which numbers come over it. */

import type { Trunk } from '../api-types.ts';
import { client, formats, t } from '../app-state.ts';
import { Instant, Page, Shown, State, Table } from '../parts/page.tsx';
import { useLoad } from '../parts/use-load.ts';

export function TrunksPage() {
  const loaded = useLoad(
    (signal) => client.api<{ readonly data: readonly Trunk[] }>('api/trunks', { signal }),
    [],
  );
  return (
    <Page
      title={t('trunks.title')}
      actions={
        <button type="button" onClick={loaded.reload}>
          {t('system.look')}
        </button>
      }
    >
      <Shown loaded={loaded}>{({ data }) => <TrunkTable trunks={data} />}</Shown>
    </Page>
  );
}

function TrunkTable({ trunks }: { readonly trunks: readonly Trunk[] }) {
  if (trunks.length === 0) return <p class="empty">{t('trunks.none')}</p>;
  const heads = [
    'name',
    'proxy',
    'transport',
    'state',
    'expires',
    'numbers',
    'codecs',
    'calls',
  ] as const;
  return (
    <Table label={t('trunks.title')} heads={heads.map((head) => t(`trunks.${head}`))}>
      {trunks.map((trunk) => (
        <tr key={trunk.name}>
          <td>{trunk.name}</td>
          <td class="url">{trunk.proxy}</td>
          <td>{trunk.transport}</td>
          <td>
            <State of={trunk.state} /> {trunk.detail}
          </td>
          <td>
            <Instant at={trunk.expiresAt} />
          </td>
          <td>{trunk.numbers.length === 0 ? '–' : trunk.numbers.join(', ')}</td>
          <td>{trunk.codecs.join(', ')}</td>
          <td class="number">{callsOf(trunk)}</td>
        </tr>
      ))}
    </Table>
  );
}

function callsOf({ callsInProgress, callsMax }: Trunk): string {
  const { count } = formats.value;
  return callsMax === null
    ? count(callsInProgress)
    : `${count(callsInProgress)} / ${count(callsMax)}`;
}
