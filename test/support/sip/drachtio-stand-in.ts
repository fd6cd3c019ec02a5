/**
 * Stands for a drachtio-server in a process of its own: our SIP engine with drachtio's protocol in front of it.
 *
 * `drachtio-stand-in SIP_PORT CONTROL_PORT SECRET`: prints `listening`, and runs until its input ends.
 */
import { DrachtioServer } from '../../../src/sip/drachtio-server/drachtio-server.ts';
import { UserAgent } from '../../../src/sip/user-agent.ts';

const [sipPort, port, secret = ''] = process.argv.slice(2);
const address = '127.0.0.1';
const userAgent = new UserAgent({
  listen: [
    { protocol: 'UDP', address, port: Number(sipPort) },
    { protocol: 'TCP', address, port: Number(sipPort) },
  ],
});
const drachtioServer = new DrachtioServer({ userAgent, secret, port: Number(port) });
await userAgent.start();
await drachtioServer.start();
process.stdout.write('listening\n');
process.stdin.resume();
process.stdin.once('close', () => void drachtioServer.stop().then(() => userAgent.stop()));
