/** Runs simulated calls on a whole server and prints what came of them; to be started where there is no network. */
import { networkInterfaces } from 'node:os';
import { SandboxClient } from './sandbox-client.ts';
import { startServer } from './server.ts';

const LAST_DIGITS = ['04', '05', '07', '99'];

const server = await startServer();
try {
  await server.ready();
  const client = new SandboxClient(server);
  const agentId = await client.createAgent();
  const calls = await client.calls(
    'outbound',
    LAST_DIGITS.map((digits) => ({ agentId, to: `+120255501${digits}` })),
  );
  const interfaces = Object.keys(networkInterfaces());
  process.stdout.write(
    JSON.stringify({ interfaces, endReasons: calls.map(({ endReason }) => endReason).toSorted() }),
  );
} finally {
  await server.stop();
}
