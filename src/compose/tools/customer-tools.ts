/** Composition root: the customer's own tools, by HTTP and by MCP. */
import type { Config } from '../../config/config.ts';
import type { NewId } from '../../domain/ids.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Store } from '../../store/store.ts';
import { CustomTools } from '../../tool/custom-tools.ts';
import { McpTools } from '../../tool/mcp/mcp-tools.ts';

/** Tools that customers have made, and what they are connected with. */
export interface CustomerTools {
  readonly customTools: CustomTools;
  readonly mcpTools: McpTools;
  /** Begins to read what MCP servers offer; calls do not wait for it. To be called once. */
  start(): void;
  /** Ends requests in progress. Safe to call twice. */
  stop(): Promise<void>;
}

/** Nothing is connected before `start`, or the first use of a tool. */
export function openCustomerTools(from: {
  readonly config: Pick<Config, 'WEBHOOK_ALLOW_LOCAL' | 'WEBHOOK_ALLOW_PRIVATE'>;
  readonly store: Pick<Store, 'customTools' | 'mcpServers' | 'accounts'>;
  readonly version: string;
  readonly newId: NewId;
  readonly log: Logger;
}): CustomerTools {
  const { config, log, newId, store, version } = from;
  const rules = {
    allowLocal: config.WEBHOOK_ALLOW_LOCAL,
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
  };
  const shared = { rules, version, clock: systemClock };
  const { accounts, customTools: tools, mcpServers: servers } = store;
  const customTools = new CustomTools({ ...shared, tools, accounts, newId });
  const mcpTools = new McpTools({ ...shared, servers, log });
  return {
    customTools,
    mcpTools,
    start: () => void mcpTools.start(),
    stop: async () => {
      await Promise.all([customTools.stop(), mcpTools.stop()]);
    },
  };
}
