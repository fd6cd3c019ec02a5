/** `npm run demo`: a caller phones the server over SIP and RTP; both sides are printed as they speak. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { readProcessConfig } from '../../src/config/config.ts';
import { AgentSide } from './agent-side.ts';
import { type DemoServer, findOrStartServer } from './demo-server.ts';
import type { CallerReport } from './reports.ts';
import { Screen } from './screen.ts';
import { LINES, wordErrorRate } from './script.ts';

/** The agent's number: from the range that is kept for examples. */
const AGENT_NUMBER = '+12025550123';

/** More wrong words than this, and the demo has failed. */
const WORD_ERROR_RATE_MAX = 0.2;

const AGENT = {
  name: 'Demo reception',
  greeting: 'Hello, this is the demo practice. How can I help you?',
  systemPrompt: 'You answer the telephone of a small practice. Be brief and friendly.',
  phoneNumber: AGENT_NUMBER,
  tools: ['transfer_call'],
};

/** Runs the caller's process and shows what it reports. Resolves when it has ended. */
function runCaller(server: DemoServer, screen: Screen): Promise<number> {
  const uri = `sip:${AGENT_NUMBER}@${server.sipHostPort}`;
  const caller = spawn(process.execPath, [join(import.meta.dirname, 'caller.ts'), uri], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: caller.stdout }).on('line', (line) => {
    const report: CallerReport = JSON.parse(line);
    screen.caller(report);
  });
  return new Promise((resolve, reject) => {
    caller.on('error', reject);
    caller.on('exit', (code) => resolve(code ?? 1));
  });
}

async function demo(screen: Screen): Promise<number> {
  const server = await findOrStartServer(readProcessConfig());
  try {
    const callee = server.isOwn ? 'a server of its own on free ports' : 'the server';
    screen.note(`a caller phones ${callee}, ${server.baseUrl}, over SIP and RTP; about a minute`);
    screen.engines(server.readiness);
    const side = new AgentSide(server, (entry, times) => screen.agentSide(entry, times));
    await side.createAgent(AGENT);
    screen.note(`calling ${AGENT_NUMBER} at ${server.sipHostPort}`);
    side.follow();
    const status = await runCaller(server, screen);
    const call = await side.finished();
    const understood = call.transcript.filter(({ role }) => role === 'user');
    const rate = wordErrorRate(
      LINES.map(({ text }) => text),
      understood.map(({ text }) => text),
    );
    screen.record(call, { wordErrorRate: rate, recording: side.recordingPath(call.id) });
    await side.deleteAgent();
    if (status !== 0) screen.failure(`the caller's process ended with ${status}`);
    if (rate > WORD_ERROR_RATE_MAX) screen.failure('the agent understood less than it should');
    return status === 0 && rate <= WORD_ERROR_RATE_MAX ? 0 : 1;
  } finally {
    await server.stop();
  }
}

const screen = new Screen(process.stdout);
try {
  process.exitCode = await demo(screen);
} catch (error) {
  screen.failure(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
