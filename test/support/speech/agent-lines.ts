/** Lines to a server with the models that come with Offhook: what the contracts of sound are run over. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignedIn } from '../dashboard/signed-in.ts';
import { startServer, type TestServer } from '../server/server.ts';
import { type CallAgent, callByBrowser, callByTelephone } from './agent-call.ts';

export interface AgentLines {
  readonly server: TestServer;
  readonly callAgent: CallAgent;
  stop(): Promise<void>;
}

/** Of a server for which no model is installed. */
const ENVIRONMENT = { MODELS_DIR: join(tmpdir(), 'no-models-here') };

/** By telephone. @param environment of the server; its own SIP and RTP where nothing is said. */
export async function openTelephoneLines(
  environment: Readonly<Record<string, string>> = {},
): Promise<AgentLines> {
  const server = await startServer({ environment: { ...ENVIRONMENT, ...environment } });
  await server.ready();
  return { server, callAgent: callByTelephone(server), stop: () => server.stop() };
}

/** By browsers. The server has loaded what it needs for them. */
export async function openBrowserLines(): Promise<AgentLines> {
  const server = await startServer({ environment: ENVIRONMENT });
  await server.ready();
  const callAgent = callByBrowser(server, await SignedIn.at(server));
  const phoneNumber = '+12025550199';
  const first = await callAgent({ id: await server.createAgent({ phoneNumber }), phoneNumber });
  await first.hangUp();
  return { server, callAgent, stop: () => server.stop() };
}
