/** Preloaded into a server: packages with programs of their own are missing, as on a system that they have none for. */
import { registerHooks } from 'node:module';

const PROGRAMS = ['onnxruntime-node', 'koffi'];

registerHooks({
  resolve: (specifier, context, next) => {
    if (PROGRAMS.includes(specifier)) throw new Error(`no ${specifier} for this system`);
    return next(specifier, context);
  },
});
