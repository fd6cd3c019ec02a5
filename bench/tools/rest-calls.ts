/** `rest-calls N PRIORITY FILE PORT`: our media engine as `rtp-engine` runs it, with the REST API on the port. */
import { startRestServer } from '../lib/rest-server.ts';

const [, , file = '', port = '0'] = process.argv.slice(2);
await startRestServer(file, Number(port));
await import('./rtp-engine.ts');
