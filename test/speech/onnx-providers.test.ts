/** Execution providers: which one a model is opened on, and what is said of those that do not work. */
import { expect, test } from 'vitest';
import { OnnxProviders, type Provider } from '../../src/lib/onnx/onnx-providers.ts';

/** Opens a model where only these providers work. @returns the provider and the note. */
async function openedOn(wanted: readonly Provider[] | null, working: readonly Provider[]) {
  const providers = new OnnxProviders();
  if (wanted !== null) providers.use(wanted);
  const opened = await providers.open((provider) =>
    working.includes(provider)
      ? Promise.resolve(provider)
      : Promise.reject(new Error(`no ${provider} here\n  at some.cc`)),
  );
  return { opened, note: providers.note };
}

test('the CPU is the default, of which nothing is said', async () => {
  expect(await openedOn(null, ['cpu'])).toEqual({ opened: 'cpu', note: undefined });
});

test('the first provider that works opens the model', async () => {
  expect(await openedOn(['cuda', 'cpu'], ['cuda', 'cpu'])).toEqual({
    opened: 'cuda',
    note: 'it runs on cuda',
  });
});

test('one that does not work is passed over, and the note says why and what to do', async () => {
  const { opened, note } = await openedOn(['cuda', 'cpu'], ['cpu']);

  expect(opened).toBe('cpu');
  expect(note).toMatch(
    /^it runs on cpu; cuda cannot be used \(no cuda here\): it needs .*cuda12"$/,
  );
});

test('without the CPU in the list, nothing stands in', async () => {
  await expect(openedOn(['cuda'], ['cpu'])).rejects.toThrow('no cuda here');
});
