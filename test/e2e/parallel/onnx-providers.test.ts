/** `ONNX_PROVIDERS` on a machine without a graphics card: the CPU stands in and says so, or the start says what is wrong. */
import { expect, test } from 'vitest';
import { startServer } from '../../support/server/server.ts';

const MODELS_DIR = 'models/tiny';

test('a provider that this machine does not have is passed over; /readyz says why and what to install', async () => {
  const environment = { MODELS_DIR, ONNX_PROVIDERS: 'cuda,cpu' };
  const server = await (await startServer({ environment })).ready();
  const { body } = await server.api('GET', '/readyz');
  await server.stop();

  const engines = body.engines as readonly { readonly job: string; readonly reason: string }[];
  const reason = engines.find(({ job }) => job === 'stt')?.reason;
  expect(reason).toMatch(/it runs on cpu; cuda cannot be used .*--onnxruntime-node-install=cuda12/);
});
