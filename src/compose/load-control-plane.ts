/** Composition root: loads the modules of the control plane in steps, while calls are answered. */
import { phoneLibrary } from '../domain/dialing/phone-library.ts';
import { systemClock } from '../lib/clock.ts';
import type { ControlPlane } from './control-plane.ts';

/** Pause between two steps of loading, for calls and probes: Node loads all modules of one `import()` in one go. */
const BREATH_MS = 5;

/** Loads the control plane in steps, so that a call waits for one step at most. */
export async function loadControlPlane(): Promise<typeof ControlPlane> {
  const steps = [
    () => import('zod'),
    () => import('@hono/zod-openapi'),
    async () => phoneLibrary(),
    () => import('undici'),
    () => import('./sandbox.ts'),
    () => import('./browser-calls.ts'),
    () => import('../api/routes/agents/agent-routes.ts'),
    () => import('../api/api.ts'),
    () => import('../operator/dashboard-routes.ts'),
  ];
  for (const step of steps) {
    await new Promise<void>((resolve) => systemClock.after(BREATH_MS, resolve));
    await step();
  }
  return (await import('./control-plane.ts')).ControlPlane;
}
