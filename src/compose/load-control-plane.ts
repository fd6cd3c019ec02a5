/** Composition root: loads the modules of the control plane in steps, while calls are answered. */
import { setImmediate } from 'node:timers/promises';
import { phoneLibrary } from '../domain/dialing/phone-library.ts';
import type { ControlPlane } from './control-plane.ts';

/** Loads the control plane in steps, so that a call waits for one step at most: Node loads all modules of one `import()` in one go. */
export async function loadControlPlane(): Promise<typeof ControlPlane> {
  const steps = [
    () => import('zod'),
    () => import('@hono/zod-openapi'),
    async () => phoneLibrary(),
    () => import('undici'),
    () => import('./sandbox.ts'),
    () => import('./browser-calls.ts'),
    () => import('../api/routes/agent-routes.ts'),
    () => import('../api/api.ts'),
    () => import('../operator/dashboard-routes.ts'),
  ];
  for (const step of steps) {
    // What has come from the network meanwhile is taken first.
    await setImmediate();
    await step();
  }
  return (await import('./control-plane.ts')).ControlPlane;
}
