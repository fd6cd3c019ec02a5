/** What an agent may use: the built-in tools, and those that the account has made. */
import { TOOLS } from '../agent-draft.ts';
import type { Paged } from '../api-types.ts';
import { client, word } from '../app-state.ts';
import { ChecksField } from './field.tsx';
import { useLoad } from './use-load.ts';

const QUERY = { limit: '100' };

/** @param props.value names; those that are neither built in nor loaded yet are shown too, so that saving keeps them. */
export function ToolsField(props: {
  readonly label: string;
  readonly error: string | undefined;
  readonly value: readonly string[];
  readonly onValue: (value: readonly string[]) => void;
}) {
  const { value } = props;
  const { value: page } = useLoad(
    (signal) => client.api<Paged<{ readonly name: string }>>('api/tools', { query: QUERY, signal }),
    [],
  );
  const custom = page?.data.map(({ name }) => name) ?? [];
  const names = [...new Set<string>([...TOOLS, ...custom, ...value])];
  return <ChecksField {...props} options={names.map((name) => [name, word('tool', name)])} />;
}
